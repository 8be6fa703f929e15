//! What a frame, or a run of steps, has done.
//!
//! Reports are plain values; nothing is accumulated here except the window of the real-time factor.

use std::time::Duration;

use crate::runner::{RUNNERS_MAX, RunnerId};

/// What one `tick` has done.
///
/// The wall time adds up to the nanosecond: what was owed before plus `elapsed` is
/// `simulated + owed + forgiven + skipped`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FrameReport {
    /// The frame's number, counted from 1.
    pub frame: u64,
    /// Wall time handed to the frame.
    pub elapsed: Duration,
    /// Wall time covered by the steps of this frame.
    pub simulated: Duration,
    /// Wall time carried to the next frame.
    pub owed: Duration,
    /// Wall time given up: the timeline fell behind the wall clock by this much.
    pub forgiven: Duration,
    /// Wall time jumped over without firing, which only `GameRealtime` does.
    pub skipped: Duration,
    /// How far the timeline has moved, skipped time included.
    pub advanced: Duration,
    /// CPU time of the frame as its clock saw it.
    pub cpu: Duration,
    /// Simulation steps taken.
    pub steps: u64,
    /// Steps fired per runner, by runner number.
    pub runner_steps: [u64; RUNNERS_MAX],
    /// Boundaries skipped per runner, by runner number.
    pub runner_skips: [u64; RUNNERS_MAX],
    /// Why stepping ended.
    pub end: RunEnd,
}

/// What a run of steps outside a frame has done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RunReport {
    /// Simulation steps taken.
    pub steps: u64,
    /// How far the timeline has moved.
    pub advanced: Duration,
    /// Why stepping ended.
    pub end: RunEnd,
}

/// Why stepping ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Everything that was due or asked for has run.
    #[default]
    Done,
    /// The frame's CPU budget would have been passed.
    Budget,
    /// The frame's step limit was reached.
    StepCap,
    /// This runner's gate is closed.
    Gate(RunnerId),
    /// The manager is paused.
    Paused,
    /// No runner has another boundary on the timeline.
    EndOfTime,
}

/// Simulated time over wall time, over the last frames.
#[derive(Debug, Clone)]
pub(crate) struct RealTimeFactor {
    /// Simulated and wall nanoseconds of each frame, oldest overwritten first.
    frames: [(u64, u64); FRAMES],
    next: usize,
}

const FRAMES: usize = 64;

impl RealTimeFactor {
    pub(crate) const fn new() -> Self {
        Self { frames: [(0, 0); FRAMES], next: 0 }
    }

    pub(crate) fn record(&mut self, simulated: u64, wall: u64) {
        self.frames[self.next] = (simulated, wall);
        self.next = (self.next + 1) % FRAMES;
    }

    /// `None` before any wall time has passed.
    pub(crate) fn value(&self) -> Option<f64> {
        let (simulated, wall) = self
            .frames
            .iter()
            .fold((0_u128, 0_u128), |(s, w), &(sim, wall)| (s + u128::from(sim), w + u128::from(wall)));
        (wall > 0).then(|| simulated as f64 / wall as f64)
    }
}
