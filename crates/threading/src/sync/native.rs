//! The ordinary body of `sync`: parking_lot's locks, the standard library's atomics and threads.

use std::time::Duration;

pub use parking_lot::{Mutex, MutexGuard};
pub use std::hint::spin_loop as spin_hint;
pub use std::sync::atomic;

/// How often a waiter looks again before it sleeps: about as long as waking it would take.
pub const SPINS_MAX: u32 = 200;

/// A condition variable in the standard library's shape.
#[derive(Debug, Default)]
pub struct Condvar(parking_lot::Condvar);

impl Condvar {
    /// A condition nobody waits for yet.
    pub const fn new() -> Self {
        Self(parking_lot::Condvar::new())
    }

    /// Gives up the lock until notified.
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(&mut guard);
        guard
    }

    /// Gives up the lock until notified, or until the time is over: then the second value is true.
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let timed_out = self.0.wait_for(&mut guard, timeout).timed_out();
        (guard, timed_out)
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

/// Threads. Only `spawn.rs` starts one outside tests.
pub mod thread {
    pub use std::thread::{JoinHandle, ThreadId, current, yield_now};

    /// Starts a thread that the operating system knows by `name`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one door, behind which every thread has a name and a role"
    )]
    pub(crate) fn start<T: Send + 'static>(
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> std::io::Result<JoinHandle<T>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(work)
    }
}

/// A thread-local that needs no lazy start.
macro_rules! local {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr;) => {
        std::thread_local! { $(#[$meta])* static $name: $type = const { $value }; }
    };
}
pub(crate) use local;
