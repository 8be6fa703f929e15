//! Running steps on demand: pause, single step, step to a time, gates, settings of the clockwork.
//!
//! None of it looks at the wall clock; `manager/frame.rs` does.

use std::time::Duration;

use super::{StepWatcher, TimeManager};
use crate::clock::Clock;
use crate::edit::EditError;
use crate::failure::{StepError, Stop};
use crate::governor::Governor;
use crate::mode::{TimeMode, TimeScale};
use crate::profile::Profiling;
use crate::report::{RunEnd, RunReport};
use crate::runner::RunnerId;
use crate::sim_time::SimTime;

impl<W, E> TimeManager<W, E> {
    /// Stops frames from stepping. Steps asked for by [`TimeManager::step`] and its kin still run.
    ///
    /// ```
    /// use downbeat_time::TimeManager;
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.pause();
    /// assert_eq!(time.tick(&mut (), Duration::from_millis(100))?.steps, 0);
    /// time.step(&mut ())?;
    /// assert!(time.is_paused() && time.steps() == 1);
    /// time.resume();
    /// assert_eq!(time.tick(&mut (), Duration::from_millis(20))?.steps, 2);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Lets frames step again.
    pub fn resume(&mut self) {
        (self.paused, self.held) = (false, false);
    }

    /// Whether frames step.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Takes one simulation step, paused or not.
    pub fn step(&mut self, world: &mut W) -> Result<RunReport, Box<StepError<E>>> {
        self.run_steps(world, 1)
    }

    /// Takes `count` simulation steps, paused or not, as fast as they go.
    ///
    /// Ends early at a closed gate, at the end of time, or after a step in which a pause was asked for.
    pub fn run_steps(&mut self, world: &mut W, count: u64) -> Result<RunReport, Box<StepError<E>>> {
        self.run_while(world, count, SimTime::END)
    }

    /// Takes all steps that end at or before `time`, paused or not, as fast as they go.
    ///
    /// ```
    /// use downbeat_time::{SimTime, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// let report = time.step_to(&mut (), SimTime::from_nanos(70_000_000))?;
    /// assert_eq!((report.steps, time.now().as_nanos()), (5, 66_666_666));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn step_to(&mut self, world: &mut W, time: SimTime) -> Result<RunReport, Box<StepError<E>>> {
        let report = self.run_while(world, u64::MAX, time)?;
        self.run_until = if report.end == RunEnd::Done { time.as_nanos() } else { self.timeline.now };
        Ok(report)
    }

    /// Takes all steps of the next `span` of simulated time, as [`TimeManager::step_to`].
    ///
    /// Spans add up: where one ends between two boundaries, the next goes on from there.
    ///
    /// ```
    /// use downbeat_time::TimeManager;
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// for _ in 0..10 {
    ///     time.run_for(&mut (), Duration::from_millis(10))?;
    /// }
    /// assert_eq!(time.now().as_nanos(), 100_000_000);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn run_for(&mut self, world: &mut W, span: Duration) -> Result<RunReport, Box<StepError<E>>> {
        let from = SimTime::from_nanos(self.run_until.max(self.timeline.now));
        self.step_to(world, from.saturating_add(span))
    }

    fn run_while(
        &mut self,
        world: &mut W,
        count: u64,
        until: SimTime,
    ) -> Result<RunReport, Box<StepError<E>>> {
        // A pause asked for inside the run must end it, also when the manager was paused before.
        self.held = std::mem::take(&mut self.paused);
        let (before, steps_before) = (self.timeline.now, self.timeline.steps);
        let outcome = self.guarded_steps(|manager| manager.run_until_stopped(world, count, until.as_nanos()));
        self.paused |= std::mem::take(&mut self.held);
        Ok(RunReport {
            end: outcome.map_err(Stop::into_failure)?,
            steps: self.timeline.steps - steps_before,
            advanced: Duration::from_nanos(self.timeline.now - before),
        })
    }

    fn run_until_stopped(
        &mut self,
        world: &mut W,
        count: u64,
        until: u64,
    ) -> Result<RunEnd, Box<StepError<E>>> {
        for _ in 0..count {
            let Some(due) = self.timeline.due() else { return Ok(RunEnd::EndOfTime) };
            if due.time > until {
                return Ok(RunEnd::Done);
            }
            if let Some(runner) = self.timeline.gate_against(due) {
                return Ok(RunEnd::Gate(runner));
            }
            self.take_step(world, due, 0)?;
            if self.paused {
                return Ok(RunEnd::Paused);
            }
        }
        Ok(RunEnd::Done)
    }

    /// Jumps over simulated time, as `GameRealtime` does with time that it cannot simulate: boundaries inside do not
    /// fire and count as skipped. A replay jumps where the run did. A gated boundary is not passed: what is left of
    /// the span is not jumped over.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, TimeManager};
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.skip(Duration::from_millis(50));
    /// assert_eq!(time.skipped_time(), Duration::from_millis(50));
    /// time.step(&mut ())?;
    /// assert_eq!(time.now().as_nanos(), 60_000_000); // not 20 and 40 ms
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn skip(&mut self, span: Duration) {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).min(self.timeline.skip_room());
        self.timeline.skip(span);
        self.skipped_nanos = self.skipped_nanos.saturating_add(span);
    }

    /// How much simulated time this manager has jumped over since it was made. A restore does not change it.
    pub fn skipped_time(&self) -> Duration {
        Duration::from_nanos(self.skipped_nanos)
    }

    /// Sets who looks at the world after each step, also after one that failed; `None` for nobody. Returns who did so
    /// before.
    ///
    /// ```
    /// use downbeat_time::TimeManager;
    ///
    /// let mut time = TimeManager::<Vec<u64>>::default();
    /// time.watch_steps(Some(|seen, time| seen.push(time.now().as_nanos())));
    /// let mut seen = Vec::new();
    /// time.run_steps(&mut seen, 2)?;
    /// assert_eq!(seen, [20_000_000, 33_333_333]);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn watch_steps(&mut self, watcher: Option<StepWatcher<W, E>>) -> Option<StepWatcher<W, E>> {
        std::mem::replace(&mut self.watcher, watcher)
    }

    /// Closes a runner's gate: the timeline may not reach its next boundary until released, in every mode.
    ///
    /// ```
    /// use downbeat_time::{RunEnd, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.close_gate(RunnerId::ROBOT)?;
    /// assert_eq!(time.run_steps(&mut (), 10)?.end, RunEnd::Gate(RunnerId::ROBOT));
    /// time.release(RunnerId::ROBOT, 1)?;
    /// assert_eq!(time.run_steps(&mut (), 10)?.steps, 2); // Robot at 20 ms, then Capture at 33.3 ms
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn close_gate(&mut self, id: RunnerId) -> Result<(), EditError> {
        let gate = self.known_runner(id)?.gate;
        self.timeline.set_gate(id, Some(gate.unwrap_or(0)));
        Ok(())
    }

    /// Opens a runner's gate and forgets what releases were left.
    ///
    /// ```
    /// use downbeat_time::{RunEnd, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.close_gate(RunnerId::ROBOT)?;
    /// time.open_gate(RunnerId::ROBOT)?;
    /// assert_eq!(time.gate(RunnerId::ROBOT), None);
    /// assert_eq!(time.run_steps(&mut (), 10)?.end, RunEnd::Done);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn open_gate(&mut self, id: RunnerId) -> Result<(), EditError> {
        self.known_runner(id)?;
        self.timeline.set_gate(id, None);
        Ok(())
    }

    /// Lets a gated runner pass `steps` more boundaries. Releases add up.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.close_gate(RunnerId::CAPTURE)?;
    /// time.release(RunnerId::CAPTURE, 1)?;
    /// time.release(RunnerId::CAPTURE, 1)?;
    /// time.run_steps(&mut (), 100)?;
    /// assert_eq!(time.now().as_nanos(), 80_000_000); // Capture has passed 33.3 and 66.7 ms, not 100 ms
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn release(&mut self, id: RunnerId, steps: u64) -> Result<(), EditError> {
        let runner = self.known_runner(id)?;
        let Some(left) = runner.gate else {
            return Err(EditError::NotGated { name: runner.config.name.clone() });
        };
        self.timeline.set_gate(id, Some(left.saturating_add(steps)));
        Ok(())
    }

    /// Releases left at a runner's closed gate; `None` when the gate is open.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// assert_eq!(time.gate(RunnerId::ROBOT), None);
    /// time.close_gate(RunnerId::ROBOT)?;
    /// time.release(RunnerId::ROBOT, 3)?;
    /// time.step(&mut ())?;
    /// assert_eq!(time.gate(RunnerId::ROBOT), Some(2));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn gate(&self, id: RunnerId) -> Option<u64> {
        self.timeline.runner(id)?.gate
    }

    /// How the timeline follows the wall clock.
    pub fn mode(&self) -> TimeMode {
        self.mode
    }

    /// Changes the mode, at once.
    ///
    /// As an [`Edit`](crate::Edit) asked for inside a frame it counts for the rest of that frame: whether further
    /// steps wait for the wall clock, and what becomes of the time that is left. Nothing is lost over a change:
    /// the frame's account adds up.
    pub fn set_mode(&mut self, mode: TimeMode) {
        self.mode = mode;
        self.refresh_profiler();
    }

    /// Simulated seconds per second of wall time.
    pub fn time_scale(&self) -> TimeScale {
        self.ledger.scale()
    }

    /// Changes how fast the realtime modes go. Step lengths never change.
    ///
    /// ```
    /// use downbeat_time::{TimeManager, TimeScale};
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.set_time_scale(TimeScale::new(1, 2)?);
    /// assert_eq!(time.tick(&mut (), Duration::from_millis(200))?.advanced, Duration::from_millis(100));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn set_time_scale(&mut self, scale: TimeScale) {
        self.ledger.set_scale(scale);
    }

    /// The limits of a frame.
    pub fn governor(&self) -> Governor {
        self.governor
    }

    /// Changes the limits of a frame.
    pub fn set_governor(&mut self, governor: Governor) -> Result<(), EditError> {
        governor.check()?;
        self.governor = governor;
        Ok(())
    }

    /// Changes the clock that budgets and profiles are measured with.
    ///
    /// A [`ManualClock`](crate::ManualClock) that nobody moves sees no budget spent: in `SimHighPerformance` a
    /// frame then goes on to the end of time unless `max_steps_per_frame`, a gate or a pause ends it.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Whether callbacks are timed.
    pub fn profiling(&self) -> Profiling {
        self.profiling
    }

    /// Changes whether callbacks are timed.
    pub fn set_profiling(&mut self, profiling: Profiling) {
        self.profiling = profiling;
        self.refresh_profiler();
    }

    pub(super) fn refresh_profiler(&mut self) {
        self.profiler.set_on(self.profiling.is_on(self.mode), self.callbacks.slots.len());
    }
}
