//! `cargo xtask loom`: model-checks every integration test target named `loom*`, a process per model.
//! Does not build the rest of the workspace under loom's cfg.

use std::process::Command;

use anyhow::{Result, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::Utf8Path;

use crate::runner::TestRunner;
use crate::shell;
use crate::tally::Tally;

/// A test target with models, and the package it belongs to.
struct Models<'a> {
    package: &'a str,
    target: &'a str,
}

/// Runs the models whose name contains `name`, or all of them.
pub(crate) fn run(workspace: &Metadata, name: Option<&str>) -> Result<Tally> {
    let packages = workspace.workspace_packages();
    let models: Vec<Models<'_>> = packages
        .iter()
        .flat_map(|package| package.targets.iter().map(move |target| (package, target)))
        .filter(|(_, target)| target.is_test() && is_models(&target.name))
        .map(|(package, target)| Models { package: &package.name, target: &target.name })
        .collect();
    if models.is_empty() {
        println!("no crate has loom models yet");
        return Ok(Tally::default());
    }
    let root = &workspace.workspace_root;
    match TestRunner::find(root) {
        TestRunner::Nextest => {
            let mut command = TestRunner::Nextest.command(root);
            configure(&mut command, workspace, &models);
            command.arg("--no-fail-fast").args(name);
            TestRunner::Nextest.count(command)
        }
        TestRunner::CargoTest => run_one_by_one(workspace, &models, name),
    }
}

fn is_models(target: &str) -> bool {
    target.starts_with("loom")
}

fn configure(command: &mut Command, workspace: &Metadata, models: &[Models<'_>]) {
    command.arg("--release");
    // Other flags mean another build of everything: in the common folder each build would undo the other.
    command.arg("--target-dir").arg(workspace.target_directory.join("loom"));
    for models in models {
        command.args(["--package", models.package, "--test", models.target]);
    }
    shell::append_flags(command, "RUSTFLAGS", "--cfg downbeat_loom -C debug-assertions");
    if std::env::var_os("LOOM_MAX_PREEMPTIONS").is_none() {
        command.env("LOOM_MAX_PREEMPTIONS", "3");
    }
}

/// libtest runs all tests of a target in one process, where models disturb each other: ask for each by name.
fn run_one_by_one(workspace: &Metadata, models: &[Models<'_>], name: Option<&str>) -> Result<Tally> {
    let root: &Utf8Path = &workspace.workspace_root;
    let mut tally = Tally::default();
    for models in models {
        let models = std::slice::from_ref(models);
        let mut list = TestRunner::CargoTest.command(root);
        configure(&mut list, workspace, models);
        list.args(["--", "--list"]).args(name);
        let listed = shell::stdout_of(list)?;
        for model in names(&String::from_utf8_lossy(&listed)) {
            let mut command = TestRunner::CargoTest.command(root);
            configure(&mut command, workspace, models);
            command.args(["--", "--exact", model]);
            tally += TestRunner::CargoTest.count(command)?;
        }
    }
    ensure!(tally != Tally::default(), "no loom model matches; `cargo xtask loom` runs them all");
    Ok(tally)
}

/// The tests of a libtest `--list`: `module::name: test`.
fn names(list: &str) -> Vec<&str> {
    list.lines().filter_map(|line| line.strip_suffix(": test")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_their_targets_name() {
        assert!(is_models("loom") && is_models("loom_dispatcher"));
        assert!(!is_models("dispatcher_loom"));
    }

    #[test]
    fn libtest_lists_are_read() {
        assert_eq!(
            names("a::waits: test\nb: benchmark\nc: test\n\n2 tests, 1 benchmark\n"),
            ["a::waits", "c"]
        );
    }
}
