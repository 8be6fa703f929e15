//! What `cargo xtask replay` runs, once for each build: a long run written to a log, or the log run again.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use downbeat_tests::{Recording, record, verify};
use downbeat_time::Clock;
use downbeat_world::{Disk, History};
use indicatif::{ProgressBar, ProgressStyle};

/// How many steps lie between two commands.
const COMMAND_EVERY: u64 = 97;

/// Logs of long runs.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a shipped scene with commands in between and write its log to a folder
    Write { scene: String, steps: u64, folder: PathBuf },
    /// Run a log again and compare every hash
    Verify { folder: PathBuf },
}

fn main() -> Result<()> {
    let clock = Clock::system();
    match Cli::parse().command {
        Command::Write { scene, steps, folder } => {
            let bar = bar("write", steps)?;
            let recording = Recording { scene: &scene, steps, command_every: COMMAND_EVERY };
            record(recording, &folder, |step| bar.set_position(step))?;
            bar.finish_and_clear();
            println!("{scene}: {steps} steps written in {:.1} s", clock.elapsed().as_secs_f64());
        }
        Command::Verify { folder } => {
            let bar = bar("verify", History::read(&Disk::new(&folder))?.step)?;
            let totals = verify(&folder, |step| bar.set_position(step))?;
            bar.finish_and_clear();
            println!(
                "{} steps and {} commands replayed in {:.1} s, every hash the same; state {:016x}, schedule {:016x}",
                totals.steps,
                totals.commands,
                clock.elapsed().as_secs_f64(),
                totals.state_hash,
                totals.schedule_hash
            );
        }
    }
    Ok(())
}

fn bar(prefix: &'static str, steps: u64) -> Result<ProgressBar> {
    let bar = ProgressBar::new(steps).with_prefix(prefix);
    bar.set_style(ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} steps, {eta} left")?);
    Ok(bar)
}
