//! The end of the dispatcher that other threads hold.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::inbox::Inbox;
use crate::boot::MainThread;
use crate::panic::{Panic, caught};
use crate::reply::{Answer, GaveUp, reply};
use crate::stop::StopToken;

/// Sends tasks to main. Clones send to the same main.
#[derive(Clone)]
pub struct MainThreadHandle {
    inbox: Arc<Inbox>,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// The dispatcher has closed. The task did not run.
    #[error("the main thread takes no more tasks: it has shut down")]
    Closed,
    /// The task ran and panicked.
    #[error("the task on the main thread {0}")]
    Panicked(Panic),
    /// The time was over.
    #[error("the main thread did not finish in time ({})", started_in_words(*started))]
    TimedOut {
        /// Whether main had begun it. If not, it never will.
        started: bool,
    },
    /// The job that made the call was asked to stop.
    #[error("the job was stopped while it waited for the main thread ({})", started_in_words(*started))]
    Stopped {
        /// Whether main had begun it. If not, it never will.
        started: bool,
    },
    /// Too many tasks wait. This one did not run.
    #[error("too many tasks wait for the main thread; send fewer, or raise the limit")]
    Full,
}

fn started_in_words(started: bool) -> &'static str {
    if started { "the task was under way" } else { "the task never ran" }
}

/// Why a task was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The dispatcher has closed.
    Closed,
    /// Too many tasks wait.
    Full,
}

impl From<Refused> for ExecuteError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => Self::Closed,
            Refused::Full => Self::Full,
        }
    }
}

/// A task that was not taken, given back.
#[derive(thiserror::Error)]
#[error("{}", ExecuteError::from(*reason))]
pub struct RefusedTask<F> {
    /// Why.
    pub reason: Refused,
    /// The task.
    pub task: F,
}

impl<F> fmt::Debug for RefusedTask<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusedTask").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl MainThreadHandle {
    pub(super) fn new(inbox: Arc<Inbox>) -> Self {
        Self { inbox }
    }

    /// Runs `task` on main and waits for what it returns. On main itself it runs at once.
    ///
    /// Inside a job, a stop of the job ends the wait: whoever cancels and joins a job on main waits for no one who
    /// waits for main.
    #[track_caller]
    pub fn execute<R, F>(&self, task: F) -> Result<R, ExecuteError>
    where
        R: Send + 'static,
        F: FnOnce(MainThread) -> R + Send + 'static,
    {
        self.execute_within(task, None)
    }

    /// As [`MainThreadHandle::execute`], but waits no longer than `timeout`.
    #[track_caller]
    pub fn execute_timeout<R, F>(&self, timeout: Duration, task: F) -> Result<R, ExecuteError>
    where
        R: Send + 'static,
        F: FnOnce(MainThread) -> R + Send + 'static,
    {
        self.execute_within(task, Some(timeout))
    }

    /// Sends `task` and goes on; it runs in main's next round, also when sent from main.
    ///
    /// A panic in it shows in [`Pumped`](crate::Pumped).
    #[inline]
    #[track_caller]
    pub fn execute_async<F>(&self, task: F) -> Result<(), RefusedTask<F>>
    where
        F: FnOnce(MainThread) + Send + 'static,
    {
        self.inbox.push(task, |task| move |main: &mut MainThread| task(*main))
    }

    /// Makes main look again at what it waits for in
    /// [`pump_until`](crate::MainThreadDispatcher::pump_until).
    pub fn wake(&self) {
        self.inbox.signal();
    }

    #[track_caller]
    fn execute_within<R, F>(&self, task: F, timeout: Option<Duration>) -> Result<R, ExecuteError>
    where
        R: Send + 'static,
        F: FnOnce(MainThread) -> R + Send + 'static,
    {
        if let Some(main) = MainThread::current() {
            return caught(|| task(main)).map_err(ExecuteError::Panicked);
        }
        let (responder, waiter) = reply();
        let answering = move |main: &mut MainThread| {
            if !responder.begin() {
                return;
            }
            let main = *main;
            responder.answer(match caught(|| task(main)) {
                Ok(value) => Answer::Value(value),
                Err(panic) => Answer::Panicked(panic),
            });
        };
        self.inbox.push(answering, |answering| answering).map_err(|refused| refused.reason)?;
        match waiter.wait(timeout, StopToken::current().as_ref()) {
            Ok(Answer::Value(value)) => Ok(value),
            Ok(Answer::Panicked(panic)) => Err(ExecuteError::Panicked(panic)),
            Ok(Answer::Closed) => Err(ExecuteError::Closed),
            Err(GaveUp::TimedOut { started }) => Err(ExecuteError::TimedOut { started }),
            Err(GaveUp::Stopped { started }) => Err(ExecuteError::Stopped { started }),
        }
    }
}

impl fmt::Debug for MainThreadHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MainThreadHandle").field("waiting", &self.inbox.len()).finish()
    }
}
