//! `cargo xtask mutants`: breaks a copy of the workspace in each way that `xtask/mutants.toml` lists, and
//! requires that a test notices. Does not invent mutants, and never writes to the workspace itself.

mod lab;

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::Utf8Path;
use serde::Deserialize;

use self::lab::{Lab, Verdict};
use crate::loom;
use crate::tally::Tally;
use crate::tidy::{Problem, line_where};

const LIST: &str = "xtask/mutants.toml";

/// One way to break the code that the tests must notice.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Mutant {
    name: String,
    /// One sentence: what goes wrong with it.
    what: String,
    /// Relative to the workspace's root.
    file: String,
    /// Occurs exactly once in the file.
    find: String,
    replace: String,
    /// The package whose tests must notice.
    package: String,
    /// The loom model that must notice instead.
    model: Option<String>,
}

impl Mutant {
    fn kind(&self) -> Kind {
        if self.model.is_some() { Kind::Models } else { Kind::Tests }
    }
}

/// Who has to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any test of the package: `cargo xtask mutants`.
    Tests,
    /// The model that the mutant names: `cargo xtask loom --mutants`.
    Models,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    mutant: Vec<Mutant>,
}

/// Runs the mutant `name`, or all of a kind; each one caught counts as passed.
pub(crate) fn run(workspace: &Metadata, kind: Kind, name: Option<&str>) -> Result<Tally> {
    let mut mutants = parse(&read(&workspace.workspace_root)?)?;
    mutants.retain(|mutant| mutant.kind() == kind && name.is_none_or(|name| mutant.name == name));
    ensure!(
        !mutants.is_empty(),
        "{LIST} has no such mutant{}",
        name.map(|name| format!(": `{name}`")).unwrap_or_default()
    );

    let lab = Lab::open(workspace, kind)?;
    let packages: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.package.as_str()).collect();
    for package in packages {
        println!("green?  {package}, before any mutant");
        let passed = lab.green(package)?;
        if name.is_none() && kind == Kind::Models {
            every_model_has_a_mutant(&passed, &mutants)?;
        }
    }
    let mut tally = Tally::default();
    for mutant in &mutants {
        tally += report(mutant, lab.try_mutant(mutant)?);
    }
    Ok(tally)
}

/// A model that no fault makes fail may be unable to fail.
fn every_model_has_a_mutant(output: &str, mutants: &[Mutant]) -> Result<()> {
    let without: Vec<&str> = loom::passed_models(output)
        .into_iter()
        .map(|[model, ..]| model)
        .filter(|model| !mutants.iter().any(|mutant| mutant.model.as_deref() == Some(model)))
        .collect();
    ensure!(
        without.is_empty(),
        "no mutant in {LIST} for: {}; seed a fault that each must catch",
        without.join(", ")
    );
    Ok(())
}

fn report(mutant: &Mutant, verdict: Verdict) -> Tally {
    let Mutant { name, what, .. } = mutant;
    match verdict {
        Verdict::Caught { by } => {
            println!("caught  {name}  by {by}");
            Tally::ONE_PASSED
        }
        Verdict::Missed => {
            let judge = mutant.model.as_ref().unwrap_or(&mutant.package);
            println!("MISSED  {name}  nothing in {judge} fails although: {what}");
            Tally::ONE_FAILED
        }
        Verdict::Broken { why } => {
            println!("BROKEN  {name}  {why}");
            Tally::ONE_FAILED
        }
    }
}

/// What is wrong with the list itself: a mutant that no longer fits its file tests nothing.
pub(crate) fn problems(workspace: &Metadata) -> Result<Vec<Problem>> {
    let root = &workspace.workspace_root;
    let text = read(root)?;
    let packages = workspace.workspace_packages();
    let packages: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let source_of = |file: &str| std::fs::read_to_string(root.join(file)).ok();
    Ok(list_problems(&text, &parse(&text)?, &packages, source_of))
}

fn list_problems(
    text: &str,
    mutants: &[Mutant],
    packages: &[&str],
    source_of: impl Fn(&str) -> Option<String>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    for mutant in mutants {
        let Mutant { name, file, package, .. } = mutant;
        let quoted = format!("\"{name}\"");
        let line = line_where(text, |line| line.trim_start().starts_with("name") && line.contains(&quoted));
        let mut problem = |text: String| problems.push(Problem::new(LIST, line, text));
        if !names.insert(name) {
            problem(format!("two mutants are named `{name}`; rename one"));
        }
        if !packages.contains(&package.as_str()) {
            problem(format!("`{name}`: the workspace has no package `{package}`"));
        }
        match source_of(file) {
            None => problem(format!("`{name}`: {file} cannot be read; name the file it moved to")),
            Some(source) => {
                if let Err(error) = mutated(mutant, &source) {
                    problem(format!("`{name}`: {error}"));
                }
            }
        }
    }
    problems
}

/// The text of the mutant's file with the mutant in it.
fn mutated(mutant: &Mutant, source: &str) -> Result<String> {
    let Mutant { file, find, replace, .. } = mutant;
    ensure!(!find.is_empty(), "its `find` is empty; copy some text of {file}");
    ensure!(find != replace, "its `find` and `replace` are the same; change one");
    let count = source.matches(find.as_str()).count();
    ensure!(
        count == 1,
        "its `find` occurs {count} times in {file}, must be once; copy the text anew, or more of it"
    );
    Ok(source.replacen(find.as_str(), replace, 1))
}

fn read(root: &Utf8Path) -> Result<String> {
    std::fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))
}

fn parse(text: &str) -> Result<Vec<Mutant>> {
    let list: List = toml::from_str(text).with_context(|| format!("cannot parse {LIST}"))?;
    Ok(list.mutant)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"
[[mutant]]
name = "wrong-rounding"
what = "Boundaries round up."
file = "grid.rs"
find = '''
a
b'''
replace = '''
c
d'''
package = "downbeat-time"
"#;

    fn problems_with(source: Option<&str>) -> Vec<String> {
        let mutants = parse(ONE).unwrap();
        let problems = list_problems(ONE, &mutants, &["downbeat-time"], |_| source.map(str::to_owned));
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_empty_list_is_read_in_both_spellings() {
        assert_eq!(parse("# Nothing yet.\n").unwrap(), []);
        assert_eq!(parse("mutant = []\n").unwrap(), []);
    }

    #[test]
    fn a_mutant_is_read_and_applied() {
        let mutants = parse(ONE).unwrap();
        assert_eq!(mutants.len(), 1);
        assert_eq!(mutated(&mutants[0], "x\na\nb\ny\n").unwrap(), "x\nc\nd\ny\n");
    }

    #[test]
    fn a_misspelt_or_missing_key_is_refused() {
        assert!(parse(&ONE.replace("find", "fnd")).is_err());
        assert!(parse(&ONE.replace("package", "pkg")).is_err());
    }

    #[test]
    fn a_stale_mutant_is_found_on_its_line() {
        assert_eq!(problems_with(Some("a\nb\n")), Vec::<String>::new());
        for (source, part) in [
            (Some("nothing\n"), "occurs 0 times"),
            (Some("a\nb\na\nb\n"), "occurs 2 times"),
            (None, "grid.rs cannot be read"),
        ] {
            let problems = problems_with(source);
            assert_eq!(problems.len(), 1);
            assert!(problems[0].starts_with("xtask/mutants.toml:3: `wrong-rounding`: "), "{}", problems[0]);
            assert!(problems[0].contains(part), "{}", problems[0]);
        }
    }

    #[test]
    fn doubles_and_unknown_packages_are_found() {
        let twice = format!("{ONE}{ONE}");
        let mutants = parse(&twice).unwrap();
        let problems = list_problems(&twice, &mutants, &["downbeat-world"], |_| Some("a\nb\n".to_owned()));
        assert_eq!(problems.len(), 3, "{problems:?}");
    }
}
