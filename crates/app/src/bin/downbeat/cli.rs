//! The command line: what can be asked for, and the help that teaches it.
//!
//! It reads text into values and runs nothing. Scripts depend on these names: add, do not change.

mod runner_spec;
mod span;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use downbeat_time::{RunnerConfig, TimeMode};

/// A deterministic, multi-rate simulation engine, headless.
#[derive(Debug, Parser)]
#[command(
    name = "downbeat",
    version,
    about = "A deterministic, multi-rate simulation engine, headless",
    long_about = DEMO_ABOUT,
    after_help = DEMO_EXAMPLES,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const DEMO_ABOUT: &str = "\
A deterministic, multi-rate simulation engine, headless.

Several fixed-rate clocks, the runners, share one timeline that is exact to the
nanosecond. Without a command, the shipped scene `arm` runs: an arm sorts boxes for 40
simulated seconds, as fast as this machine goes, and ends in the same bits every time.";

const DEMO_EXAMPLES: &str = "\
Examples:
  downbeat                            run the shipped scene `arm` and read its summary
  downbeat --json                     the same as one object, for scripts
  downbeat run pile --for 5s          another scene, for five simulated seconds
  downbeat order arm                  what runs in a step, and in which order
  downbeat timeline arm               when its runners fire, and where they meet
  downbeat run arm --for 10s --log d  the same run, written down as it goes
  downbeat replay d --verify          run again, every hash compared

Exit codes: 0 done, 1 failed, 2 bad usage.";

/// What can be run besides the demo.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArgs),
    Order(OrderArgs),
    Timeline(TimelineArgs),
    Replay(ReplayArgs),
    Inspect(InspectArgs),
    Export(ExportArgs),
}

/// Run a scene, from its start to an end, and tell how it ended
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// A scene's file, or the name of a shipped scene
    ///
    /// Shipped are arm, pile, pendulum, many_rates, quadruped and cart2d.
    #[arg(verbatim_doc_comment)]
    pub(crate) scene: String,

    /// How time runs: as the scene says, or as one of these
    ///
    /// sim-realtime: no faster than the wall clock, slower if it must, nothing skipped.
    /// sim-high-performance: as fast as it goes. game-realtime: with the wall clock,
    /// skipping what it cannot do in time.
    #[arg(long, value_name = "MODE", verbatim_doc_comment)]
    pub(crate) mode: Option<TimeMode>,

    /// End after so much simulated time, such as 100ms, 10s or 1m30s
    #[arg(long = "for", value_name = "DUR", value_parser = span::parse, conflicts_with = "steps")]
    pub(crate) span_nanos: Option<u64>,

    /// End after so many steps
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,

    /// Where random numbers begin, instead of the scene's own seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Write everything down in this folder, or continue what is there
    ///
    /// Every command and the hashes of every step are on the disk before they are
    /// acknowledged. On a folder that has a log of this scene, the run goes on where it
    /// ended, also after a crash: --for and --steps count from the scene's start, so the
    /// same command finishes what was begun.
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(crate) log: Option<PathBuf>,

    /// Keep only so many snapshots of the log, and what follows the oldest; at least 2
    #[arg(long, value_name = "N", requires = "log", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) log_keep: Option<u32>,

    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  downbeat run arm --for 10s
      Ten simulated seconds at the pace that the scene asks for.
  downbeat run pile --mode sim-high-performance --steps 1000 --json
      A thousand steps as fast as they go, and one object at the end.
  downbeat run arm --for 1m --log runs/1
      Written down; killed at any moment, the same command goes on and ends in the same bits.
  downbeat run my_scene.toml
      Until Ctrl-C, which ends it after the step under way.

Without --for and --steps a scene runs until it is interrupted.";

/// Show every system of a scene in the order in which it runs
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// A scene's file, or the name of a shipped scene
    pub(crate) scene: String,

    /// Print one JSON object per system
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show when runners fire, where they share a step, and after how long it repeats
#[derive(Debug, Args)]
#[command(after_help = TIMELINE_EXAMPLES)]
pub(crate) struct TimelineArgs {
    /// The runners of this scene: a file, or the name of a shipped scene
    #[arg(conflicts_with = "runners")]
    pub(crate) scene: Option<String>,

    /// A runner: its name, its rate in hertz, where its grid starts
    ///
    /// The rate is exact: 50, 50Hz, 29.97 or 30000/1001, up to 1 GHz. The offset shifts the
    /// grid by whole nanoseconds. Give up to eight runners, each with a name of its own.
    /// Without any, Robot at 50 Hz and Capture at 30 Hz are shown.
    #[arg(
        long = "runner",
        value_name = "NAME=RATE[@OFFSET_NS]",
        value_parser = runner_spec::parse,
        verbatim_doc_comment
    )]
    pub(crate) runners: Vec<RunnerConfig>,

    /// How much to show, such as 100ms, 10s, 1m30s or 250us
    ///
    /// Steps that end at or before this time are shown. By default it is one cycle, counted
    /// from the latest offset, or one second when the cycle is unknown or holds more than
    /// 2000 steps.
    #[arg(long = "for", value_name = "DUR", value_parser = span::parse, verbatim_doc_comment)]
    pub(crate) span_nanos: Option<u64>,

    /// Print one JSON object per step, then one for the cycle
    #[arg(long)]
    pub(crate) json: bool,
}

const TIMELINE_EXAMPLES: &str = "\
Examples:
  downbeat timeline
      Robot at 50 Hz and Capture at 30 Hz: they meet every 100 ms.
  downbeat timeline --runner Physics=500 --runner Video=30000/1001 --for 100ms
      Runners of your own; rates are exact ratios, so nothing drifts.
  downbeat timeline --runner Left=50 --runner Right=50@10000000
      The second grid starts 10 ms later, so the two never meet.
  downbeat timeline --for 10s --json | jq -c 'select(.shared)'
      Every step as a line of JSON; the last line describes the cycle.

A runner fires at its boundaries, the first one step after its origin: nothing fires
at 0. Runners whose boundaries are the same nanosecond fire together, in one shared
step.";

/// Run a log again and compare every step with what was written down
#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The folder of a log
    pub(crate) log: PathBuf,

    /// Run all of it, from its first snapshot, and compare every hash
    ///
    /// Without it, the run starts from the last snapshot before its end.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) verify: bool,

    /// Stop after this step and write a snapshot
    #[arg(long, value_name = "N")]
    pub(crate) to_step: Option<u64>,

    /// Where the snapshot goes; by default SCENE-step-N.snap in this folder
    #[arg(long, value_name = "FILE", requires = "to_step")]
    pub(crate) out: Option<PathBuf>,

    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  downbeat run arm --for 10s --mode sim-high-performance --log runs/1
  downbeat replay runs/1 --verify
      The whole run again; the first difference would be named by step, entity and component.
  downbeat replay runs/1 --to-step 2500
      The state that step 2501 started from, as a snapshot.

Exit codes: 0 all the same, 1 something differs or the log is damaged, 2 bad usage.";

/// Show what a log or a snapshot holds, and whether it is whole
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The folder of a log, or a snapshot's file
    #[arg(value_name = "LOG|SNAPSHOT")]
    pub(crate) path: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a log as a file that other programs open
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The folder of a log
    pub(crate) log: PathBuf,

    /// The MCAP file to write, for Foxglove and for Python
    #[arg(long, value_name = "FILE")]
    pub(crate) mcap: PathBuf,

    /// Write poses and joints after every step, not only 60 times in a simulated second
    #[arg(long)]
    pub(crate) every_step: bool,

    /// Print the outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  downbeat run arm --for 40s --mode sim-high-performance --log runs/1
  downbeat export runs/1 --mcap arm.mcap
      Poses, shapes, joints, commands, time and hashes. Open it in Foxglove, or read it with
      the Python package `mcap`; docs/export.md tells more.

The run is run again to have its poses, and every step must have the hashes of the log.";

/// The command an argument list names, as one would type it to ask for help.
pub(crate) fn command_named_in(arguments: &[OsString]) -> String {
    let root = Cli::command();
    let name = arguments.get(1).and_then(|argument| root.find_subcommand(argument));
    match name {
        Some(command) => format!("{} {}", root.get_name(), command.get_name()),
        None => root.get_name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
