//! `downbeat` without arguments: the built-in cart-pole scene, headless, as fast as it goes.
//!
//! The scene is in `demo/scene.rs`; this file runs it to its end and hands the outcome to the summary. The wall
//! clock is read for the progress line and the summary only: no bit of the outcome depends on it.

mod cart_pole;
mod controller;
mod progress;
mod scene;
mod sparkline;
mod state_hash;
mod summary;

use std::io::{self, BufWriter, Write as _};
use std::time::Duration;

use anyhow::Context as _;
use downbeat_time::{Clock, SimTime, TimeManager};

use crate::failure::Failure;
use crate::paint::Paint;
use progress::Progress;
use scene::Scene;
use summary::Summary;

/// How much is simulated.
const SPAN: Duration = Duration::from_secs(60);

/// How much is simulated between two looks at the progress line.
const CHUNK: Duration = Duration::from_millis(100);

pub(crate) fn run(json: bool) -> Result<(), Failure> {
    let mut scene = Scene::new();
    let mut time = scene::time_manager().context("cannot set up the built-in scene").map_err(Failure::Run)?;
    let clock = Clock::system();
    simulate(&mut time, &mut scene, &clock).map_err(Failure::Run)?;
    let summary = Summary::new(&time, &scene, clock.elapsed());

    let mut out = BufWriter::new(io::stdout().lock());
    let written =
        if json { summary.write_json(&mut out) } else { summary.write_text(&mut out, Paint::for_stdout()) };
    written.and_then(|()| out.flush()).map_err(Failure::Output)
}

fn simulate(time: &mut TimeManager<Scene>, scene: &mut Scene, clock: &Clock) -> anyhow::Result<()> {
    let mut progress = Progress::new(SPAN);
    let mut until = SimTime::ZERO;
    while until.since(SimTime::ZERO) < SPAN {
        until = until.saturating_add(CHUNK);
        time.step_to(scene, until)?;
        progress.show(time.now(), clock.elapsed());
    }
    Ok(())
}
