//! The conductor: owns the timeline and the callbacks and takes steps.
//!
//! This file is the manager itself and one step. Its rooms: `manager/registration.rs` changes what runs,
//! `manager/runners.rs` who fires, `manager/control.rs` runs steps on demand, `manager/frame.rs` runs a frame,
//! `manager/insight.rs` shows what is going on. It does not own a thread, and it reads a clock only to keep budgets and to profile.

mod control;
mod frame;
mod insight;
mod registration;
mod runners;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::callback::{CallbackId, CallbackTable, FreeCallback, StepFn, Turn};
use crate::clock::Clock;
use crate::context::StepContext;
use crate::edit::{Asker, Edit, EditError, EditQueue};
use crate::failure::{BoxError, Cause, Site, StepError, Stop};
use crate::governor::{CostModel, Governor};
use crate::hash::ScheduleHash;
use crate::ledger::Ledger;
use crate::mode::{TimeMode, TimeScale};
use crate::order::OrderTable;
use crate::phase::Phase;
use crate::profile::{Profiler, Profiling, StepTiming};
use crate::report::{FrameReport, RealTimeFactor};
use crate::runner::{RunnerConfig, RunnerId, RunnerSet};
use crate::sim_time::SimTime;
use crate::state::CallbackSave;
use crate::timeline::{Due, Timeline};

/// What a manager starts with.
///
/// ```
/// use downbeat_time::{Rate, RunnerConfig, TimeConfig, TimeManager, TimeMode};
///
/// let config = TimeConfig {
///     runners: vec![RunnerConfig::new("Physics", Rate::hz(500)?), RunnerConfig::new("Control", Rate::hz(100)?)],
///     mode: TimeMode::SimHighPerformance,
///     ..TimeConfig::default()
/// };
/// let time = TimeManager::<()>::new(config)?;
/// assert_eq!(time.runner_id("Control").map(|id| id.number()), Some(1));
/// # Ok::<(), downbeat_time::BoxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TimeConfig {
    /// One to eight runners; the first gets id 0.
    pub runners: Vec<RunnerConfig>,
    /// How the timeline follows the wall clock.
    pub mode: TimeMode,
    /// Simulated seconds per second of wall time.
    pub scale: TimeScale,
    /// Limits of a frame.
    pub governor: Governor,
    /// Whether callbacks are timed.
    pub profiling: Profiling,
}

impl Default for TimeConfig {
    fn default() -> Self {
        Self {
            runners: RunnerConfig::defaults(),
            mode: TimeMode::default(),
            scale: TimeScale::default(),
            governor: Governor::default(),
            profiling: Profiling::default(),
        }
    }
}

/// Runs callbacks over a world `W` at several fixed rates on one timeline.
///
/// The world is handed to every call, so callbacks share it without cells or locks. `E` is the error a callback
/// may return.
///
/// A panic pauses the manager: it unwinds to the caller, and where that catches it, the manager is paused and
/// usable. The step counts as taken, the callbacks after the one that panicked have not run in it, the changes
/// asked for in it are dropped, and [`TimeManager::last_frame`] has the report of the frame. What the panic has
/// made of the world is for the caller to judge.
///
/// ```
/// use downbeat_time::{Binding, Phase, RunnerId, SimTime, TimeManager};
///
/// #[derive(Default)]
/// struct World { position: f64, samples: Vec<f64> }
///
/// let mut time = TimeManager::<World>::default();
/// time.register("drive", Binding::new(RunnerId::ROBOT, Phase::Control), |world, ctx| {
///     world.position += 2.0 * ctx.dt_secs();
/// })?;
/// time.register("record", Binding::new(RunnerId::CAPTURE, Phase::Export), |world, _| {
///     world.samples.push(world.position);
/// })?;
///
/// let mut world = World::default();
/// time.step_to(&mut world, SimTime::from_nanos(100_000_000))?;
/// assert_eq!(world.samples, [0.04, 0.12, 0.2]);
/// # Ok::<(), downbeat_time::BoxError>(())
/// ```
pub struct TimeManager<W, E = BoxError> {
    timeline: Timeline,
    callbacks: CallbackTable<W, E>,
    orders: OrderTable,
    edits: EditQueue,
    /// Sorted by phase, priority and registration.
    free: Vec<FreeCallback<W, E>>,
    free_count: u32,
    free_enabled: [bool; 2],
    mode: TimeMode,
    paused: bool,
    /// Paused before the run on demand that is under way, and to be so again after it.
    held: bool,
    /// Frames so far.
    frames: u64,
    /// How far runs on demand have come: past `now` when the last of them ended between two boundaries.
    run_until: u64,
    governor: Governor,
    ledger: Ledger,
    costs: CostModel,
    clock: Clock,
    profiling: Profiling,
    profiler: Profiler,
    factor: RealTimeFactor,
    last_frame: FrameReport,
    watcher: Option<StepWatcher<W, E>>,
    /// Simulated time that was jumped over since this manager was made.
    skipped_nanos: u64,
}

/// Looks at the world after each step. It is no callback: no order, hash or cost knows of it.
pub type StepWatcher<W, E = BoxError> = fn(&mut W, &TimeManager<W, E>);

impl<W> TimeManager<W> {
    /// A manager whose callbacks return [`BoxError`].
    pub fn new(config: TimeConfig) -> Result<Self, EditError> {
        Self::with_errors(config)
    }
}

impl<W> Default for TimeManager<W> {
    /// Robot at 50 Hz and Capture at 30 Hz in `SimRealtime`.
    fn default() -> Self {
        Self::new(TimeConfig::default()).expect("the default configuration is valid")
    }
}

impl<W, E> TimeManager<W, E> {
    /// A manager whose callbacks return errors of a type of your own.
    pub fn with_errors(config: TimeConfig) -> Result<Self, EditError> {
        let mut manager = Self {
            timeline: Timeline::new(),
            callbacks: CallbackTable::new(),
            orders: OrderTable::new(),
            edits: EditQueue::default(),
            free: Vec::new(),
            free_count: 0,
            free_enabled: [false; 2],
            mode: TimeMode::default(),
            paused: false,
            held: false,
            frames: 0,
            run_until: 0,
            governor: Governor::default(),
            ledger: Ledger::new(),
            costs: CostModel::new(),
            clock: Clock::system(),
            profiling: config.profiling,
            profiler: Profiler::default(),
            factor: RealTimeFactor::new(),
            last_frame: FrameReport::default(),
            watcher: None,
            skipped_nanos: 0,
        };
        if config.runners.is_empty() {
            return Err(EditError::NoRunner);
        }
        for runner in config.runners {
            manager.add_runner(runner)?;
        }
        manager.set_mode(config.mode);
        manager.set_time_scale(config.scale);
        manager.set_governor(config.governor)?;
        Ok(manager)
    }

    /// Where the timeline stands.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime::from_nanos(self.timeline.now)
    }

    /// Simulation steps taken since the start.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.timeline.steps
    }

    /// When the next step ends and who fires in it; `None` at the end of time.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, RunnerSet, SimTime, TimeManager};
    ///
    /// let time = TimeManager::<()>::default();
    /// assert_eq!(time.next_step(), Some((SimTime::from_nanos(20_000_000), RunnerSet::only(RunnerId::ROBOT))));
    /// ```
    pub fn next_step(&self) -> Option<(SimTime, RunnerSet)> {
        self.timeline.due().map(|due| (SimTime::from_nanos(due.time), due.fires))
    }

    pub(crate) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    pub(crate) fn run_until(&self) -> SimTime {
        SimTime::from_nanos(self.run_until)
    }

    /// Whether a run on demand is under way that will leave the manager paused, as it was before.
    pub(crate) fn is_held(&self) -> bool {
        self.held
    }

    /// Frames so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Swaps in a restored timeline and the callbacks that go with it. Wall time owed to the old one is dropped.
    pub(crate) fn replace_timeline<'a>(
        &mut self,
        timeline: Timeline,
        run_until: SimTime,
        frames: u64,
        callbacks: impl Iterator<Item = (CallbackId, &'a CallbackSave)>,
        shuffle_seed: Option<u64>,
    ) {
        (self.run_until, self.frames) = (run_until.as_nanos(), frames);
        self.timeline = timeline;
        self.ledger = Ledger::new();
        for (id, saved) in callbacks {
            self.callbacks.bind(id.slot, saved.binding);
            let info = &mut self.callbacks.infos[id.slot as usize];
            info.name.clone_from(&saved.name);
            info.enabled = saved.enabled;
        }
        self.orders.set_shuffle_seed(shuffle_seed);
        self.orders.rebuild(&self.callbacks.infos);
        self.orders.invalidate(self.timeline.active());
    }

    /// One simulation step: everybody moves to `due.time`, those who reached a boundary fire.
    ///
    /// `overdue` is by how much wall time the step comes late; it matters to the profiler alone.
    #[inline]
    fn take_step(&mut self, world: &mut W, due: Due, overdue: u64) -> Result<(), Box<StepError<E>>> {
        self.timeline.advance(due);
        let list = self.orders.resolve(due.fires, &self.callbacks.infos);
        self.timeline.hash.fold(due.time);
        self.timeline.hash.fold(list.fingerprint);

        let (slots, context) = (&mut self.callbacks.slots, context(&self.timeline, &self.edits));
        let outcome = if self.profiler.is_on() {
            dispatch_timed(&list.turns, slots, world, context, &mut self.profiler, &self.clock, overdue)
        } else {
            dispatch(&list.turns, slots, world, context)
        };

        let closed =
            if outcome.is_ok() && self.edits.is_empty() { Ok(()) } else { self.close_step(outcome.err()) };
        if let Some(watcher) = self.watcher {
            watcher(world, self);
        }
        closed
    }

    /// The uncommon end of a step: changes to apply, or a failure to report.
    #[cold]
    fn close_step(&mut self, failed: Option<(Turn, E)>) -> Result<(), Box<StepError<E>>> {
        let failure = failed.map(|(turn, error)| {
            // A step that broke off must not look like one that ran through.
            self.timeline.hash.fold(self.callbacks.infos[turn.slot as usize].identity);
            self.failure(self.site_of(Asker::Step(turn)), Cause::Callback(error))
        });
        self.close(failure)
    }

    /// Applies what was asked for and returns what went wrong, the callback's own failure first.
    fn close(&mut self, failure: Option<Box<StepError<E>>>) -> Result<(), Box<StepError<E>>> {
        let refused = self.apply_requested();
        let Some(failure) = failure.or(refused) else { return Ok(()) };
        // Last, because someone may have asked to resume: a failure pauses whatever else was asked for.
        self.paused = true;
        Err(failure)
    }

    /// Applies what was asked for inside the step. All of it is tried; the first refusal is returned.
    fn apply_requested(&mut self) -> Option<Box<StepError<E>>> {
        let mut edits = self.edits.take();
        // Who asked is told by the names of the step, which the changes themselves may replace.
        let names_change = edits.iter().any(|(_, edit)| edit.changes_names());
        let sites: Vec<_> =
            edits.iter().filter(|_| names_change).map(|&(asker, _)| self.site_of(asker)).collect();
        let mut first_refusal = None;
        for (index, (asker, edit)) in edits.drain(..).enumerate() {
            if let Err((edit, error)) = self.apply_keeping(edit) {
                first_refusal.get_or_insert_with(|| {
                    let site = sites.get(index).cloned().unwrap_or_else(|| self.site_of(asker));
                    self.failure(site, Cause::Edit { edit, error })
                });
            }
        }
        self.edits.recycle(edits);
        first_refusal
    }

    /// Applies an edit, handing it back when it is refused.
    fn apply_keeping(&mut self, edit: Edit) -> Result<(), (Edit, EditError)> {
        self.apply(edit.clone()).map_err(|error| (edit, error))
    }

    fn failure(&self, (callback, site): (String, Site), cause: Cause<E>) -> Box<StepError<E>> {
        Box::new(StepError { callback, site, time: self.now(), cause })
    }

    /// A callback's name and where it ran.
    fn site_of(&self, asker: Asker) -> (String, Site) {
        match asker {
            Asker::Step(Turn { slot, runner, phase }) => {
                let runner_name = self.runner_name(runner).to_owned();
                (self.callbacks.infos[slot as usize].name.clone(), Site::Step { runner, runner_name, phase })
            }
            Asker::Free(id, phase) => {
                let free = self.free.iter().find(|free| free.id == id);
                (free.map(|free| free.name.clone()).unwrap_or_default(), Site::Free(phase))
            }
        }
    }

    /// Runs callbacks so that a panic in one of them leaves the manager paused and whole.
    ///
    /// The timeline moves before the callbacks of a step run, so a panic finds it between two steps. What is left
    /// to put right is what the step had asked for.
    fn guarded<R>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<R, Box<StepError<E>>>,
    ) -> Result<R, Stop<E>> {
        match catch_unwind(AssertUnwindSafe(|| run(self))) {
            Ok(outcome) => outcome.map_err(Stop::Failed),
            Err(panic) => {
                self.edits.clear();
                self.paused = true;
                Err(Stop::Panicked(panic))
            }
        }
    }

    /// The same for steps, which the schedule hash has to know of.
    fn guarded_steps<R>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<R, Box<StepError<E>>>,
    ) -> Result<R, Stop<E>> {
        let outcome = self.guarded(run);
        if matches!(outcome, Err(Stop::Panicked(_))) {
            self.timeline.hash.fold(ScheduleHash::PANICKED);
        }
        outcome
    }
}

fn context<'a>(timeline: &'a Timeline, edits: &'a EditQueue) -> StepContext<'a> {
    let turn = Turn { slot: 0, runner: RunnerId::ROBOT, phase: Phase::Acquisition };
    StepContext { timeline, edits, turn }
}

/// The hot loop: replays a resolved order.
#[inline]
fn dispatch<W, E>(
    order: &[Turn],
    slots: &mut [Box<StepFn<W, E>>],
    world: &mut W,
    mut context: StepContext<'_>,
) -> Result<(), (Turn, E)> {
    for turn in order {
        context.turn = *turn;
        if let Err(error) = slots[turn.slot as usize](world, &context) {
            return Err((*turn, error));
        }
    }
    Ok(())
}

/// The same loop with a clock read after every callback.
#[inline(never)]
fn dispatch_timed<W, E>(
    order: &[Turn],
    slots: &mut [Box<StepFn<W, E>>],
    world: &mut W,
    mut context: StepContext<'_>,
    profiler: &mut Profiler,
    clock: &Clock,
    overdue: u64,
) -> Result<(), (Turn, E)> {
    let timing = StepTiming { started: clock.nanos(), overdue };
    let mut began = timing.started;
    for turn in order {
        context.turn = *turn;
        let outcome = slots[turn.slot as usize](world, &context);
        let ended = clock.nanos();
        profiler.record(turn.slot, timing, began, ended, context.dt_nanos());
        began = ended;
        outcome.map_err(|error| (*turn, error))?;
    }
    Ok(())
}

impl<W, E> fmt::Debug for TimeManager<W, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeManager")
            .field("now", &self.now())
            .field("mode", &self.mode)
            .field("paused", &self.paused)
            .field("steps", &self.steps())
            .field("callbacks", &self.callbacks.len())
            .finish_non_exhaustive()
    }
}
