//! Stop tokens: one winner, every callback once, no waiter left asleep.

use std::sync::Arc;

use downbeat_threading::StopSource;
use downbeat_threading::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use downbeat_threading::sync::model::Schedules::All;
use downbeat_threading::sync::model::check;

fn counter() -> (Arc<AtomicUsize>, impl Fn() + Clone + Send + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    (count, move || _ = counted.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn a_callback_runs_once_whenever_it_is_registered() {
    check("a_callback_runs_once_whenever_it_is_registered", All, || {
        let source = StopSource::new();
        let token = source.token();
        let (count, callback) = counter();
        let stopper = thread::spawn(move || source.request_stop());
        let registration = token.on_stop(callback);
        assert!(stopper.join().unwrap());
        assert_eq!(count.load(Ordering::Relaxed), 1);
        drop(registration);
    });
}

#[test]
fn one_stop_wins_and_callbacks_run_once() {
    check("one_stop_wins_and_callbacks_run_once", All, || {
        let source = StopSource::new();
        let (count, callback) = counter();
        let _registration = source.token().on_stop(callback);
        let other = source.clone();
        let rival = thread::spawn(move || other.request_stop());
        let won = [source.request_stop(), rival.join().unwrap()];
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_registration_that_was_dropped_runs_at_most_once() {
    check("a_registration_that_was_dropped_runs_at_most_once", All, || {
        let source = StopSource::new();
        let (count, callback) = counter();
        let registration = source.token().on_stop(callback);
        let other = source.clone();
        let stopper = thread::spawn(move || other.request_stop());
        drop(registration);
        let after_drop = source.is_stopped();
        stopper.join().unwrap();
        if !after_drop {
            assert_eq!(count.load(Ordering::Relaxed), 0, "taken back before the stop");
        }
    });
}

#[test]
fn every_waiter_wakes() {
    check("every_waiter_wakes", All, || {
        let source = StopSource::new();
        let waiters = [0, 1].map(|_| {
            let token = source.token();
            thread::spawn(move || token.wait())
        });
        source.request_stop();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn what_came_before_the_stop_is_seen_after_it() {
    check("what_came_before_the_stop_is_seen_after_it", All, || {
        let source = StopSource::new();
        let (token, data) = (source.token(), Arc::new(AtomicUsize::new(0)));
        let written = Arc::clone(&data);
        let stopper = thread::spawn(move || {
            written.store(1, Ordering::Relaxed);
            source.request_stop();
        });
        if token.is_stopped() {
            assert_eq!(data.load(Ordering::Relaxed), 1);
        }
        stopper.join().unwrap();
    });
}

#[test]
fn a_child_hears_its_parent_whenever_it_is_born() {
    check("a_child_hears_its_parent_whenever_it_is_born", All, || {
        let parent = StopSource::new();
        let token = parent.token();
        let stopper = thread::spawn(move || parent.request_stop());
        let child = token.child();
        stopper.join().unwrap();
        assert!(child.token().is_stopped());
    });
}
