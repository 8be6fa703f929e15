//! `cargo xtask bench`: runs the benchmarks of `benches/`, and gets valgrind for their instruction counts.
//! Does not measure: each bench target prints its own figures.

use std::io;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::shell;
use crate::tally::Tally;

const PACKAGE: &str = "downbeat-benches";
const INSTALL: &[&str] = &["apt-get", "install", "--yes", "--no-install-recommends", "valgrind"];

/// Runs the benchmark `name` (`time/dispatch_50`), all of a crate (`time`), or all there are.
pub(crate) fn run(workspace: &Metadata, name: Option<&str>, json: bool) -> Result<Tally> {
    let packages = workspace.workspace_packages();
    let package = packages
        .iter()
        .find(|package| package.name == PACKAGE)
        .with_context(|| format!("the workspace has no package {PACKAGE}"))?;
    let targets =
        package.targets.iter().filter(|target| target.is_bench()).map(|target| target.name.as_str());
    let chosen = chosen(targets.collect(), name)?;
    need_valgrind()?;

    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["bench", "--package", PACKAGE, "--no-fail-fast"]);
    for target in chosen {
        cargo.args(["--bench", target]);
    }
    // Cargo talks on stderr, so stdout is the benches' own.
    cargo.arg("--").args(name);
    if json {
        cargo.arg("--json");
    }
    let status = shell::run_inherited(cargo)?;
    ensure!(status.success(), "a benchmark failed: {status}");
    Ok(Tally::ONE_PASSED)
}

/// The bench targets that `name` asks for: a target is named after a crate, the part before the slash.
fn chosen<'a>(targets: Vec<&'a str>, name: Option<&str>) -> Result<Vec<&'a str>> {
    ensure!(!targets.is_empty(), "{PACKAGE} has no bench targets");
    let Some(name) = name else { return Ok(targets) };
    let wanted = name.split('/').next().unwrap_or(name);
    match targets.iter().find(|target| **target == wanted) {
        Some(target) => Ok(vec![target]),
        None => bail!("no benchmarks for `{wanted}`; there are some for: {}", targets.join(", ")),
    }
}

/// Instruction counts need valgrind. Without it a bench leaves them out, which CI must not do unnoticed.
fn need_valgrind() -> Result<()> {
    if has_valgrind() {
        return Ok(());
    }
    if is_root() {
        eprintln!("valgrind is missing; installing it for the instruction counts");
        // A package list that was never fetched, or is stale, is the usual reason to fail at first.
        if !apt(INSTALL) {
            apt(&["apt-get", "update"]);
            apt(INSTALL);
        }
        if has_valgrind() {
            return Ok(());
        }
    }
    let advice = format!("valgrind is missing, get it with: sudo {}", INSTALL.join(" "));
    ensure!(std::env::var("CI").as_deref() != Ok("true"), "{advice}");
    eprintln!("{advice}\ngoing on without instruction counts");
    Ok(())
}

fn has_valgrind() -> bool {
    let mut question = Command::new("valgrind");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_before_the_slash_chooses_the_target() {
        let targets = || vec!["time", "world"];
        assert_eq!(chosen(targets(), None).unwrap(), ["time", "world"]);
        assert_eq!(chosen(targets(), Some("world")).unwrap(), ["world"]);
        assert_eq!(chosen(targets(), Some("time/dispatch_50")).unwrap(), ["time"]);
        let error = chosen(targets(), Some("tim")).unwrap_err().to_string();
        assert!(error.contains("`tim`") && error.contains("time, world"), "{error}");
    }
}
