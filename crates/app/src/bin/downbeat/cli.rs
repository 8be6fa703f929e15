//! The command line: what can be asked for, and the help that teaches it.
//!
//! It reads text into values and runs nothing. Scripts depend on these names: add, do not change.

mod runner_spec;
mod span;

use std::ffi::OsString;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use downbeat_time::RunnerConfig;

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
nanosecond. Without a command, a built-in scene runs: a cart balances a pole for 60
simulated seconds, as fast as this machine goes, and ends in the same bits every time.";

const DEMO_EXAMPLES: &str = "\
Examples:
  downbeat                            run the built-in scene and read its summary
  downbeat --json                     the same as one object, for scripts
  downbeat timeline                   see when the default runners fire, and where they meet
  downbeat timeline --help            learn to ask about runners of your own

Exit codes: 0 done, 1 failed, 2 bad usage.";

/// What can be run besides the built-in scene.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Timeline(TimelineArgs),
}

/// Show when runners fire, where they share a step, and after how long it repeats
#[derive(Debug, Args)]
#[command(after_help = TIMELINE_EXAMPLES)]
pub(crate) struct TimelineArgs {
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
