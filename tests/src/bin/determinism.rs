//! What `cargo xtask determinism` runs, once for each build: exactness over snapshots, or a trail of hashes.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Parser, Subcommand};
use downbeat_tests::{Trail, exact_over, rows_at, shipped};
use indicatif::{ProgressBar, ProgressStyle};

/// Determinism of a shipped scene.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Send a scene through a snapshot at every step and compare bytes
    Exact { scene: String, steps: u64 },
    /// Write the hashes of every step to a file
    Trail { scene: String, steps: u64, file: PathBuf },
    /// Print the hash of every component after so many steps
    Rows { scene: String, step: u64 },
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Exact { scene, steps } => {
            let bar = ProgressBar::new(steps).with_prefix(scene.clone());
            bar.set_style(ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} steps, {eta} left")?);
            let difference = exact_over(shipped(&scene)?, steps, |step| bar.set_position(step))?;
            bar.finish_and_clear();
            if let Some(difference) = difference {
                bail!("{scene}: step {} differs after a snapshot: {}", difference.step, difference.what);
            }
            println!("{scene}: {steps} steps through snapshots, every byte the same");
        }
        Command::Trail { scene, steps, file } => {
            std::fs::write(&file, Trail::of(&mut shipped(&scene)?, steps)?.to_text())?;
        }
        Command::Rows { scene, step } => print!("{}", rows_at(&mut shipped(&scene)?, step)?),
    }
    Ok(())
}
