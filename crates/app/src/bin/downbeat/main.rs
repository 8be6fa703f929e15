//! The headless runtime `downbeat`: reads the command line, runs the command, turns its outcome into an exit
//! code.
//!
//! Exit codes: 0 done, 1 failed, 2 bad usage. It holds no command's work: `demo.rs` is the run without
//! arguments, `timeline.rs` the schedule of runners.

mod cli;
mod demo;
mod failure;
mod paint;
mod timeline;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&cli::command_named_in(&arguments)),
    }
}

fn run(arguments: &[OsString]) -> Result<(), Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version are what was asked for, not failures.
        Err(answer) if !answer.use_stderr() => return answer.print().map_err(Failure::Output),
        Err(error) => return Err(Failure::from(error)),
    };
    match cli.command {
        None => demo::run(cli.json),
        Some(Command::Timeline(args)) => timeline::run(&args),
    }
}
