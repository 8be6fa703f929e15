//! How long after a kick the first command starts, on a render thread that sleeps; against a thread that sleeps in a
//! channel's `recv`.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use downbeat_benches::{Figure, Suite};
use downbeat_render::{RenderConfig, RenderThread, ThreadingPolicy};
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher, Role, spawn};
use downbeat_time::Clock;

use crate::queues::{Boxed, CROSSBEAM, FLUME, Sum};

const BENCHES: [&str; 2] = ["render/kick_p50", "render/kick_p99"];

/// All ways take turns of so many kicks.
const TURNS: u32 = 40;
const KICKS_PER_TURN: u32 = 100;

/// Between two kicks main is busy for as long as it takes a thread to fall asleep.
const BUSY: Duration = Duration::from_micros(200);

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let config = RenderConfig { policy: ThreadingPolicy::MultiThreaded, ..RenderConfig::default() };
    let mut render = RenderThread::start(&dispatcher, Sum::default(), config)?;
    let renderer = render.renderer();
    let (flume, from_flume) = flume::bounded::<Boxed>(1);
    let (crossbeam, from_crossbeam) = crossbeam_channel::bounded::<Boxed>(1);
    let runs = |command: Boxed| command(&mut Sum::default());
    let on_flume = spawn("flume", Role::Worker, move || from_flume.iter().for_each(runs))?;
    let on_crossbeam = spawn("crossbeam", Role::Worker, move || from_crossbeam.iter().for_each(runs))?;

    let [mut ours, mut theirs, mut others] = [const { Starts(Vec::new()) }; 3];
    for _ in 0..TURNS {
        ours.take_turn(|start| {
            renderer.submit(start);
            Ok(render.kick(&dispatcher)?)
        })?;
        theirs.take_turn(|start| flume.send(start).ok().context("the thread has gone"))?;
        others.take_turn(|start| crossbeam.send(start).ok().context("the thread has gone"))?;
    }
    drop((flume, crossbeam));
    on_flume.join()?;
    on_crossbeam.join()?;
    for (bench, quantile) in BENCHES.into_iter().zip([0.50, 0.99]) {
        let figure = Figure::new(bench, "us", ours.quantile_us(quantile));
        let figure = figure.against(FLUME, theirs.quantile_us(quantile));
        suite.print(&figure.against(CROSSBEAM, others.quantile_us(quantile)))?;
    }
    Ok(())
}

/// How long after its kick each command started, in nanoseconds.
struct Starts(Vec<u64>);

impl Starts {
    /// `kick` sends off a command that tells when it starts.
    fn take_turn(&mut self, mut kick: impl FnMut(Boxed) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let clock = Clock::system();
        let started = Arc::new(AtomicU64::new(0));
        for _ in 0..KICKS_PER_TURN {
            let busy_until = clock.elapsed() + BUSY;
            while clock.elapsed() < busy_until {
                black_box(());
            }
            started.store(0, Ordering::Relaxed);
            let (tells, its_clock) = (Arc::clone(&started), clock.clone());
            let command = Box::new(move |_: &mut Sum| {
                tells.store(its_clock.elapsed().as_nanos() as u64, Ordering::Release);
            });
            let kicked = clock.elapsed().as_nanos() as u64;
            kick(command)?;
            let mut at = 0;
            while at == 0 {
                at = started.load(Ordering::Acquire);
                std::hint::spin_loop();
            }
            self.0.push(at - kicked);
        }
        Ok(())
    }

    fn quantile_us(&mut self, quantile: f64) -> f64 {
        self.0.sort_unstable();
        self.0[(self.0.len() as f64 * quantile) as usize] as f64 / 1e3
    }
}
