//! The shared timeline: where every runner stands, which step is next, and how it is taken or skipped.
//!
//! It does not call callbacks, read clocks or know modes; `TimeManager` does.

use crate::grid::{Grid, NEVER, RunnerClock};
use crate::hash::ScheduleHash;
use crate::rate::Rate;
use crate::runner::{RUNNERS_MAX, RunnerConfig, RunnerId, RunnerSet};
use crate::sim_time::SimTime;
use crate::state::RunnerSave;

/// The next step: when it ends and who fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) time: u64,
    pub(crate) fires: RunnerSet,
}

#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    pub(crate) now: u64,
    /// Simulation steps taken since the start.
    pub(crate) steps: u64,
    /// The frame under way, 0 outside frames.
    pub(crate) frame: u64,
    /// Who fired in the step that ended at `now`; empty after a skip.
    pub(crate) fired: RunnerSet,
    pub(crate) hash: ScheduleHash,
    clocks: [RunnerClock; RUNNERS_MAX],
    /// The nominal length of each runner's last step; a new rate shows here with its first step.
    step_secs: [f64; RUNNERS_MAX],
    /// One past the highest runner, so that a step looks at no vacant tail.
    clocks_len: usize,
    /// Closed gates without a release left: their boundaries may not be passed.
    blocked: RunnerSet,
    /// Runners whose firing has an after-effect: a gate to count down or a pending change to take in.
    special: RunnerSet,
    runners: [Option<Runner>; RUNNERS_MAX],
}

/// The settings and rarely touched state of one runner.
#[derive(Debug, Clone)]
pub(crate) struct Runner {
    pub(crate) config: RunnerConfig,
    pub(crate) grid: Grid,
    /// Changes that wait for the runner's next boundary.
    pub(crate) pending_rate: Option<Rate>,
    pub(crate) pending_offset: Option<SimTime>,
    /// The rate of the last step, while no step of a new rate has ended yet.
    pub(crate) rate_before: Option<Rate>,
    /// `Some(n)`: the gate is closed and n releases are left.
    pub(crate) gate: Option<u64>,
    pub(crate) skipped: u64,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Self {
            now: 0,
            steps: 0,
            frame: 0,
            fired: RunnerSet::EMPTY,
            hash: ScheduleHash::START,
            clocks: [RunnerClock::VACANT; RUNNERS_MAX],
            step_secs: [0.0; RUNNERS_MAX],
            clocks_len: 0,
            blocked: RunnerSet::EMPTY,
            special: RunnerSet::EMPTY,
            runners: [const { None }; RUNNERS_MAX],
        }
    }

    #[inline]
    pub(crate) fn clock(&self, id: RunnerId) -> &RunnerClock {
        &self.clocks[id.index()]
    }

    #[inline]
    pub(crate) fn step_secs(&self, id: RunnerId) -> f64 {
        self.step_secs[id.index()]
    }

    pub(crate) fn runner(&self, id: RunnerId) -> Option<&Runner> {
        self.runners[id.index()].as_ref()
    }

    pub(crate) fn runner_mut(&mut self, id: RunnerId) -> Option<&mut Runner> {
        self.runners[id.index()].as_mut()
    }

    pub(crate) fn active(&self) -> RunnerSet {
        RunnerId::all().filter(|&id| self.runner(id).is_some()).collect()
    }

    /// The earliest boundary ahead and all runners that reach it; `None` at the end of the timeline.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        let (mut time, mut bits) = (NEVER, 0_u8);
        for (clock, bit) in self.clocks.iter().take(self.clocks_len).zip((0..).map(|index| 1 << index)) {
            // Without a branch: which of several runners is next is hard to guess.
            let kept = if clock.next < time { 0 } else { bits };
            let added = if clock.next <= time { bit } else { 0 };
            (time, bits) = (time.min(clock.next), kept | added);
        }
        (time != NEVER).then_some(Due { time, fires: RunnerSet::from_bits(bits) })
    }

    /// The runner whose closed gate forbids this step.
    #[inline]
    pub(crate) fn gate_against(&self, due: Due) -> Option<RunnerId> {
        let blocking = due.fires.intersection(self.blocked);
        if blocking.is_empty() { None } else { blocking.iter().next() }
    }

    /// Moves to the end of the step: `now` becomes its time and the firing runners go one boundary on.
    #[inline]
    pub(crate) fn advance(&mut self, due: Due) {
        self.now = due.time;
        self.steps += 1;
        self.fired = due.fires;
        let mut bits = due.fires.bits();
        while bits != 0 {
            self.clocks[bits.trailing_zeros() as usize & (RUNNERS_MAX - 1)].advance();
            bits &= bits - 1;
        }
        let special = due.fires.intersection(self.special);
        if !special.is_empty() {
            self.settle(special);
        }
    }

    /// Counts down gates and takes in changes that waited for the boundary just reached.
    #[cold]
    fn settle(&mut self, special: RunnerSet) {
        for id in special.iter() {
            if let Some(runner) = self.runners[id.index()].as_mut() {
                runner.gate = runner.gate.map(|releases| releases.saturating_sub(1));
                runner.rate_before = None;
                self.step_secs[id.index()] = runner.config.rate.step_secs();
            }
            self.take_in_pending(id, self.clock(id).last);
            self.refresh_masks(id);
        }
    }

    /// Moves `now` on by `span` without firing; boundaries inside, the landing point included, count as skipped.
    pub(crate) fn skip(&mut self, span: u64) {
        self.now = self.now.saturating_add(span).min(SimTime::END.as_nanos());
        self.fired = RunnerSet::EMPTY;
        for id in RunnerId::all() {
            let index = id.index();
            if self.clocks[index].next > self.now {
                continue;
            }
            if self.special.contains(id) && self.has_pending(id) {
                // The change waited for this boundary. It takes effect there although the boundary is skipped.
                let RunnerClock { dt, index: fired, .. } = self.clocks[index];
                self.clocks[index].advance();
                self.clocks[index] = self.clocks[index].with_counts(dt, fired);
                self.count_skipped(id, 1);
                self.take_in_pending(id, self.clock(id).last);
                self.refresh_masks(id);
            }
            self.pass_boundaries(id);
        }
    }

    /// Places a clock on the last boundary that is not after `now`.
    fn pass_boundaries(&mut self, id: RunnerId) {
        let (now, clock) = (self.now, self.clocks[id.index()]);
        let Some(grid) = self.runner(id).map(|runner| runner.grid) else { return };
        if clock.next > now {
            return;
        }
        let k_of = |time: u64| grid.last_at_or_before(SimTime::from_nanos(time));
        let (here, there) = (k_of(clock.last), k_of(now));
        self.count_skipped(id, there - here);
        self.clocks[id.index()] = RunnerClock::on(grid, there).with_counts(clock.dt, clock.index);
    }

    fn count_skipped(&mut self, id: RunnerId, count: u64) {
        if let Some(runner) = self.runner_mut(id) {
            runner.skipped += count;
        }
    }

    /// How far `now` may jump without passing a boundary that is gated: releases are for steps that fire.
    pub(crate) fn skip_room(&self) -> u64 {
        let gated = RunnerId::all().filter(|&id| self.runner(id).is_some_and(|runner| runner.gate.is_some()));
        let room = gated.map(|id| self.clock(id).next.saturating_sub(self.now + 1)).min();
        room.unwrap_or(u64::MAX).min(SimTime::END.as_nanos() - self.now)
    }

    /// The first free id.
    pub(crate) fn vacant(&self) -> Option<RunnerId> {
        RunnerId::all().find(|&id| self.runner(id).is_none())
    }

    /// Adds a runner on the first point of its grid that is not in the past; it fires one full step later.
    pub(crate) fn add(&mut self, id: RunnerId, config: RunnerConfig) {
        let grid = Grid::new(config.rate, config.offset);
        self.runners[id.index()] = Some(Runner {
            config,
            grid,
            pending_rate: None,
            pending_offset: None,
            rate_before: None,
            gate: None,
            skipped: 0,
        });
        self.step_secs[id.index()] = grid.rate().step_secs();
        self.place(id, self.now);
        self.refresh_masks(id);
    }

    pub(crate) fn remove(&mut self, id: RunnerId) {
        self.runners[id.index()] = None;
        self.clocks[id.index()] = RunnerClock::VACANT;
        self.fired = self.fired.without(id);
        self.refresh_masks(id);
    }

    /// A new rate from the runner's next boundary on; at once before the scene's first step, or when there is no
    /// boundary ahead.
    pub(crate) fn set_rate(&mut self, id: RunnerId, rate: Rate) {
        self.change(id, |runner| runner.pending_rate = Some(rate));
    }

    /// A new offset, as [`Timeline::set_rate`].
    pub(crate) fn set_offset(&mut self, id: RunnerId, offset: SimTime) {
        self.change(id, |runner| runner.pending_offset = Some(offset));
    }

    pub(crate) fn set_gate(&mut self, id: RunnerId, gate: Option<u64>) {
        if let Some(runner) = self.runner_mut(id) {
            runner.gate = gate;
        }
        self.refresh_masks(id);
    }

    fn change(&mut self, id: RunnerId, ask: impl FnOnce(&mut Runner)) {
        if let Some(runner) = self.runner_mut(id) {
            ask(runner);
        }
        if self.now == 0 {
            // Nothing has run: the runner has not left its origin, so the change is simply its setting.
            if let Some(runner) = self.runner_mut(id) {
                runner.pending_offset.get_or_insert(runner.config.offset);
            }
            self.take_in_pending(id, self.clock(id).last);
            if let Some(runner) = self.runners[id.index()].as_mut() {
                runner.rate_before = None;
                self.step_secs[id.index()] = runner.config.rate.step_secs();
            }
        } else if self.clock(id).next == NEVER {
            // There is no boundary to wait for: the change would never come. An origin that is ahead stays.
            let last = self.clock(id).last;
            self.take_in_pending(id, if last == NEVER { self.now } else { last.max(self.now) });
        }
        self.refresh_masks(id);
    }

    fn has_pending(&self, id: RunnerId) -> bool {
        self.runner(id).is_some_and(|r| r.pending_rate.is_some() || r.pending_offset.is_some())
    }

    /// Applies a pending rate or offset at `here`, the boundary where the runner stands.
    ///
    /// A new rate alone moves the origin there. With an offset, the runner goes to the first point of the grid
    /// `offset + k · step` that is not in the past, as a runner added now would.
    fn take_in_pending(&mut self, id: RunnerId, here: u64) {
        let Some(runner) = self.runner_mut(id) else { return };
        let (rate, offset) = (runner.pending_rate.take(), runner.pending_offset.take());
        if rate.is_none() && offset.is_none() {
            return;
        }
        if let Some(rate) = rate {
            runner.rate_before = Some(std::mem::replace(&mut runner.config.rate, rate));
        }
        let origin = match offset {
            Some(offset) => {
                runner.config.offset = offset;
                offset
            }
            None => SimTime::from_nanos(here),
        };
        runner.grid = Grid::new(runner.config.rate, origin);
        // The clock may stand on an origin that is still to come, which a new offset does not wait for.
        self.place(id, here.min(self.now));
    }

    /// Puts the clock on the first boundary of its grid at or after `from`, keeping its counts.
    fn place(&mut self, id: RunnerId, from: u64) {
        let Some(grid) = self.runner(id).map(|runner| runner.grid) else { return };
        let RunnerClock { dt, index, .. } = self.clocks[id.index()];
        let k = grid.first_at_or_after(SimTime::from_nanos(from));
        let placed = k.map_or(RunnerClock::VACANT, |k| RunnerClock::on(grid, k));
        self.clocks[id.index()] = placed.with_counts(dt, index);
    }

    fn refresh_masks(&mut self, id: RunnerId) {
        let gate = self.runner(id).and_then(|runner| runner.gate);
        let set = |mask: RunnerSet, on: bool| if on { mask.with(id) } else { mask.without(id) };
        self.blocked = set(self.blocked, gate == Some(0));
        let fresh = self.runner(id).is_some_and(|runner| runner.rate_before.is_some());
        self.special = set(self.special, gate.is_some() || fresh || self.has_pending(id));
        self.clocks_len = self.runners.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    }

    pub(crate) fn save_runners(&self) -> Vec<RunnerSave> {
        let save = |id: RunnerId| {
            let (runner, clock) = (self.runner(id)?, self.clock(id));
            Some(RunnerSave {
                id,
                config: runner.config.clone(),
                origin: runner.grid.origin(),
                last: (clock.last != NEVER).then(|| SimTime::from_nanos(clock.last)),
                dt_nanos: clock.dt,
                index: clock.index,
                skipped: runner.skipped,
                pending_rate: runner.pending_rate,
                pending_offset: runner.pending_offset,
                rate_before: runner.rate_before,
                gate: runner.gate,
            })
        };
        RunnerId::all().filter_map(save).collect()
    }

    pub(crate) fn restore_runner(&mut self, save: &RunnerSave, clock: RunnerClock) {
        self.runners[save.id.index()] = Some(Runner {
            config: save.config.clone(),
            grid: Grid::new(save.config.rate, save.origin),
            pending_rate: save.pending_rate,
            pending_offset: save.pending_offset,
            rate_before: save.rate_before,
            gate: save.gate,
            skipped: save.skipped,
        });
        self.clocks[save.id.index()] = clock;
        self.step_secs[save.id.index()] = save.rate_before.unwrap_or(save.config.rate).step_secs();
        self.refresh_masks(save.id);
    }
}
