//! Writes a log of a shipped scene with commands in it: what `cargo xtask mcap` exports and reads in Python.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use downbeat_tests::shipped;
use downbeat_time::SimTime;
use downbeat_world::{LogSettings, Scene, WorldCommand};
use glam::Vec3;

/// Runs a shipped scene, nudges it now and then, and writes all of it down.
#[derive(Parser)]
struct Cli {
    /// Which scene.
    scene: String,
    /// How many milliseconds of simulated time.
    millis: u64,
    /// The folder of the log.
    folder: PathBuf,
}

/// A body is pushed this often.
const PUSH_EVERY: Duration = Duration::from_millis(500);

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let mut scene = shipped(&cli.scene)?;
    scene.start_log(&cli.folder, LogSettings::default())?;
    let end = SimTime::ZERO.saturating_add(Duration::from_millis(cli.millis));
    while scene.time().now().saturating_add(PUSH_EVERY) <= end {
        scene.run_for(PUSH_EVERY)?;
        push(&mut scene)?;
    }
    scene.step_to(end)?;
    scene.close_log()?;
    Ok(())
}

/// A nudge for the last body that there is.
fn push(scene: &mut Scene) -> anyhow::Result<()> {
    if let Some(entity) = scene.world().components.body.ids().last().copied() {
        let linear = Vec3::new(0.0, 0.0, 0.002);
        scene.apply(WorldCommand::Push { entity, linear, angular: Vec3::ZERO })?;
    }
    Ok(())
}
