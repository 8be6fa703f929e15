//! Checks that crate arrows point down. The table here is the one that `ARCHITECTURE.md` draws.
//! Dev-dependencies are free: they do not reach who uses a crate.

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, Metadata};

use super::{Problem, line_where};

/// A crate of `crates/`, its layer, and the crates of ours that it may use.
struct Room {
    name: &'static str,
    layer: u8,
    uses: &'static [&'static str],
}

const ROOMS: &[Room] = &[
    Room { name: "time", layer: 0, uses: &[] },
    Room { name: "threading", layer: 0, uses: &[] },
    Room { name: "render", layer: 1, uses: &["threading"] },
    Room { name: "world", layer: 1, uses: &["time", "threading"] },
    Room { name: "physics", layer: 2, uses: &["time", "world"] },
    Room { name: "remote", layer: 3, uses: &["time", "threading", "world"] },
    Room { name: "app", layer: 4, uses: &["time", "threading", "render", "world", "physics", "remote"] },
];

const PREFIX: &str = "downbeat-";

pub(super) fn problems(workspace: &Metadata) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let packages = workspace.workspace_packages();
    for package in &packages {
        let manifest = package.manifest_path.strip_prefix(&workspace.workspace_root)?;
        if !manifest.starts_with("crates") {
            continue;
        }
        let text = std::fs::read_to_string(&package.manifest_path)
            .with_context(|| format!("cannot read {}", package.manifest_path))?;
        let ours = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development)
            .map(|dependency| dependency.name.as_str())
            .filter(|name| packages.iter().any(|member| member.name == *name));
        for (dependency, wrong) in wrong_arrows(&package.name, ours) {
            let line = line_where(&text, |line| line.trim_start().starts_with(dependency));
            problems.push(Problem::new(manifest.as_str(), line, wrong));
        }
    }
    Ok(problems)
}

/// What is wrong with the dependencies of a package on members of the workspace, each with its culprit.
fn wrong_arrows<'a>(package: &'a str, dependencies: impl Iterator<Item = &'a str>) -> Vec<(&'a str, String)> {
    let Some(room) = room(package) else {
        return vec![(
            package,
            format!(
                "{package} has no layer; give it a row in xtask/src/tidy/layers.rs and in ARCHITECTURE.md"
            ),
        )];
    };
    dependencies
        .filter(|dependency| !dependency.strip_prefix(PREFIX).is_some_and(|name| room.uses.contains(&name)))
        .map(|dependency| {
            let uses = if room.uses.is_empty() { "none of ours".to_owned() } else { room.uses.join(", ") };
            let wrong = format!(
                "{package} (layer {}) may not depend on {dependency}, only on: {uses}; \
                 move the code down, or invert the call",
                room.layer
            );
            (dependency, wrong)
        })
        .collect()
}

fn room(package: &str) -> Option<&'static Room> {
    let name = package.strip_prefix(PREFIX)?;
    ROOMS.iter().find(|room| room.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(package: &str, dependency: &str) -> bool {
        !wrong_arrows(package, [dependency].into_iter()).is_empty()
    }

    #[test]
    fn every_arrow_of_the_table_points_down() {
        for from in ROOMS {
            for name in from.uses {
                let to = ROOMS.iter().find(|room| room.name == *name).unwrap();
                assert!(to.layer < from.layer, "{} → {}", from.name, to.name);
            }
        }
    }

    #[test]
    fn arrows_of_the_design_are_allowed() {
        for (from, to) in
            [("world", "time"), ("render", "threading"), ("physics", "world"), ("app", "remote")]
        {
            assert!(!wrong(&format!("{PREFIX}{from}"), &format!("{PREFIX}{to}")), "{from} → {to}");
        }
    }

    #[test]
    fn other_arrows_are_not() {
        for (from, to) in [
            ("time", "threading"),
            ("time", "app"),
            ("render", "world"),
            ("render", "time"),
            ("world", "world"),
        ] {
            assert!(wrong(&format!("{PREFIX}{from}"), &format!("{PREFIX}{to}")), "{from} → {to}");
        }
        assert!(wrong("downbeat-app", "xtask"), "the workspace's tools are not for crates");
        assert!(wrong("downbeat-app", "downbeat-examples"));
    }

    #[test]
    fn a_crate_without_a_layer_is_named() {
        let wrong = wrong_arrows("downbeat-agent", std::iter::empty());
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].1.contains("downbeat-agent has no layer"));
    }
}
