//! The copy of the workspace in which mutants are tried, under `target/mutants`.
//! Does not know the list of mutants: it is handed one at a time.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};

use super::{Kind, Mutant, mutated};
use crate::loom::Checker;
use crate::runner::TestRunner;
use crate::shell::{self, Finished};
use crate::{loom, tally, tidy};

/// A test run that takes longer than this hangs.
const RUN_SECS_MAX: u32 = 600;
/// nextest asks its tests to end and waits before it kills them; after this long we kill nextest.
const KILL_AFTER_SECS: u32 = 30;

/// What the tests said to a mutant.
pub(super) enum Verdict {
    /// A test failed, or hung.
    Caught { by: String },
    /// All tests passed: there is a hole in them.
    Missed,
    /// The mutant was not tried, because it does not apply or does not compile.
    Broken { why: String },
}

pub(super) struct Lab {
    tree: Utf8PathBuf,
    target: Utf8PathBuf,
    runner: TestRunner,
    kind: Kind,
}

impl Lab {
    /// Brings the copy up to date with the workspace.
    pub(super) fn open(workspace: &Metadata, kind: Kind) -> Result<Self> {
        let mut question = Command::new("timeout");
        question.arg("--version");
        ensure!(
            shell::answers(question),
            "`timeout` is missing, which ends hanging tests; install GNU coreutils"
        );
        let root = &workspace.workspace_root;
        let lab = workspace.target_directory.join("mutants");
        let (tree, target) = (lab.join("tree"), lab.join("target"));
        let files = tidy::files(root)?;
        fs::create_dir_all(&tree).with_context(|| format!("cannot create {tree}"))?;
        for file in &files {
            copy_if_changed(&root.join(file), &tree.join(file))?;
        }
        remove_strays(&tree, &tree, &files)?;
        Ok(Self { tree, target, runner: TestRunner::find(root), kind })
    }

    /// Requires that nothing fails without a mutant, or the tests could show nothing. Returns what they printed.
    pub(super) fn green(&self, package: &str) -> Result<String> {
        let (verdict, output) = self.test(package, None)?;
        match verdict {
            Verdict::Missed => Ok(output),
            Verdict::Caught { by: broken } | Verdict::Broken { why: broken } => {
                bail!("{package} fails without any mutant, so it can show nothing: {broken}")
            }
        }
    }

    /// Puts the mutant in, runs its package's tests, and takes it out again.
    pub(super) fn try_mutant(&self, mutant: &Mutant) -> Result<Verdict> {
        let path = self.tree.join(&mutant.file);
        let Ok(original) = fs::read_to_string(&path) else {
            return Ok(Verdict::Broken { why: format!("{} cannot be read", mutant.file) });
        };
        let with_mutant = match mutated(mutant, &original) {
            Ok(text) => text,
            Err(error) => return Ok(Verdict::Broken { why: error.to_string() }),
        };
        fs::write(&path, with_mutant).with_context(|| format!("cannot write {path}"))?;
        let verdict = self.test(&mutant.package, mutant.model.as_deref());
        fs::write(&path, original).with_context(|| format!("cannot write {path}"))?;
        Ok(verdict?.0)
    }

    /// Builds first, so that a mutant that does not compile is not taken for one that was caught.
    fn test(&self, package: &str, model: Option<&str>) -> Result<(Verdict, String)> {
        let mut build = self.runner.command(&self.tree);
        self.select(&mut build, package);
        build.arg("--no-run");
        let built = shell::run_quietly(build)?;
        if !built.status.success() {
            print_output(&built);
            return Ok((Verdict::Broken { why: "it does not compile, see above".to_owned() }, built.output));
        }

        let cargo = self.runner.command(&self.tree);
        let mut run = Command::new("timeout");
        run.current_dir(&self.tree);
        run.arg(format!("--kill-after={KILL_AFTER_SECS}")).arg(RUN_SECS_MAX.to_string());
        run.arg(cargo.get_program()).args(cargo.get_args());
        self.select(&mut run, package);
        if self.kind == Kind::Models && self.runner == TestRunner::Nextest {
            run.args(["--success-output", "immediate"]);
        }
        run.args(model);
        let finished = shell::run_quietly(run)?;
        Ok((self.judge(&finished), finished.output))
    }

    fn judge(&self, finished: &Finished) -> Verdict {
        // What `timeout` ends with when it had to ask, or to kill.
        const TIMED_OUT: [i32; 2] = [124, 137];
        let tests_failed = match self.runner {
            TestRunner::Nextest => 100,
            TestRunner::CargoTest => 101,
        };
        match finished.status.code() {
            Some(0) => Verdict::Missed,
            Some(code) if TIMED_OUT.contains(&code) => {
                Verdict::Caught { by: format!("a hang of more than {RUN_SECS_MAX} s") }
            }
            Some(code) if code == tests_failed => {
                let by = tally::first_failure(&finished.output).unwrap_or("a test whose name was not found");
                Verdict::Caught { by: by.to_owned() }
            }
            _ => {
                print_output(finished);
                Verdict::Broken { why: format!("the tests did not run: {}, see above", finished.status) }
            }
        }
    }

    fn select(&self, command: &mut Command, package: &str) {
        command.args(["--package", package]);
        match self.kind {
            Kind::Tests => {
                command.args(["--all-features", "--tests"]).env("CARGO_TARGET_DIR", &self.target);
            }
            Kind::Models => {
                loom::configure(command, self.runner, Checker::Loom, &self.target);
                command.args(["--test", "loom"]);
            }
        }
    }
}

fn print_output(finished: &Finished) {
    for line in finished.output.lines() {
        println!("    {line}");
    }
}

/// Leaves a file alone that is the same already: cargo goes by its time, and would build it again.
fn copy_if_changed(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {from}"))?;
    if fs::read(to).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {folder}"))?;
    }
    // Not `fs::copy`, which on some systems keeps the old time, so that cargo would not see the change.
    fs::write(to, bytes).with_context(|| format!("cannot write {to}"))?;
    let permissions = fs::metadata(from).with_context(|| format!("cannot read {from}"))?.permissions();
    fs::set_permissions(to, permissions).with_context(|| format!("cannot set the permissions of {to}"))
}

/// Removes what the workspace no longer has; a module or test left behind would still be built.
fn remove_strays(tree: &Utf8Path, folder: &Utf8Path, files: &BTreeSet<String>) -> Result<()> {
    for entry in folder.read_dir_utf8().with_context(|| format!("cannot list {folder}"))? {
        let entry = entry.with_context(|| format!("cannot list {folder}"))?;
        let path = entry.path();
        if entry.file_type().with_context(|| format!("cannot look at {path}"))?.is_dir() {
            remove_strays(tree, path, files)?;
        } else if !files.contains(path.strip_prefix(tree)?.as_str()) {
            fs::remove_file(path).with_context(|| format!("cannot remove {path}"))?;
        }
    }
    Ok(())
}
