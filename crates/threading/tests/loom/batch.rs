//! Batches: what is pushed is taken once and settled in order, and nobody waits for what will never come.

use downbeat_threading::{BatchError, batches};
use loom::thread;

use downbeat_threading::sync::model::Schedules::{All, Bounded};
use downbeat_threading::sync::model::check;

#[test]
fn a_waiter_hears_of_its_record_once_it_is_settled() {
    check("a_waiter_hears_of_its_record_once_it_is_settled", Bounded, || {
        let (sender, mut receiver) = batches::<(), u8>(64);
        let worker = thread::spawn(move || {
            let mut seen = Vec::new();
            while let Some(batch) = receiver.take() {
                seen.extend_from_slice(&batch.bytes);
                receiver.settle();
            }
            seen
        });
        let position = sender.push(b"a").unwrap();
        assert_eq!(sender.wait(position), Ok(()));
        assert_eq!(sender.settled(), position);
        sender.push(b"b").unwrap();
        sender.close();
        assert_eq!(worker.join().unwrap(), b"ab");
        assert_eq!(sender.settled(), 2);
    });
}

#[test]
fn two_push_and_each_record_is_taken_once() {
    check("two_push_and_each_record_is_taken_once", Bounded, || {
        let (sender, mut receiver) = batches::<(), u8>(64);
        let other = sender.clone();
        let pushing = thread::spawn(move || other.push(b"a").unwrap());
        let mine = sender.push(b"b").unwrap();
        let theirs = pushing.join().unwrap();
        assert_eq!([mine.min(theirs), mine.max(theirs)], [1, 2]);
        sender.close();
        let mut seen = Vec::new();
        while let Some(batch) = receiver.take() {
            seen.extend_from_slice(&batch.bytes);
            receiver.settle();
        }
        assert_eq!(seen, if mine == 1 { *b"ba" } else { *b"ab" });
    });
}

#[test]
fn whoever_waits_for_room_gets_it_when_a_batch_is_taken() {
    check("whoever_waits_for_room_gets_it_when_a_batch_is_taken", Bounded, || {
        let (sender, mut receiver) = batches::<(), u8>(1);
        let worker = thread::spawn(move || {
            let mut seen = 0;
            while let Some(batch) = receiver.take() {
                assert!(batch.bytes.len() <= 1, "a queue for one byte holds {}", batch.bytes.len());
                seen += batch.bytes.len();
                receiver.settle();
            }
            seen
        });
        sender.push(b"a").unwrap();
        sender.push(b"b").unwrap();
        sender.close();
        assert_eq!(worker.join().unwrap(), 2);
    });
}

#[test]
fn a_failure_reaches_whoever_waits_and_is_final() {
    check("a_failure_reaches_whoever_waits_and_is_final", All, || {
        let (sender, mut receiver) = batches::<(), u8>(1);
        let worker = thread::spawn(move || {
            if receiver.take().is_some() {
                receiver.fail(7);
            }
            // Dropped here: the failure must still be what is told.
        });
        let position = sender.push(b"a").unwrap();
        assert_eq!(sender.wait(position), Err(BatchError::Failed(7)));
        assert_eq!(sender.push(b"b"), Err(BatchError::Failed(7)));
        assert_eq!(sender.settled(), 0);
        worker.join().unwrap();
    });
}

#[test]
fn a_worker_that_is_gone_leaves_nobody_waiting() {
    check("a_worker_that_is_gone_leaves_nobody_waiting", All, || {
        let (sender, receiver) = batches::<(), u8>(1);
        let worker = thread::spawn(move || drop(receiver));
        let waited = sender.push(b"a").and_then(|position| sender.wait(position));
        assert_eq!(waited, Err(BatchError::Closed));
        worker.join().unwrap();
    });
}
