//! Checks one Rust file by its text: head, length, unfinished work, sleeps in tests, glob re-exports.
//! Does not parse Rust; what needs a parser is clippy's.

use super::Problem;

/// The aim is 400; above this a file is refused.
const LINES_MAX: usize = 500;

/// Words that mark unfinished work. Written in pieces, or this file would hold them.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X")];

/// Code that stands for unfinished work or a test nobody runs.
const BANNED_CODE: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];

const SLEEP: &str = concat!("thread::", "sleep");

pub(super) fn problems(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(head(path, text));
    problems.extend(length(path, text));
    problems.extend(words(path, text));
    problems.extend(sleeps(path, text));
    if path.starts_with("crates/") && path.contains("/src/") {
        problems.extend(glob_reexports(path, text));
    }
    problems
}

fn head(path: &str, text: &str) -> Option<Problem> {
    let first = text.lines().next().unwrap_or_default();
    let good = first.starts_with("//!") || first.starts_with("#!");
    (!good)
        .then(|| Problem::new(path, 1, "line 1 is not `//!`; say what the file does and what it does not do"))
}

fn length(path: &str, text: &str) -> Option<Problem> {
    let len = text.lines().count();
    (len > LINES_MAX).then(|| {
        Problem::new(path, LINES_MAX + 1, format!("{len} lines, {LINES_MAX} allowed; split the file in two"))
    })
}

fn words(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for word in UNFINISHED.iter().filter(|word| has_word(line, word)) {
            problems.push(Problem::new(path, index + 1, format!("`{word}`; do it now, or open an issue")));
        }
        for code in BANNED_CODE.iter().filter(|code| !is_comment(line) && line.contains(**code)) {
            problems.push(Problem::new(path, index + 1, format!("`{code}`; finish it, or take it out")));
        }
    }
    problems
}

/// Sleeps in test files, and in the test module of any other file.
fn sleeps(path: &str, text: &str) -> Vec<Problem> {
    let mut in_tests = path.split('/').any(|part| part == "tests" || part == "tests.rs");
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // By custom the test module is the last thing in a file, so all below its head is tests.
        in_tests |= line.trim_start().starts_with("#[cfg(test)]");
        if in_tests && !is_comment(line) && line.contains(SLEEP) {
            problems.push(Problem::new(path, index + 1, "a test that sleeps; wait on a condition"));
        }
    }
    problems
}

fn glob_reexports(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    // The line on which a `pub use` begins, while its semicolon has not come.
    let mut open = None;
    for (index, line) in text.lines().enumerate() {
        if is_comment(line) {
            continue;
        }
        if line.trim_start().starts_with("pub use ") {
            open = Some(index + 1);
        }
        let Some(start) = open else { continue };
        let statement = line.split(';').next().unwrap_or_default();
        if statement.contains('*') {
            problems.push(Problem::new(path, start, "a glob re-export; list the names"));
            open = None;
        } else if line.contains(';') {
            open = None;
        }
    }
    problems
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Whether `word` stands in `line` with no letter, digit or underscore beside it.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(start, _)| {
        !line[..start].ends_with(is_part) && !line[start + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];
    const PATH: &str = "crates/time/src/grid.rs";

    fn lines_of(path: &str, text: &str) -> Vec<usize> {
        problems(path, text).iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn the_first_line_says_what_the_file_does() {
        assert_eq!(lines_of(PATH, "//! Grid.\n"), NONE);
        assert_eq!(lines_of(PATH, "#![doc = \"Grid.\"]\n"), NONE);
        assert_eq!(lines_of(PATH, "use std::fmt;\n"), [1]);
        assert_eq!(lines_of(PATH, ""), [1]);
    }

    #[test]
    fn long_files_are_refused() {
        let text = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
        assert_eq!(lines_of(PATH, &text(LINES_MAX)), NONE);
        assert_eq!(lines_of(PATH, &text(LINES_MAX + 1)), [LINES_MAX + 1]);
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_comments() {
        for word in UNFINISHED {
            assert_eq!(lines_of(PATH, &format!("//! Grid.\n// {word}: later\n")), [2]);
            assert_eq!(
                lines_of(PATH, &format!("//! Grid.\nlet a{word} = b;\n")),
                NONE,
                "part of a longer word"
            );
        }
        for code in BANNED_CODE {
            assert_eq!(lines_of(PATH, &format!("//! Grid.\n\n    {code}")), [3]);
            assert_eq!(lines_of(PATH, &format!("//! Grid.\n// Why no {code}\n")), NONE);
        }
    }

    #[test]
    fn sleeps_are_found_in_tests_only() {
        let call = format!("std::{SLEEP}(pause);\n");
        assert_eq!(lines_of(PATH, &format!("//! Pacer.\n{call}")), NONE);
        assert_eq!(lines_of(PATH, &format!("//! Pacer.\n#[cfg(test)]\nmod tests {{\n{call}}}\n")), [4]);
        assert_eq!(lines_of("crates/time/tests/order.rs", &format!("//! Order.\n{call}")), [2]);
        assert_eq!(lines_of("crates/time/src/grid/tests.rs", &format!("//! Grid.\n{call}")), [2]);
    }

    #[test]
    fn glob_reexports_are_found_over_several_lines() {
        assert_eq!(lines_of(PATH, "//! Lib.\npub use grid::*;\n"), [2]);
        assert_eq!(lines_of(PATH, "//! Lib.\npub use grid::{\n    a,\n    b::*,\n};\n"), [2]);
        assert_eq!(lines_of(PATH, "//! Lib.\npub use grid::{a, b};\nlet c = a * b;\n"), NONE);
        assert_eq!(lines_of("xtask/src/main.rs", "//! Main.\npub use grid::*;\n"), NONE, "crates only");
    }
}
