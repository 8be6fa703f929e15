//! One program under both policies.
//!
//! The promise: code that draws cannot tell the policies apart. The method: one program, with every kind of submit
//! and every kind of trouble, is run under each; what each command saw, what was freed, which errors came and which
//! states the renderer was in must be equal. Threads run at the same time, so of a frame the order within each thread
//! is compared, which is all that is promised.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;
mod quiet;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use booted::{BOTH, booted};
use downbeat_render::{
    NullBackend, RenderConfig, RenderError, RenderState, RenderThread, Renderer, ThreadingPolicy,
};
use downbeat_threading::sync::Mutex;
use downbeat_threading::{MainThreadDispatcher, Role, spawn};
use quiet::{ON_PURPOSE, quiet_panics};

/// A command or a free, as it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    frame: u64,
    by: &'static str,
    number: usize,
}

/// All that can be observed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effects {
    seen: Vec<Seen>,
    errors: Vec<RenderError>,
    states: Vec<RenderState>,
    kicked: u64,
    /// Of the last backend, if it came back.
    notes: Vec<String>,
    begun: Vec<u64>,
    /// Commands and frees made, and how many of them have gone.
    made: usize,
    gone: usize,
}

/// What commands leave their traces in.
#[derive(Clone, Default)]
struct Traces {
    seen: Arc<Mutex<Vec<Seen>>>,
    made: Arc<AtomicUsize>,
    gone: Arc<AtomicUsize>,
}

struct Token(Arc<AtomicUsize>);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Traces {
    /// A command, or a free, that leaves a trace when it runs, and another when it goes.
    fn command(&self, by: &'static str, number: usize) -> impl FnOnce(&mut NullBackend) + Send + use<> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let (seen, token) = (Arc::clone(&self.seen), Token(Arc::clone(&self.gone)));
        move |backend| {
            let _token = token;
            // At a drop without shutdown there is no frame for the last frees.
            let frame = backend.frames().last().copied().unwrap_or_default();
            seen.lock().push(Seen { frame, by, number });
            backend.note(format!("{by} {number}"));
        }
    }
}

/// The program's end of a renderer.
struct Program<'a> {
    dispatcher: &'a MainThreadDispatcher,
    render: RenderThread<NullBackend>,
    renderer: Renderer<NullBackend>,
    traces: Traces,
    effects: Effects,
}

impl<'a> Program<'a> {
    fn start(dispatcher: &'a MainThreadDispatcher, policy: ThreadingPolicy, full_sync: bool) -> Self {
        let config = RenderConfig { policy, full_sync, bytes_max: 4096, ..RenderConfig::default() };
        let render =
            RenderThread::start(dispatcher, NullBackend::default(), config).expect("a policy that renders");
        let renderer = render.renderer();
        Self { dispatcher, render, renderer, traces: Traces::default(), effects: Effects::default() }
    }

    fn submit(&self, by: &'static str, numbers: Range<usize>) {
        numbers.for_each(|number| self.renderer.submit(self.traces.command(by, number)));
    }

    fn free(&self, number: usize) {
        self.renderer.submit_resource_free(self.traces.command("free", number));
    }

    fn kick(&mut self) {
        let kicked = self.render.kick(self.dispatcher);
        self.effects.errors.extend(kicked.err());
    }

    fn wait_and_render(&mut self) {
        let rendered = self.render.wait_and_render(self.dispatcher);
        self.effects.errors.extend(rendered.err());
    }

    fn settle(&mut self) {
        let waited = self.render.block_until_render_complete(self.dispatcher);
        self.effects.errors.extend(waited.err());
        self.effects.states.push(self.render.state());
    }

    fn rebuild(&mut self) {
        self.settle();
        let rebuilt = self.render.rebuild(self.dispatcher, NullBackend::default());
        self.effects.errors.extend(rebuilt.err());
        self.settle();
    }

    fn submit_from_threads(&self) {
        let workers = ["worker a", "worker b"].map(|name| {
            let (renderer, traces) = (self.renderer.clone(), self.traces.clone());
            let submits = move || {
                (0..3).for_each(|number| {
                    renderer.try_submit(traces.command(name, number)).expect("far from the limit");
                });
            };
            spawn(name, Role::Worker, submits).expect("there is a thread for it")
        });
        workers.into_iter().for_each(|worker| worker.join().expect("workers do not panic"));
    }

    /// A command that submits a command that submits a command, and a free.
    fn submit_nested(&self) {
        let (renderer, traces) = (self.renderer.clone(), self.traces.clone());
        let outer = self.traces.command("outer", 0);
        self.renderer.submit(move |backend| {
            outer(backend);
            renderer.submit_resource_free(traces.command("free inside", 0));
            let (middle, inner, inside) =
                (traces.command("middle", 0), traces.command("inner", 0), renderer.clone());
            renderer.submit(move |backend| {
                middle(backend);
                inside.submit(inner);
            });
        });
    }

    /// One frame of every kind, none of which fails.
    fn draw(&mut self) {
        let mut recorder = self.renderer.recorder();
        for frame in 0..4 {
            self.submit("main", 0..3);
            self.free(frame);
            self.submit_from_threads();
            (0..4).for_each(|number| recorder.submit(self.traces.command("recorder", number)));
            assert!(recorder.flush());
            self.submit("main", 3..5);
            self.submit_nested();
            self.kick();
        }
    }

    /// A panic in the middle of a frame, a frame that is dropped, and a new backend.
    fn panic(&mut self) {
        self.submit("before", 0..2);
        self.free(0);
        self.renderer.submit(|_| panic!("{ON_PURPOSE}"));
        self.submit("behind", 0..2);
        self.kick();
        self.settle();
        self.submit("dropped", 0..2);
        self.free(1);
        self.kick();
        self.rebuild();
        self.submit("again", 0..2);
        self.kick();
    }

    fn lose_the_device(&mut self) {
        self.renderer.submit(|backend| backend.lose("pulled out"));
        self.submit("last of it", 0..2);
        self.free(0);
        self.kick();
        self.settle();
        self.submit("dropped", 0..2);
        self.free(1);
        self.kick();
        self.rebuild();
    }

    fn overflow(&mut self) {
        self.submit("too many", 0..200);
        self.kick();
        self.settle();
        self.submit("fewer", 0..3);
        self.kick();
        self.settle();
    }

    /// Both at once: neither hides the other.
    fn overflow_and_panic(&mut self) {
        self.renderer.submit(|_| panic!("{ON_PURPOSE}"));
        self.submit("too many", 0..200);
        self.kick();
        self.settle();
        self.rebuild();
    }

    fn shut_down(mut self) -> Effects {
        self.submit("last", 0..3);
        self.free(9);
        let (kicked, _) = self.render.frames();
        match self.render.shut_down(self.dispatcher) {
            Ok(backend) => {
                self.effects.notes = backend.notes().to_vec();
                self.effects.begun = backend.frames().to_vec();
            }
            Err(error) => self.effects.errors.push(error),
        }
        self.effects.kicked = kicked;
        // Nobody takes these any more.
        self.renderer.submit(self.traces.command("late", 0));
        self.renderer.submit_resource_free(self.traces.command("late free", 0));
        let refused = self.renderer.try_submit(self.traces.command("late try", 0));
        drop(refused.expect_err("it has shut down").command);
        Self::end(self.effects, &self.traces)
    }

    fn drop_without_shutdown(self) -> Effects {
        self.submit("never", 0..3);
        self.free(9);
        drop(self.render);
        Self::end(self.effects, &self.traces)
    }

    fn end(mut effects: Effects, traces: &Traces) -> Effects {
        let mut seen = traces.seen.lock().clone();
        // In every frame, the frees come last; then the order between threads no longer matters.
        let in_frames = seen.chunk_by(|one, next| one.frame == next.frame);
        for frame in in_frames {
            let is_free = |seen: &Seen| seen.by.starts_with("free");
            assert!(frame.iter().skip_while(|seen| !is_free(seen)).all(is_free), "{frame:?}");
        }
        seen.sort_by_key(|seen| (seen.frame, seen.by));
        effects.seen = seen;
        effects.notes.sort();
        effects.made = traces.made.load(Ordering::Relaxed);
        effects.gone = traces.gone.load(Ordering::Relaxed);
        assert_eq!(effects.made, effects.gone, "every command is run once or dropped once");
        effects
    }
}

/// Runs `program` under both policies, and with full synchronisation; returns what all of them did.
fn same_under_both(program: impl Fn(Program<'_>) -> Effects) -> Effects {
    quiet_panics();
    let main = booted();
    let mut runs = BOTH.into_iter().flat_map(|policy| [false, true].map(|full_sync| (policy, full_sync)));
    let run = |(policy, full_sync)| program(Program::start(&main, policy, full_sync));
    let first = run(runs.next().expect("there are four"));
    for way in runs {
        assert_eq!(run(way), first, "{way:?}");
    }
    first
}

fn frames_of(effects: &Effects, by: &str) -> Vec<u64> {
    effects.seen.iter().filter(|seen| seen.by == by).map(|seen| seen.frame).collect()
}

#[test]
fn frames_of_every_kind_are_the_same() {
    let effects = same_under_both(|mut program| {
        program.draw();
        program.shut_down()
    });
    assert_eq!(effects.errors, []);
    assert_eq!(effects.begun, [1, 2, 3, 4, 5], "four, and the last at shutdown");
    assert_eq!(frames_of(&effects, "outer"), [1, 2, 3, 4]);
    assert_eq!(frames_of(&effects, "middle"), [2, 3, 4, 5], "what a command submits is of the next frame");
    assert_eq!(frames_of(&effects, "inner"), [3, 4, 5], "that of frame 6 came after the shutdown");
    assert_eq!(frames_of(&effects, "free inside"), [2, 3, 4, 5]);
    assert_eq!(frames_of(&effects, "recorder").len(), 16);
    assert_eq!(frames_of(&effects, "worker b").len(), 12);
}

#[test]
fn trouble_of_every_kind_is_the_same() {
    let effects = same_under_both(|mut program| {
        program.panic();
        program.lose_the_device();
        program.overflow();
        program.overflow_and_panic();
        program.draw();
        program.shut_down()
    });
    let kinds: Vec<&str> = effects.errors.iter().map(kind).collect();
    assert_eq!(kinds, ["panic", "lost", "overflow", "overflow", "panic"]);
    assert_eq!(frames_of(&effects, "before"), [1, 1]);
    assert_eq!(frames_of(&effects, "behind"), [0_u64; 0]);
    assert_eq!(frames_of(&effects, "dropped"), [0_u64; 0]);
    assert_eq!(frames_of(&effects, "again"), [3, 3]);
    assert_eq!(frames_of(&effects, "last of it"), [4, 4], "a loss shows at the end of its frame");
}

#[test]
fn a_drop_without_shutdown_is_the_same() {
    let effects = same_under_both(|mut program| {
        program.submit("main", 0..3);
        program.free(0);
        program.kick();
        program.drop_without_shutdown()
    });
    assert_eq!(frames_of(&effects, "main"), [1, 1, 1], "the frame in flight is finished");
    assert_eq!(frames_of(&effects, "never"), [0_u64; 0]);
    assert_eq!(frames_of(&effects, "free").len(), 2, "also the one that was submitted after the kick");
}

#[test]
fn a_drop_after_trouble_is_the_same() {
    let effects = same_under_both(|mut program| {
        program.panic();
        program.lose_the_device();
        program.drop_without_shutdown()
    });
    assert_eq!(frames_of(&effects, "never"), [0_u64; 0]);
    let last = effects.seen.iter().find(|seen| seen.by == "free" && seen.number == 9);
    assert_eq!(last.unwrap().frame, 0, "freed with the new backend, which has drawn nothing yet");
}

#[test]
fn frames_that_end_with_wait_and_render_are_the_same() {
    let effects = same_under_both(|mut program| {
        for _ in 0..3 {
            program.submit("main", 0..3);
            program.free(0);
            program.submit_from_threads();
            program.submit_nested();
            program.wait_and_render();
        }
        program.settle();
        program.renderer.submit(|_| panic!("{ON_PURPOSE}"));
        program.wait_and_render();
        program.settle();
        program.rebuild();
        program.shut_down()
    });
    let kinds: Vec<&str> = effects.errors.iter().map(kind).collect();
    assert_eq!(kinds, ["panic"], "once");
    assert_eq!(frames_of(&effects, "middle"), [2, 3, 4], "the last before the panic");
    assert_eq!(effects.begun, [5], "on the new backend");
}

fn kind(error: &RenderError) -> &'static str {
    match error {
        RenderError::Panicked { .. } => "panic",
        RenderError::Lost(_) => "lost",
        RenderError::Overflow { .. } => "overflow",
    }
}
