//! `cargo xtask loom`: model-checks every integration test target named `loom*`, a process per model, and shows what
//! it took. The targets named `shuttle*` go through the same door: many random schedules of mixes too large for loom.
//! Does not build the rest of the workspace under the checkers' cfgs.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Result, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::Utf8Path;

use crate::runner::TestRunner;
use crate::shell;
use crate::tally::{self, Tally};

/// A program that decides which thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checker {
    /// Tries every schedule of a small model.
    Loom,
    /// Tries many random schedules of a large one.
    Shuttle,
}

impl Checker {
    /// How its test targets are named; also the name of its target folder.
    const fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Shuttle => "shuttle",
        }
    }

    /// The test targets with its models, as arguments that select them.
    fn targets(self, workspace: &Metadata) -> Vec<Models> {
        let packages = workspace.workspace_packages();
        let targets =
            packages.iter().flat_map(|package| package.targets.iter().map(move |target| (package, target)));
        targets
            .filter(|(_, target)| target.is_test() && target.name.starts_with(self.name()))
            .map(|(package, target)| Models {
                package: package.name.to_string(),
                target: target.name.clone(),
            })
            .collect()
    }
}

/// A test target with models, and the package it belongs to.
struct Models {
    package: String,
    target: String,
}

/// Runs the models whose name contains `name`, or all of them, and prints a table of them.
pub(crate) fn run(workspace: &Metadata, checker: Checker, name: Option<&str>) -> Result<Tally> {
    let models = checker.targets(workspace);
    let root = &workspace.workspace_root;
    let (tally, output) = match TestRunner::find(root) {
        TestRunner::Nextest => {
            let mut command = TestRunner::Nextest.command(root);
            configure(&mut command, TestRunner::Nextest, checker, &workspace.target_directory);
            select(&mut command, &models);
            command
                .args(["--no-fail-fast", "--success-output", "immediate", "--no-tests", "pass"])
                .args(name);
            TestRunner::Nextest.count_and_keep(command)?
        }
        TestRunner::CargoTest => run_one_by_one(workspace, checker, &models, name)?,
    };
    ensure!(tally != Tally::default(), "no model's name contains `{}`", name.unwrap_or_default());
    print!("{}", table(&output));
    Ok(tally)
}

/// Sets a test command up for a checker: its cfg, its profile, its target folder, no features it does not need.
pub(crate) fn configure(command: &mut Command, runner: TestRunner, checker: Checker, target: &Utf8Path) {
    command.args([if runner == TestRunner::Nextest { "--cargo-profile" } else { "--profile" }, "loom"]);
    command.arg("--no-default-features");
    // Other flags mean another build of everything: in the common folder each build would undo the other.
    command.arg("--target-dir").arg(target.join(checker.name()));
    shell::append_flags(command, "RUSTFLAGS", &format!("--cfg downbeat_{}", checker.name()));
}

fn select(command: &mut Command, models: &[Models]) {
    for models in models {
        command.args(["--package", &models.package, "--test", &models.target]);
    }
}

/// libtest runs all tests of a target in one process, where models disturb each other: ask for each by name.
fn run_one_by_one(
    workspace: &Metadata,
    checker: Checker,
    models: &[Models],
    name: Option<&str>,
) -> Result<(Tally, String)> {
    let root: &Utf8Path = &workspace.workspace_root;
    let (mut tally, mut output) = (Tally::default(), String::new());
    for models in models {
        let models = std::slice::from_ref(models);
        let command = || {
            let mut command = TestRunner::CargoTest.command(root);
            configure(&mut command, TestRunner::CargoTest, checker, &workspace.target_directory);
            select(&mut command, models);
            command.arg("--");
            command
        };
        let mut list = command();
        list.arg("--list").args(name);
        let listed = shell::stdout_of(list)?;
        for model in names(&String::from_utf8_lossy(&listed)) {
            let mut run = command();
            run.args(["--exact", "--nocapture", model]);
            let (one, printed) = TestRunner::CargoTest.count_and_keep(run)?;
            tally += one;
            output.push_str(&printed);
        }
    }
    Ok((tally, output))
}

/// The tests of a libtest `--list`: `module::name: test`.
fn names(list: &str) -> Vec<&str> {
    list.lines().filter_map(|line| line.strip_suffix(": test")).collect()
}

/// What a model prints when all its schedules went well: `loom-model NAME ITERATIONS SCHEDULES SECS`.
pub(crate) fn passed_models(output: &str) -> BTreeSet<[&str; 4]> {
    output.lines().filter_map(passed_model).collect()
}

fn passed_model(line: &str) -> Option<[&str; 4]> {
    let words: Vec<&str> = line.trim().strip_prefix("loom-model ")?.split_whitespace().collect();
    words.try_into().ok()
}

fn table(output: &str) -> String {
    let row = |[model, iterations, schedules, secs, verdict]: [&str; 5]| {
        format!("{model:<56} {iterations:>10}  {schedules:<15} {secs:>7}  {verdict}\n")
    };
    let mut table = row(["model", "iterations", "schedules", "seconds", "verdict"]);
    for [model, iterations, schedules, secs] in passed_models(output) {
        table.push_str(&row([model, iterations, schedules, secs, "passed"]));
    }
    for failure in tally::failures(output) {
        table.push_str(&row([failure, "-", "-", "-", "FAILED"]));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_lists_are_read() {
        assert_eq!(
            names("a::waits: test\nb: benchmark\nc: test\n\n2 tests, 1 benchmark\n"),
            ["a::waits", "c"]
        );
    }

    #[test]
    fn the_table_has_a_row_per_model() {
        let output = "noise\n    loom-model b 12 all 0.05\nloom-model a 3 preemptions<=3 1.50\n    loom-model b 12 all 0.05\n        \
                      FAIL [   0.022s] ( 9/22) downbeat-threading::loom jobs::c\n";
        let table = table(output);
        let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words.len(), 4, "{table}");
        assert_eq!(words[1], ["a", "3", "preemptions<=3", "1.50", "passed"]);
        assert_eq!(words[2], ["b", "12", "all", "0.05", "passed"]);
        assert_eq!(words[3], ["jobs::c", "-", "-", "-", "FAILED"]);
    }
}
