//! When all goes well: every command once, in order, in its frame, and its effects seen by who waited for it.

use std::sync::Arc;

use downbeat_threading::sync::atomic::Ordering;
use downbeat_threading::sync::model::Schedules::{All, Bounded};
use downbeat_threading::sync::model::check;
use downbeat_threading::{Boot, Role, spawn};

use crate::{count, start};

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
