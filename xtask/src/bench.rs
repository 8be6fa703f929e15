//! `cargo xtask bench`: runs the benchmarks of `benches/`, and gets valgrind for their instruction counts.
//! Does not measure: each bench target prints its own figures.

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::packages::{self, VALGRIND};
use crate::shell;
use crate::tally::Tally;

const PACKAGE: &str = "downbeat-benches";

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
    // Without it a bench leaves its instruction counts out.
    packages::have(VALGRIND)?;

    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["bench", "--package", PACKAGE, "--no-fail-fast"]);
    for target in chosen {
        cargo.args(["--bench", target]);
    }
    // Cargo talks on stderr, so stdout is the benches' own.
    cargo.arg("--").args(name.filter(|name| name.contains('/')));
    if json {
        cargo.arg("--json");
    }
    let status = shell::run_inherited(cargo)?;
    ensure!(status.success(), "a benchmark failed: {status}");
    Ok(Tally::ONE_PASSED)
}

/// The bench targets that `name` asks for: a target is named after a crate, the part before the slash. Physics is
/// measured beside the world that it moves, and the world's log by itself, because it is about a disk.
fn chosen<'a>(targets: Vec<&'a str>, name: Option<&str>) -> Result<Vec<&'a str>> {
    ensure!(!targets.is_empty(), "{PACKAGE} has no bench targets");
    let Some(name) = name else { return Ok(targets) };
    let wanted = match name.split('/').next().unwrap_or(name) {
        "physics" => "world",
        wanted => wanted,
    };
    match targets.iter().find(|target| **target == wanted) {
        Some(target) => Ok(vec![target]),
        None => bail!("no benchmarks for `{wanted}`; there are some for: {}", targets.join(", ")),
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
        assert_eq!(chosen(targets(), Some("physics/overhead_arm")).unwrap(), ["world"]);
        let error = chosen(targets(), Some("tim")).unwrap_err().to_string();
        assert!(error.contains("`tim`") && error.contains("time, world"), "{error}");
    }
}
