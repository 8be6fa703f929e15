//! Checks that each member's manifest inherits lints, licence, edition and Rust version from the workspace.
//! Dependencies are looked at elsewhere: their arrows in `layers.rs`, their reasons in `architecture.rs`.

use anyhow::{Context as _, Result};
use cargo_metadata::Metadata;
use toml::{Table, Value};

use super::{Problem, line_where};

const INHERITED: &[&str] = &["license", "edition", "rust-version"];

pub(super) fn problems(workspace: &Metadata) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for package in workspace.workspace_packages() {
        let path = package.manifest_path.strip_prefix(&workspace.workspace_root)?;
        let text =
            std::fs::read_to_string(&package.manifest_path).with_context(|| format!("cannot read {path}"))?;
        problems
            .extend(manifest_problems(path.as_str(), &text).with_context(|| format!("cannot parse {path}"))?);
    }
    Ok(problems)
}

fn manifest_problems(path: &str, text: &str) -> Result<Vec<Problem>> {
    let manifest: Table = text.parse()?;
    let mut problems = Vec::new();
    if !inherits(manifest.get("lints")) {
        let line = line_where(text, |line| line.trim_start().starts_with("[lints"));
        problems.push(Problem::new(path, line, "no workspace lints; write `[lints]` and `workspace = true`"));
    }
    for key in INHERITED {
        if !inherits(manifest.get("package").and_then(|package| package.get(key))) {
            let line = line_where(text, |line| {
                line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
            });
            problems.push(Problem::new(
                path,
                line,
                format!("no common {key}; write `{key}.workspace = true`"),
            ));
        }
    }
    Ok(problems)
}

/// Whether a value is `{ workspace = true }`, in whichever way it is written.
fn inherits(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
[package]
name = \"downbeat-time\"
edition.workspace = true
license = { workspace = true }
rust-version.workspace = true

[lints]
workspace = true
";

    #[test]
    fn both_spellings_of_inheritance_are_good() {
        assert_eq!(manifest_problems("Cargo.toml", GOOD).unwrap(), []);
    }

    #[test]
    fn a_value_of_its_own_is_found_on_its_line() {
        let text = GOOD.replace("edition.workspace = true", "edition = \"2021\"");
        let problems = manifest_problems("Cargo.toml", &text).unwrap();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 3);
        assert!(problems[0].text.contains("edition.workspace = true"));
    }

    #[test]
    fn missing_lints_and_keys_are_found() {
        let problems = manifest_problems("Cargo.toml", "[package]\nname = \"a\"\n").unwrap();
        assert_eq!(problems.len(), 1 + INHERITED.len());
    }
}
