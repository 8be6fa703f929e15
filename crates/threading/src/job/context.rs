//! What a job knows about itself, and what the outside sees of it while it runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::progress::Progress;
use crate::clock::Deadline;
use crate::dispatcher::MainThreadHandle;
use crate::stop::{StopSource, StopToken, Stopped};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use crate::sync::{Condvar, Mutex};

/// A worker's view of its job.
pub struct JobContext {
    status: Arc<Status>,
    stop: StopToken,
}

impl JobContext {
    pub(super) fn new(status: Arc<Status>) -> Self {
        let stop = status.stop.token();
        Self { status, stop }
    }

    /// Whether the job was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// For use with `?` at every point where the work can break off.
    pub fn checkpoint(&self) -> Result<(), Stopped> {
        self.stop.checkpoint()
    }

    /// The token itself, to wait on or to hand on.
    pub fn stop_token(&self) -> &StopToken {
        &self.stop
    }

    /// From here on a cancel comes too late; an error when one has come before. Call it just before the work shows.
    pub fn point_of_no_return(&self) -> Result<(), Stopped> {
        if self.status.commit() { Ok(()) } else { Err(Stopped) }
    }

    /// Says how far the work is: a fraction from 0 to 1, which never goes back, and what it is doing.
    pub fn progress(&self, fraction: f32, text: &str) {
        self.status.progress.lock().advance(fraction, text);
    }
}

impl fmt::Debug for JobContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JobContext").field(&self.status).finish()
    }
}

/// Neither cancelled nor past its point of no return.
const OPEN: u8 = 0;
const CANCELLED: u8 = 1;
const COMMITTED: u8 = 2;

/// The part of a job that does not depend on what it makes.
pub(super) struct Status {
    id: u64,
    name: String,
    /// Leaves OPEN once, by exchange: cancel and commit cannot both win.
    decision: AtomicU8,
    stop: StopSource,
    progress: Mutex<Progress>,
    /// Written under the lock of `ended`, after the outcome is there.
    done: AtomicBool,
    ended: Mutex<()>,
    changed: Condvar,
    /// Main, if it wants to hear of the end.
    wake: Option<MainThreadHandle>,
}

/// Numbers jobs for the board and for thread names; decides nothing.
static STARTED: AtomicU64 = AtomicU64::new(0);

impl Status {
    pub(super) fn new(name: String, wake: Option<MainThreadHandle>) -> Self {
        Self {
            id: STARTED.fetch_add(1, Ordering::Relaxed) + 1,
            name,
            decision: AtomicU8::new(OPEN),
            stop: StopSource::new(),
            progress: Mutex::new(Progress::default()),
            done: AtomicBool::new(false),
            ended: Mutex::new(()),
            changed: Condvar::new(),
            wake,
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Short enough for the operating system, whatever the job is called.
    pub(super) fn thread_name(&self) -> String {
        format!("job-{}", self.id % 1_000_000_000)
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress.lock().clone()
    }

    /// Whether this is before the point of no return, for good.
    pub(super) fn cancel(&self) -> bool {
        let decided = self.decision.compare_exchange(OPEN, CANCELLED, Ordering::AcqRel, Ordering::Acquire);
        if decided.is_ok() {
            self.stop.request_stop();
        }
        matches!(decided, Ok(_) | Err(CANCELLED))
    }

    /// Whether no cancel came before.
    pub(super) fn commit(&self) -> bool {
        let decided = self.decision.compare_exchange(OPEN, COMMITTED, Ordering::AcqRel, Ordering::Acquire);
        matches!(decided, Ok(_) | Err(COMMITTED))
    }

    pub(super) fn can_cancel(&self) -> bool {
        self.decision.load(Ordering::Acquire) == OPEN
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.decision.load(Ordering::Acquire) == CANCELLED
    }

    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// The last thing a worker does.
    pub(super) fn finish(&self) {
        let ended = self.ended.lock();
        self.done.store(true, Ordering::Release);
        drop(ended);
        self.changed.notify_all();
        if let Some(main) = &self.wake {
            main.wake();
        }
    }

    pub(super) fn wait_timeout(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        let mut ended = self.ended.lock();
        while !self.is_done() {
            let Some(left) = deadline.left() else { return false };
            (ended, _) = self.changed.wait_timeout(ended, left);
        }
        true
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Status")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("done", &self.is_done())
            .finish_non_exhaustive()
    }
}
