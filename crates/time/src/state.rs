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
use crate::phase::FreePhase;
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
    free_callbacks: Vec<FreeSave>,
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
pub(crate) struct CallbackSave {
    registered_as: String,
    pub(crate) name: String,
    pub(crate) binding: Binding,
    pub(crate) enabled: bool,
}

/// A free callback. It decides no step, so a manager that has others can be restored all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FreeSave {
    pub(crate) registered_as: String,
    pub(crate) phase: FreePhase,
    pub(crate) name: String,
    pub(crate) enabled: bool,
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
        let callbacks = self.registrations().into_iter().map(|(_, info)| CallbackSave {
            registered_as: info.registered_as.clone(),
            name: info.name.clone(),
            binding: info.binding,
            enabled: info.enabled,
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
            paused: self.is_paused() || self.is_held(),
            run_until: self.run_until(),
            free_enabled: FreePhase::ALL.map(|phase| self.free_phase_is_enabled(phase)),
            shuffle_seed: self.tie_shuffle(),
            runners: timeline.save_runners(),
            callbacks: callbacks.collect(),
            free_callbacks: self.save_free(),
        }
    }

    /// Goes to a saved state. The same callbacks must be registered, under the same names and in the same order.
    ///
    /// Free callbacks decide no step, so others may be registered: those that the state knows by phase and name
    /// are turned on or off as they were, the rest stay as they are.
    pub fn restore(&mut self, state: &TimeState) -> Result<(), RestoreError> {
        let ids = self.check_callbacks(state)?;
        let timeline = state.timeline()?;
        let active = timeline.active();
        let free_names = state.free_callbacks.iter().map(|saved| &saved.name);
        for name in state.callbacks.iter().map(|saved| &saved.name).chain(free_names) {
            check_name(name).map_err(|error| damaged(error.to_string()))?;
        }
        for callback in &state.callbacks {
            if !active.contains_all(callback.binding.needs()) {
                return Err(damaged(format!(
                    "callback `{}` is bound to a runner that is not there",
                    callback.name
                )));
            }
        }

        let callbacks = ids.into_iter().zip(&state.callbacks);
        self.replace_timeline(timeline, state.run_until, state.frames, callbacks, state.shuffle_seed);
        self.restore_free(&state.free_callbacks);
        self.set_mode(state.mode);
        self.set_time_scale(state.scale);
        for (phase, enabled) in FreePhase::ALL.into_iter().zip(state.free_enabled) {
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
        let here = self.registrations();
        let quoted = |name: Option<&str>| name.map_or("missing".to_owned(), |name| format!("`{name}`"));
        for position in 0..here.len().max(state.callbacks.len()) {
            let found = here.get(position).map(|(_, info)| info.registered_as.as_str());
            let saved = state.callbacks.get(position).map(|saved| saved.registered_as.as_str());
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
        self.check_counts()?;
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

    /// Counts beyond what can have happened would overflow one day.
    fn check_counts(&self) -> Result<(), RestoreError> {
        let now = self.now.as_nanos();
        let counts = self.runners.iter().flat_map(|save| [save.index, save.skipped, save.dt_nanos]);
        if counts.chain([self.steps]).any(|count| count > now) {
            // A step takes at least a nanosecond.
            return Err(damaged(format!("it counts more than {} has nanoseconds", self.now)));
        }
        if let Some(save) = self.runners.iter().find(|save| save.index > self.steps) {
            let RunnerSave { config, index, .. } = save;
            return Err(damaged(format!(
                "runner `{}` has fired {index} times in {} steps",
                config.name, self.steps
            )));
        }
        if self.frames > FRAMES_MAX {
            return Err(damaged(format!("it counts {} frames, more than can have been", self.frames)));
        }
        Ok(())
    }

    fn clock_of(&self, save: &RunnerSave) -> Result<RunnerClock, RestoreError> {
        let counted = |clock: RunnerClock| clock.with_counts(save.dt_nanos, save.index);
        let grid = Grid::new(save.config.rate, save.origin);
        // Where a runner that is not past its last boundary waits: there, or nowhere.
        let ahead = grid.first_at_or_after(self.now);
        let k = match save.last {
            None if ahead.is_none() => return Ok(counted(RunnerClock::VACANT)),
            None => None,
            Some(last) if last > self.now => ahead.filter(|&k| grid.boundary(k) == Some(last)),
            Some(last) => {
                let k = grid.last_at_or_before(self.now);
                Some(k).filter(|&k| grid.boundary(k) == Some(last))
            }
        };
        let clock = k.map(|k| counted(RunnerClock::on(grid, k)));
        clock.ok_or_else(|| {
            let place = save.last.map_or("nowhere".to_owned(), |last| format!("at {last}"));
            damaged(format!("runner `{}` cannot stand {place} at {}", save.config.name, self.now))
        })
    }
}

/// Frames have no length, so nothing but this limits their count: at a million a second it is 292,000 years.
const FRAMES_MAX: u64 = u64::MAX / 2;

fn damaged(what: String) -> RestoreError {
    RestoreError::Damaged { what }
}
