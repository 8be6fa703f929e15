//! The answer to one call across threads: the caller waits, main runs the task and answers.
//!
//! Exactly one of these happens: main begins the task and answers, the caller gives up before main begins (then the
//! task never runs), or the task is dropped unrun and the caller hears that the dispatcher has closed.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Deadline;
use crate::panic::Panic;
use crate::stop::StopToken;
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use crate::sync::{Condvar, Mutex, SPINS_MAX, spin_hint};

/// Nobody has touched the task.
const PENDING: u8 = 0;
/// Main is running it.
const RUNNING: u8 = 1;
/// The caller went away before it ran.
const ABANDONED: u8 = 2;

/// As far apart as to lie on different cache lines.
const LINE_BYTES: usize = 64;

/// In this order: main changes the fields above the gap several times for one answer, and a caller who spins on the
/// same cache line would take it away from main between any two changes.
#[repr(C)]
struct Shared<R> {
    /// Leaves PENDING by exchange, so that begin and abandon cannot both win.
    state: AtomicU8,
    answer: Mutex<Option<Answer<R>>>,
    changed: Condvar,
    _gap: [u8; LINE_BYTES],
    /// Tells a caller who spins to look at the answer. Nobody sleeps by it.
    answered: AtomicBool,
}

/// What came of a task.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    Value(R),
    Panicked(Panic),
    /// Dropped without running.
    Closed,
}

/// Why the caller no longer waits.
#[derive(Debug)]
pub(crate) enum GaveUp {
    TimedOut { started: bool },
    Stopped { started: bool },
}

/// Main's side. Dropping it unanswered answers [`Answer::Closed`].
pub(crate) struct Responder<R> {
    shared: Arc<Shared<R>>,
    answered: bool,
}

/// The caller's side.
pub(crate) struct Waiter<R> {
    shared: Arc<Shared<R>>,
}

pub(crate) fn reply<R>() -> (Responder<R>, Waiter<R>) {
    let shared = Arc::new(Shared {
        state: AtomicU8::new(PENDING),
        answer: Mutex::new(None),
        changed: Condvar::new(),
        _gap: [0; LINE_BYTES],
        answered: AtomicBool::new(false),
    });
    (Responder { shared: Arc::clone(&shared), answered: false }, Waiter { shared })
}

impl<R> Responder<R> {
    /// Whether the task is to run: false when the caller has given up.
    pub(crate) fn begin(&self) -> bool {
        let begun = self.shared.state.compare_exchange(PENDING, RUNNING, Ordering::AcqRel, Ordering::Acquire);
        begun.is_ok()
    }

    pub(crate) fn answer(mut self, answer: Answer<R>) {
        self.put(answer);
    }

    fn put(&mut self, answer: Answer<R>) {
        self.answered = true;
        let mut slot = self.shared.answer.lock();
        // Under the lock, so that a waiter between its look and its sleep cannot miss it.
        *slot = Some(answer);
        drop(slot);
        self.shared.changed.notify_all();
        // Last, so that a caller who spins does not run into a lock that is still held.
        self.shared.answered.store(true, Ordering::Release);
    }
}

impl<R> Drop for Responder<R> {
    fn drop(&mut self) {
        if !self.answered {
            self.put(Answer::Closed);
        }
    }
}

impl<R> Shared<R> {
    /// Takes the task back. True when main has begun it, which nobody can undo.
    fn abandon(&self) -> bool {
        let abandoned = self.state.compare_exchange(PENDING, ABANDONED, Ordering::AcqRel, Ordering::Acquire);
        abandoned == Err(RUNNING)
    }
}

impl<R: Send + 'static> Waiter<R> {
    /// Waits for the answer, as long as neither the deadline passes nor the token stops.
    pub(crate) fn wait(
        self,
        timeout: Option<Duration>,
        stop: Option<&StopToken>,
    ) -> Result<Answer<R>, GaveUp> {
        for _ in 0..SPINS_MAX {
            if self.shared.answered.load(Ordering::Acquire) {
                break;
            }
            spin_hint();
        }
        if let Some(answer) = self.shared.answer.lock().take() {
            return Ok(answer);
        }
        let shared = Arc::clone(&self.shared);
        // The lock makes sure that a waiter about to sleep hears of it.
        let _wake = stop.map(|stop| {
            stop.on_stop(move || {
                drop(shared.answer.lock());
                shared.changed.notify_all();
            })
        });
        self.sleep(timeout.map(Deadline::after), stop)
    }

    fn sleep(&self, deadline: Option<Deadline>, stop: Option<&StopToken>) -> Result<Answer<R>, GaveUp> {
        let mut slot = self.shared.answer.lock();
        loop {
            if let Some(answer) = slot.take() {
                return Ok(answer);
            }
            if stop.is_some_and(StopToken::is_stopped) {
                return Err(GaveUp::Stopped { started: self.shared.abandon() });
            }
            slot = match deadline {
                None => self.shared.changed.wait(slot),
                Some(deadline) => match deadline.left() {
                    None => return Err(GaveUp::TimedOut { started: self.shared.abandon() }),
                    Some(left) => self.shared.changed.wait_timeout(slot, left).0,
                },
            };
        }
    }
}
