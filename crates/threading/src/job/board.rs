//! The jobs that are running, for the user interface, the command line and shutdown.

use std::sync::Arc;
use std::time::Duration;

use super::context::Status;
use super::{Job, JobSlot, Progress, StartError, Started, Surroundings, Task};
use crate::dispatcher::{MainThreadDispatcher, MainThreadHandle};
use crate::panic::caught;
use crate::sync::Mutex;

/// Lists running jobs and cancels them all at shutdown. Clones are the same board.
///
/// ```
/// use std::time::Duration;
/// use downbeat_threading::{Boot, DispatcherConfig, JobBoard, MainThreadDispatcher, Stopped, task};
///
/// let boot = Boot::claim()?;
/// let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
/// let board = JobBoard::new(dispatcher.handle(), 8);
/// let job = board.start(task("bake lights", |job| -> Result<(), Stopped> {
///     job.stop_token().wait();
///     Err(Stopped)
/// }))?;
/// assert_eq!(board.list()[0].name, "bake lights");
/// board.shut_down(&dispatcher, Duration::from_secs(10))?; // cancels, then runs tasks until all have ended
/// assert!(job.is_done());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct JobBoard {
    running: Arc<Mutex<Running>>,
    main: MainThreadHandle,
    jobs_max: usize,
}

#[derive(Debug, Default)]
struct Running {
    jobs: Vec<Arc<Status>>,
    shut_down: bool,
}

/// One job on the board.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// Names the job towards the board.
    pub id: u64,
    /// Its task's name.
    pub name: String,
    /// How far it is.
    pub progress: Progress,
    /// Whether a cancel would come in time.
    pub can_cancel: bool,
    /// Whether it was cancelled and is on its way out.
    pub is_cancelled: bool,
}

/// Jobs that did not end in time, although they were asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("still running after they were asked to stop: {}", names.join(", "))]
pub struct JobsStuck {
    /// Their names.
    pub names: Vec<String>,
}

impl JobBoard {
    /// A board for at most `jobs_max` running jobs. Main is woken whenever one ends.
    pub fn new(main: MainThreadHandle, jobs_max: usize) -> Self {
        Self { running: Arc::default(), main, jobs_max }
    }

    /// Starts a job that is listed here until it ends.
    pub fn start<K: Task>(&self, task: K) -> Started<K> {
        Job::start_in(task, self.surroundings())
    }

    /// As [`JobBoard::start`], if no other job is in the slot.
    pub fn start_in<K: Task>(&self, slot: &JobSlot, task: K) -> Started<K> {
        let slot = Some(slot.occupy(&task)?);
        Job::start_in(task, Surroundings { slot, ..self.surroundings() })
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings { slot: None, board: Some(self.clone()), wake: Some(self.main.clone()) }
    }

    pub(super) fn add<E>(&self, status: &Arc<Status>) -> Result<(), StartError<E>> {
        let mut running = self.running.lock();
        running.jobs.retain(|job| !job.is_done());
        if running.shut_down {
            return Err(StartError::ShutDown);
        }
        if running.jobs.len() >= self.jobs_max {
            return Err(StartError::Full { jobs_max: self.jobs_max });
        }
        running.jobs.push(Arc::clone(status));
        Ok(())
    }

    /// The running jobs, oldest first.
    pub fn list(&self) -> Vec<JobView> {
        let view = |job: &Arc<Status>| JobView {
            id: job.id(),
            name: job.name().to_owned(),
            progress: job.progress(),
            can_cancel: job.can_cancel(),
            is_cancelled: job.is_cancelled(),
        };
        self.running().iter().map(view).collect()
    }

    /// Cancels the job with this id. True when that came in time.
    pub fn cancel(&self, id: u64) -> bool {
        self.running().iter().any(|job| job.id() == id && job.cancel())
    }

    /// Cancels every running job.
    ///
    /// # Panics
    ///
    /// With the first panic of a job's stop callback, after all of them were cancelled.
    pub fn cancel_all(&self) {
        let mut first_panic = None;
        for job in self.running() {
            if let Err(panic) = caught(|| job.cancel()) {
                first_panic.get_or_insert(panic);
            }
        }
        if let Some(panic) = first_panic {
            panic!("while jobs were cancelled: {panic}");
        }
    }

    /// Admits no further job, cancels all, and runs main's tasks until every job has ended.
    ///
    /// Jobs that have not ended after `timeout` are named in the error; who owns them still joins them.
    #[track_caller]
    pub fn shut_down(&self, dispatcher: &MainThreadDispatcher, timeout: Duration) -> Result<(), JobsStuck> {
        self.running.lock().shut_down = true;
        self.cancel_all();
        if dispatcher.pump_until(timeout, || self.running().is_empty()) {
            return Ok(());
        }
        Err(JobsStuck { names: self.running().iter().map(|job| job.name().to_owned()).collect() })
    }

    /// Those that have not ended. Copied, so that no lock is held while anything is done with them.
    fn running(&self) -> Vec<Arc<Status>> {
        let mut running = self.running.lock();
        running.jobs.retain(|job| !job.is_done());
        running.jobs.clone()
    }
}
