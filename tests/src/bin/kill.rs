//! What `cargo xtask kill` runs: processes that write a log and are killed, and the one that kills them.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use downbeat_tests::{Plan, Script, rounds, write};
use indicatif::{ProgressBar, ProgressStyle};

/// Logs of processes that were killed.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a log until killed, or until so many commands were given
    Write { folder: PathBuf, seed: u64, life: u64, commands: u64 },
    /// Start the writer again and again, kill it, and check what it has left
    Rounds { rounds: u64, seed: u64, folder: PathBuf },
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Write { folder, seed, life, commands } => write(&folder, Script { seed, life, commands }),
        Command::Rounds { rounds: count, seed, folder } => {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            let bar = ProgressBar::new(count).with_prefix("kill");
            let style = "{prefix} {bar:30} {pos}/{len} rounds, {eta} left, {msg}";
            bar.set_style(ProgressStyle::with_template(style)?);
            let plan = Plan { rounds: count, seed, program: std::env::current_exe()?, folder };
            let totals = rounds(&plan, |totals| {
                bar.set_position(totals.rounds);
                bar.set_message(format!("{} acknowledged", totals.acks));
            });
            bar.finish_and_clear();
            println!("kill: {}", totals?);
            Ok(())
        }
    }
}
