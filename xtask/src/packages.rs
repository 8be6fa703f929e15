//! Programs of the system that tests and benches need: asks whether they are there, and gets them where it may.
//! Does not install anything without the rights for it: then it says the exact command.

use std::io;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::shell;

/// A program, and the Debian or Ubuntu package that brings it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// What it is needed for, to finish a sentence.
    pub(crate) purpose: &'static str,
}

/// Memory checks and instruction counts.
pub(crate) const VALGRIND: Program =
    Program { name: "valgrind", package: "valgrind", purpose: "to check memory and to count instructions" };

/// Whether the program is there, after trying to install it. Where CI is true, a missing one is an error.
pub(crate) fn have(program: Program) -> Result<bool> {
    if answers(program) {
        return Ok(true);
    }
    let Program { name, package, purpose } = program;
    let install = ["apt-get", "install", "--yes", "--no-install-recommends", package];
    if is_root() {
        eprintln!("{name} is missing; installing it {purpose}");
        // A package list that was never fetched, or is stale, is the usual reason to fail at first.
        if !apt(&install) {
            apt(&["apt-get", "update"]);
            apt(&install);
        }
        if answers(program) {
            return Ok(true);
        }
    }
    let advice = format!("{name} is missing {purpose}; get it with: sudo {}", install.join(" "));
    ensure!(std::env::var("CI").as_deref() != Ok("true"), "{advice}");
    eprintln!("{advice}");
    Ok(false)
}

fn answers(program: Program) -> bool {
    let mut question = Command::new(program.name);
    question.arg("--version");
    shell::answers(question)
}

fn is_root() -> bool {
    let mut question = Command::new("id");
    question.arg("-u");
    shell::stdout_of(question).is_ok_and(|id| id.trim_ascii() == b"0")
}

/// Whether the command succeeded. Its output goes to stderr: stdout may be promised to JSON.
fn apt(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive").stdout(io::stderr());
    match shell::run_inherited(command) {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("{error:#}");
            false
        }
    }
}
