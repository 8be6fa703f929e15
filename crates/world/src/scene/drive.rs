//! Running a scene. These are the time manager's ways to run, over this scene's world.

use std::time::Duration;

use downbeat_time::{Clock, FrameReport, Governor, Profiling, RunReport, SimTime, StepError, TimeMode};

use super::Scene;

impl Scene {
    /// One frame of a loop of yours, with the wall time that has passed.
    pub fn tick(&mut self, elapsed: Duration) -> Result<FrameReport, Box<StepError>> {
        self.time.tick(&mut self.stage, elapsed)
    }

    /// So many steps, as fast as they go.
    pub fn run_steps(&mut self, count: u64) -> Result<RunReport, Box<StepError>> {
        self.time.run_steps(&mut self.stage, count)
    }

    /// All steps up to a time, as fast as they go.
    pub fn step_to(&mut self, time: SimTime) -> Result<RunReport, Box<StepError>> {
        self.time.step_to(&mut self.stage, time)
    }

    /// So much simulated time, as fast as it goes.
    pub fn run_for(&mut self, span: Duration) -> Result<RunReport, Box<StepError>> {
        self.time.run_for(&mut self.stage, span)
    }

    /// Jumps over simulated time, as a run did that is played again.
    pub(crate) fn skip(&mut self, span: Duration) {
        self.time.skip(span);
    }

    /// Sets how frames are budgeted. It decides when steps run, never which.
    pub fn set_governor(&mut self, governor: Governor) -> Result<(), downbeat_time::EditError> {
        self.time.set_governor(governor)
    }

    /// Sets the clock that budgets and costs are measured with.
    pub fn set_clock(&mut self, clock: Clock) {
        self.time.set_clock(clock);
    }

    /// Sets how much is measured.
    pub fn set_profiling(&mut self, profiling: Profiling) {
        self.time.set_profiling(profiling);
    }

    /// Sets the time mode.
    pub fn set_mode(&mut self, mode: TimeMode) {
        self.time.set_mode(mode);
    }
}
