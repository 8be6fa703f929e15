//! How much of the timeline is shown, and about how much happens in it.
//!
//! It takes no step: the figures here come from the rates alone.

use downbeat_time::{Cycle, CycleRunner, RunnerConfig, RunnerId};

/// The timeline from 0 to `end_nanos`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) end_nanos: u64,
}

impl Window {
    /// A cycle longer than this is not what one wants to see unasked.
    const DEFAULT_STEPS_MAX: u64 = 2_000;
    const DEFAULT_NANOS: u64 = 1_000_000_000;

    /// What was asked for; else one cycle, counted from the latest offset; else one second.
    ///
    /// `count` counts the cycle. It is asked only where that is quick and makes a difference.
    pub(super) fn new(
        asked_nanos: Option<u64>,
        runners: &[RunnerConfig],
        count: impl FnOnce() -> Cycle,
    ) -> Self {
        let end_nanos =
            asked_nanos.or_else(|| Self::one_cycle(runners, count)).unwrap_or(Self::DEFAULT_NANOS);
        Self { end_nanos }
    }

    fn one_cycle(runners: &[RunnerConfig], count: impl FnOnce() -> Cycle) -> Option<u64> {
        let cycle = |(number, runner): (u8, &RunnerConfig)| {
            let RunnerConfig { rate, offset, .. } = *runner;
            Some(CycleRunner { id: RunnerId::new(number)?, rate, offset })
        };
        let nanos = Cycle::length_nanos((0..).zip(runners).filter_map(cycle))?;
        let end_nanos = latest_offset(runners).checked_add(nanos)?;
        // A late offset may put many cycles of the others before the one to show. At most eight runners fire in
        // a step, so a window of more firings than this holds too many steps to be shown unasked.
        let few = Self { end_nanos }.firings(runners) <= 8 * u128::from(Self::DEFAULT_STEPS_MAX);
        (few && count().steps? <= Self::DEFAULT_STEPS_MAX).then_some(end_nanos)
    }

    /// How often runners fire inside, at most: a shared step counts once for each of them.
    pub(super) fn firings(self, runners: &[RunnerConfig]) -> u128 {
        let of = |runner: &RunnerConfig| {
            let span = self.end_nanos.saturating_sub(runner.offset.as_nanos());
            let step = 1_000_000_000 * u128::from(runner.rate.denom());
            u128::from(span) * u128::from(runner.rate.numer()) / step
        };
        runners.iter().map(of).sum()
    }

    /// A round beginning of the window with at most `firings_max` firings; all of it when it holds no more.
    pub(super) fn cut_to(self, runners: &[RunnerConfig], firings_max: u128) -> Self {
        let firings = self.firings(runners);
        if firings <= firings_max {
            return self;
        }
        let end_nanos = u128::from(self.end_nanos) * firings_max / firings;
        Self { end_nanos: round_down(u64::try_from(end_nanos).unwrap_or(u64::MAX)) }
    }
}

/// From where on all runners fire.
pub(super) fn latest_offset(runners: &[RunnerConfig]) -> u64 {
    runners.iter().map(|runner| runner.offset.as_nanos()).max().unwrap_or(0)
}

/// The greatest 1, 2 or 5 times a power of ten that is not above `nanos`; 1 at least.
fn round_down(nanos: u64) -> u64 {
    let power = 10_u64.pow(nanos.max(1).ilog10());
    let times = [5, 2].into_iter().find(|times| nanos / power >= *times);
    power * times.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use downbeat_time::Rate;

    fn runners(specs: &[(u32, u64)]) -> Vec<RunnerConfig> {
        let runner = |(index, &(hz, offset)): (usize, &(u32, u64))| {
            RunnerConfig::new(format!("r{index}"), Rate::hz(hz).unwrap()).with_offset_nanos(offset)
        };
        specs.iter().enumerate().map(runner).collect()
    }

    /// The end of the default window, where counting finds so many steps.
    fn end(runners: &[RunnerConfig], steps: Option<u64>) -> u64 {
        let counted = Cycle { cycle_nanos: None, steps, shared_steps: None, heaviest: None };
        Window::new(None, runners, || counted).end_nanos
    }

    #[test]
    fn unasked_it_is_one_cycle_after_the_latest_offset_or_a_second() {
        let late = runners(&[(50, 0), (50, 5_000_000)]);
        assert_eq!(end(&late, Some(2)), 25_000_000);
        assert_eq!(end(&late, Some(2_001)), 1_000_000_000);
        assert_eq!(end(&late, None), 1_000_000_000);
        let very_late = runners(&[(50, 0), (50, u64::MAX - 1)]);
        assert_eq!(end(&very_late, Some(2)), 1_000_000_000);
    }

    #[test]
    fn a_long_cycle_is_not_counted_to_find_the_window() {
        let long = runners(&[(999_983, 0), (999_979, 0)]);
        let never = || -> Cycle { panic!("counting this takes long") };
        assert_eq!(Window::new(None, &long, never).end_nanos, 1_000_000_000);
        assert_eq!(Window::new(Some(5), &long, never).end_nanos, 5);
    }

    #[test]
    fn a_cut_window_is_round_and_holds_no_more_firings_than_allowed() {
        let runners = runners(&[(1_000_000_000, 0), (50, 0)]);
        let hour = Window { end_nanos: 3_600_000_000_000 };
        let cut = hour.cut_to(&runners, 1_000);
        assert_eq!((cut.end_nanos, cut.firings(&runners)), (500, 500));
        assert_eq!(cut.cut_to(&runners, 1_000), cut);
        assert_eq!([0, 1, 19, 20, 59_999].map(round_down), [1, 1, 10, 20, 50_000]);
        assert_eq!(round_down(u64::MAX), 10_000_000_000_000_000_000);
    }
}
