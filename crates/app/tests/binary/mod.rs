//! Runs the real `downbeat` and holds what it said. Knows nothing of what it should have said.

use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code.
    pub(crate) code: i32,
    /// All of standard output.
    pub(crate) stdout: String,
    /// All of standard error.
    pub(crate) stderr: String,
}

/// The binary, with nothing of the surrounding terminal's settings.
pub(crate) fn downbeat(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_downbeat"));
    command.args(arguments).stdin(Stdio::null()).env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

/// Runs to the end.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let output = downbeat(arguments).output().expect("the binary starts");
    Outcome {
        code: output.status.code().expect("no signal ended it"),
        stdout: String::from_utf8(output.stdout).expect("stdout is text"),
        stderr: String::from_utf8(output.stderr).expect("stderr is text"),
    }
}

/// Runs to a good end and gives what was printed.
pub(crate) fn stdout_of(arguments: &[&str]) -> String {
    let outcome = run(arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}");
    outcome.stdout
}
