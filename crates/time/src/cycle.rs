//! The hyperperiod: after how long the pattern of steps repeats, and what one repetition holds.
//!
//! The length is computed from the rates alone and is exact. The steps inside are counted by walking them, so
//! that two boundaries that round to the same nanosecond count as shared, as they do when the simulation runs.

use crate::rate::{NANOS_PER_SECOND, Rate};
use crate::runner::{RUNNERS_MAX, RunnerConfig, RunnerId, RunnerSet};
use crate::sim_time::SimTime;
use crate::timeline::Timeline;

/// A runner as the analyser sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleRunner {
    /// Its id.
    pub id: RunnerId,
    /// Its rate.
    pub rate: Rate,
    /// Its offset.
    pub offset: SimTime,
}

/// One full repetition of the steps of a set of runners, counted from the latest offset.
///
/// ```
/// use downbeat_time::{Cycle, CycleRunner, Rate, RunnerId, SimTime};
///
/// let runner = |id, rate| CycleRunner { id, rate, offset: SimTime::ZERO };
/// let runners = [runner(RunnerId::ROBOT, Rate::hz(50)?), runner(RunnerId::CAPTURE, "29.97".parse()?)];
/// let cycle = Cycle::analyse(runners, |fires| fires.len() as u64);
/// assert_eq!(cycle.cycle_nanos, Some(100_000_000_000));
/// assert_eq!(cycle.heaviest.unwrap().fires.len(), 2);
/// # Ok::<(), downbeat_time::RateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// Length of a repetition; `None` when it does not fit in 64 bits of nanoseconds, or nobody fires.
    pub cycle_nanos: Option<u64>,
    /// Steps in a repetition; `None` when there are more than [`Cycle::FIRINGS_MAX`] firings to walk, or when a
    /// repetition that begins at the latest offset does not end on the timeline.
    pub steps: Option<u64>,
    /// Steps in which two or more runners fire; `None` as for `steps`.
    pub shared_steps: Option<u64>,
    /// The first of the steps with the greatest weight; `None` as for `steps`.
    pub heaviest: Option<HeaviestStep>,
}

/// The step of a cycle that has most to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaviestStep {
    /// When it first comes, on the timeline.
    pub time: SimTime,
    /// Who fires in it.
    pub fires: RunnerSet,
    /// Its weight, as the caller weighs sets of runners.
    pub weight: u64,
}

impl Cycle {
    /// The most firings that are walked to count the steps of a cycle: about a second's work.
    pub const FIRINGS_MAX: u64 = 200_000_000;

    /// Analyses runners; `weight` says how much a step has to do when a given set fires.
    ///
    /// Where an id is given more than once, the last runner of that id counts.
    ///
    /// ```
    /// use downbeat_time::{Cycle, CycleRunner, Rate, RunnerId, SimTime};
    ///
    /// let robot = |rate| CycleRunner { id: RunnerId::ROBOT, rate, offset: SimTime::ZERO };
    /// let cycle = Cycle::analyse([robot(Rate::hz(30)?), robot(Rate::hz(50)?)], |_| 1);
    /// assert_eq!((cycle.cycle_nanos, cycle.steps), (Some(20_000_000), Some(1)));
    /// # Ok::<(), downbeat_time::RateError>(())
    /// ```
    pub fn analyse(
        runners: impl IntoIterator<Item = CycleRunner>,
        weight: impl Fn(RunnerSet) -> u64,
    ) -> Self {
        let runners = one_per_id(runners);
        let mut cycle =
            Self { cycle_nanos: cycle_nanos(&runners), steps: None, shared_steps: None, heaviest: None };
        if let Some(nanos) = cycle.cycle_nanos {
            let start = runners.iter().map(|runner| runner.offset).max().unwrap_or_default();
            let end = start.as_nanos().checked_add(nanos).filter(|&end| end <= SimTime::END.as_nanos());
            if let Some(end) = end.filter(|_| firings(&runners, nanos) <= u128::from(Self::FIRINGS_MAX)) {
                cycle.walk(&runners, start.as_nanos(), end, weight);
            }
        }
        cycle
    }

    /// The length alone, which costs nothing to find: [`Cycle::cycle_nanos`] without walking a step.
    ///
    /// ```
    /// use downbeat_time::{Cycle, CycleRunner, Rate, RunnerId, SimTime};
    ///
    /// let robot = CycleRunner { id: RunnerId::ROBOT, rate: Rate::hz(50)?, offset: SimTime::ZERO };
    /// assert_eq!(Cycle::length_nanos([robot]), Some(20_000_000));
    /// # Ok::<(), downbeat_time::RateError>(())
    /// ```
    pub fn length_nanos(runners: impl IntoIterator<Item = CycleRunner>) -> Option<u64> {
        cycle_nanos(&one_per_id(runners))
    }

    fn walk(&mut self, runners: &[CycleRunner], start: u64, end: u64, weight: impl Fn(RunnerSet) -> u64) {
        let mut timeline = Timeline::new();
        for runner in runners {
            let config = RunnerConfig { name: String::new(), rate: runner.rate, offset: runner.offset };
            timeline.add(runner.id, config);
        }
        timeline.skip(start);
        let (mut steps, mut shared_steps, mut heaviest) = (0, 0, None::<HeaviestStep>);
        let mut weights = [None; 256];
        while let Some(due) = timeline.due().filter(|due| due.time <= end) {
            timeline.advance(due);
            steps += 1;
            shared_steps += u64::from(due.fires.is_shared());
            let weight = *weights[due.fires.bits() as usize].get_or_insert_with(|| weight(due.fires));
            if heaviest.is_none_or(|step| step.weight < weight) {
                heaviest =
                    Some(HeaviestStep { time: SimTime::from_nanos(due.time), fires: due.fires, weight });
            }
        }
        (self.steps, self.shared_steps, self.heaviest) = (Some(steps), Some(shared_steps), heaviest);
    }
}

/// The last runner given for each id, lowest id first.
fn one_per_id(runners: impl IntoIterator<Item = CycleRunner>) -> Vec<CycleRunner> {
    let mut places = [None; RUNNERS_MAX];
    for runner in runners {
        places[runner.id.index()] = Some(runner);
    }
    places.into_iter().flatten().collect()
}

/// The least whole number of nanoseconds that is a whole number of every runner's steps.
///
/// A step of `10⁹ · denom / numer` nanoseconds in lowest terms `a / b` divides a whole number of nanoseconds
/// exactly when `a` does, so the answer is the least common multiple of the numerators.
fn cycle_nanos(runners: &[CycleRunner]) -> Option<u64> {
    if runners.is_empty() {
        return None;
    }
    let mut common = 1_u128;
    for runner in runners {
        let step = u128::from(NANOS_PER_SECOND) * u128::from(runner.rate.denom());
        let numerator = step / gcd(step, u128::from(runner.rate.numer()));
        common = (common / gcd(common, numerator)).checked_mul(numerator)?;
    }
    u64::try_from(common).ok()
}

/// How often all runners fire in `nanos`, which is a whole number of every runner's steps.
fn firings(runners: &[CycleRunner], nanos: u64) -> u128 {
    let of = |rate: Rate| {
        let step = u128::from(NANOS_PER_SECOND) * u128::from(rate.denom());
        u128::from(nanos) * u128::from(rate.numer()) / step
    };
    runners.iter().map(|runner| of(runner.rate)).sum()
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(rates: &[&str]) -> Cycle {
        let runner = |(number, rate): (u8, &&str)| CycleRunner {
            id: RunnerId::new(number).unwrap(),
            rate: rate.parse().unwrap(),
            offset: SimTime::ZERO,
        };
        Cycle::analyse((0..).zip(rates).map(runner), |fires| fires.len() as u64)
    }

    #[test]
    fn known_cycles() {
        let known = |rates: &[&str], nanos: u64, steps: u64, shared_steps: u64| {
            let cycle = cycle(rates);
            let found = (cycle.cycle_nanos, cycle.steps, cycle.shared_steps);
            assert_eq!(found, (Some(nanos), Some(steps), Some(shared_steps)), "{rates:?}");
        };
        known(&["50"], 20_000_000, 1, 0);
        known(&["50", "30"], 100_000_000, 7, 1);
        known(&["60", "60"], 50_000_000, 3, 3);
        known(&["30000/1001"], 100_100_000, 3, 0);
        known(&["1000", "500", "400", "240", "120", "60", "50", "30"], 100_000_000, 136, 72);
    }

    #[test]
    fn the_last_runner_of_an_id_counts_and_without_any_nothing_repeats() {
        let runner = |rate: &str| CycleRunner {
            id: RunnerId::ROBOT,
            rate: rate.parse().unwrap(),
            offset: SimTime::ZERO,
        };
        let weigh = |fires: RunnerSet| fires.len() as u64;
        let twice = Cycle::analyse([runner("30"), runner("50")], weigh);
        assert_eq!(twice, Cycle::analyse([runner("50")], weigh));
        assert_eq!(Cycle::length_nanos([runner("30"), runner("50")]), Some(20_000_000));
        let none = Cycle::analyse([], weigh);
        assert_eq!((none.cycle_nanos, none.steps, none.heaviest), (None, None, None));
    }

    #[test]
    fn a_cycle_beyond_u64_nanoseconds_is_unknown() {
        let cycle = cycle(&["18446744073709551557/18446744073709551533", "30"]);
        assert_eq!((cycle.cycle_nanos, cycle.steps, cycle.shared_steps), (None, None, None));
    }

    #[test]
    fn boundaries_that_round_together_are_shared() {
        // 100/3 ms and the hair's breadth longer step both end at 33 333 333 ns first.
        let cycle = cycle(&["30", "29.9999999"]);
        assert!(cycle.cycle_nanos.is_some());
        assert_eq!(cycle.steps, None, "a cycle of months is not walked");
    }

    #[test]
    fn an_offset_moves_the_pattern_and_keeps_its_length() {
        let runners = [(0, "50", 0), (1, "50", 5_000_000)].map(|(number, rate, offset)| CycleRunner {
            id: RunnerId::new(number).unwrap(),
            rate: rate.parse().unwrap(),
            offset: SimTime::from_nanos(offset),
        });
        let cycle = Cycle::analyse(runners, |fires| fires.len() as u64);
        assert_eq!(
            (cycle.cycle_nanos, cycle.steps, cycle.shared_steps),
            (Some(20_000_000), Some(2), Some(0))
        );
    }
}
