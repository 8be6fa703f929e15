//! `cargo xtask tidy`: checks what the compiler and clippy do not, and lists every problem before it fails.
//! Changes nothing, and needs no network.

mod architecture;
mod layers;
mod manifests;
mod sources;

use std::collections::BTreeSet;
use std::fmt;
use std::process::Command;

use anyhow::{Context as _, Result};
use cargo_metadata::Metadata;
use cargo_metadata::camino::Utf8Path;

use crate::tally::Tally;
use crate::{mutants, shell};

/// Something wrong at a place, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    text: String,
}

impl Problem {
    pub(crate) fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Runs all the checks; the whole counts as one.
pub(crate) fn run(workspace: &Metadata) -> Result<Tally> {
    let root = &workspace.workspace_root;
    let files = files(root)?;

    let mut problems = Vec::new();
    problems.extend(source_problems(root, &files)?);
    problems.extend(layers::problems(workspace)?);
    problems.extend(manifests::problems(workspace)?);
    problems.extend(architecture::problems(workspace));
    problems.extend(mutants::problems(workspace)?);

    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => println!("tidy: nothing to complain about in {} files", files.len()),
        1 => println!("tidy: 1 problem"),
        count => println!("tidy: {count} problems"),
    }
    Ok(if problems.is_empty() { Tally::ONE_PASSED } else { Tally::ONE_FAILED })
}

fn source_problems(root: &Utf8Path, files: &BTreeSet<String>) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| path.ends_with(".rs")) {
        let text = std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        problems.extend(sources::problems(path, &text));
    }
    Ok(problems)
}

/// The files of the workspace, tracked or about to be, relative to its root; nothing that git ignores.
pub(crate) fn files(root: &Utf8Path) -> Result<BTreeSet<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed =
        String::from_utf8(shell::stdout_of(git)?).context("a file's name is not UTF-8; rename it")?;
    let names = listed.split('\0').filter(|name| !name.is_empty());
    // Git also lists tracked files that were deleted and not yet committed.
    Ok(names.filter(|name| root.join(name).is_file()).map(str::to_owned).collect())
}

/// The 1-based line on which `text` first holds a line that `wanted` accepts; 1 when none does.
pub(crate) fn line_where(text: &str, wanted: impl Fn(&str) -> bool) -> usize {
    text.lines().position(wanted).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_like_a_compilers() {
        assert_eq!(
            Problem::new("crates/time/src/grid.rs", 7, "bad").to_string(),
            "crates/time/src/grid.rs:7: bad"
        );
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_where("a\nb\nc", |line| line == "c"), 3);
        assert_eq!(line_where("a\nb\nc", |line| line == "d"), 1);
    }
}
