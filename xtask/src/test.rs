//! `cargo xtask test`: every step of CI in order, with times, and the count of all checks as the last line.
//! Does not judge by itself: each step is a command or another task.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::camino::Utf8PathBuf;
use cargo_metadata::{Message, Metadata};

use crate::loom::Checker;
use crate::mutants::Kind;
use crate::packages::{self, SOFTWARE_VULKAN};
use crate::runner::TestRunner;
use crate::tally::Tally;
#[cfg(target_os = "linux")]
use crate::window;
use crate::{fuzz, kill, loom, mcap, memcheck, mutants, shell, tidy};

struct Step {
    name: &'static str,
    run: fn(&Metadata) -> Result<Tally>,
}

/// Steps that stop the run when they fail: nothing after them is worth its time.
const GATES: &[Step] = &[Step { name: "fmt", run: fmt }, Step { name: "clippy", run: clippy }];

/// Steps that all run, whatever the others say.
const CHECKS: &[Step] = &[
    Step { name: "tests", run: tests },
    Step { name: "doctests", run: doctests },
    Step { name: "docs", run: docs },
    Step { name: "examples", run: examples },
    #[cfg(target_os = "linux")]
    Step { name: "window", run: window::run },
    Step { name: "mcap", run: mcap::run },
    Step { name: "loom", run: |workspace| loom::run(workspace, Checker::Loom, None) },
    Step { name: "shuttle", run: |workspace| loom::run(workspace, Checker::Shuttle, None) },
    Step { name: "memcheck", run: memcheck::run },
    Step { name: "kill", run: |workspace| kill::run(workspace, KILLS) },
    Step { name: "fuzz", run: |workspace| fuzz::run(workspace, None, fuzz::SECONDS_IN_TEST) },
    Step { name: "tidy", run: tidy::run },
    Step { name: "deny", run: deny },
];

/// After all the others, when asked for: it takes a build and a test run per mutant.
const MUTANTS: Step = Step { name: "mutants", run: |workspace| mutants::run(workspace, Kind::Tests, None) };

/// Enough for every kind of moment to come up, and for 500 kills: up to a fifth of the processes end by themselves first.
/// `cargo xtask kill` runs more.
const KILLS: kill::Plan = kill::Plan { rounds: 700, seed: 1 };

const EXAMPLES_PACKAGE: &str = "downbeat-examples";
/// Opens a window until it is closed: that is a step of its own.
pub(crate) const WINDOW_EXAMPLE: &str = "window";

/// Runs all the steps and prints the summary.
pub(crate) fn run(workspace: &Metadata, with_mutants: bool) -> Tally {
    let mut report = Report::default();
    for step in GATES {
        report.take(step, workspace);
    }
    for step in CHECKS {
        report.take(step, workspace);
    }
    if with_mutants {
        report.take(&MUTANTS, workspace);
    }
    report.print();
    report.total
}

/// What the steps taken so far came to.
#[derive(Default)]
struct Report {
    total: Tally,
    times: Vec<String>,
    failures: Vec<String>,
    /// Set by a failed gate: the steps after it are listed, not run.
    stopped: bool,
    untaken: Vec<&'static str>,
}

impl Report {
    fn take(&mut self, step: &Step, workspace: &Metadata) {
        if self.stopped {
            self.untaken.push(step.name);
            return;
        }
        println!("\n== {}", step.name);
        let (outcome, took) = timed(|| (step.run)(workspace));
        let name = step.name;
        let tally = match outcome {
            Ok(tally) => {
                if tally.failed > 0 {
                    self.failures
                        .push(format!("{name}: {} failed, shown above under `== {name}`", tally.failed));
                }
                tally
            }
            Err(error) => {
                println!("error: {error:#}");
                self.failures.push(format!("{name}: {error:#}"));
                Tally::ONE_FAILED
            }
        };
        self.total += tally;
        let secs = took.as_secs_f64();
        println!("== {name}: {tally} in {secs:.1} s");
        self.times.push(format!("{name} {secs:.1} s{}", if tally.failed > 0 { " FAILED" } else { "" }));
        self.stopped = tally.failed > 0 && GATES.iter().any(|gate| gate.name == name);
    }

    fn print(&self) {
        println!("\nsteps: {}", self.times.join(", "));
        if !self.untaken.is_empty() {
            println!("not run: {}", self.untaken.join(", "));
        }
        for failure in &self.failures {
            println!("FAILED {failure}");
        }
        println!("{}", self.total);
    }
}

#[expect(clippy::disallowed_methods, reason = "a step's time is for the reader; nothing is decided by it")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

/// A step that is one check: it passes when its command succeeds.
fn check(command: Command) -> Result<Tally> {
    let line = shell::shown(&command);
    let finished = shell::run_streamed(command)?;
    if !finished.status.success() {
        bail!("`{line}` failed: {}", finished.status);
    }
    Ok(Tally::ONE_PASSED)
}

fn fmt(workspace: &Metadata) -> Result<Tally> {
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["fmt", "--all", "--check"]);
    check(cargo).context("format with `cargo fmt --all`")?;
    let mut targets = shell::cargo(&workspace.workspace_root);
    targets.args(["fmt", "--manifest-path", fuzz::MANIFEST, "--check"]);
    check(targets).with_context(|| format!("format with `cargo fmt --manifest-path {}`", fuzz::MANIFEST))
}

fn clippy(workspace: &Metadata) -> Result<Tally> {
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]);
    check(cargo)
}

fn tests(workspace: &Metadata) -> Result<Tally> {
    // Without it, and without a graphics device, the tests of pictures skip themselves.
    packages::have(SOFTWARE_VULKAN)?;
    let runner = TestRunner::find(&workspace.workspace_root);
    let mut command = runner.command(&workspace.workspace_root);
    command.args(["--workspace", "--all-features", "--no-fail-fast"]);
    if runner == TestRunner::CargoTest {
        // Doctests are a step of their own, because nextest does not run them.
        command.args(["--lib", "--bins", "--tests"]);
    }
    runner.count(command)
}

fn doctests(workspace: &Metadata) -> Result<Tally> {
    let mut command = TestRunner::CargoTest.command(&workspace.workspace_root);
    command.args(["--doc", "--workspace", "--all-features", "--no-fail-fast"]);
    TestRunner::CargoTest.count(command)
}

fn docs(workspace: &Metadata) -> Result<Tally> {
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["doc", "--no-deps", "--workspace"]);
    shell::append_flags(&mut cargo, "RUSTDOCFLAGS", "-D warnings");
    check(cargo)
}

/// Each example is one check: it runs without arguments and exits with 0.
fn examples(workspace: &Metadata) -> Result<Tally> {
    let mut tally = Tally::default();
    for executable in example_executables(workspace)? {
        if executable.file_stem() == Some(WINDOW_EXAMPLE) {
            continue;
        }
        let mut example = Command::new(&executable);
        example.current_dir(&workspace.workspace_root);
        let status = shell::run_streamed(example)?.status;
        if status.success() {
            tally += Tally::ONE_PASSED;
        } else {
            println!("error: example {} failed: {status}", executable.file_name().unwrap_or_default());
            tally += Tally::ONE_FAILED;
        }
    }
    Ok(tally)
}

/// Builds with the features of the whole workspace, as the tests did, so that nothing is built twice.
pub(crate) fn example_executables(workspace: &Metadata) -> Result<Vec<Utf8PathBuf>> {
    let packages = workspace.workspace_packages();
    let package = packages
        .iter()
        .find(|package| package.name == EXAMPLES_PACKAGE)
        .with_context(|| format!("the workspace has no package {EXAMPLES_PACKAGE}"))?;
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["build", "--workspace", "--all-features", "--examples"]);
    cargo.arg("--message-format=json-render-diagnostics");
    println!("$ {}", shell::shown(&cargo));
    let messages = shell::stdout_of(cargo)?;

    let mut executables = Vec::new();
    for message in Message::parse_stream(messages.as_slice()) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read cargo's messages")?
            && artifact.package_id == package.id
            && artifact.target.is_example()
        {
            executables.extend(artifact.executable);
        }
    }
    executables.sort();
    Ok(executables)
}

fn deny(workspace: &Metadata) -> Result<Tally> {
    let mut question = shell::cargo(&workspace.workspace_root);
    question.args(["deny", "--version"]);
    if !shell::answers(question) {
        println!("skipped: cargo-deny is not installed; get it with `cargo install --locked cargo-deny`");
        return Ok(Tally::default());
    }
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["deny", "check", "licenses", "bans", "sources"]);
    check(cargo)
}
