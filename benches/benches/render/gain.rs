//! What a render thread gains when simulation and rendering are equal work, and what it costs in latency.
//!
//! The work is a fixed amount of arithmetic, about a millisecond of it, not a wait for the clock: two threads that get
//! in each other's way need longer for it.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;

use downbeat_benches::{Contestant, Figure, Stopwatch, Suite, race};
use downbeat_render::{NullBackend, RenderConfig, RenderThread, ThreadingPolicy};
use downbeat_threading::sync::Mutex;
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
use downbeat_time::Clock;

const BENCHES: [&str; 3] = ["render/pipeline_gain", "render/frame", "render/latency"];
const SINGLE: &str = "single-threaded";
/// Few, so that some batches meet no busy neighbour.
const FRAMES: u64 = 5;

/// Turns of the loop in `work`: about a millisecond.
const TURNS: u64 = 500_000;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let start = |policy| Frames::start(&dispatcher, policy).map(RefCell::new);
    let (multi, single) = (start(ThreadingPolicy::MultiThreaded)?, start(ThreadingPolicy::SingleThreaded)?);
    let contestants = vec![
        Contestant::timed_within("multi-threaded", |watch| multi.borrow_mut().draw(watch)),
        Contestant::timed_within(SINGLE, |watch| single.borrow_mut().draw(watch)),
    ];
    let results = race(FRAMES, contestants)?;
    let [gain, frame, latency] = BENCHES;
    suite.print(&Figure::new(gain, "times", results[1].nanos / results[0].nanos))?;
    suite.print(&Figure::of_race(frame, "ns", results[0], &results[1..]))?;
    let figure = Figure::new(latency, "ns", multi.borrow().latency_p50());
    suite.print(&figure.against(SINGLE, single.borrow().latency_p50()))
}

/// A program that simulates a frame and draws it.
struct Frames<'a> {
    dispatcher: &'a MainThreadDispatcher,
    render: RenderThread<NullBackend>,
    clock: Clock,
    /// From the start of a frame's simulation to the end of its drawing, in nanoseconds.
    latencies: Arc<Mutex<Vec<u64>>>,
}

impl<'a> Frames<'a> {
    fn start(dispatcher: &'a MainThreadDispatcher, policy: ThreadingPolicy) -> anyhow::Result<Self> {
        let config = RenderConfig { policy, ..RenderConfig::default() };
        let render = RenderThread::start(dispatcher, NullBackend::default(), config)?;
        Ok(Self { dispatcher, render, clock: Clock::system(), latencies: Arc::default() })
    }

    /// Times frames with the one before them in flight, as in the middle of a long run.
    fn draw(&mut self, watch: &mut Stopwatch) -> u64 {
        self.draw_one();
        watch.time(|| (0..FRAMES).for_each(|_| self.draw_one()));
        self.render.block_until_render_complete(self.dispatcher).expect("no command fails");
        FRAMES
    }

    fn draw_one(&mut self) {
        let started = self.clock.elapsed();
        work();
        let (clock, latencies) = (self.clock.clone(), Arc::clone(&self.latencies));
        self.render.renderer().submit(move |_| {
            work();
            latencies.lock().push((clock.elapsed() - started).as_nanos() as u64);
        });
        self.render.kick(self.dispatcher).expect("no command fails");
    }

    fn latency_p50(&self) -> f64 {
        let mut latencies = self.latencies.lock();
        let middle = latencies.len() / 2;
        *latencies.select_nth_unstable(middle).1 as f64
    }
}

#[inline(never)]
fn work() {
    let mut value = black_box(1_u64);
    for _ in 0..TURNS {
        value ^= value << 13;
        value ^= value >> 7;
    }
    black_box(value);
}
