//! When something goes wrong, or ends: nobody hangs, nothing runs twice, every free runs.

use std::sync::Arc;

use downbeat_render::{RenderError, RenderState};
use downbeat_threading::sync::atomic::Ordering;
use downbeat_threading::sync::model::Schedules::Bounded;
use downbeat_threading::sync::model::check;
use downbeat_threading::{Boot, ExecuteError, Role, spawn};

use crate::{Counted, count, start};

const ON_PURPOSE: &str = "on purpose";

/// The panic of every schedule would be printed, thousands of times. Others still are.
fn quiet_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(ON_PURPOSE) {
            default(info);
        }
    }));
}

#[test]
fn a_command_may_call_main_while_main_waits() {
    check("a_command_may_call_main_while_main_waits", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let handle = dispatcher.handle();
        render.renderer().submit(move |_| assert_eq!(handle.execute(|_| 7), Ok(7)));
        render.kick(&dispatcher).unwrap();
        render.block_until_render_complete(&dispatcher).unwrap();
    });
}

#[test]
fn shutdown_ends_with_a_frame_in_flight_and_a_worker_calling_main() {
    check("shutdown_ends_with_a_frame_in_flight_and_a_worker_calling_main", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (handle, ran) = (dispatcher.handle(), count());
        let counted = Arc::clone(&ran);
        let worker = spawn("worker", Role::Worker, move || handle.execute(|_| ()));
        render.renderer().submit(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
        render.kick(&dispatcher).unwrap();
        drop(render.shut_down(&dispatcher).unwrap());
        drop(dispatcher);
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        let answer = worker.unwrap().join().unwrap();
        assert!(matches!(answer, Ok(()) | Err(ExecuteError::Closed)), "{answer:?}");
    });
}

#[test]
fn dropping_the_renderer_stops_a_command_that_waits_for_main() {
    check("dropping_the_renderer_stops_a_command_that_waits_for_main", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (handle, freed) = (dispatcher.handle(), count());
        let free = Arc::clone(&freed);
        render.renderer().submit(move |_| {
            let answer = handle.execute(|_| ());
            assert!(matches!(answer, Ok(()) | Err(ExecuteError::Stopped { .. })), "{answer:?}");
        });
        render.kick(&dispatcher).unwrap();
        render.renderer().submit_resource_free(move |_| _ = free.fetch_add(1, Ordering::Relaxed));
        drop(render);
        assert_eq!(freed.load(Ordering::Relaxed), 1, "a free that was submitted runs also then");
    });
}

#[test]
fn a_panic_drops_the_rest_wakes_main_and_runs_the_frees() {
    quiet_panics();
    check("a_panic_drops_the_rest_wakes_main_and_runs_the_frees", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (renderer, ran, gone, freed) = (render.renderer(), count(), count(), count());
        renderer.submit(|_| panic!("{ON_PURPOSE}"));
        let (counted, rest) = (Arc::clone(&ran), Counted(Arc::clone(&gone)));
        renderer.submit(move |_| {
            let _rest = rest;
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let free = Arc::clone(&freed);
        renderer.submit_resource_free(move |_| _ = free.fetch_add(1, Ordering::Relaxed));
        let mut failures = usize::from(render.kick(&dispatcher).is_err());
        failures += usize::from(render.block_until_render_complete(&dispatcher).is_err());
        assert_eq!(failures, 1, "one panic is one error, as soon as it is known");
        assert_eq!(render.state(), RenderState::Dropping);
        let counts = [&ran, &gone, &freed].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [0, 1, 1], "ran, dropped, freed");
        let counted = Arc::clone(&ran);
        renderer.submit(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
        render.kick(&dispatcher).unwrap();
        drop(render.shut_down(&dispatcher).unwrap());
        assert_eq!(ran.load(Ordering::Relaxed), 0, "nothing runs after it");
    });
}

#[test]
fn a_free_runs_once_and_after_its_frame() {
    check("a_free_runs_once_and_after_its_frame", Bounded, || {
        let boot = Boot::claim().unwrap();
        let (dispatcher, mut render) = start(&boot);
        let (renderer, freed) = (render.renderer(), count());
        let (user, free) = (Arc::clone(&freed), Arc::clone(&freed));
        renderer.submit_resource_free(move |screen| {
            assert_eq!(screen.frame, 1);
            free.fetch_add(1, Ordering::Relaxed);
        });
        // Submitted later, in the same frame: it still may use the resource.
        renderer.submit(move |_| assert_eq!(user.load(Ordering::Relaxed), 0, "freed under our hands"));
        let kicked: Result<(), RenderError> = render.kick(&dispatcher);
        kicked.unwrap();
        render.pump(&dispatcher).unwrap();
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    });
}
