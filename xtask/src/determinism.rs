//! `cargo xtask determinism`: shipped scenes through snapshots at every step, and, with `--matrix`, their hashes over
//! builds of every kind. The first difference is named by step, entity and component.
//! Does not know what a scene is: the program `determinism` of `tests` does.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::shell;
use crate::tally::Tally;

/// The scenes whose every byte is compared.
const EXACT: [&str; 2] = ["pile", "arm"];

/// The scenes that the builds are compared on, and for how many steps.
const TRAILS: [(&str, u64); 6] = [
    ("arm", 3000),
    ("pile", 300),
    ("pendulum", 3000),
    ("many_rates", 2000),
    ("quadruped", 3000),
    ("cart2d", 2000),
];

/// A way to build.
struct Build {
    name: &'static str,
    /// Arguments of cargo that choose it.
    arguments: &'static [&'static str],
    /// More flags for the compiler.
    flags: &'static str,
    /// The folder below the target folder that its programs are in.
    folder: &'static str,
}

const BUILDS: [Build; 6] = [
    Build { name: "release", arguments: &["--release"], flags: "", folder: "release" },
    Build { name: "debug", arguments: &["--config", "profile.dev.opt-level=0"], flags: "", folder: "debug" },
    Build {
        name: "opt-level 1",
        arguments: &["--release", "--config", "profile.release.opt-level=1"],
        flags: "",
        folder: "release",
    },
    Build {
        name: "opt-level 2",
        arguments: &["--release", "--config", "profile.release.opt-level=2"],
        flags: "",
        folder: "release",
    },
    Build {
        name: "opt-level 3",
        arguments: &["--release", "--config", "profile.release.opt-level=3"],
        flags: "",
        folder: "release",
    },
    Build { name: "native", arguments: &["--release"], flags: "-C target-cpu=native", folder: "release" },
];

/// Compares bytes over `steps` steps, or hashes over builds.
pub(crate) fn run(workspace: &Metadata, steps: u64, matrix: bool) -> Result<Tally> {
    if matrix { compare_builds(workspace) } else { compare_bytes(workspace, steps) }
}

fn compare_bytes(workspace: &Metadata, steps: u64) -> Result<Tally> {
    for scene in EXACT {
        let mut cargo = shell::cargo(&workspace.workspace_root);
        cargo.args(["run", "--release", "--package", "downbeat-tests", "--bin", "determinism", "--"]);
        cargo.args(["exact", scene, &steps.to_string()]);
        let status = shell::run_inherited(cargo)?;
        ensure!(status.success(), "`{scene}` does not go through a snapshot unchanged");
    }
    Ok(Tally { passed: EXACT.len() as u64, failed: 0 })
}

fn compare_builds(workspace: &Metadata) -> Result<Tally> {
    let folder = workspace.target_directory.join("determinism");
    let folder = folder.as_std_path();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut programs: Vec<PathBuf> = Vec::new();
    for build in &BUILDS {
        println!("determinism: {}", build.name);
        let program = build.program(workspace, folder)?;
        for (scene, steps) in TRAILS {
            leave_trail(&program, scene, steps, &trail_file(folder, build, scene))?;
            let first = &BUILDS[0];
            if let Some(step) = first_difference(folder, first, build, scene)? {
                let what = what_differs(&programs[0], &program, scene, step)?;
                bail!("{scene}: `{}` and `{}` part at step {step}: {what}", first.name, build.name);
            }
        }
        programs.push(program);
    }
    println!("determinism: {} builds, {} scenes, the same hash at every step", BUILDS.len(), TRAILS.len());
    Ok(Tally { passed: (BUILDS.len() * TRAILS.len()) as u64, failed: 0 })
}

impl Build {
    /// Builds the program and keeps a copy, because the next build overwrites it.
    fn program(&self, workspace: &Metadata, folder: &Path) -> Result<PathBuf> {
        let target = folder.join("target");
        let mut cargo = shell::cargo(&workspace.workspace_root);
        cargo.args(["build", "--package", "downbeat-tests", "--bin", "determinism"]).args(self.arguments);
        cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", self.flags);
        let status = shell::run_inherited(cargo)?;
        ensure!(status.success(), "the build `{}` failed", self.name);
        let program = folder.join(format!("determinism-{}", self.slug()));
        std::fs::copy(target.join(self.folder).join("determinism"), &program)?;
        Ok(program)
    }

    fn slug(&self) -> String {
        self.name.replace(' ', "-")
    }
}

fn trail_file(folder: &Path, build: &Build, scene: &str) -> PathBuf {
    folder.join(format!("{scene}-{}.trail", build.slug()))
}

fn leave_trail(program: &Path, scene: &str, steps: u64, file: &Path) -> Result<()> {
    let status =
        std::process::Command::new(program).args(["trail", scene, &steps.to_string()]).arg(file).status()?;
    ensure!(status.success(), "`{scene}` failed in {}", program.display());
    Ok(())
}

/// The first line, counted from 1, in which two trails differ.
fn first_difference(folder: &Path, a: &Build, b: &Build, scene: &str) -> Result<Option<u64>> {
    let [a, b] = [a, b].map(|build| std::fs::read_to_string(trail_file(folder, build, scene)));
    Ok(first_unlike(&a?, &b?).map(|at| at as u64 + 1))
}

/// Both programs tell every component at that step; the first line that differs names one.
fn what_differs(a: &Path, b: &Path, scene: &str, step: u64) -> Result<String> {
    let rows = |program: &Path| -> Result<String> {
        let output = std::process::Command::new(program).args(["rows", scene, &step.to_string()]).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (a, b) = (rows(a)?, rows(b)?);
    let line = first_unlike(&a, &b).and_then(|at| a.lines().nth(at)).unwrap_or("the schedule");
    Ok(line.rsplit_once(' ').map_or(line, |(what, _)| what).to_owned())
}

fn first_unlike(a: &str, b: &str) -> Option<usize> {
    let unlike = a.lines().zip(b.lines()).position(|(a, b)| a != b);
    unlike.or_else(|| {
        let (a, b) = (a.lines().count(), b.lines().count());
        (a != b).then_some(a.min(b))
    })
}

#[cfg(test)]
mod tests {
    use super::first_unlike;

    #[test]
    fn the_first_unlike_line_is_found_also_at_an_end() {
        assert_eq!(first_unlike("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_unlike("a\nb\n", "a\nc\n"), Some(1));
        assert_eq!(first_unlike("a\n", "a\nb\n"), Some(1));
    }
}
