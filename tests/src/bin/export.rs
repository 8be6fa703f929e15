//! What `cargo xtask mcap` reads in Python: a shipped scene, run for a while and exported as it runs, with a command
//! and hashes in between.

use std::path::PathBuf;

use clap::Parser;
use downbeat_app::{ExportFile, ExportHead, McapExport, Pace, StepHashes};
use downbeat_tests::shipped;
use downbeat_world::{Scene, WorldCommand};
use glam::Vec3;

/// Runs a shipped scene and exports it.
#[derive(Parser)]
struct Cli {
    /// Which scene.
    scene: String,
    /// How many milliseconds of simulated time.
    millis: u64,
    /// The MCAP file.
    file: PathBuf,
    /// Write every step.
    #[arg(long)]
    every_step: bool,
}

/// A body is pushed and hashes are taken this often, in nanoseconds.
const PUSH_NANOS: u64 = 500_000_000;
const HASH_NANOS: u64 = 100_000_000;

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let mut scene = shipped(&cli.scene)?;
    let build = concat!("downbeat ", env!("CARGO_PKG_VERSION")).to_owned();
    let head = ExportHead { scene: scene.name().to_owned(), seed: scene.world().seed(), build };
    let pace = if cli.every_step { Pace::EveryStep } else { Pace::default() };
    let mut export = McapExport::new(ExportFile::create(&cli.file)?, &head, pace)?;
    export.step(&scene)?;
    let end = downbeat_time::SimTime::from_nanos(cli.millis * 1_000_000);
    while scene.time().next_step().is_some_and(|(next, _)| next <= end) {
        if let Some(command) = push(&scene) {
            export.command(&scene, &command)?;
            scene.apply(command)?;
        }
        scene.run_steps(1)?;
        export.step(&scene)?;
        if scene.time().now().as_nanos().is_multiple_of(HASH_NANOS) {
            export.hashes(&StepHashes {
                step: scene.time().steps(),
                now: scene.time().now(),
                state: scene.state_hashes().total,
                schedule: scene.time().schedule_hash(),
            })?;
        }
    }
    let (file, summary) = export.finish(&scene)?;
    file.keep()?;
    for (topic, count) in summary.messages {
        println!("{topic} {count}");
    }
    println!("{} bytes", summary.bytes);
    Ok(())
}

/// A nudge for the last body that there is, now and then.
fn push(scene: &Scene) -> Option<WorldCommand> {
    let now = scene.time().now().as_nanos();
    let entity = *scene.world().components.body.ids().last()?;
    let linear = Vec3::new(0.0, 0.0, 0.002);
    let due = now > 0 && now.is_multiple_of(PUSH_NANOS);
    due.then_some(WorldCommand::Push { entity, linear, angular: Vec3::ZERO })
}
