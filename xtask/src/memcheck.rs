//! The step `memcheck`: runs the tests of the one module with unsafe code under valgrind, which sees every read of
//! memory that was freed or never written, and every block that is lost.
//! Does not check anything else: the rest of the workspace cannot be unsafe.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{Message, Metadata};

use crate::packages::{self, VALGRIND};
use crate::shell;
use crate::tally::Tally;

/// The test target that exercises unsafe code, and its package.
const PACKAGE: &str = "downbeat-threading";
const TARGET: &str = "arena";

/// Runs the target's tests under valgrind; each test counts.
pub(crate) fn run(workspace: &Metadata) -> Result<Tally> {
    if !packages::have(VALGRIND)? {
        println!("skipped: no valgrind");
        return Ok(Tally::default());
    }
    let mut cargo = shell::cargo(&workspace.workspace_root);
    cargo.args(["test", "--workspace", "--all-features", "--test", TARGET, "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics");
    let messages = shell::stdout_of(cargo)?;
    let mut executable = None;
    for message in Message::parse_stream(messages.as_slice()) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read cargo's messages")?
            && artifact.target.name == TARGET
        {
            executable = artifact.executable.or(executable);
        }
    }
    let executable = executable.with_context(|| format!("{PACKAGE} has no test target `{TARGET}`"))?;
    let mut valgrind = Command::new("valgrind");
    valgrind.current_dir(&workspace.workspace_root);
    valgrind.args([
        "--quiet",
        "--error-exitcode=99",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
    ]);
    // Fewer cases: valgrind is some thirty times slower, and looks closer at each.
    valgrind.env("PROPTEST_CASES", "24").arg(executable).arg("--test-threads=1");
    let finished = shell::run_streamed(valgrind)?;
    let tally = Tally::of_libtest(&finished.output).context("the tests printed no result under valgrind")?;
    ensure!(finished.status.success() || tally.failed > 0, "valgrind found errors, shown above");
    Ok(tally)
}
