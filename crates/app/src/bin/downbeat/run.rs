//! `downbeat run SCENE`, and `downbeat` alone, which runs the shipped arm: a scene from its start to an end, with a
//! live line while it runs and a summary when it has.
//!
//! The wall clock is read for the pace, the line and the summary. No bit of the outcome depends on it, unless the mode
//! says so.

mod interrupt;
mod logged;
mod progress;
mod summary;

use std::io::{self, BufWriter, Write as _};
use std::time::Duration;

use downbeat_app::load_scene;
use downbeat_time::{Clock, Edit, Governor, Pacer, SimTime, TimeMode};
use downbeat_world::{LoadOptions, Scene, WorldCommand};

use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::paint::Paint;
use interrupt::Interrupt;
use logged::Logged;
use progress::Progress;
use summary::Summary;

/// The scene that runs when none is named, and for how long.
const DEMO: &str = "arm";
const DEMO_SPAN: Duration = Duration::from_secs(40);

/// Steps, and simulated time, between two looks at the clock.
const CHUNK: u64 = 64;
const CHUNK_SPAN: Duration = Duration::from_millis(20);

/// Where a run ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Time(SimTime),
    Steps(u64),
    Interrupted,
}

/// Runs the demo.
pub(crate) fn demo(json: bool) -> Result<(), Failure> {
    let mut scene = load_scene(DEMO, &LoadOptions::default())?;
    scene.set_mode(TimeMode::SimHighPerformance);
    run_to(scene, End::Time(SimTime::ZERO.saturating_add(DEMO_SPAN)), None, json)
}

/// Runs a scene.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let mut scene = load_scene(&args.scene, &LoadOptions { seed: args.seed })?;
    let mut logged = None;
    if let Some(folder) = &args.log {
        let settings = logged::settings(args.log_keep);
        (scene, logged) =
            logged::open(scene, folder, settings).map(|(scene, logged)| (scene, Some(logged)))?;
    }
    if let Some(mode) = args.mode.filter(|mode| *mode != scene.time().mode()) {
        // A command, so that a log knows of it.
        scene.apply(WorldCommand::Time(Edit::SetMode(mode))).map_err(|error| Failure::Run(error.into()))?;
    }
    let end = match (args.span_nanos, args.steps) {
        (Some(nanos), _) => End::Time(SimTime::from_nanos(nanos)),
        (None, Some(steps)) => End::Steps(steps),
        (None, None) => End::Interrupted,
    };
    run_to(scene, end, logged, args.json)
}

fn run_to(mut scene: Scene, end: End, mut logged: Option<Logged>, json: bool) -> Result<(), Failure> {
    let interrupt = Interrupt::listen().map_err(Failure::Run)?;
    let clock = Clock::system();
    let start = scene.time().now();
    let mut progress = Progress::new(&scene, end);
    let mut run = if scene.time().mode().is_realtime() {
        paced(&mut scene, end, &clock, &interrupt, &mut progress)
    } else {
        flat_out(&mut scene, end, &clock, &interrupt, &mut progress)
    };
    drop(progress);
    let wall = clock.elapsed();
    if let Some(logged) = &mut logged {
        run = run.and(logged.close(&mut scene));
    }
    let summary =
        Summary { scene: &scene, start, wall, interrupted: interrupt.came(), logged: logged.as_ref() };
    let mut out = BufWriter::new(io::stdout().lock());
    let written =
        if json { summary.write_json(&mut out) } else { summary.write_text(&mut out, Paint::for_stdout()) };
    written.and_then(|()| out.flush()).map_err(Failure::Output)?;
    run.map_err(Failure::Run)
}

/// As fast as steps go.
fn flat_out(
    scene: &mut Scene,
    end: End,
    clock: &Clock,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    while !end.is_reached(scene) && !interrupt.came() {
        match end {
            End::Time(time) => {
                // At least one step: a slow runner's next one may be farther away than a look at the clock.
                let next = scene.time().next_step().map_or(time, |(next, _)| next);
                let ahead = scene.time().now().saturating_add(CHUNK_SPAN);
                scene.step_to(time.min(ahead.max(next)))?
            }
            End::Steps(steps) => scene.run_steps(CHUNK.min(steps - scene.time().steps()))?,
            End::Interrupted => scene.run_steps(CHUNK)?,
        };
        logged::check(scene)?;
        progress.show(scene, clock.elapsed());
    }
    Ok(())
}

/// No faster than the wall clock. One step a turn, so that the end is met exactly.
fn paced(
    scene: &mut Scene,
    end: End,
    clock: &Clock,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    scene.set_governor(Governor { max_steps_per_frame: Some(1), ..scene.time().governor() })?;
    let mut pacer = Pacer::new(clock.clone());
    while !end.is_reached(scene) && !interrupt.came() {
        let elapsed = pacer.wait(scene.time().until_due());
        scene.tick(elapsed)?;
        logged::check(scene)?;
        progress.show(scene, clock.elapsed());
    }
    Ok(())
}

impl End {
    fn is_reached(self, scene: &Scene) -> bool {
        match self {
            Self::Time(end) => scene.time().next_step().is_none_or(|(next, _)| next > end),
            Self::Steps(steps) => scene.time().steps() >= steps,
            Self::Interrupted => scene.time().next_step().is_none(),
        }
    }
}
