//! Changes to a running manager as plain data, why one is refused, and the queue for those asked inside a step.
//!
//! Applying them is `TimeManager::apply`. Registering is not an edit: a closure is not plain data.

use std::cell::RefCell;

use thiserror::Error;

use crate::callback::{Binding, CallbackId, FreeCallbackId, Turn};
use crate::governor::GovernorError;
use crate::mode::{TimeMode, TimeScale};
use crate::phase::FreePhase;
use crate::rate::Rate;
use crate::runner::{NAME_LEN_MAX, RUNNERS_MAX, RunnerConfig, RunnerId};
use crate::sim_time::SimTime;

/// A change to a manager. Outside a step it takes effect at once, inside one before the next step.
///
/// ```
/// use downbeat_time::{Binding, Edit, Phase, RunnerId, TimeManager};
///
/// let mut time = TimeManager::<u32>::default();
/// let count = time.register("count", Binding::new(RunnerId::ROBOT, Phase::Control), |n, _| *n += 1)?;
/// time.register("stop", Binding::new(RunnerId::ROBOT, Phase::Export), move |n, ctx| {
///     if *n == 3 {
///         ctx.request(Edit::SetEnabled { callback: count, enabled: false })?;
///     }
///     Ok(())
/// })?;
/// let mut n = 0;
/// time.run_steps(&mut n, 20)?;
/// assert_eq!(n, 3);
/// # Ok::<(), downbeat_time::BoxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Edit {
    /// Adds a runner on the first free id.
    AddRunner(RunnerConfig),
    /// Removes a runner. Its callbacks go to `rebind_to`; without one, a runner with callbacks is refused.
    RemoveRunner {
        /// The runner to remove.
        runner: RunnerId,
        /// Who takes over its callbacks and its place in `on_shared` sets.
        rebind_to: Option<RunnerId>,
    },
    /// Renames a runner.
    RenameRunner {
        /// The runner to rename.
        runner: RunnerId,
        /// Its new name.
        name: String,
    },
    /// Changes a rate at the runner's next boundary, where its origin moves; at once when there is none ahead.
    SetRate {
        /// The runner to change.
        runner: RunnerId,
        /// Its new rate.
        rate: Rate,
    },
    /// Moves a runner's grid at its next boundary; it waits there for the first point of the new grid.
    SetOffset {
        /// The runner to change.
        runner: RunnerId,
        /// Its new offset.
        offset: SimTime,
    },
    /// Closes a runner's gate: its next boundary may not be passed until released.
    CloseGate(RunnerId),
    /// Opens a runner's gate for good.
    OpenGate(RunnerId),
    /// Lets a gated runner pass `steps` more boundaries.
    Release {
        /// The gated runner.
        runner: RunnerId,
        /// How many boundaries it may pass.
        steps: u64,
    },
    /// Gives a callback another runner, phase, priority or shared set. Its registration order stays.
    Rebind {
        /// The callback to change.
        callback: CallbackId,
        /// Its new binding.
        binding: Binding,
    },
    /// Gives a callback another name to be shown by.
    Rename {
        /// The callback to rename.
        callback: CallbackId,
        /// Its new name.
        name: String,
    },
    /// Turns a callback on or off.
    SetEnabled {
        /// The callback to change.
        callback: CallbackId,
        /// Whether it runs.
        enabled: bool,
    },
    /// Removes a callback.
    Unregister(CallbackId),
    /// Gives a free callback another name to be shown by.
    RenameFree {
        /// The callback to rename.
        callback: FreeCallbackId,
        /// Its new name.
        name: String,
    },
    /// Turns a free callback on or off.
    SetFreeEnabled {
        /// The callback to change.
        callback: FreeCallbackId,
        /// Whether it runs.
        enabled: bool,
    },
    /// Removes a free callback.
    UnregisterFree(FreeCallbackId),
    /// Turns a free phase on or off.
    SetFreePhase {
        /// The phase to change.
        phase: FreePhase,
        /// Whether its callbacks run.
        enabled: bool,
    },
    /// Changes the time mode. Asked for inside a frame, it counts for the rest of that frame.
    SetMode(TimeMode),
    /// Changes the time scale.
    SetTimeScale(TimeScale),
    /// Stops the timeline until resumed.
    Pause,
    /// Lets the timeline go on. It does not when the step in which it is asked for fails.
    Resume,
}

impl Edit {
    /// Whether somebody may be called otherwise after it.
    pub(crate) const fn changes_names(&self) -> bool {
        matches!(
            self,
            Self::RenameRunner { .. }
                | Self::RemoveRunner { .. }
                | Self::Rename { .. }
                | Self::RenameFree { .. }
        )
    }
}

/// Why a change was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// A timeline needs a runner to begin with.
    #[error("the configuration has no runner; give it one to {RUNNERS_MAX}")]
    NoRunner,
    /// All places are taken.
    #[error(
        "there is no place for runner `{name}`: a timeline takes at most {RUNNERS_MAX}; leave one out or remove one"
    )]
    TooManyRunners {
        /// The runner that found no place.
        name: String,
    },
    /// Two runners may not share a name.
    #[error("a runner named `{name}` exists already; choose another name")]
    DuplicateRunner {
        /// The name that is taken.
        name: String,
    },
    /// Names are shown to people and looked up.
    #[error("the name `{name}` is not usable; a name has 1 to {NAME_LEN_MAX} bytes and no control character")]
    BadName {
        /// The name as far as it is worth showing.
        name: String,
    },
    /// There is no such runner.
    #[error("{runner} does not exist; add it first")]
    UnknownRunner {
        /// The id that is vacant.
        runner: RunnerId,
    },
    /// A timeline needs a runner.
    #[error("`{name}` is the last runner; add another before removing it")]
    LastRunner {
        /// The runner that has to stay.
        name: String,
    },
    /// Removing it would lose callbacks.
    #[error(
        "runner `{name}` is still used by {count} callback(s), first `{first}`; rebind or remove them first"
    )]
    RunnerInUse {
        /// The runner.
        name: String,
        /// How many callbacks use it.
        count: usize,
        /// The first of them in registration order.
        first: String,
    },
    /// Its callbacks cannot move to the runner that goes.
    #[error("runner `{name}` cannot take over its own callbacks; name another one")]
    RebindToItself {
        /// The runner.
        name: String,
    },
    /// There is no such callback, or no more.
    #[error("the callback does not exist any more; look it up again")]
    UnknownCallback,
    /// More callbacks than the table takes.
    #[error("there are {count} callbacks already, the most a manager takes")]
    TooManyCallbacks {
        /// How many there are.
        count: usize,
    },
    /// Releasing a runner that is not held.
    #[error("runner `{name}` has no closed gate to release; close it first")]
    NotGated {
        /// The runner.
        name: String,
    },
    /// The governor's settings make no sense.
    #[error(transparent)]
    Governor(#[from] GovernorError),
}

/// More changes were asked for within one step than the queue takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("more than {EDITS_PER_STEP_MAX} changes were asked for within one step; spread them over several")]
pub struct EditQueueFull;

const EDITS_PER_STEP_MAX: usize = 1024;

/// Who asked for a change, and where it ran then: an earlier change may have bound it elsewhere since.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asker {
    Step(Turn),
    Free(FreeCallbackId, FreePhase),
}

/// Changes asked for inside a step, in order, with who asked.
#[derive(Debug, Default)]
pub(crate) struct EditQueue {
    edits: RefCell<Vec<(Asker, Edit)>>,
}

impl EditQueue {
    pub(crate) fn push(&self, asker: Asker, edit: Edit) -> Result<(), EditQueueFull> {
        let mut edits = self.edits.borrow_mut();
        if edits.len() >= EDITS_PER_STEP_MAX {
            return Err(EditQueueFull);
        }
        edits.push((asker, edit));
        Ok(())
    }

    #[inline]
    pub(crate) fn is_empty(&mut self) -> bool {
        self.edits.get_mut().is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<(Asker, Edit)> {
        std::mem::take(self.edits.get_mut())
    }

    /// Hands the emptied buffer back, so that steady editing allocates nothing.
    pub(crate) fn recycle(&mut self, mut edits: Vec<(Asker, Edit)>) {
        edits.clear();
        *self.edits.get_mut() = edits;
    }

    /// Drops what nobody is left to answer for.
    pub(crate) fn clear(&mut self) {
        self.edits.get_mut().clear();
    }
}
