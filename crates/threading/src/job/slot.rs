//! A place for one heavy job at a time.

use std::sync::Arc;

use super::{Job, StartError, Started, Surroundings, Task};
use crate::sync::Mutex;

/// Admits one job at a time; clones are the same slot.
///
/// ```
/// use downbeat_threading::{JobSlot, StartError, Stopped, task};
///
/// let slot = JobSlot::new();
/// let first = slot.start(task("import", |job| -> Result<(), Stopped> {
///     job.stop_token().wait();
///     Err(Stopped)
/// }))?;
/// let second = slot.start(task("export", |_| Ok::<_, Stopped>(())));
/// assert!(matches!(second, Err(StartError::Busy { running }) if running == "import"));
/// drop(first); // cancels and joins
/// assert!(slot.start(task("export", |_| Ok::<_, Stopped>(()))).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct JobSlot {
    /// The name of the job inside.
    running: Arc<Mutex<Option<String>>>,
}

impl JobSlot {
    /// A free slot.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a job if no other is in the slot.
    pub fn start<K: Task>(&self, task: K) -> Started<K> {
        let slot = Some(self.occupy(&task)?);
        Job::start_in(task, Surroundings { slot, ..Surroundings::default() })
    }

    /// Takes the slot for a task that is about to start.
    pub(super) fn occupy<K: Task>(&self, task: &K) -> Result<Occupied, StartError<K::Error>> {
        let name = task.name();
        let mut running = self.running.lock();
        match &*running {
            Some(running) => Err(StartError::Busy { running: running.clone() }),
            None => {
                *running = Some(name);
                Ok(Occupied { slot: self.clone() })
            }
        }
    }
}

/// Frees the slot when dropped.
pub(super) struct Occupied {
    slot: JobSlot,
}

impl Drop for Occupied {
    fn drop(&mut self) {
        *self.slot.running.lock() = None;
    }
}
