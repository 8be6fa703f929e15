//! Where frames begin and end, and what runs behind what in them.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use booted::{BOTH, booted};
use downbeat_render::{NullBackend, RenderConfig, RenderThread, Renderer, ThreadingPolicy};
use downbeat_threading::{MainThreadDispatcher, Role, StopSource, spawn};

fn start(dispatcher: &MainThreadDispatcher, config: RenderConfig) -> RenderThread<NullBackend> {
    RenderThread::start(dispatcher, NullBackend::default(), config).expect("a policy that renders")
}

#[test]
fn wait_and_render_waits_for_the_frame_before_and_not_for_its_own() {
    let main = booted();
    for policy in BOTH {
        let on_main = policy == ThreadingPolicy::SingleThreaded;
        // Also with full synchronisation, which is a matter of kicks.
        let mut render = start(&main, RenderConfig { policy, full_sync: true, ..RenderConfig::default() });
        let (goes_on, drawn) = (StopSource::new(), Arc::new(AtomicUsize::new(0)));
        if !on_main {
            let held_up = goes_on.token();
            render.renderer().submit(move |_| held_up.wait());
        }
        let counts = Arc::clone(&drawn);
        render.renderer().submit(move |_| _ = counts.fetch_add(1, Ordering::Relaxed));
        render.wait_and_render(&main).unwrap();
        assert_eq!(render.frames(), (1, u64::from(on_main)), "{policy:?}");
        goes_on.request_stop();
        render.wait_and_render(&main).unwrap();
        let (kicked, rendered) = render.frames();
        assert!(kicked == 2 && rendered >= 1, "{policy:?}: {rendered} of {kicked}");
        assert_eq!(drawn.load(Ordering::Relaxed), 1, "{policy:?}: what the first frame did is seen");
        render.shut_down(&main).unwrap();
    }
}

#[test]
fn what_is_submitted_because_of_something_runs_behind_it() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, RenderConfig { policy, ..RenderConfig::default() });
        let renderer = render.renderer();
        let note = |name: &'static str| move |backend: &mut NullBackend| backend.note(name);
        let elsewhere = |submit: fn(&Renderer<NullBackend>)| {
            let renderer = renderer.clone();
            spawn("elsewhere", Role::Worker, move || submit(&renderer)).unwrap().join().unwrap();
        };
        for _ in 0..2 {
            elsewhere(|renderer| renderer.submit(|backend| backend.note("a")));
            renderer.submit(note("b"));
            renderer.submit(note("c"));
            elsewhere(|renderer| renderer.try_submit(|backend| backend.note("d")).unwrap());
            elsewhere(|renderer| renderer.submit(|backend| backend.note("e")));
            renderer.submit(note("f"));
            elsewhere(|renderer| {
                let mut recorder = renderer.recorder();
                recorder.submit(|backend| backend.note("g"));
                recorder.submit(|backend| backend.note("h"));
                assert!(recorder.flush());
            });
            let mut recorder = renderer.recorder();
            recorder.submit(note("i"));
            assert!(recorder.flush());
            renderer.try_submit(note("j")).unwrap();
            renderer.submit(note("k"));
            render.kick(&main).unwrap();
        }
        let notes = render.shut_down(&main).unwrap().notes().concat();
        assert_eq!(notes, "abcdefghijkabcdefghijk", "{policy:?}");
    }
}
