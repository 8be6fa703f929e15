//! What a renderer takes and what it refuses: policies, roles, full frames, recorders, and memory in steady state.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use booted::{BOTH, booted};
use downbeat_render::{
    Backend, BackendLost, NullBackend, RenderConfig, RenderError, RenderThread, StartError, ThreadingPolicy,
    is_render_thread,
};
use downbeat_threading::MainThreadDispatcher;

/// Room for this many commands with captures of up to 16 bytes; a header is longer in debug builds.
fn bytes_for(commands: usize) -> usize {
    commands * if cfg!(debug_assertions) { 48 } else { 32 }
}

fn start(dispatcher: &MainThreadDispatcher, config: RenderConfig) -> RenderThread<NullBackend> {
    RenderThread::start(dispatcher, NullBackend::default(), config).expect("a policy that renders")
}

#[test]
fn the_reserved_policy_is_refused() {
    let main = booted();
    let config = RenderConfig { policy: ThreadingPolicy::None, ..RenderConfig::default() };
    let refused = RenderThread::start(&main, NullBackend::default(), config).unwrap_err();
    assert!(matches!(refused, StartError::PolicyIsReserved));
    assert!(refused.to_string().contains("choose `SingleThreaded` or `MultiThreaded`"), "{refused}");
    assert!(!is_render_thread());
}

#[test]
fn main_is_the_render_thread_under_the_single_threaded_policy_alone() {
    let main = booted();
    for policy in BOTH {
        assert!(!is_render_thread(), "before");
        let mut render = start(&main, RenderConfig { policy, ..RenderConfig::default() });
        assert_eq!(is_render_thread(), policy == ThreadingPolicy::SingleThreaded);
        render.renderer().submit(|backend| {
            assert!(is_render_thread());
            backend.note(format!("{:?}", std::thread::current().id()));
        });
        render.renderer().submit_resource_free(|_| assert!(is_render_thread()));
        render.pump(&main).unwrap();
        let backend = render.shut_down(&main).unwrap();
        let on_main = backend.notes() == [format!("{:?}", std::thread::current().id())];
        assert_eq!(on_main, policy == ThreadingPolicy::SingleThreaded);
        assert!(!is_render_thread(), "after");
    }
}

#[test]
fn with_full_sync_a_kick_returns_when_its_frame_is_rendered() {
    let main = booted();
    for policy in BOTH {
        let mut render = start(&main, RenderConfig { policy, full_sync: true, ..RenderConfig::default() });
        let drawn = Arc::new(AtomicUsize::new(0));
        for frame in 1..=100 {
            let count = Arc::clone(&drawn);
            render.renderer().submit(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
            render.kick(&main).unwrap();
            assert_eq!(drawn.load(Ordering::Relaxed), frame);
            assert_eq!(render.frames(), (frame as u64, frame as u64));
        }
    }
}

#[test]
fn a_full_frame_is_drawn_up_to_there_and_the_rest_reported_once() {
    let main = booted();
    for policy in BOTH {
        let config = RenderConfig { policy, bytes_max: bytes_for(10), ..RenderConfig::default() };
        let mut render = start(&main, config);
        let renderer = render.renderer();
        (0..13_usize).for_each(|number| renderer.submit(move |backend| backend.note(number.to_string())));
        assert_eq!(render.kick(&main), Err(RenderError::Overflow { commands: 3 }));
        render.pump(&main).unwrap();
        // Frees have room of their own, and one that finds none is dropped, which frees what it holds.
        let held = Arc::new(());
        for _ in 0..12 {
            let held = Arc::clone(&held);
            renderer.submit_resource_free(move |backend| {
                drop(held);
                backend.note("free");
            });
        }
        assert_eq!(Arc::strong_count(&held), 11);
        render.pump(&main).unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
        let backend = render.shut_down(&main).unwrap();
        let drawn: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(backend.notes()[..10], drawn);
        assert_eq!(backend.notes()[10..], ["free"; 10]);
    }
}

#[test]
fn a_command_above_the_limit_for_threads_is_given_back() {
    let main = booted();
    let config = RenderConfig { try_commands_max: 2, ..RenderConfig::default() };
    let mut render = start(&main, config);
    let renderer = render.renderer();
    renderer.try_submit(|backend| backend.note("one")).unwrap();
    renderer.try_submit(|backend| backend.note("two")).unwrap();
    let refused = renderer.try_submit(|backend: &mut NullBackend| backend.note("three")).unwrap_err();
    assert!(refused.to_string().contains("takes no more commands"), "{refused}");
    renderer.submit(|backend| backend.note("main has room"));
    render.kick(&main).unwrap();
    renderer.try_submit(refused.command).unwrap();
    let backend = render.shut_down(&main).unwrap();
    assert_eq!(backend.notes(), ["one", "two", "main has room", "three"]);
}

#[test]
fn a_command_that_finds_no_memory_is_given_back_and_not_reported() {
    let main = booted();
    let mut render = start(&main, RenderConfig { bytes_max: bytes_for(1), ..RenderConfig::default() });
    let renderer = render.renderer();
    renderer.try_submit(|backend| backend.note("one")).unwrap();
    // The first holds nothing and leaves room for less than this.
    let words = [1_u64; 4];
    let refused = renderer.try_submit(move |backend| backend.note(words.len().to_string())).unwrap_err();
    render.kick(&main).unwrap();
    (refused.command)(&mut NullBackend::default());
}

#[test]
fn a_recorder_appends_all_or_nothing_and_in_order() {
    let main = booted();
    for policy in BOTH {
        let config = RenderConfig { policy, bytes_max: bytes_for(10), ..RenderConfig::default() };
        let mut render = start(&main, config);
        let (renderer, mut recorder) = (render.renderer(), render.renderer().recorder());
        let note = |number: usize| move |backend: &mut NullBackend| backend.note(number.to_string());
        (0..4).for_each(|number| recorder.submit(note(number)));
        renderer.submit(note(100));
        assert!(recorder.flush());
        renderer.submit(note(101));
        assert!(recorder.flush(), "nothing is always appended");
        (4..9).for_each(|number| recorder.submit(note(number)));
        assert!(!recorder.flush(), "six of ten are there, so five are too many");
        renderer.submit(note(102));
        assert_eq!(render.kick(&main), Err(RenderError::Overflow { commands: 5 }));

        // More than the recorder itself holds.
        (0..11).for_each(|number| recorder.submit(note(number)));
        assert!(!recorder.flush());
        assert_eq!(render.kick(&main), Err(RenderError::Overflow { commands: 11 }));
        (20..22).for_each(|number| recorder.submit(note(number)));
        assert!(recorder.flush(), "it is empty again");

        let mut notes = render.shut_down(&main).unwrap().notes().to_vec();
        assert_eq!(notes.split_off(7), ["20", "21"]);
        assert_eq!(notes, ["100", "0", "1", "2", "3", "101", "102"]);
        recorder.submit(note(30));
        assert!(!recorder.flush(), "nobody is there");
    }
}

#[test]
fn what_a_recorder_was_not_asked_to_flush_goes_with_it() {
    let main = booted();
    let render = start(&main, RenderConfig::default());
    let held = Arc::new(());
    let mut recorder = render.renderer().recorder();
    let holds = Arc::clone(&held);
    recorder.submit(move |_| drop(holds));
    drop(recorder);
    assert_eq!(Arc::strong_count(&held), 1);
    assert!(render.shut_down(&main).unwrap().notes().is_empty());
}

/// Adds up and allocates nothing.
struct Sum(u64);

impl Backend for Sum {
    fn begin_frame(&mut self, _number: u64) {}

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        Ok(())
    }
}

#[test]
fn steady_state_allocates_nothing_on_main() {
    let main = booted();
    for policy in BOTH {
        let config = RenderConfig { policy, ..RenderConfig::default() };
        let mut render = RenderThread::start(&main, Sum(0), config).unwrap();
        let (renderer, mut recorder) = (render.renderer(), render.renderer().recorder());
        let mut frames = |count: u64| {
            for _ in 0..count {
                for number in 0..100_u64 {
                    renderer.submit(move |sum| sum.0 += number);
                    recorder.submit(move |sum| sum.0 += number);
                }
                assert!(recorder.flush());
                assert!(renderer.try_submit(|sum| sum.0 += 1).is_ok());
                renderer.submit_resource_free(|sum| sum.0 += 1);
                render.kick(&main).unwrap();
            }
            render.block_until_render_complete(&main).unwrap();
        };
        // Two frames take turns; both must have grown.
        frames(10);
        let info = allocation_counter::measure(|| frames(1000));
        assert_eq!(info.count_total, 0, "{policy:?}: {info:?}");
        assert_eq!(render.shut_down(&main).unwrap().0, 1010 * (2 * 4950 + 2));
    }
}
