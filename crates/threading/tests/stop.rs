//! Stop tokens: one stop, heard by everybody, once.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use downbeat_threading::sync::Mutex;
use downbeat_threading::{Role, StopCallback, StopSource, StopToken, Stopped, Thread, caught, roles, spawn};

/// More than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// Registers a callback that counts.
fn counting(token: &StopToken, count: &Arc<AtomicUsize>) -> StopCallback {
    let count = Arc::clone(count);
    token.on_stop(move || _ = count.fetch_add(1, Ordering::AcqRel))
}

fn on_worker<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
    spawn("worker", Role::Worker, work).expect("a thread to spare")
}

#[test]
fn a_stop_is_heard_by_every_token_and_stays() {
    let source = StopSource::new();
    let (before, clone) = (source.token(), source.clone());
    assert_eq!((before.is_stopped(), before.checkpoint()), (false, Ok(())));
    assert!(clone.request_stop());
    for _ in 0..3 {
        for token in [&before, &source.token(), &before.clone()] {
            assert_eq!((token.is_stopped(), token.checkpoint()), (true, Err(Stopped)));
        }
        assert!(source.is_stopped() && !source.request_stop());
    }
    drop((source, clone));
    assert!(before.is_stopped(), "also when nobody can ask any more");
}

#[test]
fn one_of_many_threads_does_the_stop() {
    for _ in 0..50 {
        let (source, calls) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
        let _callback = counting(&source.token(), &calls);
        let start = StopSource::new();
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (source, start) = (source.clone(), start.token());
                on_worker(move || {
                    start.wait();
                    source.request_stop()
                })
            })
            .collect();
        start.request_stop();
        let winners = threads.into_iter().map(|thread| thread.join().unwrap());
        assert_eq!(winners.filter(|won| *won).count(), 1);
        assert_eq!(calls.load(Ordering::Acquire), 1);
    }
}

#[test]
fn a_stopped_parent_stops_its_children_and_theirs() {
    let parent = StopSource::new();
    let child = parent.token().child();
    let grandchild = child.token().child();
    let waiter = {
        let token = grandchild.token();
        on_worker(move || token.wait())
    };
    assert!(!child.is_stopped() && !grandchild.is_stopped());
    assert!(parent.request_stop());
    assert!(child.is_stopped() && grandchild.is_stopped());
    assert!(!child.request_stop(), "the parent was first");
    waiter.join().unwrap();
}

#[test]
fn a_childs_token_hears_the_parent_also_without_the_childs_source() {
    let parent = StopSource::new();
    let token = parent.token().child().token();
    assert!(!token.is_stopped());
    parent.request_stop();
    assert!(token.is_stopped());
}

#[test]
fn a_stopped_child_leaves_its_parent_and_its_siblings_running() {
    let parent = StopSource::new();
    let (child, sibling) = (parent.token().child(), parent.token().child());
    assert!(child.request_stop());
    assert!(child.is_stopped() && !parent.is_stopped() && !sibling.is_stopped());
    assert!(parent.request_stop());
    assert!(sibling.is_stopped());
}

#[test]
fn a_child_of_a_stopped_token_is_born_stopped() {
    let parent = StopSource::new();
    parent.request_stop();
    let child = parent.token().child();
    assert!(child.is_stopped());
    assert!(child.token().child().is_stopped());
    let calls = Arc::new(AtomicUsize::new(0));
    let _callback = counting(&child.token(), &calls);
    assert_eq!(calls.load(Ordering::Acquire), 1);
}

#[test]
fn a_child_hears_its_parent_for_as_long_as_one_of_its_clones_is_there() {
    let parent = StopSource::new();
    let child = parent.token().child();
    let clone = child.clone();
    let token = child.token();
    drop(child);
    parent.request_stop();
    assert!(clone.is_stopped() && token.is_stopped());
}

#[test]
fn a_callback_runs_once_whether_registered_before_or_after() {
    let (source, calls) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
    let before = counting(&source.token(), &calls);
    assert_eq!(calls.load(Ordering::Acquire), 0);
    assert!(source.request_stop());
    assert_eq!(calls.load(Ordering::Acquire), 1, "it has run when the stop returns");
    let after = counting(&source.token(), &calls);
    assert_eq!(calls.load(Ordering::Acquire), 2, "at once");
    assert!(!source.request_stop());
    drop((before, after));
    assert_eq!(calls.load(Ordering::Acquire), 2);
}

#[test]
fn a_callback_runs_on_the_thread_that_stops() {
    let source = StopSource::new();
    let ran_as = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&ran_as);
    let _callback = source.token().on_stop(move || *noted.lock() = roles().to_string());
    let stops = source.clone();
    let stopper = spawn("stops", Role::Rpc, move || stops.request_stop()).unwrap();
    assert!(stopper.join().unwrap());
    assert_eq!(*ran_as.lock(), "Rpc");
}

#[test]
fn a_callback_that_is_registered_while_a_stop_comes_runs_once() {
    for _ in 0..500 {
        let (source, calls) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
        let stops = source.clone();
        let stopper = on_worker(move || stops.request_stop());
        let callbacks: Vec<_> = (0..10).map(|_| counting(&source.token(), &calls)).collect();
        assert!(stopper.join().unwrap());
        assert_eq!(calls.load(Ordering::Acquire), 10);
        drop(callbacks);
    }
}

#[test]
fn a_callback_taken_back_is_not_called_and_lets_go_of_what_it_held() {
    let (source, calls) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
    let kept = counting(&source.token(), &calls);
    let taken_back = counting(&source.token(), &calls);
    assert_eq!(Arc::strong_count(&calls), 3);
    drop(taken_back);
    assert_eq!(Arc::strong_count(&calls), 2);
    source.request_stop();
    assert_eq!((calls.load(Ordering::Acquire), Arc::strong_count(&calls)), (1, 1));
    drop(kept);
    // A registration may outlive its source.
    let orphan = counting(&StopSource::new().token(), &calls);
    assert_eq!(Arc::strong_count(&calls), 1);
    drop(orphan);
}

#[test]
fn a_callback_that_panics_keeps_no_other_from_running() {
    let (source, calls) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
    let _first = counting(&source.token(), &calls);
    // Past the panic hook, so that a passing test prints little.
    let _bad = source.token().on_stop(|| resume_unwind(Box::new("no luck")));
    let _worse = source.token().on_stop(|| resume_unwind(Box::new("nor here")));
    let _last = counting(&source.token(), &calls);
    let child = source.token().child();
    let panic = caught(|| source.request_stop()).unwrap_err();
    assert!(panic.message().contains("no luck"), "the first one: {panic}");
    assert_eq!(calls.load(Ordering::Acquire), 2);
    assert!(source.is_stopped() && child.is_stopped());
    assert_eq!(caught(|| source.request_stop()), Ok(false));
}

#[test]
fn a_callback_may_use_the_token_it_is_registered_on() {
    let (source, calls) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
    let (token, count) = (source.token(), Arc::clone(&calls));
    let _callback = source.token().on_stop(move || {
        assert!(token.is_stopped() && token.wait_timeout(LONG));
        // No lock is held: this one runs at once.
        let _inner = counting(&token, &count);
        assert!(token.child().is_stopped());
    });
    assert!(source.request_stop());
    assert_eq!(calls.load(Ordering::Acquire), 1);
}

#[test]
fn who_waits_is_woken_by_the_stop() {
    let source = StopSource::new();
    let waiters: Vec<_> = (0..4)
        .flat_map(|_| {
            let (token, timed) = (source.token(), source.token());
            let waits = on_worker(move || {
                token.wait();
                token.is_stopped()
            });
            [waits, on_worker(move || timed.wait_timeout(LONG))]
        })
        .collect();
    source.request_stop();
    assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap()));
    source.token().wait();
    assert!(source.token().wait_timeout(Duration::ZERO), "a stop that has been needs no time");
}

#[test]
fn a_wait_ends_when_its_time_is_over() {
    let source = StopSource::new();
    assert!(!source.token().wait_timeout(Duration::ZERO));
    assert!(!source.token().wait_timeout(Duration::from_millis(2)));
}

#[test]
fn a_dropped_child_leaves_nothing_with_its_parent() {
    let (parent, held) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
    let token = parent.token();
    for _ in 0..1000 {
        let child = token.child();
        let _callback = counting(&child.token(), &held);
        assert_eq!(Arc::strong_count(&held), 2);
    }
    assert_eq!(Arc::strong_count(&held), 1);
    parent.request_stop();
    assert_eq!(held.load(Ordering::Acquire), 0, "nobody was left to hear it");
    // Nor does the list of callbacks grow, once it has room for one.
    let parent = StopSource::new();
    drop(parent.token().child());
    let info = allocation_counter::measure(|| {
        for _ in 0..1000 {
            drop(parent.token().child());
        }
    });
    assert_eq!((info.count_current, info.bytes_current), (0, 0));
}
