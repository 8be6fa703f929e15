//! The workspace's own commands, run as `cargo xtask …`. Holds the command line only: each task is a file.

mod bench;
mod determinism;
mod fuzz;
mod kill;
mod loom;
mod mcap;
mod memcheck;
mod mutants;
mod packages;
mod python;
mod replay;
mod runner;
mod shell;
mod tally;
mod test;
mod tidy;
#[cfg(target_os = "linux")]
mod window;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand};
use clap::{Parser, Subcommand};

use crate::loom::Checker;
use crate::mutants::Kind;
use crate::tally::Tally;

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                      everything CI runs; ends with `N passed, N failed`
  cargo xtask test --mutants            the same, then every mutant of xtask/mutants.toml
  cargo xtask kill --rounds 10000       logs of processes that are killed, at length
  cargo xtask bench time/dispatch_50    one benchmark
  cargo xtask fuzz snapshot --seconds 600  damaged snapshots for ten minutes
  cargo xtask tidy                      no build; good before each commit";

/// The workspace's own commands. One local command is CI: `cargo xtask test`.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run everything CI runs: format, lints, tests, docs, examples, a window, exports, loom and shuttle models, memory check,
    /// killed processes, fuzz targets, tidy, licences. Gets software Vulkan, Xvfb, valgrind and g++ with apt where it may.
    ///
    /// Formatting and lints stop the run at once. All other steps run, and failures are listed at the end.
    /// The last line is `N passed, N failed`: tests, doctests, examples, loom models and mutants count one by
    /// one, a step such as `fmt` counts as one.
    Test {
        /// Also break the code in each way listed in xtask/mutants.toml and require that a test notices.
        #[arg(long)]
        mutants: bool,
    },
    /// Model-check the concurrent parts with loom, one process per model.
    ///
    /// A model is a test in an integration test target named `loom*`. It is built with `--cfg downbeat_loom`,
    /// optimised with debug assertions, in a target folder of its own. Ends with a table of all models.
    Loom {
        /// Run only the models whose name contains this; with --mutants, only the mutant of this name.
        name: Option<String>,
        /// Also seed each fault of xtask/mutants.toml that names a model, and require that the model catches it.
        #[arg(long)]
        mutants: bool,
    },
    /// Run the benchmarks of `benches/`.
    Bench {
        /// A crate (`time`) or one benchmark of it (`time/dispatch_50`); all of them when absent.
        name: Option<String>,
        /// Print JSON lines only, one per figure; everything else goes to stderr.
        #[arg(long)]
        json: bool,
    },
    /// Send `pile` and `arm` through a snapshot at every step and compare every byte.
    ///
    /// With --matrix instead: build for debug, release, three optimisation levels and the native processor, and
    /// compare the hash of every step of the shipped scenes. The first difference is named by step, entity and
    /// component.
    Determinism {
        /// How many steps go through a snapshot.
        #[arg(long, default_value_t = 10_000)]
        steps: u64,
        /// Compare builds instead.
        #[arg(long)]
        matrix: bool,
    },
    /// Feed everything that decodes bytes from outside with what a fuzzer makes up, for a bounded time.
    ///
    /// A target is a file in `fuzz/fuzz_targets`. It fails by a panic, a stack that overflows, more than ten seconds
    /// for one input, or memory out of all proportion to it; then the input and the command to run it again are
    /// printed. What was worth keeping stays in `target/fuzz/corpus`, and later runs go on from there.
    Fuzz {
        /// Run only this target.
        target: Option<String>,
        /// How long each target runs.
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Kill a process that writes a log at random moments, and check that all that it acknowledged is there.
    ///
    /// Every round is one kill: the log is read, held against what was acknowledged and run again with every hash
    /// compared, and the next round goes on with it. A failure prints its seed and round, and keeps the log.
    Kill {
        /// How many processes are killed; 10000 for a long night.
        #[arg(long, default_value_t = 500)]
        rounds: u64,
        /// What decides when.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Write the log of a long run, and run it again with the debug and the release build, comparing every hash.
    Replay {
        /// How many steps.
        #[arg(long, default_value_t = 1_000_000)]
        steps: u64,
        /// The shipped scene that runs.
        #[arg(long, default_value = "cart2d")]
        scene: String,
    },
    /// Check what the compiler does not: file heads, crate arrows, manifests, ARCHITECTURE.md, mutants.
    Tidy,
    /// Open a window on an X server without a screen and check what it shows, under both threading policies.
    ///
    /// What was seen is kept in `target/window`.
    #[cfg(target_os = "linux")]
    Window,
    /// Export shipped scenes as MCAP and read them with Python's public packages.
    ///
    /// Makes an environment with pinned packages in `target/python`; the files are kept in `target/mcap`.
    Mcap,
    /// Break the code in each way listed in xtask/mutants.toml and require that a test notices.
    Mutants {
        /// Run only this mutant.
        name: Option<String>,
    },
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(tally) if tally.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<Tally> {
    let workspace = workspace()?;
    match &cli.task {
        Task::Test { mutants } => Ok(test::run(&workspace, *mutants)),
        Task::Loom { name, mutants: false } => {
            loom::run(&workspace, Checker::Loom, name.as_deref()).map(announced)
        }
        Task::Loom { name, mutants: true } => {
            mutants::run(&workspace, Kind::Models, name.as_deref()).map(announced)
        }
        Task::Bench { name, json } => bench::run(&workspace, name.as_deref(), *json),
        Task::Determinism { steps, matrix } => determinism::run(&workspace, *steps, *matrix).map(announced),
        Task::Fuzz { target, seconds } => fuzz::run(&workspace, target.as_deref(), *seconds).map(announced),
        Task::Kill { rounds, seed } => {
            kill::run(&workspace, kill::Plan { rounds: *rounds, seed: *seed }).map(announced)
        }
        Task::Replay { steps, scene } => replay::run(&workspace, *steps, scene).map(announced),
        Task::Tidy => tidy::run(&workspace),
        #[cfg(target_os = "linux")]
        Task::Window => window::run(&workspace).map(announced),
        Task::Mcap => mcap::run(&workspace).map(announced),
        Task::Mutants { name } => mutants::run(&workspace, Kind::Tests, name.as_deref()).map(announced),
    }
}

/// Members, targets and declared dependencies; without the resolved graph, which would need the network.
fn workspace() -> Result<Metadata> {
    MetadataCommand::new().no_deps().exec().context(
        "cargo metadata cannot read the workspace; run this inside it and mend the manifest named here",
    )
}

fn announced(tally: Tally) -> Tally {
    println!("{tally}");
    tally
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
