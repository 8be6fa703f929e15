//! Values that stay on their thread.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use downbeat_threading::{Role, ThreadBound, ThreadBoundHandle, spawn};

#[test]
fn a_value_is_reached_on_its_thread_alone() {
    let text = ThreadBound::new(RefCell::new(String::from("here")));
    let handle = text.handle();
    let elsewhere = spawn("elsewhere", Role::Worker, move || {
        // At the same place of another table.
        let _other = ThreadBound::new(RefCell::new(String::from("there")));
        handle.get().is_none()
    });
    assert!(elsewhere.unwrap().join().unwrap());
    assert_eq!(*handle.get().unwrap().borrow(), "here");
}

#[test]
fn a_handle_outlives_its_value_and_never_finds_another() {
    let first = ThreadBound::new(Cell::new(1));
    let stale = first.handle();
    let kept = stale.get().unwrap();
    drop(first);
    assert!(stale.get().is_none());
    let second = ThreadBound::new(Cell::new(2));
    assert!(stale.get().is_none(), "the place is taken again, by a value of another number");
    assert_eq!((kept.get(), second.handle().get().unwrap().get()), (1, 2));
    assert_eq!(Rc::strong_count(&kept), 1, "whoever has it keeps it");
}

/// Looks up and binds values while it goes.
struct Rude(ThreadBoundHandle<Cell<u32>>);

impl Drop for Rude {
    fn drop(&mut self) {
        let inner = ThreadBound::new(Cell::new(7));
        let seen = self.0.get().expect("still there");
        seen.set(seen.get() + inner.handle().get().expect("just bound").get());
    }
}

#[test]
fn a_value_may_use_others_while_it_goes() {
    let sum = ThreadBound::new(Cell::new(1));
    drop(ThreadBound::new(Rude(sum.handle())));
    assert_eq!(sum.handle().get().unwrap().get(), 8);
}

#[test]
fn a_value_that_outlives_its_table_is_harmless() {
    // The table of a thread goes with the thread; here the owner lies in a thread-local that may go after it.
    thread_local! { static LAST: RefCell<Option<ThreadBound<Cell<u32>>>> = const { RefCell::new(None) }; }
    let ended = spawn("ends", Role::Worker, || {
        LAST.with(|last| *last.borrow_mut() = Some(ThreadBound::new(Cell::new(1))));
    });
    ended.unwrap().join().unwrap();
}
