//! Asking work to stop: a source that says so once and for all, and tokens that hear it.
//!
//! A stop is sticky, a poll is one atomic load, and a callback runs exactly once: on the thread that stops, or at
//! once on the thread that registers it when the stop has been. It does not stop anything by force.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::clock::Deadline;
use crate::panic::caught;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{self, Condvar, Mutex};

type Callback = Box<dyn FnOnce() + Send>;

struct Shared {
    /// Written under the lock of `waiting`, read without it.
    stopped: AtomicBool,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// With the number of each, by which its registration takes it out again.
    callbacks: Vec<(u64, Callback)>,
    registered: u64,
    /// Ties a child to its parent, for as long as anybody listens to the child.
    parent: Option<StopCallback>,
}

/// The side that asks. Clones speak for the same stop.
///
/// ```
/// use downbeat_threading::StopSource;
///
/// let source = StopSource::new();
/// let token = source.token();
/// assert!(!token.is_stopped());
/// assert!(source.request_stop(), "this call was the one");
/// assert!(!source.request_stop(), "a stop happens once");
/// assert!(token.is_stopped());
/// ```
#[derive(Clone)]
pub struct StopSource {
    shared: Arc<Shared>,
}

/// The side that listens. Cheap to clone and to poll, from any thread.
#[derive(Clone)]
pub struct StopToken {
    shared: Arc<Shared>,
}

/// The work was asked to stop and did so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped on request")]
pub struct Stopped;

impl StopSource {
    /// A source nobody has stopped.
    pub fn new() -> Self {
        let shared = Shared {
            stopped: AtomicBool::new(false),
            waiting: Mutex::new(Waiting::default()),
            changed: Condvar::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A token that hears this source.
    pub fn token(&self) -> StopToken {
        StopToken { shared: Arc::clone(&self.shared) }
    }

    /// Stops, once and for all. True for the one call that did it; callbacks have run when that call returns.
    ///
    /// # Panics
    ///
    /// With the first panic of a callback, after all of them have run.
    pub fn request_stop(&self) -> bool {
        self.shared.stop()
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Acquire)
    }
}

impl Default for StopSource {
    fn default() -> Self {
        Self::new()
    }
}

impl StopToken {
    /// Whether the work should stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Acquire)
    }

    /// For use with `?` at every point where the work can break off.
    #[inline]
    pub fn checkpoint(&self) -> Result<(), Stopped> {
        if self.is_stopped() { Err(Stopped) } else { Ok(()) }
    }

    /// Sleeps until stopped.
    pub fn wait(&self) {
        let mut waiting = self.shared.waiting.lock();
        while !self.is_stopped() {
            waiting = self.shared.changed.wait(waiting);
        }
    }

    /// Sleeps until stopped, or for as long as `timeout`: whether it was stopped. A pause that can be cut short.
    ///
    /// ```
    /// use std::time::Duration;
    /// use downbeat_threading::StopSource;
    ///
    /// let source = StopSource::new();
    /// assert!(!source.token().wait_timeout(Duration::from_millis(1)));
    /// source.request_stop();
    /// assert!(source.token().wait_timeout(Duration::MAX));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        let mut waiting = self.shared.waiting.lock();
        while !self.is_stopped() {
            let Some(left) = deadline.left() else { return false };
            (waiting, _) = self.shared.changed.wait_timeout(waiting, left);
        }
        true
    }

    /// Runs `callback` once when stopped: on the thread that stops, or here and now if that has been.
    ///
    /// Dropping the registration takes the callback back, unless it runs already.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use downbeat_threading::StopSource;
    ///
    /// let source = StopSource::new();
    /// let count = Arc::new(AtomicU32::new(0));
    /// let counted = || { let count = Arc::clone(&count); move || _ = count.fetch_add(1, Relaxed) };
    /// let before = source.token().on_stop(counted());
    /// source.request_stop();
    /// let after = source.token().on_stop(counted());
    /// assert_eq!(count.load(Relaxed), 2);
    /// ```
    pub fn on_stop(&self, callback: impl FnOnce() + Send + 'static) -> StopCallback {
        let mut waiting = self.shared.waiting.lock();
        if !self.is_stopped() {
            waiting.registered += 1;
            let number = waiting.registered;
            waiting.callbacks.push((number, Box::new(callback)));
            return StopCallback { shared: Arc::downgrade(&self.shared), number };
        }
        drop(waiting);
        callback();
        StopCallback { shared: Weak::new(), number: 0 }
    }

    /// A source that stops when this token does, and also on its own, which this token does not hear.
    pub fn child(&self) -> StopSource {
        let child = StopSource::new();
        // Weak, or parent and child would keep each other alive.
        let shared = Arc::downgrade(&child.shared);
        let tie = self.on_stop(move || {
            if let Some(shared) = shared.upgrade() {
                shared.stop();
            }
        });
        child.shared.waiting.lock().parent = Some(tie);
        child
    }

    /// The token of the job that runs on the current thread.
    pub fn current() -> Option<Self> {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Makes this the current thread's token until the scope is dropped: a stop then ends also a wait for main in
    /// [`MainThreadHandle::execute`](crate::MainThreadHandle::execute). Jobs do so by themselves.
    pub fn enter(self) -> StopScope {
        let before = CURRENT.with(|current| current.replace(Some(self)));
        StopScope { before, not_send: PhantomData }
    }
}

sync::local! {
    static CURRENT: RefCell<Option<StopToken>> = RefCell::new(None);
}

/// Puts the thread's token back that was there before.
#[derive(Debug)]
#[must_use = "the token is current until the scope is dropped"]
pub struct StopScope {
    before: Option<StopToken>,
    /// The token belongs to the thread that entered it.
    not_send: PhantomData<*mut ()>,
}

impl Drop for StopScope {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(self.before.take()));
    }
}

impl Shared {
    fn stop(&self) -> bool {
        let callbacks = {
            let mut waiting = self.waiting.lock();
            if self.stopped.swap(true, Ordering::AcqRel) {
                return false;
            }
            std::mem::take(&mut waiting.callbacks)
        };
        self.changed.notify_all();
        let mut first_panic = None;
        for (_, callback) in callbacks {
            if let Err(panic) = caught(callback) {
                first_panic.get_or_insert(panic);
            }
        }
        if let Some(panic) = first_panic {
            panic!("a stop callback {panic}");
        }
        true
    }
}

/// Keeps a callback registered.
#[must_use = "dropping it takes the callback back"]
pub struct StopCallback {
    /// Nobody, when the callback ran on registration.
    shared: Weak<Shared>,
    number: u64,
}

impl Drop for StopCallback {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut waiting = shared.waiting.lock();
        let at = waiting.callbacks.iter().position(|(number, _)| *number == self.number);
        let taken_back = at.map(|at| waiting.callbacks.swap_remove(at));
        // What the callback holds may run code when it goes, so the lock goes first.
        drop(waiting);
        drop(taken_back);
    }
}

impl fmt::Debug for StopSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopSource").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopToken").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}

impl fmt::Debug for StopCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopCallback").field("number", &self.number).finish_non_exhaustive()
    }
}
