//! Where the steps of a rate end: boundary k is `origin + floor(k · 10⁹ · denom / numer)` nanoseconds.
//!
//! [`Grid`] finds any boundary directly; `RunnerClock` walks from one to the next with additions only.
//! Both are exact for every ratio over the whole timeline. Nothing here fires callbacks or knows other runners.

use crate::rate::{NANOS_PER_SECOND, Rate};
use crate::sim_time::SimTime;

/// Stands in for "beyond the end of the timeline" where an `Option` would cost a branch in every step.
pub(crate) const NEVER: u64 = u64::MAX;

/// The exact boundaries of one rate from one origin.
///
/// ```
/// use downbeat_time::{Grid, Rate, SimTime};
///
/// let capture = Grid::new(Rate::hz(30)?, SimTime::ZERO);
/// let ends: Vec<_> = (1..=3).map(|k| capture.boundary(k).unwrap().as_nanos()).collect();
/// assert_eq!(ends, [33_333_333, 66_666_666, 100_000_000]);
/// assert_eq!(capture.first_at_or_after(SimTime::from_nanos(33_333_334)), Some(2));
/// # Ok::<(), downbeat_time::RateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grid {
    rate: Rate,
    origin: SimTime,
}

impl Grid {
    /// The grid that starts at `origin`, which is its boundary 0.
    pub const fn new(rate: Rate, origin: SimTime) -> Self {
        Self { rate, origin }
    }

    /// The rate.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Boundary 0.
    pub const fn origin(&self) -> SimTime {
        self.origin
    }

    /// Boundary `k`, or `None` when it lies beyond the end of the timeline.
    pub fn boundary(&self, k: u64) -> Option<SimTime> {
        let scaled = u128::from(k) * u128::from(NANOS_PER_SECOND);
        // A product above 128 bits divided by a numerator below 64 bits is above 64 bits as well.
        let nanos = scaled.checked_mul(u128::from(self.rate.denom()))? / u128::from(self.rate.numer());
        let at = u64::try_from(nanos).ok()?.checked_add(self.origin.as_nanos())?;
        (at < NEVER).then(|| SimTime::from_nanos(at))
    }

    /// The smallest k whose boundary is not before `time`, or `None` when that boundary lies beyond the end.
    pub fn first_at_or_after(&self, time: SimTime) -> Option<u64> {
        let offset = u128::from(time.as_nanos().saturating_sub(self.origin.as_nanos()));
        let period = u128::from(NANOS_PER_SECOND) * u128::from(self.rate.denom());
        let k = (offset * u128::from(self.rate.numer())).div_ceil(period);
        let k = u64::try_from(k).ok()?;
        self.boundary(k).map(|_| k)
    }

    /// The greatest k whose boundary is not after `time`; 0 when even the origin is.
    pub(crate) fn last_at_or_before(&self, time: SimTime) -> u64 {
        let Some(offset) = time.as_nanos().checked_sub(self.origin.as_nanos()) else { return 0 };
        let period = u128::from(NANOS_PER_SECOND) * u128::from(self.rate.denom());
        // Boundary k is rounded down, so it is not after `offset` as long as its exact place is before the
        // nanosecond that follows. That sum fits: the timeline ends before `u64::MAX`.
        let k = (u128::from(offset + 1) * u128::from(self.rate.numer())).div_ceil(period) - 1;
        // A step takes a nanosecond or more, so there are no more boundaries than nanoseconds.
        k as u64
    }
}

/// A runner's place on its grid: what every step reads and writes, one cache line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunnerClock {
    /// The boundary ahead, [`NEVER`] when there is none.
    pub(crate) next: u64,
    /// The boundary behind, or the origin while that is still ahead.
    pub(crate) last: u64,
    /// Length of the step that ended at the last firing.
    pub(crate) dt: u64,
    /// Steps fired so far.
    pub(crate) index: u64,
    /// Whole nanoseconds of a step.
    whole: u64,
    /// What a step has beyond `whole`, in parts of `numer`.
    part: u64,
    numer: u64,
    /// How far the exact boundary ahead lies beyond `next`, in parts of `numer`.
    carried: u64,
}

impl RunnerClock {
    /// A slot without a runner: it never fires.
    pub(crate) const VACANT: Self =
        Self { next: NEVER, last: NEVER, dt: 0, index: 0, whole: NEVER, part: 0, numer: 1, carried: 0 };

    /// Stands on boundary `k` of `grid`, with no step taken yet.
    pub(crate) fn on(grid: Grid, k: u64) -> Self {
        let (numer, denom) = (u128::from(grid.rate.numer()), u128::from(grid.rate.denom()));
        let period = u128::from(NANOS_PER_SECOND) * denom;
        let nanos_past_whole_seconds = u128::from(k) * u128::from(NANOS_PER_SECOND) % numer;
        let carried = nanos_past_whole_seconds * (denom % numer) % numer;
        let mut clock = Self {
            next: NEVER,
            last: grid.boundary(k).map_or(NEVER, SimTime::as_nanos),
            dt: 0,
            index: 0,
            whole: u64::try_from(period / numer).unwrap_or(NEVER),
            part: (period % numer) as u64,
            numer: grid.rate.numer(),
            carried: carried as u64,
        };
        clock.next = clock.boundary_after_last();
        clock
    }

    /// The same place with the counts of the clock that stood there before.
    pub(crate) const fn with_counts(mut self, dt: u64, index: u64) -> Self {
        (self.dt, self.index) = (dt, index);
        self
    }

    /// Fires: moves one boundary on.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.dt = self.next - self.last;
        self.last = self.next;
        self.index += 1;
        self.next = self.boundary_after_last();
    }

    /// Adds one exact step to `last` and keeps the fraction. No division: a step of the simulation runs this.
    #[inline]
    fn boundary_after_last(&mut self) -> u64 {
        // Written so that no sum exceeds 64 bits even for a numerator near the limit.
        let room = self.numer - self.part;
        let carry = self.carried >= room;
        self.carried = if carry { self.carried - room } else { self.carried + self.part };
        self.last.saturating_add(self.whole).saturating_add(u64::from(carry))
    }

    /// Length of the step under way.
    #[inline]
    pub(crate) fn step_nanos(&self) -> u64 {
        self.next.saturating_sub(self.last)
    }

    /// How far `at` is on the way to the next boundary, in [0, 1).
    #[inline]
    pub(crate) fn alpha(&self, at: u64) -> f64 {
        const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;
        let gone = at.saturating_sub(self.last);
        (gone as f64 / self.step_nanos().max(1) as f64).min(BELOW_ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// The definition, in numbers that cannot overflow.
    fn oracle(numer: u64, denom: u64, origin: u64, k: u64) -> Option<u64> {
        let nanos = BigUint::from(k) * 1_000_000_000_u64 * denom / numer + origin;
        u64::try_from(nanos).ok().filter(|&n| n < u64::MAX)
    }

    fn any_rate() -> impl Strategy<Value = Rate> {
        prop_oneof![
            (1_u64..=1000).prop_map(|hz| Rate::new(hz, 1)),
            (1_u64..=100_000, 1_u64..=2000).prop_map(|(n, d)| Rate::new(n, d)),
            (1_u64..=u64::MAX, 1_u64..=u64::MAX).prop_map(|(n, d)| Rate::new(n, d)),
        ]
        .prop_filter_map("at most 1 GHz", Result::ok)
    }

    const CENTURY_NANOS: u64 = 100 * 36_525 * 864 * NANOS_PER_SECOND;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn boundaries_match_the_definition(rate in any_rate(), origin: u64, k: u64, small_k in 0_u64..5000) {
            let grid = Grid::new(rate, SimTime::from_nanos(origin));
            let origin = grid.origin().as_nanos();
            for k in [k, small_k, u64::MAX] {
                let expected = oracle(rate.numer(), rate.denom(), origin, k);
                prop_assert_eq!(grid.boundary(k).map(SimTime::as_nanos), expected);
            }
        }

        #[test]
        fn the_first_boundary_at_or_after_is_the_first(rate in any_rate(), origin in 0..CENTURY_NANOS, time in 0..CENTURY_NANOS) {
            let grid = Grid::new(rate, SimTime::from_nanos(origin));
            let time = SimTime::from_nanos(time);
            if let Some(k) = grid.first_at_or_after(time) {
                prop_assert!(grid.boundary(k).unwrap() >= time);
                prop_assert!(k == 0 || grid.boundary(k - 1).unwrap() < time);
            }
        }

        #[test]
        fn the_last_boundary_at_or_before_is_the_last(rate in any_rate(), origin: u64, since: u64, from_end in 0_u64..3) {
            let grid = Grid::new(rate, SimTime::from_nanos(origin));
            let times = [origin.saturating_add(since), SimTime::END.as_nanos() - from_end];
            for time in times.map(SimTime::from_nanos).into_iter().filter(|time| *time >= grid.origin()) {
                let k = grid.last_at_or_before(time);
                prop_assert!(grid.boundary(k).unwrap() <= time);
                prop_assert!(grid.boundary(k + 1).is_none_or(|next| next > time));
            }
        }

        /// Walking is exact where jumping is exact: no drift a century ahead, for any ratio.
        #[test]
        fn walking_matches_jumping_a_century_ahead(rate in any_rate(), start in 0..=CENTURY_NANOS) {
            let grid = Grid::new(rate, SimTime::ZERO);
            let Some(first) = grid.first_at_or_after(SimTime::from_nanos(start)) else { return Ok(()) };
            let mut clock = RunnerClock::on(grid, first);
            for k in first + 1..first + 50 {
                let expected = oracle(rate.numer(), rate.denom(), 0, k).unwrap_or(NEVER);
                prop_assert_eq!(clock.next, expected);
                if clock.next == NEVER { break }
                clock.advance();
            }
        }

        #[test]
        fn alpha_stays_below_one(rate in any_rate(), part in 0.0..1.0_f64) {
            let clock = RunnerClock::on(Grid::new(rate, SimTime::ZERO), 1);
            let at = clock.last.saturating_add((clock.step_nanos() as f64 * part) as u64).min(clock.next.max(1) - 1);
            prop_assert!((0.0..1.0).contains(&clock.alpha(at)));
        }
    }

    #[test]
    fn a_thirty_hertz_step_cycles_and_never_drifts() {
        let mut clock = RunnerClock::on(Grid::new(Rate::CAPTURE, SimTime::ZERO), 0);
        for second in 1..=100 {
            for length in [33_333_333, 33_333_333, 33_333_334].repeat(10) {
                clock.advance();
                assert_eq!(clock.dt, length);
            }
            assert_eq!(clock.last, second * NANOS_PER_SECOND);
        }
    }

    #[test]
    fn a_step_longer_than_the_timeline_never_ends() {
        let clock = RunnerClock::on(Grid::new(Rate::new(1, u64::MAX).unwrap(), SimTime::ZERO), 0);
        assert_eq!(clock.next, NEVER);
        assert_eq!(size_of::<RunnerClock>(), 64);
    }
}
