//! The newest value of something, published by one thread and read by any number of others.
//!
//! A value is published whole and read whole; a reader never sees an older one after a newer one. Readers do not
//! hold the writer up: it writes where nobody is reading. Nor is a value copied for a reader: all share one.
//!
//! Values in between may go unseen. A queue that keeps them all is something else.

use std::fmt;
use std::sync::Arc;

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, spin_hint};

/// The newest value's place, one to write the next into, and two that late readers may be stuck at. Under a model
/// checker as few as work, so that reader and writer meet.
const PLACES: usize = if cfg!(any(downbeat_loom, downbeat_shuttle)) { 2 } else { 4 };

struct Shared<T> {
    places: [Mutex<Place<T>>; PLACES],
    /// The place of the newest value. Written under that place's lock.
    newest: AtomicUsize,
}

struct Place<T> {
    /// Empty while the writer has it in hand.
    value: Option<Arc<T>>,
    version: u64,
}

/// The one side that publishes.
pub struct LatestWriter<T> {
    shared: Arc<Shared<T>>,
    version: u64,
    /// Where it published last.
    newest: usize,
}

/// A side that reads. Clones read the same.
pub struct LatestReader<T> {
    shared: Arc<Shared<T>>,
}

/// A value as it was published.
pub struct Published<T> {
    /// Counts publications from 1; 0 is what it started with.
    pub version: u64,
    /// The value, shared with everybody who read it.
    pub value: Arc<T>,
}

/// A writer and a reader of a value that starts as its default.
///
/// ```
/// use downbeat_threading::latest;
///
/// let (mut writer, reader) = latest::<Vec<f64>>();
/// writer.publish_with(|poses| poses.extend([1.0, 2.0]));
/// let seen = reader.read();
/// assert_eq!((seen.version, seen.value.as_slice()), (1, &[1.0, 2.0][..]));
/// ```
pub fn latest<T: Default>() -> (LatestWriter<T>, LatestReader<T>) {
    let place = |index: usize| {
        let value = (index == 0).then(|| Arc::new(T::default()));
        Mutex::new(Place { value, version: 0 })
    };
    let shared = Arc::new(Shared { places: std::array::from_fn(place), newest: AtomicUsize::new(0) });
    (LatestWriter { shared: Arc::clone(&shared), version: 0, newest: 0 }, LatestReader { shared })
}

impl<T: Default> LatestWriter<T> {
    /// Publishes `value`.
    pub fn publish(&mut self, value: T) {
        self.publish_with(|place| *place = value);
    }

    /// Fills a value and publishes it.
    ///
    /// What is handed to `fill` is an older value that nobody reads any more, or a default one: clear it and fill it
    /// anew. In steady state nothing is allocated, once every place has been used and while readers let go of what
    /// they read.
    pub fn publish_with(&mut self, fill: impl FnOnce(&mut T)) {
        // Taken out, so that no lock is held while `fill` runs. A reader who comes to an empty place looks anew.
        let old = self.free_place().1.value.take();
        let mut value = old.unwrap_or_default();
        match Arc::get_mut(&mut value) {
            Some(reused) => fill(reused),
            None => {
                let mut fresh = T::default();
                fill(&mut fresh);
                value = Arc::new(fresh);
            }
        }
        self.version += 1;
        let (at, mut place) = self.free_place();
        *place = Place { value: Some(value), version: self.version };
        // Under the lock: whoever reads this value must find it the newest from then on.
        self.shared.newest.store(at, Ordering::Release);
        drop(place);
        self.newest = at;
    }

    /// A place that is not the newest and that no reader is at.
    fn free_place(&self) -> (usize, MutexGuard<'_, Place<T>>) {
        loop {
            for step in 1..PLACES {
                let at = (self.newest + step) % PLACES;
                if let Some(place) = self.shared.places[at].try_lock() {
                    return (at, place);
                }
            }
            // Three readers at once were put to sleep in the middle of a read, each at another place.
            spin_hint();
        }
    }
}

impl<T> LatestReader<T> {
    /// The newest value.
    pub fn read(&self) -> Published<T> {
        loop {
            let newest = self.shared.newest.load(Ordering::Acquire);
            let place = self.shared.places[newest].lock();
            if let Some(value) = &place.value {
                return Published { version: place.version, value: Arc::clone(value) };
            }
            // The writer has come round to this place since: there is a newer one.
            drop(place);
            spin_hint();
        }
    }
}

impl<T> Clone for LatestReader<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Clone for Published<T> {
    fn clone(&self) -> Self {
        Self { version: self.version, value: Arc::clone(&self.value) }
    }
}

impl<T> fmt::Debug for LatestWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatestWriter").field("version", &self.version).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for LatestReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatestReader").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Published").field("version", &self.version).field("value", &self.value).finish()
    }
}
