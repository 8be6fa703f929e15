//! The headless runtime `downbeat`: reads the command line, runs the command, turns its outcome into an exit
//! code.
//!
//! Exit codes: 0 done, 1 failed, 2 bad usage. It holds no command's work: `run.rs` runs scenes, the demo among them,
//! `order.rs` tells what runs in a step, `timeline.rs` when runners fire, `replay.rs` runs a log again, `inspect.rs`
//! shows what one holds, `export.rs` writes one for other programs.

mod cli;
mod export;
mod failure;
mod inspect;
mod number;
mod object;
mod order;
mod paint;
mod replay;
mod run;
mod timeline;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match obey(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&cli::command_named_in(&arguments)),
    }
}

fn obey(arguments: &[OsString]) -> Result<(), Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version are what was asked for, not failures.
        Err(answer) if !answer.use_stderr() => return answer.print().map_err(Failure::Output),
        Err(error) => return Err(Failure::from(error)),
    };
    match cli.command {
        None => run::demo(cli.json),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Order(args)) => order::run(&args),
        Some(Command::Timeline(args)) => timeline::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Export(args)) => export::run(&args),
    }
}
