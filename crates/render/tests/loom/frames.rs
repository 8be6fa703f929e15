//! When all goes well: every command once, in order, in its frame, and its effects seen by who waited for it.

use std::sync::Arc;

use downbeat_threading::sync::atomic::{AtomicUsize, Ordering};
use downbeat_threading::sync::model::Schedules::{All, Bounded};
use downbeat_threading::sync::model::check;
use downbeat_threading::{Boot, Role, spawn};

use crate::{Screen, count, start};

#[test]
fn no_kick_is_lost_and_one_frame_is_in_flight() {
    check("no_kick_is_lost_and_one_frame_is_in_flight", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        for frame in 1..=3 {
            render.kick(&dispatcher).unwrap();
            let (kicked, completed) = render.frames();
            assert!(kicked == frame && kicked - completed <= 1, "{completed} of {kicked}");
        }
        assert_eq!(render.shut_down(&dispatcher).unwrap().frame, 4, "three, and the last at shutdown");
    });
}

#[test]
fn what_a_frame_did_is_seen_after_waiting_for_it() {
    check("what_a_frame_did_is_seen_after_waiting_for_it", All, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let ran = count();
        let counted = Arc::clone(&ran);
        render.renderer().submit(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
        render.kick(&dispatcher).unwrap();
        render.block_until_render_complete(&dispatcher).unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn what_comes_after_a_kick_runs_in_the_next_frame() {
    check("what_comes_after_a_kick_runs_in_the_next_frame", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (renderer, ran) = (render.renderer(), count());
        let (first, nested, second) = (Arc::clone(&ran), render.renderer(), Arc::clone(&ran));
        renderer.submit(move |screen| {
            assert_eq!(screen.frame, 1);
            let inner = Arc::clone(&first);
            first.fetch_add(1, Ordering::Relaxed);
            nested.submit(move |screen| {
                assert!(screen.frame >= 2, "submitted inside a command of the first frame");
                inner.fetch_add(1, Ordering::Relaxed);
            });
        });
        render.kick(&dispatcher).unwrap();
        renderer.submit(move |screen| {
            assert_eq!(screen.frame, 2, "submitted after the first kick");
            second.fetch_add(1, Ordering::Relaxed);
        });
        render.kick(&dispatcher).unwrap();
        drop(render.shut_down(&dispatcher).unwrap());
        assert_eq!(ran.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn a_producer_keeps_its_order_and_every_command_runs_once() {
    check("a_producer_keeps_its_order_and_every_command_runs_once", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (renderer, ran) = (render.renderer(), count());
        let seen = Arc::clone(&ran);
        let producer = spawn("producer", Role::Worker, move || {
            for number in 0..2 {
                let seen = Arc::clone(&seen);
                let submitted = renderer.try_submit(move |_| {
                    assert_eq!(seen.fetch_add(1, Ordering::Relaxed), number, "in the order of its thread");
                });
                submitted.unwrap();
            }
        });
        render.kick(&dispatcher).unwrap();
        producer.unwrap().join().unwrap();
        drop(render.shut_down(&dispatcher).unwrap());
        assert_eq!(ran.load(Ordering::Relaxed), 2);
    });
}

/// A command that knows its place in the order.
fn numbered(order: &Arc<AtomicUsize>, number: usize) -> impl FnOnce(&mut Screen) + Send + use<> {
    let order = Arc::clone(order);
    move |_| assert_eq!(order.fetch_add(1, Ordering::Relaxed), number)
}

#[test]
fn whoever_submits_because_of_another_comes_behind_it() {
    check("whoever_submits_because_of_another_comes_behind_it", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, render) = start(&boot);
        let (renderer, order, told) = (render.renderer(), count(), count());
        renderer.submit(numbered(&order, 0));
        let (theirs, tells) = (renderer.clone(), Arc::clone(&told));
        let (second, third) = (numbered(&order, 1), numbered(&order, 2));
        let worker = spawn("worker", Role::Worker, move || {
            assert!(theirs.try_submit(second).is_ok());
            theirs.submit(third);
            tells.store(1, Ordering::Release);
        });
        if told.load(Ordering::Acquire) == 1 {
            renderer.submit(numbered(&order, 3));
        }
        worker.unwrap().join().unwrap();
        drop(render.shut_down(&dispatcher).unwrap());
        assert!(order.load(Ordering::Relaxed) >= 3);
    });
}

#[test]
fn the_order_begins_anew_with_every_frame() {
    check("the_order_begins_anew_with_every_frame", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (renderer, order, told) = (render.renderer(), count(), count());
        renderer.submit(|screen| assert_eq!(screen.frame, 1));
        render.wait_and_render(&dispatcher).unwrap();
        let (theirs, tells, first) = (renderer.clone(), Arc::clone(&told), numbered(&order, 0));
        let worker = spawn("worker", Role::Worker, move || {
            theirs.submit(first);
            tells.store(1, Ordering::Release);
        });
        if told.load(Ordering::Acquire) == 1 {
            renderer.submit(numbered(&order, 1));
        }
        worker.unwrap().join().unwrap();
        drop(render.shut_down(&dispatcher).unwrap());
        assert!(order.load(Ordering::Relaxed) >= 1);
    });
}

#[test]
fn what_main_and_the_render_thread_submit_at_once_runs_once() {
    check("what_main_and_the_render_thread_submit_at_once_runs_once", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (renderer, ran) = (render.renderer(), count());
        let counts = |ran: &Arc<_>| {
            let ran: Arc<AtomicUsize> = Arc::clone(ran);
            move |_: &mut Screen| _ = ran.fetch_add(1, Ordering::Relaxed)
        };
        let (nested, inner) = (render.renderer(), counts(&ran));
        renderer.submit(move |_| nested.submit(inner));
        render.wait_and_render(&dispatcher).unwrap();
        renderer.submit(counts(&ran));
        render.wait_and_render(&dispatcher).unwrap();
        renderer.submit(counts(&ran));
        drop(render.shut_down(&dispatcher).unwrap());
        assert_eq!(ran.load(Ordering::Relaxed), 3);
    });
}
