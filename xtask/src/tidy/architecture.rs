//! Checks `ARCHITECTURE.md` against the workspace: paths it names exist, each dependency has its word.
//! Does not judge whether what it says is true.

use std::collections::BTreeMap;

use cargo_metadata::Metadata;
use cargo_metadata::camino::Utf8Path;

use super::Problem;

const FILE: &str = "ARCHITECTURE.md";

/// A word in backticks that begins so is a path of the workspace.
const ROOTS: &[&str] = &["crates/", "xtask/", "benches/", "examples/", "tests/", "scenes/", "fuzz/", ".ci/"];

pub(super) fn problems(workspace: &Metadata) -> Vec<Problem> {
    let root = &workspace.workspace_root;
    let Ok(text) = std::fs::read_to_string(root.join(FILE)) else {
        return vec![Problem::new(FILE, 1, "cannot be read; it is the map of the workspace, write it")];
    };
    let spans = code_spans(&text);
    let mut problems = missing_paths(&spans, |path| root.join(path).exists());
    problems.extend(unexplained(&spans, &external_dependencies(workspace)));
    problems
}

/// Text between backticks, and its line.
type Span<'a> = (usize, &'a str);

/// The inline code of a Markdown text. Fenced blocks are left out: they hold drawings and examples.
fn code_spans(text: &str) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second piece is inside; an odd backtick at the end opens nothing.
            let pieces: Vec<&str> = line.split('`').collect();
            let closed = pieces.len().saturating_sub(1) / 2;
            spans.extend(pieces.iter().skip(1).step_by(2).take(closed).map(|piece| (index + 1, *piece)));
        }
    }
    spans
}

fn missing_paths(spans: &[Span<'_>], exists: impl Fn(&Utf8Path) -> bool) -> Vec<Problem> {
    spans
        .iter()
        .filter_map(|(line, span)| Some((line, path_in(span)?)))
        .filter(|(_, path)| !exists(Utf8Path::new(path)))
        .map(|(line, path)| {
            Problem::new(
                FILE,
                *line,
                format!("`{path}` does not exist; name the path it has now, or drop it"),
            )
        })
        .collect()
}

/// The path that a code span names: its first word without a line number, up to the first placeholder if any.
fn path_in(span: &str) -> Option<&str> {
    let word = span.split_whitespace().next()?;
    if !ROOTS.iter().any(|root| word.starts_with(root)) {
        return None;
    }
    let path = word.split([':', '#']).next()?;
    let path = match path.find(['*', '<', '{', '…']) {
        Some(placeholder) => &path[..path[..placeholder].rfind('/')?],
        None => path,
    };
    Some(path.trim_end_matches('/'))
}

/// The dependencies on crates that are not ours, each with the first member that has it.
fn external_dependencies(workspace: &Metadata) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for package in workspace.workspace_packages() {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_none()) {
            found.entry(dependency.name.clone()).or_insert_with(|| package.name.to_string());
        }
    }
    found
}

fn unexplained(spans: &[Span<'_>], dependencies: &BTreeMap<String, String>) -> Vec<Problem> {
    let named = |name: &str| spans.iter().any(|(_, span)| span.split_whitespace().next() == Some(name));
    dependencies
        .iter()
        .filter(|(name, _)| !named(name))
        .map(|(name, member)| {
            let text = format!(
                "`{name}`, a dependency of {member}, is not mentioned; say in one line what it is for"
            );
            Problem::new(FILE, 1, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_are_taken_from_prose_only() {
        let text = "See `crates/time` and\n```\n`crates/none`\n```\n`b` then ` odd\n";
        assert_eq!(code_spans(text), [(1, "crates/time"), (5, "b")]);
    }

    #[test]
    fn paths_are_told_from_other_code() {
        assert_eq!(path_in("crates/time/src/grid.rs"), Some("crates/time/src/grid.rs"));
        assert_eq!(path_in("crates/time/"), Some("crates/time"));
        assert_eq!(path_in("crates/time/src/grid.rs:12"), Some("crates/time/src/grid.rs"));
        assert_eq!(path_in(".ci/run --fast"), Some(".ci/run"));
        assert_eq!(path_in("crates/*/src"), Some("crates"));
        assert_eq!(path_in("crates/time/src/<name>.rs"), Some("crates/time/src"));
        for other in ["cargo xtask test", "time/dispatch_50", "crates", "a / b", "", " "] {
            assert_eq!(path_in(other), None, "{other}");
        }
    }

    #[test]
    fn a_missing_path_is_found_on_its_line() {
        let spans = [(3, "crates/time"), (8, "crates/gone/src"), (9, "TimeManager")];
        let problems = missing_paths(&spans, |path| path == "crates/time");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("ARCHITECTURE.md:8: `crates/gone/src` does not exist"));
    }

    #[test]
    fn each_dependency_needs_a_word() {
        let dependencies = ["wgpu", "serde", "toml"].map(|name| (name.to_owned(), "xtask".to_owned()));
        let spans = [(1, "wgpu 30"), (2, "serde_json"), (3, "toml")];
        let problems = unexplained(&spans, &BTreeMap::from(dependencies));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].text.starts_with("`serde`, a dependency of xtask"));
    }
}
