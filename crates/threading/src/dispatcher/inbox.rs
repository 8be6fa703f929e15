//! What has come in for main: the tasks, the lock they arrive under, and the condition main sleeps on.

use std::sync::Arc;
use std::time::Duration;

use super::DispatcherConfig;
use super::handle::{Refused, RefusedTask};
use crate::arena::CommandArena;
use crate::boot::MainThread;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex};

pub(super) type Tasks = CommandArena<MainThread>;

/// Wakes main's event loop, called from other threads.
pub type WakeHook = Arc<dyn Fn() + Send + Sync>;

/// In this order, and from the start of a cache line: whoever looks at the count gets the lock and most of the state
/// with it. The other way round a call to a spinning main takes a tenth longer.
#[repr(C, align(128))]
pub(super) struct Inbox {
    /// Copy of the tasks' count that can be looked at without the lock; written under it.
    len: AtomicUsize,
    state: Mutex<State>,
    changed: Condvar,
    config: DispatcherConfig,
}

struct State {
    tasks: Tasks,
    closed: bool,
    /// Counts calls of `wake`, so that one that comes between main's look and main's sleep is noticed.
    signals: u64,
}

impl Inbox {
    pub(super) fn new(config: DispatcherConfig) -> Self {
        let state = State { tasks: Tasks::with_bytes_max(config.bytes_max), closed: false, signals: 0 };
        Self { len: AtomicUsize::new(0), state: Mutex::new(state), changed: Condvar::new(), config }
    }

    /// Takes a task in, wrapped for main, or gives it back as it was.
    #[inline]
    #[track_caller]
    pub(super) fn push<T, F>(&self, task: T, wrap: impl FnOnce(T) -> F) -> Result<(), RefusedTask<T>>
    where
        F: FnOnce(&mut MainThread) + Send + 'static,
    {
        let mut state = self.state.lock();
        if state.closed {
            return Err(RefusedTask { reason: Refused::Closed, task });
        }
        if state.tasks.len() >= self.config.tasks_max || !state.tasks.has_room_for::<F>() {
            return Err(RefusedTask { reason: Refused::Full, task });
        }
        let pushed = state.tasks.push(wrap(task));
        debug_assert!(pushed.is_ok(), "room was made above");
        self.len.store(state.tasks.len(), Ordering::Release);
        drop(state);
        self.announce();
        Ok(())
    }

    /// Tells main that something it may be waiting for has changed.
    pub(super) fn signal(&self) {
        self.state.lock().signals += 1;
        self.announce();
    }

    /// Wakes main, wherever it sleeps. There is one main, so one is enough.
    fn announce(&self) {
        self.changed.notify_one();
        if let Some(wake) = &self.config.wake {
            wake();
        }
    }

    pub(super) fn signals(&self) -> u64 {
        self.state.lock().signals
    }

    /// Sleeps until a task comes, the count of signals is no longer `seen`, or the time is over.
    pub(super) fn sleep(&self, seen: u64, timeout: Duration) {
        let mut state = self.state.lock();
        while state.tasks.is_empty() && state.signals == seen {
            let timed_out;
            (state, timed_out) = self.changed.wait_timeout(state, timeout);
            if timed_out {
                return;
            }
        }
    }

    /// Exchanges the tasks that came in for an empty arena.
    pub(super) fn swap(&self, empty: &mut Tasks) {
        let mut state = self.state.lock();
        std::mem::swap(&mut state.tasks, empty);
        self.len.store(0, Ordering::Release);
    }

    /// Refuses what comes from now on; returns what had come.
    pub(super) fn close(&self) -> Tasks {
        let mut state = self.state.lock();
        state.closed = true;
        self.len.store(0, Ordering::Release);
        std::mem::replace(&mut state.tasks, Tasks::with_bytes_max(0))
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn bytes_max(&self) -> usize {
        self.config.bytes_max
    }
}
