//! A manager's state as plain data: saved at any step, restored into a manager with the same callbacks, it
//! continues with the same steps and the same schedule hash.
//!
//! Closures are not data: restoring checks that the callbacks are the same ones and sets their bindings. Wall
//! time owed, costs and reports belong to the machine, not to the run, and are not saved.

use thiserror::Error;

use crate::callback::{Binding, check_name};
use crate::grid::{Grid, RunnerClock};
use crate::hash::ScheduleHash;
use crate::manager::TimeManager;
use crate::mode::{TimeMode, TimeScale};
use crate::rate::Rate;
use crate::runner::{RunnerConfig, RunnerId, RunnerSet};
use crate::sim_time::SimTime;
use crate::timeline::Timeline;

/// Everything that decides which steps come next.
///
/// ```
/// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
///
/// let manager = || {
///     let mut time = TimeManager::<Vec<u64>>::default();
///     time.register("log", Binding::new(RunnerId::ROBOT, Phase::Export), |log, ctx| log.push(ctx.now().as_nanos()))?;
///     Ok::<_, downbeat_time::EditError>(time)
/// };
/// let (mut first, mut second) = (manager()?, manager()?);
/// first.run_steps(&mut Vec::new(), 5)?;
/// second.restore(&first.save())?;
/// let (mut a, mut b) = (Vec::new(), Vec::new());
/// first.run_steps(&mut a, 100)?;
/// second.run_steps(&mut b, 100)?;
/// assert_eq!((a, first.schedule_hash()), (b, second.schedule_hash()));
/// # Ok::<(), downbeat_time::BoxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TimeState {
    now: SimTime,
    steps: u64,
    frames: u64,
    fired: RunnerSet,
    hash: u64,
    mode: TimeMode,
    scale: TimeScale,
    paused: bool,
    run_until: SimTime,
    free_enabled: [bool; 2],
    shuffle_seed: Option<u64>,
    runners: Vec<RunnerSave>,
    callbacks: Vec<CallbackSave>,
}

/// A runner and its place on the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RunnerSave {
    pub(crate) id: RunnerId,
    pub(crate) config: RunnerConfig,
    pub(crate) origin: SimTime,
    /// `None` when the grid lies beyond the end of the timeline.
    pub(crate) last: Option<SimTime>,
    pub(crate) dt_nanos: u64,
    pub(crate) index: u64,
    pub(crate) skipped: u64,
    pub(crate) pending_rate: Option<Rate>,
    pub(crate) pending_offset: Option<SimTime>,
    /// The rate of the last step where it differs from the configured one.
    pub(crate) rate_before: Option<Rate>,
    pub(crate) gate: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct CallbackSave {
    name: String,
    binding: Binding,
    enabled: bool,
}

/// Why a state could not be restored. The manager is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RestoreError {
    /// The manager has other callbacks than the one that was saved.
    #[error(
        "callback {position} is {found} here but {saved} in the saved state; register the same callbacks in the same order"
    )]
    OtherCallbacks {
        /// Place in registration order, counted from 1.
        position: usize,
        /// The callback of this manager.
        found: String,
        /// The callback of the saved state.
        saved: String,
    },
    /// The state contradicts itself: it was damaged or made by hand.
    #[error("the saved state is damaged: {what}; restore an older one")]
    Damaged {
        /// What does not fit.
        what: String,
    },
}

impl TimeState {
    /// Where the timeline stood.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Simulation steps taken by then.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

impl<W, E> TimeManager<W, E> {
    /// The state as it is between two steps.
    pub fn save(&self) -> TimeState {
        let callbacks = self.callbacks().map(|callback| CallbackSave {
            name: callback.name.to_owned(),
            binding: callback.binding,
            enabled: callback.enabled,
        });
        let timeline = self.timeline();
        TimeState {
            now: self.now(),
            steps: timeline.steps,
            frames: self.frames(),
            fired: timeline.fired,
            hash: timeline.hash.raw(),
            mode: self.mode(),
            scale: self.time_scale(),
            paused: self.is_paused(),
            run_until: self.run_until(),
            free_enabled: crate::FreePhase::ALL.map(|phase| self.free_phase_is_enabled(phase)),
            shuffle_seed: self.tie_shuffle(),
            runners: timeline.save_runners(),
            callbacks: callbacks.collect(),
        }
    }

    /// Goes to a saved state. The same callbacks must be registered in the same order.
    pub fn restore(&mut self, state: &TimeState) -> Result<(), RestoreError> {
        let ids = self.check_callbacks(state)?;
        let timeline = state.timeline()?;
        let active = timeline.active();
        for callback in &state.callbacks {
            if !active.contains_all(callback.binding.needs()) {
                return Err(damaged(format!(
                    "callback `{}` is bound to a runner that is not there",
                    callback.name
                )));
            }
        }

        let bindings =
            ids.into_iter().zip(state.callbacks.iter().map(|saved| (saved.binding, saved.enabled)));
        self.replace_timeline(timeline, state.run_until, state.frames, bindings, state.shuffle_seed);
        self.set_mode(state.mode);
        self.set_time_scale(state.scale);
        for (phase, enabled) in crate::FreePhase::ALL.into_iter().zip(state.free_enabled) {
            self.set_free_phase(phase, enabled);
        }
        if state.paused {
            self.pause();
        } else {
            self.resume();
        }
        Ok(())
    }

    fn check_callbacks(&self, state: &TimeState) -> Result<Vec<crate::CallbackId>, RestoreError> {
        let here: Vec<_> = self.callbacks().map(|callback| (callback.id, callback.name)).collect();
        let quoted = |name: Option<&str>| name.map_or("missing".to_owned(), |name| format!("`{name}`"));
        for position in 0..here.len().max(state.callbacks.len()) {
            let found = here.get(position).map(|(_, name)| *name);
            let saved = state.callbacks.get(position).map(|saved| saved.name.as_str());
            if found != saved {
                let (found, saved) = (quoted(found), quoted(saved));
                return Err(RestoreError::OtherCallbacks { position: position + 1, found, saved });
            }
        }
        Ok(here.into_iter().map(|(id, _)| id).collect())
    }
}

impl TimeState {
    /// The saved timeline, checked: a state may come from a damaged file.
    fn timeline(&self) -> Result<Timeline, RestoreError> {
        let mut timeline = Timeline::new();
        timeline.now = self.now.as_nanos().min(SimTime::END.as_nanos());
        (timeline.steps, timeline.hash) = (self.steps, ScheduleHash::from_raw(self.hash));
        for save in &self.runners {
            let name = &save.config.name;
            let taken = self.runners.iter().filter(|other| other.id == save.id || other.config.name == *name);
            if taken.count() > 1 {
                return Err(damaged(format!("runner `{name}` is there twice")));
            }
            check_name(name).map_err(|error| damaged(error.to_string()))?;
            timeline.restore_runner(save, self.clock_of(save)?);
        }
        let counts = self.runners.iter().flat_map(|save| [save.index, save.skipped]);
        if counts.chain([self.steps]).any(|count| count > timeline.now) {
            // A step takes at least a nanosecond. Counts beyond that would overflow one day.
            return Err(damaged(format!("it counts more steps than {} has nanoseconds", self.now)));
        }
        let active = timeline.active();
        if active.is_empty() {
            return Err(damaged("it has no runner".to_owned()));
        }
        if !active.contains_all(self.fired) {
            return Err(damaged("a runner fired that is not there".to_owned()));
        }
        timeline.fired = self.fired;
        Ok(timeline)
    }

    fn clock_of(&self, save: &RunnerSave) -> Result<RunnerClock, RestoreError> {
        let counts = |clock: RunnerClock| clock.with_counts(save.dt_nanos, save.index);
        let Some(last) = save.last else { return Ok(counts(RunnerClock::VACANT)) };
        let grid = Grid::new(save.config.rate, save.origin);
        let k = grid.first_at_or_after(last).filter(|&k| grid.boundary(k) == Some(last));
        let clock = k.map(|k| RunnerClock::on(grid, k)).filter(|clock| clock.next > self.now.as_nanos());
        let name = &save.config.name;
        clock.map(counts).ok_or_else(|| damaged(format!("runner `{name}` is not on its grid at {last}")))
    }
}

fn damaged(what: String) -> RestoreError {
    RestoreError::Damaged { what }
}
