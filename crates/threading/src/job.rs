//! Long work on a thread of its own, which can be watched, cancelled and asked for its result.
//!
//! The order of a job's life, which everything else relies on:
//!
//! 1. [`Task::validate`] runs on the caller's thread; its error is returned at once and no thread starts.
//! 2. [`Task::run`] runs on a worker. It polls its stop token and reports progress.
//! 3. [`JobContext::point_of_no_return`] and a cancel race, and exactly one wins. A job that never calls it has its
//!    point of no return when `run` ends.
//! 4. What `run` owned is dropped: partial output is gone before anybody hears that the job is over.
//! 5. The slot it held is free, the outcome is published, and [`Job::is_done`] turns true, in this order.
//! 6. Main takes the outcome, once. Dropping a [`Job`] at any time cancels it and waits for its end.
//!
//! A job does not touch main's state: it sends tasks through a [`MainThreadHandle`], or returns a result.

mod board;
mod context;
mod output;
mod progress;
mod slot;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use self::board::{JobBoard, JobView, JobsStuck};
pub use self::context::JobContext;
use self::context::Status;
pub use self::output::{CommitError, OutputFile};
pub use self::progress::Progress;
pub use self::slot::JobSlot;
use self::slot::Occupied;
use crate::boot::MainThread;
use crate::dispatcher::MainThreadHandle;
use crate::panic::{Panic, caught};
use crate::role::Role;
use crate::spawn::{SpawnError, Thread, spawn};
use crate::sync::Mutex;

/// What a job does.
pub trait Task: Send + 'static {
    /// What it makes.
    type Output: Send + 'static;
    /// How it fails. `Stopped` turns into one at checkpoints, so `Box<dyn Error + Send + Sync>` will do.
    type Error: Send + 'static;

    /// What people call it, such as `export arm.zip`.
    fn name(&self) -> String;

    /// Looks at the inputs before a thread is started. Quick: it runs on the caller's thread.
    fn validate(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The work. It should call [`JobContext::checkpoint`] often and clean up by dropping what it holds.
    fn run(self, job: &JobContext) -> Result<Self::Output, Self::Error>;
}

/// A task that is one closure.
///
/// ```
/// use downbeat_threading::{Job, Outcome, Stopped, task};
///
/// let job = Job::start(task("count", |job| {
///     for number in 0..100 {
///         job.checkpoint()?;
///         job.progress(number as f32 / 100.0, "counting");
///     }
///     Ok::<_, Stopped>(100)
/// }))?;
/// assert!(matches!(job.join(), Outcome::Done(100)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn task<T, E>(
    name: impl Into<String>,
    run: impl FnOnce(&JobContext) -> Result<T, E> + Send + 'static,
) -> impl Task<Output = T, Error = E>
where
    T: Send + 'static,
    E: Send + 'static,
{
    Closure { name: name.into(), run }
}

struct Closure<F> {
    name: String,
    run: F,
}

impl<T, E, F> Task for Closure<F>
where
    T: Send + 'static,
    E: Send + 'static,
    F: FnOnce(&JobContext) -> Result<T, E> + Send + 'static,
{
    type Output = T;
    type Error = E;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(self, job: &JobContext) -> Result<T, E> {
        (self.run)(job)
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<T, E> {
    /// It made what it was to make.
    Done(T),
    /// It did not.
    Failed(E),
    /// It was cancelled before its point of no return, and left nothing behind.
    Cancelled,
    /// It panicked. Everything it held was dropped.
    Panicked(Panic),
}

/// Why a job did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError<E> {
    /// The task found its inputs wanting.
    #[error("{0}")]
    Invalid(E),
    /// The slot is taken.
    #[error("`{running}` is still running; wait for it, or cancel it")]
    Busy {
        /// The job in the slot.
        running: String,
    },
    /// The board is full.
    #[error("{jobs_max} jobs are running, which is the limit; wait for one to end")]
    Full {
        /// The board's limit.
        jobs_max: usize,
    },
    /// The board has shut down.
    #[error("no new jobs: the application is shutting down")]
    ShutDown,
    /// There is no thread for it.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

/// A job of the task `K`, or why there is none.
pub type Started<K> = Result<Job<<K as Task>::Output, <K as Task>::Error>, StartError<<K as Task>::Error>>;

/// A job under way, or its result. Dropping it cancels it and waits for its end.
#[must_use = "dropping a job cancels it"]
pub struct Job<T, E> {
    status: Arc<Status>,
    outcome: Arc<Mutex<Option<Outcome<T, E>>>>,
    thread: Option<Thread<()>>,
}

/// What a job is started with besides its task.
#[derive(Default)]
struct Surroundings {
    slot: Option<Occupied>,
    board: Option<JobBoard>,
    wake: Option<MainThreadHandle>,
}

impl<T: Send + 'static, E: Send + 'static> Job<T, E> {
    /// Checks the task's inputs and starts it on a thread of its own.
    pub fn start(task: impl Task<Output = T, Error = E>) -> Result<Self, StartError<E>> {
        Self::start_in(task, Surroundings::default())
    }

    fn start_in<K>(mut task: K, around: Surroundings) -> Result<Self, StartError<E>>
    where
        K: Task<Output = T, Error = E>,
    {
        task.validate().map_err(StartError::Invalid)?;
        let status = Arc::new(Status::new(task.name(), around.wake));
        if let Some(board) = &around.board {
            board.add(&status)?;
        }
        let outcome = Arc::new(Mutex::new(None));
        let worker = {
            let (status, outcome, slot) = (Arc::clone(&status), Arc::clone(&outcome), around.slot);
            move || work(task, &status, &outcome, slot)
        };
        match spawn(&status.thread_name(), Role::Worker, worker) {
            Ok(thread) => Ok(Self { status, outcome, thread: Some(thread) }),
            Err(error) => {
                // Or the board would list a job that nobody runs.
                status.finish();
                Err(error.into())
            }
        }
    }

    /// Asks it to stop. True when that came in time: then it will not end as `Done`.
    pub fn cancel(&self) -> bool {
        self.status.cancel()
    }

    /// Whether it has ended and its outcome can be taken.
    pub fn is_done(&self) -> bool {
        self.status.is_done()
    }

    /// Waits for its end, for as long as `timeout`: whether it has ended.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.status.wait_timeout(timeout)
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.status.progress()
    }

    /// Its task's name.
    pub fn name(&self) -> &str {
        self.status.name()
    }

    /// The outcome, once, when there is one: poll it once a frame.
    pub fn take_result(&mut self, _main: MainThread) -> Option<Outcome<T, E>> {
        self.is_done().then(|| self.outcome.lock().take()).flatten()
    }

    /// Waits for its end and returns how it ended; for programs without a frame, and for other workers.
    ///
    /// Main should poll instead: while it waits here, it runs no tasks, and the job may wait for one.
    ///
    /// # Panics
    ///
    /// When the outcome was taken before.
    pub fn join(mut self) -> Outcome<T, E> {
        drop(self.thread.take());
        let outcome = self.outcome.lock().take();
        outcome.expect("the outcome of a job is taken once")
    }
}

impl<T, E> Drop for Job<T, E> {
    fn drop(&mut self) {
        // In this order: a thread that nobody has asked to stop might never be joined.
        self.status.cancel();
        drop(self.thread.take());
    }
}

impl<T, E> fmt::Debug for Job<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The worker's side, in the order of the module's list.
fn work<K: Task>(
    task: K,
    status: &Arc<Status>,
    published: &Mutex<Option<Outcome<K::Output, K::Error>>>,
    slot: Option<Occupied>,
) {
    let context = JobContext::new(Arc::clone(status));
    let ran = {
        let _stop = context.stop_token().clone().enter();
        caught(|| task.run(&context))
    };
    let in_time = status.commit();
    let outcome = match ran {
        Err(panic) => Outcome::Panicked(panic),
        Ok(unwanted) if !in_time => {
            // Now, not when this function ends: it may be partial output. And it must not keep the end from being told.
            let _ = caught(|| drop(unwanted));
            Outcome::Cancelled
        }
        Ok(Ok(output)) => Outcome::Done(output),
        Ok(Err(error)) => Outcome::Failed(error),
    };
    drop(slot);
    *published.lock() = Some(outcome);
    status.finish();
}
