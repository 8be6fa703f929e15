//! A step that failed: who, where, when and why.
//!
//! A failure is a value. The manager is paused and whole; nothing has been swallowed. A callback that panics is
//! not a failure but a bug: it unwinds through the manager, which it leaves paused and whole as well.

use std::any::Any;
use std::fmt;
use std::panic::resume_unwind;

use crate::edit::{Edit, EditError};
use crate::phase::{FreePhase, Phase};
use crate::runner::RunnerId;
use crate::sim_time::SimTime;

/// The error a callback returns unless the manager is given another type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A callback returned an error, or asked for a change that was refused. The manager is paused.
///
/// The step ends with the failing callback: those after it do not run in this step. `resume` goes on with the
/// next step.
///
/// ```
/// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
///
/// let mut time = TimeManager::<()>::default();
/// time.register("imu", Binding::new(RunnerId::ROBOT, Phase::Acquisition), |_, _| Err("no reading".into()))?;
/// let failure = time.run_steps(&mut (), 1).unwrap_err();
/// assert_eq!(
///     failure.to_string(),
///     "callback `imu` on runner `Robot` failed in Acquisition at 20 ms: no reading; the manager is paused, \
///      resume it to go on with the next step"
/// );
/// assert!(time.is_paused());
/// # Ok::<(), downbeat_time::EditError>(())
/// ```
#[derive(Debug)]
pub struct StepError<E = BoxError> {
    /// The name of the callback.
    pub callback: String,
    /// Where in a step or frame it ran.
    pub site: Site,
    /// The end of the step it ran in.
    pub time: SimTime,
    /// What went wrong.
    pub cause: Cause<E>,
}

/// Where a callback ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// In a phase of a step.
    Step {
        /// The runner that fired it.
        runner: RunnerId,
        /// That runner's name.
        runner_name: String,
        /// The phase.
        phase: Phase,
    },
    /// In a free phase of a frame.
    Free(FreePhase),
}

/// What went wrong in a step.
#[derive(Debug)]
pub enum Cause<E = BoxError> {
    /// The callback returned this error.
    Callback(E),
    /// A change the callback had asked for was refused.
    Edit {
        /// What it had asked for.
        edit: Edit,
        /// Why it was refused.
        error: EditError,
    },
}

/// What ended a run before its time.
pub(crate) enum Stop<E> {
    Failed(Box<StepError<E>>),
    /// A callback panicked, with this.
    Panicked(Box<dyn Any + Send>),
}

impl<E> Stop<E> {
    /// The failure, to be returned. A panic goes on to whoever called the manager.
    pub(crate) fn into_failure(self) -> Box<StepError<E>> {
        match self {
            Self::Failed(failure) => failure,
            Self::Panicked(panic) => resume_unwind(panic),
        }
    }
}

impl<E: fmt::Display> fmt::Display for StepError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "callback `{}`", self.callback)?;
        let phase = match &self.site {
            Site::Step { runner_name, phase, .. } => {
                write!(f, " on runner `{runner_name}`")?;
                phase.name()
            }
            Site::Free(phase) => phase.name(),
        };
        match &self.cause {
            Cause::Callback(error) => write!(f, " failed in {phase} at {}: {error}", self.time)?,
            Cause::Edit { error, .. } => {
                write!(f, " asked in {phase} at {} for a change that was refused: {error}", self.time)?;
            }
        }
        f.write_str("; the manager is paused, resume it to go on with the next step")
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for StepError<E> {}
