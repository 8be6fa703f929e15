//! `cargo xtask kill`: processes that write a log are killed, and the log they leave is checked.
//! Does not know what a log is: the program `kill` of `tests` does, and is both the killer and the killed.

use anyhow::{Result, ensure};
use cargo_metadata::Metadata;

use crate::shell;
use crate::tally::Tally;

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// How many processes are killed.
    pub(crate) rounds: u64,
    /// What decides when.
    pub(crate) seed: u64,
}

/// Kills processes; each one that lost nothing counts.
pub(crate) fn run(workspace: &Metadata, Plan { rounds, seed }: Plan) -> Result<Tally> {
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["run", "--release", "--package", "downbeat-tests", "--bin", "kill", "--"]);
    cargo.args(["rounds", &rounds.to_string(), &seed.to_string()]);
    // On the disk that we build on: a folder of the system's for temporary files may be in memory, and never tears.
    cargo.arg(workspace.target_directory.join("kill"));
    let status = shell::run_inherited(cargo)?;
    ensure!(status.success(), "a killed process has left a log that is not what it acknowledged");
    Ok(Tally { passed: rounds, failed: 0 })
}
