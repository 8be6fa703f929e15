//! One runner's place on the timeline, in big integers. It shares no code with the crate.

use num_bigint::BigUint;

use super::{END, RunnerSpec};

const NANOS: u64 = 1_000_000_000;

/// A runner's grid and the boundary it has reached.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    numer: BigUint,
    denom: BigUint,
    origin: BigUint,
    /// Which boundary of the grid lies behind, or the point it waits for.
    behind: BigUint,
    /// Boundaries passed since the runner was added, fired or not.
    pub(crate) passed: u64,
    /// The offset as configured; a rate change moves the origin and leaves this alone.
    offset: u64,
    pub(crate) pending_rate: Option<(u64, u64)>,
    pub(crate) pending_offset: Option<u64>,
}

impl Track {
    /// A runner added at `now`: it stands on the first point of its grid that is not in the past.
    pub(crate) fn starting(spec: RunnerSpec, now: u64) -> Self {
        let mut track = Self {
            numer: spec.numer.into(),
            denom: spec.denom.into(),
            origin: spec.offset.into(),
            behind: BigUint::ZERO,
            passed: 0,
            offset: spec.offset,
            pending_rate: None,
            pending_offset: None,
        };
        track.behind = track.first_at_or_after(now);
        track
    }

    /// Boundary k: `origin + floor(k · 10⁹ · denom / numer)`.
    fn boundary(&self, k: &BigUint) -> BigUint {
        &self.origin + k * NANOS * &self.denom / &self.numer
    }

    /// The smallest k whose boundary is at or after `time`: the least k with `k · 10⁹ · denom ≥ t · numer`.
    fn first_at_or_after(&self, time: u64) -> BigUint {
        let time = BigUint::from(time);
        if time <= self.origin {
            return BigUint::ZERO;
        }
        let step = NANOS * &self.denom;
        ((time - &self.origin) * &self.numer + &step - 1_u32) / step
    }

    /// The boundary ahead, or `None` beyond the timeline.
    pub(crate) fn next(&self) -> Option<u64> {
        u64::try_from(self.boundary(&(&self.behind + 1_u32))).ok().filter(|&time| time <= END)
    }

    /// The boundary behind, or the point it waits for.
    pub(crate) fn last(&self) -> u64 {
        u64::try_from(self.boundary(&self.behind)).map_or(END, |time| time.min(END))
    }

    pub(crate) fn rate(&self) -> (u64, u64) {
        let part = |part: &BigUint| u64::try_from(part).expect("it was one");
        (part(&self.numer), part(&self.denom))
    }

    pub(crate) fn alpha(&self, now: u64) -> Option<(BigUint, BigUint)> {
        let (last, next) = (self.last(), self.next()?);
        Some((now.saturating_sub(last).into(), (next - last).into()))
    }

    /// Passes the boundary ahead and says how long the step was.
    pub(crate) fn pass(&mut self) -> u64 {
        let (before, at) = (self.last(), self.next().expect("a boundary ahead"));
        self.behind += 1_u32;
        self.passed += 1;
        self.take_up_changes(at);
        at - before
    }

    /// Passes every boundary up to and including `time`.
    pub(crate) fn pass_until(&mut self, time: u64) {
        if self.next().is_none_or(|next| next > time) {
            return;
        }
        self.pass(); // A pending change takes effect here, and the rest is on the new grid.
        if self.next().is_some_and(|next| next <= time) {
            let target = self.first_at_or_after(time + 1) - 1_u32;
            self.passed += u64::try_from(&target - &self.behind).expect("a count of nanoseconds at most");
            self.behind = target;
        }
    }

    fn take_up_changes(&mut self, at: u64) {
        let rate = self.pending_rate.take();
        if let Some((numer, denom)) = rate {
            (self.numer, self.denom) = (numer.into(), denom.into());
        }
        if let Some(offset) = self.pending_offset.take() {
            self.offset = offset;
            self.origin = offset.into();
            self.behind = self.first_at_or_after(at);
        } else if rate.is_some() {
            self.origin = at.into();
            self.behind = BigUint::ZERO;
        }
    }

    /// A change counts at `now`. An origin that is still to come stays, unless the offset changes.
    pub(crate) fn change_without_boundary(&mut self, now: u64) {
        let waits_for =
            u64::try_from(self.boundary(&self.behind)).ok().filter(|&time| time <= END && time > now);
        let at = if self.pending_offset.is_some() { now } else { waits_for.unwrap_or(now) };
        self.take_up_changes(at);
    }

    /// Before the first step a change counts at once.
    pub(crate) fn begin_anew(&mut self) {
        if let Some((numer, denom)) = self.pending_rate.take() {
            (self.numer, self.denom) = (numer.into(), denom.into());
        }
        self.offset = self.pending_offset.take().unwrap_or(self.offset);
        self.origin = self.offset.into();
        self.behind = BigUint::ZERO;
    }
}
