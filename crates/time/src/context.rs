//! What a callback is told: its own step, and where every other runner stands.
//!
//! A context is a view of the timeline for the length of one call. It owns nothing and computes on demand, so a
//! callback that asks for nothing pays for nothing.

use std::time::Duration;

use crate::callback::{FreeCallbackId, Turn};
use crate::edit::{Asker, Edit, EditQueue, EditQueueFull};
use crate::phase::{FreePhase, Phase};
use crate::runner::{RunnerId, RunnerSet};
use crate::sim_time::SimTime;
use crate::timeline::Timeline;

/// What a callback knows about the step it runs in.
///
/// ```
/// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
///
/// let mut time = TimeManager::<Vec<String>>::default();
/// time.register("log", Binding::new(RunnerId::CAPTURE, Phase::Export), |log, ctx| {
///     let robot = ctx.swarm().get(RunnerId::ROBOT).expect("a new scene has Robot");
///     log.push(format!("{} after {} ns, robot at {:.2}", ctx.now(), ctx.dt_nanos(), robot.alpha));
/// })?;
/// let mut log = Vec::new();
/// time.run_steps(&mut log, 2)?;
/// assert_eq!(log, ["33.333333 ms after 33333333 ns, robot at 0.67"]);
/// # Ok::<(), downbeat_time::BoxError>(())
/// ```
#[derive(Debug)]
pub struct StepContext<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) edits: &'a EditQueue,
    pub(crate) turn: Turn,
}

impl StepContext<'_> {
    /// The exact length of this runner's step, from its boundary before to this one.
    #[inline]
    pub fn dt(&self) -> Duration {
        Duration::from_nanos(self.dt_nanos())
    }

    /// [`StepContext::dt`] in nanoseconds.
    #[inline]
    pub fn dt_nanos(&self) -> u64 {
        self.timeline.clock(self.turn.runner).dt
    }

    /// The nominal length of this runner's step in seconds: the same float in every step.
    #[inline]
    pub fn dt_secs(&self) -> f64 {
        self.timeline.step_secs(self.turn.runner)
    }

    /// The runner that fires this callback.
    #[inline]
    pub fn runner(&self) -> RunnerId {
        self.turn.runner
    }

    /// The phase under way.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.turn.phase
    }

    /// The time at which this step ends.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime::from_nanos(self.timeline.now)
    }

    /// Which step of its runner this is, counted from 1; skipped boundaries do not count.
    #[inline]
    pub fn step_index(&self) -> u64 {
        self.timeline.clock(self.turn.runner).index
    }

    /// The frame this step belongs to, counted from 1; 0 when steps are run outside a frame.
    #[inline]
    pub fn frame(&self) -> u64 {
        self.timeline.frame
    }

    /// The runners that fire in this step.
    #[inline]
    pub fn fired(&self) -> RunnerSet {
        self.timeline.fired
    }

    /// Every runner's live state.
    #[inline]
    pub fn swarm(&self) -> Swarm<'_> {
        Swarm { timeline: self.timeline }
    }

    /// How far `runner` is toward its next boundary, in [0, 1): 0 when it has just fired, or does not exist.
    #[inline]
    pub fn alpha(&self, runner: RunnerId) -> f64 {
        self.timeline.clock(runner).alpha(self.timeline.now)
    }

    /// Asks for a change. It takes effect before the next step; a change that is refused then pauses the
    /// manager and is reported with the name of this callback.
    pub fn request(&self, edit: Edit) -> Result<(), EditQueueFull> {
        self.edits.push(Asker::Step(self.turn), edit)
    }
}

/// What a free callback knows about its frame.
#[derive(Debug)]
pub struct FreeContext<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) edits: &'a EditQueue,
    pub(crate) phase: FreePhase,
    pub(crate) delta_nanos: u64,
    pub(crate) id: FreeCallbackId,
}

impl FreeContext<'_> {
    /// Wall time since the frame before: the value handed to `tick`, neither clamped nor scaled.
    #[inline]
    pub fn delta(&self) -> Duration {
        Duration::from_nanos(self.delta_nanos)
    }

    /// The free phase under way.
    #[inline]
    pub fn phase(&self) -> FreePhase {
        self.phase
    }

    /// Where the timeline stands.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime::from_nanos(self.timeline.now)
    }

    /// This frame's number, counted from 1.
    #[inline]
    pub fn frame(&self) -> u64 {
        self.timeline.frame
    }

    /// Every runner's live state.
    #[inline]
    pub fn swarm(&self) -> Swarm<'_> {
        Swarm { timeline: self.timeline }
    }

    /// Asks for a change, as [`StepContext::request`].
    pub fn request(&self, edit: Edit) -> Result<(), EditQueueFull> {
        self.edits.push(Asker::Free(self.id, self.phase), edit)
    }
}

/// Every runner's live state: the bridge between rates.
///
/// Inside a step it shows the step's end; between steps it shows where the timeline stands.
#[derive(Debug, Clone, Copy)]
pub struct Swarm<'a> {
    pub(crate) timeline: &'a Timeline,
}

impl<'a> Swarm<'a> {
    /// One runner's state, or `None` when there is no such runner.
    pub fn get(self, id: RunnerId) -> Option<RunnerState<'a>> {
        let runner = self.timeline.runner(id)?;
        let clock = self.timeline.clock(id);
        Some(RunnerState {
            id,
            name: &runner.config.name,
            step: Duration::from_nanos(clock.step_nanos()),
            index: clock.index,
            skipped: runner.skipped,
            last: SimTime::from_nanos(clock.last),
            next: SimTime::from_nanos(clock.next),
            fires: self.timeline.fired.contains(id),
            alpha: clock.alpha(self.timeline.now),
        })
    }

    /// All runners, lowest id first.
    pub fn iter(self) -> impl Iterator<Item = RunnerState<'a>> {
        RunnerId::all().filter_map(move |id| self.get(id))
    }
}

/// Where one runner stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunnerState<'a> {
    /// The runner.
    pub id: RunnerId,
    /// Its name.
    pub name: &'a str,
    /// The exact length of the step under way, from `last` to `next`.
    pub step: Duration,
    /// Steps fired so far.
    pub index: u64,
    /// Boundaries passed without firing, which only `GameRealtime` does.
    pub skipped: u64,
    /// The boundary behind, or the runner's origin while that lies ahead.
    pub last: SimTime,
    /// The boundary ahead; [`SimTime::END`] when it lies beyond the timeline.
    pub next: SimTime,
    /// Whether it fires in this step.
    pub fires: bool,
    /// How far the timeline is from `last` to `next`, in [0, 1).
    pub alpha: f64,
}
