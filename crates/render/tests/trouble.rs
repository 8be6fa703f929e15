//! Panics, a lost device, shutdown and drop: what each leaves behind. Whether both policies agree is in `policies.rs`.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;
mod quiet;

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use booted::{BOTH, booted};
use downbeat_render::{
    Backend, BackendLost, NullBackend, RenderConfig, RenderError, RenderState, RenderThread, ThreadingPolicy,
};
use downbeat_threading::MainThreadDispatcher;
use downbeat_threading::sync::Mutex;
use quiet::{ON_PURPOSE, quiet_panics};

fn start(dispatcher: &MainThreadDispatcher, policy: ThreadingPolicy) -> RenderThread<NullBackend> {
    quiet_panics();
    let config = RenderConfig { policy, ..RenderConfig::default() };
    RenderThread::start(dispatcher, NullBackend::default(), config).expect("a policy that renders")
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("{ON_PURPOSE}, when dropped");
    }
}

#[test]
fn a_panic_tells_where_its_command_was_submitted() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let renderer = render.renderer();
        renderer.submit(|backend| backend.note("one"));
        let line = line!() + 1;
        renderer.submit(|_| panic!("{ON_PURPOSE}"));
        renderer.submit(|backend| backend.note("three"));
        let error = render.pump(&main).unwrap_err();
        let RenderError::Panicked { panic, submitted_at } = &error else { panic!("{error}") };
        assert_eq!(panic.message(), ON_PURPOSE);
        assert_eq!(submitted_at.is_some(), cfg!(debug_assertions));
        if let Some(place) = submitted_at {
            assert_eq!((place.file(), place.line()), (file!(), line));
            assert!(error.to_string().contains("trouble.rs"), "{error}");
        }
        assert_eq!(render.state(), RenderState::Dropping);
        render.pump(&main).unwrap();
        assert_eq!(render.shut_down(&main).unwrap().notes(), ["one"], "reported once, and drawn up to there");
    }
}

#[test]
fn a_free_behind_one_that_panics_still_runs() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let renderer = render.renderer();
        let line = line!() + 1;
        renderer.submit_resource_free(|_| panic!("{ON_PURPOSE}, first"));
        renderer.submit_resource_free(|backend| backend.note("second"));
        renderer.submit_resource_free(|_| panic!("{ON_PURPOSE}, third"));
        renderer.submit_resource_free(|backend| backend.note("fourth"));
        let error = render.pump(&main).unwrap_err();
        let RenderError::Panicked { panic, submitted_at } = &error else { panic!("{error}") };
        assert_eq!(panic.message(), format!("{ON_PURPOSE}, first"));
        assert_eq!(submitted_at.map(Location::line), cfg!(debug_assertions).then_some(line));
        assert_eq!(render.shut_down(&main).unwrap().notes(), ["second", "fourth"]);
    }
}

#[test]
fn captures_that_panic_when_dropped_keep_no_free_from_running() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let renderer = render.renderer();
        renderer.submit(|backend| backend.lose("gone"));
        render.pump(&main).unwrap_err();
        let bomb = Bomb;
        renderer.submit(move |_| drop(bomb));
        renderer.submit(|backend| backend.note("dropped"));
        renderer.submit_resource_free(|backend| backend.note("free"));
        let error = render.pump(&main).unwrap_err();
        let RenderError::Panicked { panic, submitted_at: None } = &error else { panic!("{error:?}") };
        assert!(panic.message().contains(ON_PURPOSE), "{panic}");
        assert_eq!(render.shut_down(&main).unwrap().notes(), ["free"]);
    }
}

#[test]
fn failures_of_two_frames_are_two_errors() {
    let main = booted();
    for policy in BOTH {
        // Often: whether the second frame ends before the first kick's error is taken is a matter of luck.
        for _ in 0..200 {
            let mut render = start(&main, policy);
            let renderer = render.renderer();
            let mut errors = Vec::new();
            renderer.submit(|_| panic!("{ON_PURPOSE}, one"));
            errors.extend(render.kick(&main).err());
            renderer.submit_resource_free(|_| panic!("{ON_PURPOSE}, two"));
            errors.extend(render.kick(&main).err());
            errors.extend(render.block_until_render_complete(&main).err());
            errors.extend(render.block_until_render_complete(&main).err());
            let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(messages.len(), 2, "{messages:?}");
            assert!(messages[0].contains("one") && messages[1].contains("two"), "{messages:?}");
        }
    }
}

#[test]
fn a_panic_of_the_backend_blames_no_command() {
    struct Fragile;
    impl Backend for Fragile {
        fn begin_frame(&mut self, number: u64) {
            assert!(number < 2, "{ON_PURPOSE}");
        }

        fn end_frame(&mut self) -> Result<(), BackendLost> {
            Ok(())
        }
    }
    let main = booted();
    quiet_panics();
    for policy in BOTH {
        let config = RenderConfig { policy, ..RenderConfig::default() };
        let mut render = RenderThread::start(&main, Fragile, config).unwrap();
        for _ in 0..2 {
            render.renderer().submit(|_| ());
        }
        render.pump(&main).unwrap();
        let error = render.pump(&main).unwrap_err();
        assert!(matches!(error, RenderError::Panicked { submitted_at: None, .. }), "{error}");
    }
}

#[test]
fn a_lost_device_is_reported_once_and_a_rebuild_draws_again() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let renderer = render.renderer();
        renderer.submit(|backend| backend.lose("pulled out"));
        let error = render.pump(&main).unwrap_err();
        assert_eq!(error, RenderError::Lost(BackendLost { reason: "pulled out".to_owned() }));
        renderer.submit(|backend| backend.note("dropped"));
        render.pump(&main).unwrap();
        assert_eq!(render.state(), RenderState::Dropping);
        render.rebuild(&main, NullBackend::default()).unwrap();
        assert_eq!(render.state(), RenderState::Drawing);
        renderer.submit(|backend| backend.note("again"));
        let backend = render.shut_down(&main).unwrap();
        assert_eq!((backend.notes(), backend.frames()), (["again".to_owned()].as_slice(), [3].as_slice()));
    }
}

#[test]
fn a_failure_of_the_last_frame_is_in_the_error_of_the_shutdown() {
    let main = booted();
    for policy in BOTH {
        let render = start(&main, policy);
        render.renderer().submit(|_| panic!("{ON_PURPOSE}"));
        let error = render.shut_down(&main).unwrap_err();
        assert!(matches!(error, RenderError::Panicked { .. }), "{error}");
    }
}

#[test]
fn after_shutdown_everything_is_dropped_at_once() {
    let main = booted();
    for policy in BOTH {
        let render = start(&main, policy);
        let (renderer, held) = (render.renderer(), Arc::new(()));
        assert!(render.shut_down(&main).unwrap().notes().is_empty());
        let [command, free, tried] = [(); 3].map(|()| Arc::clone(&held));
        renderer.submit(move |_| drop(command));
        renderer.submit_resource_free(move |_| drop(free));
        assert_eq!(Arc::strong_count(&held), 2, "only `tried` is left");
        let refused = renderer.try_submit(move |_| drop(tried)).unwrap_err();
        assert_eq!(Arc::strong_count(&held), 2, "it was given back");
        drop(refused);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

#[test]
fn frees_of_the_frame_in_flight_run_also_at_a_drop() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let (renderer, freed) = (render.renderer(), Arc::new(AtomicUsize::new(0)));
        let (inside, free) = (renderer.clone(), Arc::clone(&freed));
        renderer.submit(move |_| {
            inside.submit_resource_free(move |_| _ = free.fetch_add(1, Ordering::Relaxed));
        });
        render.kick(&main).unwrap();
        drop(render);
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn what_the_frame_in_flight_submits_is_drawn_also_at_shutdown() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let (renderer, handle) = (render.renderer(), main.handle());
        let inside = renderer.clone();
        renderer.submit(move |_| {
            // Main answers when it waits, and it waits in the shutdown: that has begun when this returns.
            handle.execute(|_| ()).unwrap();
            inside.submit(|backend| backend.note("last"));
        });
        render.kick(&main).unwrap();
        assert_eq!(render.shut_down(&main).unwrap().notes(), ["last"]);
    }
}

#[test]
fn a_command_may_call_main_while_main_waits() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, policy);
        let handle = main.handle();
        render.renderer().submit(move |backend| {
            let answer = handle.execute(|_| thread::current().id()).unwrap();
            backend.note(format!("{answer:?}"));
        });
        render.kick(&main).unwrap();
        let here = format!("{:?}", thread::current().id());
        assert_eq!(render.shut_down(&main).unwrap().notes(), [here]);
    }
}

/// Notes the thread it is dropped on.
struct Surface(Arc<Mutex<Vec<ThreadId>>>);

impl Backend for Surface {
    fn begin_frame(&mut self, _number: u64) {}

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        Ok(())
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        self.0.lock().push(thread::current().id());
    }
}

#[test]
fn a_backend_is_dropped_on_main_however_it_ends() {
    let main = booted();
    quiet_panics();
    for policy in BOTH {
        let dropped = Arc::new(Mutex::new(Vec::new()));
        let surface = || Surface(Arc::clone(&dropped));
        let start = || {
            let config = RenderConfig { policy, ..RenderConfig::default() };
            RenderThread::start(&main, surface(), config).unwrap()
        };
        drop(start());
        drop(start().shut_down(&main).unwrap());
        let failing = start();
        failing.renderer().submit(|_| panic!("{ON_PURPOSE}"));
        assert!(failing.shut_down(&main).is_err());
        assert_eq!(dropped.lock().len(), 3);

        // Replaced while frames go on; replaced twice without a frame between; replaced, and then dropped or shut down.
        let mut rebuilt = start();
        rebuilt.kick(&main).unwrap();
        rebuilt.rebuild(&main, surface()).unwrap();
        rebuilt.kick(&main).unwrap();
        rebuilt.kick(&main).unwrap();
        assert_eq!(dropped.lock().len(), 4, "no later than with the second kick");
        rebuilt.rebuild(&main, surface()).unwrap();
        rebuilt.rebuild(&main, surface()).unwrap();
        drop(rebuilt);
        assert_eq!(dropped.lock().len(), 7);
        let mut rebuilt = start();
        rebuilt.rebuild(&main, surface()).unwrap();
        drop(rebuilt.shut_down(&main));
        assert_eq!(dropped.lock().len(), 9);
        assert!(dropped.lock().iter().all(|id| *id == thread::current().id()), "{policy:?}");
    }
}
