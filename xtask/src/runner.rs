//! Chooses between `cargo nextest` and `cargo test`, and reads their verdicts.
//! Does not choose which tests run: callers add the arguments.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::camino::Utf8Path;

use crate::shell::{self, Finished};
use crate::tally::Tally;

/// The program that runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestRunner {
    /// One process per test.
    Nextest,
    /// All tests of a target in one process; there whenever cargo is.
    CargoTest,
}

impl TestRunner {
    /// nextest where it is installed.
    pub(crate) fn find(root: &Utf8Path) -> Self {
        let mut question = shell::cargo(root);
        question.args(["nextest", "--version"]);
        if shell::answers(question) { Self::Nextest } else { Self::CargoTest }
    }

    /// `cargo nextest run` or `cargo test`, to which the caller adds the selection of packages and targets.
    pub(crate) fn command(self, root: &Utf8Path) -> Command {
        let mut command = shell::cargo(root);
        match self {
            Self::Nextest => command.args(["nextest", "run"]),
            Self::CargoTest => command.arg("test"),
        };
        command
    }

    /// Runs a test command to its end and counts its tests.
    pub(crate) fn count(self, command: Command) -> Result<Tally> {
        Ok(self.count_and_keep(command)?.0)
    }

    /// As [`TestRunner::count`], and returns what was printed.
    pub(crate) fn count_and_keep(self, command: Command) -> Result<(Tally, String)> {
        let finished = shell::run_streamed(command)?;
        let tally = match self {
            Self::Nextest => Tally::of_nextest(&finished.output),
            Self::CargoTest => Tally::of_libtest(&finished.output),
        };
        Ok((verdict(&finished, tally)?, finished.output))
    }
}

/// Weighs exit status against counts, so that neither a build failure nor a silent run passes for success.
fn verdict(finished: &Finished, tally: Option<Tally>) -> Result<Tally> {
    if finished.status.success() {
        let tally = tally
            .context("it succeeded but printed no result line; mend the parser in xtask/src/tally.rs")?;
        if tally.failed > 0 {
            bail!("it succeeded but reports {tally}; mend the parser in xtask/src/tally.rs");
        }
        return Ok(tally);
    }
    match tally {
        Some(tally) if tally.failed > 0 => Ok(tally),
        _ => bail!("no test failed, but the run did ({}); see its output above", finished.status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(script: &str) -> Finished {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        shell::run_quietly(command).unwrap()
    }

    #[test]
    fn a_run_is_judged_by_status_and_counts() {
        let good = Tally { passed: 3, failed: 0 };
        let bad = Tally { passed: 3, failed: 1 };
        assert_eq!(verdict(&finished("exit 0"), Some(good)).unwrap(), good);
        assert_eq!(verdict(&finished("exit 100"), Some(bad)).unwrap(), bad);
        assert!(verdict(&finished("exit 0"), None).is_err(), "a silent run is no success");
        assert!(verdict(&finished("exit 101"), None).is_err(), "a build failure is no result");
        assert!(verdict(&finished("exit 4"), Some(good)).is_err());
        assert!(verdict(&finished("exit 0"), Some(bad)).is_err());
    }
}
