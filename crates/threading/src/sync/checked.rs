//! The body of `sync` under a model checker: loom explores every schedule, shuttle many random ones.
//!
//! Time does not exist here: `wait_timeout` never times out, so a model that needs the time-out hangs and says so.

use std::sync::PoisonError;
use std::time::Duration;

#[cfg(downbeat_loom)]
use loom as checker;
#[cfg(downbeat_shuttle)]
use shuttle as checker;

pub use checker::sync::MutexGuard;
pub use checker::sync::atomic;

/// Nobody spins under a checker: every look is one more branch to explore.
pub const SPINS_MAX: u32 = 0;

/// Lets another thread go on, which is what a spinning thread waits for.
pub fn spin_hint() {
    thread::yield_now();
}

/// A lock that the checker sees. Never poisoned.
#[derive(Debug, Default)]
pub struct Mutex<T>(checker::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(checker::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if nobody holds it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}

/// A condition variable that the checker sees.
#[derive(Debug, Default)]
pub struct Condvar(checker::sync::Condvar);

impl Condvar {
    /// A condition nobody waits for yet.
    pub fn new() -> Self {
        Self(checker::sync::Condvar::new())
    }

    /// Gives up the lock until notified.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Condvar::wait`]: no time passes under a checker.
    pub fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, _: Duration) -> (MutexGuard<'a, T>, bool) {
        (self.wait(guard), false)
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Threads that the checker schedules.
pub mod thread {
    pub use super::checker::thread::{JoinHandle, ThreadId, current, yield_now};

    /// Starts a thread; the checkers have no use for its name.
    pub(crate) fn start<T: Send + 'static>(
        _name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> std::io::Result<JoinHandle<T>> {
        Ok(super::checker::thread::spawn(work))
    }
}

/// A thread-local of the checker's threads: the standard library's would be shared by all of them.
macro_rules! local {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(downbeat_loom)]
        loom::thread_local! { $(#[$meta])* static $name: $type = $value; }
        #[cfg(downbeat_shuttle)]
        shuttle::thread_local! { $(#[$meta])* static $name: $type = $value; }
    };
}
pub(crate) use local;
