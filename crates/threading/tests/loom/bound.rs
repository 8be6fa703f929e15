//! A bound value belongs to its thread.

use std::cell::Cell;

use downbeat_threading::sync::model::Schedules::All;
use downbeat_threading::sync::model::check;
use downbeat_threading::{Role, ThreadBound, spawn};

#[test]
fn no_thread_reaches_a_value_of_another() {
    check("no_thread_reaches_a_value_of_another", All, || {
        let mine = ThreadBound::new(Cell::new(1));
        let handle = mine.handle();
        let worker = spawn("worker", Role::Worker, move || {
            assert!(handle.get().is_none());
            let own = ThreadBound::new(Cell::new(2));
            assert!(handle.get().is_none(), "nor by way of a value at the same place");
            own.handle().get().unwrap().set(3);
        });
        handle.get().unwrap().set(4);
        worker.unwrap().join().unwrap();
        assert_eq!(handle.get().unwrap().get(), 4);
    });
}
