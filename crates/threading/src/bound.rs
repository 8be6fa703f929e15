//! A value that stays on the thread that made it, behind a handle that goes anywhere.
//!
//! The thread reaches its value without a lock and without an atomic operation: it lies in a table of the thread's own,
//! and the handle knows where. Every other thread finds another table. It does not send anything to the thread; for
//! that there is the dispatcher.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
// Only makes numbers that differ, so no model needs to see it.
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sync;

/// A value, while it is there, and its number. No two values of a process have the same.
type Place = Option<(u64, Rc<dyn Any>)>;

static NUMBERS: AtomicU64 = AtomicU64::new(0);

sync::local! {
    static PLACES: RefCell<Vec<Place>> = RefCell::new(Vec::new());
}

/// Keeps a value on the current thread until it is dropped.
///
/// ```
/// use std::cell::Cell;
/// use downbeat_threading::{Role, ThreadBound, spawn};
///
/// let count = ThreadBound::new(Cell::new(0));
/// let handle = count.handle();
/// let there = spawn("elsewhere", Role::Worker, move || handle.get().is_some())?;
/// assert!(!there.join()?, "another thread does not reach it");
/// handle.get().expect("this one does").set(7);
/// drop(count);
/// assert!(handle.get().is_none(), "gone");
/// # Ok::<(), downbeat_threading::BoxError>(())
/// ```
pub struct ThreadBound<T: 'static> {
    handle: ThreadBoundHandle<T>,
    /// It is dropped where its place is.
    not_send: PhantomData<*mut ()>,
}

/// Finds a value on the thread that it is bound to.
pub struct ThreadBoundHandle<T> {
    place: usize,
    number: u64,
    value: PhantomData<fn() -> T>,
}

impl<T: 'static> ThreadBound<T> {
    /// Binds `value` to the current thread.
    pub fn new(value: T) -> Self {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let place = PLACES.with(|places| {
            let mut places = places.borrow_mut();
            let free = places.iter().position(Option::is_none);
            let place = free.unwrap_or_else(|| {
                places.push(None);
                places.len() - 1
            });
            places[place] = Some((number, Rc::new(value)));
            place
        });
        Self { handle: ThreadBoundHandle { place, number, value: PhantomData }, not_send: PhantomData }
    }

    /// For whoever may be on its thread.
    pub fn handle(&self) -> ThreadBoundHandle<T> {
        self.handle
    }
}

impl<T> Drop for ThreadBound<T> {
    fn drop(&mut self) {
        // At the end of its thread the table may have gone, with the value in it.
        let value = PLACES.try_with(|places| places.borrow_mut()[self.handle.place].take());
        // Only now: it is foreign code, which may bind and look up values itself.
        drop(value);
    }
}

impl<T: 'static> ThreadBoundHandle<T> {
    /// The value, on its thread; nothing on any other, and after it was dropped.
    #[inline]
    pub fn get(&self) -> Option<Rc<T>> {
        let value = PLACES.try_with(|places| match places.borrow().get(self.place) {
            Some(Some((number, value))) if *number == self.number => Some(Rc::clone(value)),
            _ => None,
        });
        value.ok()??.downcast().ok()
    }
}

impl<T> Clone for ThreadBoundHandle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ThreadBoundHandle<T> {}

impl<T> fmt::Debug for ThreadBound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBound").field("number", &self.handle.number).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ThreadBoundHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBoundHandle").field("number", &self.number).finish_non_exhaustive()
    }
}
