//! `cargo xtask replay`: the log of a long run, run again by a debug and a release build.
//! Does not compare anything: the program `replay` of `tests` does.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Metadata;

use crate::shell;
use crate::tally::Tally;

/// The builds, as arguments of cargo that choose them. The first one writes the log.
const BUILDS: [(&str, &[&str]); 2] = [("release", &["--release"]), ("debug", &[])];

/// Writes a log of so many steps and has every build run it again.
pub(crate) fn run(workspace: &Metadata, steps: u64, scene: &str) -> Result<Tally> {
    let folder = workspace.target_directory.join("replay");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {folder}"))?;
    }
    replay(workspace, BUILDS[0], &["write", scene, &steps.to_string()], folder.as_std_path())?;
    for build in BUILDS {
        replay(workspace, build, &["verify"], folder.as_std_path())?;
    }
    Ok(Tally { passed: BUILDS.len() as u64, failed: 0 })
}

fn replay(
    workspace: &Metadata,
    (name, arguments): (&str, &[&str]),
    words: &[&str],
    folder: &Path,
) -> Result<()> {
    println!("replay: {name}");
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["run", "--package", "downbeat-tests", "--bin", "replay"]).args(arguments);
    cargo.arg("--").args(words).arg(folder);
    let status = shell::run_inherited(cargo)?;
    ensure!(status.success(), "the {name} build does not get through; the log is in {}", folder.display());
    Ok(())
}
