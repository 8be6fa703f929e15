//! One frame: free phases, the steps that are due, and the account of its wall time.
//!
//! In the deterministic modes nothing here decides which steps there are, only how many of them run now.

use std::time::Duration;

use super::TimeManager;
use crate::context::FreeContext;
use crate::edit::Asker;
use crate::failure::{Cause, StepError, Stop};
use crate::mode::TimeMode;
use crate::phase::FreePhase;
use crate::report::{FrameReport, RunEnd};
use crate::runner::{RUNNERS_MAX, RunnerId};
use crate::sim_time::{duration_of, nanos_of};

/// Where things stood when a frame began.
struct FrameStart {
    clock: u64,
    now: u64,
    steps: u64,
    runner_steps: [u64; RUNNERS_MAX],
    runner_skips: [u64; RUNNERS_MAX],
}

impl<W, E> TimeManager<W, E> {
    /// Runs one frame after `elapsed` of wall time: the free phase before, the steps that are due, the free
    /// phase after.
    ///
    /// How many steps run depends on the mode, the time scale and the governor. In the deterministic modes the
    /// steps themselves do not: any sequence of frames gives the same sequence of steps. When a callback fails,
    /// the frame ends there; [`TimeManager::last_frame`] then has its report. So it has when one panics.
    ///
    /// ```
    /// use downbeat_time::TimeManager;
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// let report = time.tick(&mut (), Duration::from_millis(50))?;
    /// assert_eq!(report.steps, 3); // at 20, 33.3 and 40 ms
    /// assert_eq!(report.simulated + report.owed, Duration::from_millis(50));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn tick(&mut self, world: &mut W, elapsed: Duration) -> Result<FrameReport, Box<StepError<E>>> {
        let elapsed = nanos_of(elapsed);
        let start = self.begin_frame(elapsed);
        let outcome = self.frame_phases(world, elapsed, start.clock);
        let end = *outcome.as_ref().unwrap_or(&RunEnd::Paused);
        self.settle_wall_time(end, self.timeline.now - start.now);
        self.last_frame = self.report(&start, elapsed, end);
        self.timeline.frame = 0;
        self.factor.record(self.timeline.now - start.now, elapsed);
        outcome.map(|_| self.last_frame).map_err(Stop::into_failure)
    }

    /// The free phases and the steps between them.
    fn frame_phases(&mut self, world: &mut W, elapsed: u64, started: u64) -> Result<RunEnd, Stop<E>> {
        self.guarded(|manager| manager.run_free_phase(world, FreePhase::PreAcquisition, elapsed))?;
        let end = self.guarded_steps(|manager| manager.run_due_steps(world, started))?;
        self.guarded(|manager| manager.run_free_phase(world, FreePhase::PostExport, elapsed))?;
        Ok(end)
    }

    /// Books the frame's wall time as owed, less what is more than a frame may count.
    fn begin_frame(&mut self, elapsed: u64) -> FrameStart {
        self.frames += 1;
        self.timeline.frame = self.frames;
        let start = FrameStart {
            clock: self.clock.nanos(),
            now: self.timeline.now,
            steps: self.timeline.steps,
            runner_steps: self.per_runner(|manager, id| manager.timeline.clock(id).index),
            runner_skips: self.per_runner(Self::skipped),
        };
        self.ledger.deposit(elapsed);
        let excess = elapsed.saturating_sub(nanos_of(self.governor.elapsed_max));
        if self.paused {
            self.ledger.forgive(elapsed.into());
        } else if self.mode.is_realtime() {
            self.write_off(excess.into());
        }
        start
    }

    /// Steps until nothing is due, or the budget, the step limit, a gate, a pause or the end of time says stop.
    fn run_due_steps(&mut self, world: &mut W, started: u64) -> Result<RunEnd, Box<StepError<E>>> {
        if self.paused {
            return Ok(RunEnd::Paused);
        }
        let steps_max = self.governor.max_steps_per_frame.map_or(u64::MAX, u64::from);
        let budget = self.governor.budget_nanos();
        // What the free phase before has used counts against the budget, but not as the cost of a step.
        let mut mark = self.clock.nanos();
        // As wide as the timeline: without a cap, and on a clock that stands, nothing else ends a frame.
        for steps in 0_u64.. {
            let Some(due) = self.timeline.due() else { return Ok(RunEnd::EndOfTime) };
            let span = due.time - self.timeline.now;
            let realtime = self.mode.is_realtime();
            if realtime && !self.ledger.covers(span) {
                return Ok(RunEnd::Done);
            }
            if let Some(runner) = self.timeline.gate_against(due) {
                return Ok(RunEnd::Gate(runner));
            }
            let spent = mark.saturating_sub(started);
            if steps >= steps_max {
                return Ok(RunEnd::StepCap);
            }
            if steps > 0 && spent.saturating_add(self.costs.expected(due.fires)) > budget {
                return Ok(RunEnd::Budget);
            }

            let mut overdue = 0;
            if realtime {
                let owed = u64::try_from(self.ledger.overdue_wall(span)).unwrap_or(u64::MAX);
                overdue = owed.saturating_add(spent);
                self.ledger.simulate(span);
            }
            self.take_step(world, due, overdue)?;
            let ended = self.clock.nanos();
            self.costs.record(due.fires, ended.saturating_sub(mark));
            mark = ended;
            if self.paused {
                return Ok(RunEnd::Paused);
            }
        }
        Ok(RunEnd::StepCap)
    }

    /// Decides what becomes of the wall time that was not simulated.
    fn settle_wall_time(&mut self, end: RunEnd, advanced: u64) {
        let owed = self.ledger.owed_wall();
        if !self.mode.is_realtime() {
            self.ledger.simulate_wall(owed.min(advanced.into()));
            self.ledger.forgive(u128::MAX);
            return;
        }
        let owed_max = self.governor.owed_max.as_nanos();
        match end {
            // Less than a step is owed: it goes towards that step, however long the step is.
            RunEnd::Done => {}
            RunEnd::Budget | RunEnd::StepCap => self.write_off(owed.saturating_sub(owed_max)),
            RunEnd::Paused => self.ledger.forgive(owed.saturating_sub(owed_max)),
            // The timeline waits at the boundary and not a nanosecond longer: no burst after the release.
            RunEnd::Gate(_) => {
                let gap = self.timeline.due().map_or(0, |due| due.time - self.timeline.now);
                self.ledger.forgive(self.ledger.overdue_wall(gap));
            }
            RunEnd::EndOfTime => self.ledger.forgive(u128::MAX),
        }
    }

    /// Gives up wall time: the deterministic modes forgive it, `GameRealtime` jumps over it.
    fn write_off(&mut self, wall: u128) {
        if self.mode == TimeMode::GameRealtime && wall > 0 {
            let jump = self.ledger.skip(wall, self.timeline.skip_room());
            self.timeline.skip(jump);
            self.skipped_nanos = self.skipped_nanos.saturating_add(jump);
        } else {
            self.ledger.forgive(wall);
        }
    }

    fn run_free_phase(
        &mut self,
        world: &mut W,
        phase: FreePhase,
        delta: u64,
    ) -> Result<(), Box<StepError<E>>> {
        if !self.free_enabled[phase as usize] {
            return Ok(());
        }
        let mut failed = None;
        let (timeline, edits) = (&self.timeline, &self.edits);
        for free in self.free.iter_mut().filter(|free| free.phase == phase && free.runs()) {
            let context = FreeContext { timeline, edits, phase, delta_nanos: delta, id: free.id };
            if let Err(error) = (free.run)(world, &context) {
                failed = Some((free.id, error));
                break;
            }
        }
        let failure = failed
            .map(|(id, error)| self.failure(self.site_of(Asker::Free(id, phase)), Cause::Callback(error)));
        self.close(failure)
    }

    fn report(&self, start: &FrameStart, elapsed: u64, end: RunEnd) -> FrameReport {
        let booked = self.ledger.booked;
        let since = |now: u64, before: u64| now.saturating_sub(before);
        FrameReport {
            frame: self.frames,
            elapsed: Duration::from_nanos(elapsed),
            simulated: duration_of(booked.simulated),
            owed: duration_of(self.ledger.owed_wall()),
            forgiven: duration_of(booked.forgiven),
            skipped: duration_of(booked.skipped),
            advanced: Duration::from_nanos(self.timeline.now - start.now),
            cpu: Duration::from_nanos(since(self.clock.nanos(), start.clock)),
            steps: self.timeline.steps - start.steps,
            runner_steps: self.per_runner(|manager, id| {
                since(manager.timeline.clock(id).index, start.runner_steps[id.index()])
            }),
            runner_skips: self
                .per_runner(|manager, id| since(manager.skipped(id), start.runner_skips[id.index()])),
            end,
        }
    }

    fn per_runner(&self, value: impl Fn(&Self, RunnerId) -> u64) -> [u64; RUNNERS_MAX] {
        let mut values = [0; RUNNERS_MAX];
        RunnerId::all().for_each(|id| values[id.index()] = value(self, id));
        values
    }

    fn skipped(&self, id: RunnerId) -> u64 {
        self.timeline.runner(id).map_or(0, |runner| runner.skipped)
    }

    /// How long a realtime loop may sleep: until the next step is due, and at most half of what a frame may
    /// count, so that none of the time slept is written off.
    ///
    /// `None` while nothing can become due: paused, held by a gate, or at the end of time.
    pub fn until_due(&self) -> Option<Duration> {
        let due = self.timeline.due()?;
        if self.paused || self.timeline.gate_against(due).is_some() {
            return None;
        }
        if !self.mode.is_realtime() {
            return Some(Duration::ZERO);
        }
        let wall = Duration::from_nanos(self.ledger.wall_until(due.time - self.timeline.now));
        Some(wall.min(self.governor.elapsed_max / 2))
    }

    /// How far a runner is from its last boundary to its next, in [0, 1), with the wall time not yet simulated
    /// added: what a renderer blends the last two states by.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, TimeManager};
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.tick(&mut (), Duration::from_millis(25))?;
    /// assert_eq!(time.alpha(RunnerId::ROBOT), 0.25); // 5 of 20 ms
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn alpha(&self, runner: RunnerId) -> f64 {
        let ahead = if self.mode.is_realtime() { self.ledger.owed_sim() } else { 0 };
        self.timeline.clock(runner).alpha(self.timeline.now.saturating_add(ahead))
    }
}
