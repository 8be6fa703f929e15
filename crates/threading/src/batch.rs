//! Records that go to one worker in batches, each acknowledged by its position: the queue of a group commit.
//!
//! Whoever pushes never waits for the worker's work, only for room when far ahead of it. The worker takes all that has
//! come in while it was busy, as one batch, and settles it as a whole. Its first failure is final: nothing is settled
//! after it, and everybody who waits or pushes hears why.
//!
//! It knows nothing of files, and it hands nothing back: a record is settled or it is not.

use std::mem;
use std::sync::Arc;

use thiserror::Error;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// What the worker takes at once.
#[derive(Debug)]
pub struct Batch<P> {
    /// The records, one behind the other.
    pub bytes: Vec<u8>,
    /// What came beside them.
    pub parcels: Vec<Placed<P>>,
    /// How many records and parcels it holds.
    pub count: u64,
    /// Bytes of all of it.
    weight: usize,
}

/// Something that came beside the records, and its place among them.
#[derive(Debug)]
pub struct Placed<P> {
    /// How many bytes of records came before it.
    pub at: usize,
    /// How many records and parcels came before it.
    pub nth: u64,
    /// What it is.
    pub parcel: P,
}

/// Why something was not pushed or will not be settled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BatchError<E> {
    /// The worker has failed, for good.
    #[error("{0}")]
    Failed(E),
    /// The worker is gone, or the queue was closed.
    #[error("the queue is closed")]
    Closed,
}

/// The side that pushes. Clones push into the same queue.
#[derive(Debug)]
pub struct BatchSender<P, E> {
    shared: Arc<Shared<P, E>>,
}

/// The worker's side.
#[derive(Debug)]
pub struct BatchReceiver<P, E> {
    shared: Arc<Shared<P, E>>,
    taken: Batch<P>,
}

#[derive(Debug)]
struct Shared<P, E> {
    state: Mutex<State<P, E>>,
    /// The worker sleeps on it.
    arrived: Condvar,
    /// Whoever waits for room or for an acknowledgement sleeps on it.
    settled: Condvar,
    weight_max: usize,
}

#[derive(Debug)]
struct State<P, E> {
    filling: Batch<P>,
    pushed: u64,
    settled: u64,
    failure: Option<E>,
    /// Nobody pushes any more.
    closed: bool,
    /// Nobody takes any more.
    deserted: bool,
}

/// A queue that holds up to `weight_max` bytes beside the batch that the worker has in hand. A single record or parcel
/// that is larger goes alone.
///
/// ```
/// use downbeat_threading::{Role, batches, spawn};
///
/// let (sender, mut receiver) = batches::<(), String>(1 << 20);
/// let writer = spawn("writer", Role::Worker, move || {
///     let mut written = Vec::new();
///     while let Some(batch) = receiver.take() {
///         written.extend_from_slice(&batch.bytes);
///         receiver.settle();
///     }
///     written
/// })?;
/// let position = sender.push(b"hello")?;
/// sender.wait(position)?;
/// sender.close();
/// assert_eq!(writer.join()?, b"hello");
/// # Ok::<(), downbeat_threading::BoxError>(())
/// ```
pub fn batches<P, E: Clone>(weight_max: usize) -> (BatchSender<P, E>, BatchReceiver<P, E>) {
    let state = State {
        filling: Batch::default(),
        pushed: 0,
        settled: 0,
        failure: None,
        closed: false,
        deserted: false,
    };
    let (arrived, settled) = (Condvar::new(), Condvar::new());
    let shared = Arc::new(Shared { state: Mutex::new(state), arrived, settled, weight_max });
    (BatchSender { shared: Arc::clone(&shared) }, BatchReceiver { shared, taken: Batch::default() })
}

impl<P, E: Clone> BatchSender<P, E> {
    /// Pushes a record, waiting for room. Returns its position: records and parcels count from 1.
    pub fn push(&self, record: &[u8]) -> Result<u64, BatchError<E>> {
        self.push_together(record, 1)
    }

    /// Pushes so many records that stand one behind the other, waiting for room. They come into one batch; pushed one
    /// by one, the first would wake the worker, which would be busy with it when the others come. Returns the position
    /// of the last.
    ///
    /// ```
    /// let (sender, mut receiver) = downbeat_threading::batches::<(), ()>(1 << 20);
    /// assert_eq!(sender.push_together(b"hello", 2), Ok(2));
    /// assert_eq!(receiver.take().map(|batch| (batch.count, batch.bytes.len())), Some((2, 5)));
    /// receiver.settle();
    /// assert_eq!(sender.settled(), 2);
    /// ```
    pub fn push_together(&self, records: &[u8], count: u64) -> Result<u64, BatchError<E>> {
        let mut state = self.wait_for_room(records.len())?;
        state.filling.bytes.extend_from_slice(records);
        Ok(self.pushed(state, records.len(), count))
    }

    /// Pushes a parcel that weighs so many bytes, waiting for room.
    pub fn push_parcel(&self, parcel: P, weight: usize) -> Result<u64, BatchError<E>> {
        let mut state = self.wait_for_room(weight)?;
        let (at, nth) = (state.filling.bytes.len(), state.filling.count);
        state.filling.parcels.push(Placed { at, nth, parcel });
        Ok(self.pushed(state, weight, 1))
    }

    /// The position of what was pushed last.
    pub fn position(&self) -> u64 {
        self.shared.state.lock().pushed
    }

    /// Everything up to this position is settled.
    pub fn settled(&self) -> u64 {
        self.shared.state.lock().settled
    }

    /// What the worker failed with, if it did.
    pub fn failure(&self) -> Option<E> {
        self.shared.state.lock().failure.clone()
    }

    /// Whether a record of so many bytes would find room now.
    pub fn has_room(&self, weight: usize) -> bool {
        self.shared.has_room(&self.shared.state.lock(), weight)
    }

    /// Waits until everything up to a position is settled, or until it never will be.
    pub fn wait(&self, position: u64) -> Result<(), BatchError<E>> {
        let mut state = self.shared.state.lock();
        while state.settled < position {
            state.check_worker()?;
            // What was never pushed is never settled.
            if position > state.pushed && state.closed {
                return Err(BatchError::Closed);
            }
            state = self.shared.settled.wait(state);
        }
        Ok(())
    }

    /// Nothing more will be pushed. The worker gets what is there, and then nothing.
    pub fn close(&self) {
        self.shared.state.lock().closed = true;
        self.shared.arrived.notify_all();
        self.shared.settled.notify_all();
    }

    fn wait_for_room(&self, weight: usize) -> Result<MutexGuard<'_, State<P, E>>, BatchError<E>> {
        let mut state = self.shared.state.lock();
        loop {
            state.check()?;
            if self.shared.has_room(&state, weight) {
                return Ok(state);
            }
            state = self.shared.settled.wait(state);
        }
    }

    fn pushed(&self, mut state: MutexGuard<'_, State<P, E>>, weight: usize, count: u64) -> u64 {
        // The worker sleeps only when there is nothing, so only the first record has somebody to wake.
        let first = state.filling.count == 0;
        state.filling.weight += weight;
        state.filling.count += count;
        state.pushed += count;
        let position = state.pushed;
        drop(state);
        if first {
            self.shared.arrived.notify_one();
        }
        position
    }
}

impl<P, E: Clone> BatchReceiver<P, E> {
    /// Waits for something and takes all of it; `None` when the queue is closed and empty. What was taken before is
    /// cleared, settled or not.
    pub fn take(&mut self) -> Option<&mut Batch<P>> {
        self.taken.clear();
        let mut state = self.shared.state.lock();
        while state.filling.count == 0 {
            if state.closed || state.failure.is_some() {
                return None;
            }
            state = self.shared.arrived.wait(state);
        }
        mem::swap(&mut state.filling, &mut self.taken);
        drop(state);
        // There is room again while the worker is busy.
        self.shared.settled.notify_all();
        Some(&mut self.taken)
    }

    /// The batch in hand is settled; waiters hear of it. Its content stays until the next one is taken.
    pub fn settle(&mut self) {
        self.shared.state.lock().settled += mem::take(&mut self.taken.count);
        self.shared.settled.notify_all();
    }

    /// The worker has failed. What is not settled never will be; pushes and waits say so from now on.
    pub fn fail(&mut self, failure: E) {
        self.shared.state.lock().failure.get_or_insert(failure);
        self.shared.settled.notify_all();
    }
}

impl<P, E> Shared<P, E> {
    fn has_room(&self, state: &State<P, E>, weight: usize) -> bool {
        state.filling.count == 0 || state.filling.weight.saturating_add(weight) <= self.weight_max
    }
}

impl<P, E: Clone> State<P, E> {
    fn check(&self) -> Result<(), BatchError<E>> {
        self.check_worker()?;
        if self.closed { Err(BatchError::Closed) } else { Ok(()) }
    }

    fn check_worker(&self) -> Result<(), BatchError<E>> {
        match &self.failure {
            Some(failure) => Err(BatchError::Failed(failure.clone())),
            None if self.deserted => Err(BatchError::Closed),
            None => Ok(()),
        }
    }
}

impl<P> Batch<P> {
    fn clear(&mut self) {
        self.bytes.clear();
        self.parcels.clear();
        (self.count, self.weight) = (0, 0);
    }
}

impl<P> Default for Batch<P> {
    fn default() -> Self {
        Self { bytes: Vec::new(), parcels: Vec::new(), count: 0, weight: 0 }
    }
}

impl<P, E> Clone for BatchSender<P, E> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<P, E> Drop for BatchReceiver<P, E> {
    /// Also when the worker panics: whoever waits must hear that nobody works any more.
    fn drop(&mut self) {
        self.shared.state.lock().deserted = true;
        self.shared.settled.notify_all();
    }
}
