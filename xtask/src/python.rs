//! Python for tests of what we hand to other programs: an environment of its own below the target folder, with pinned
//! packages. Does not touch the system's packages.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};

use crate::shell;

/// The environment that has the packages of a requirements file, named after the file's folder and made if need be:
/// its `python`. `None` when it cannot be had; where CI is true, that is an error.
pub(crate) fn venv(workspace: &Metadata, requirements: &Utf8Path) -> Result<Option<Utf8PathBuf>> {
    let path = workspace.workspace_root.join(requirements);
    let wanted = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let name = requirements.as_str().trim_end_matches(".txt").replace(['/', '\\'], "-");
    let folder = workspace.target_directory.join("python").join(name);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    // Written last, so that an installation that was cut short is done again.
    let done = folder.join("installed.txt");
    if std::fs::read_to_string(&done).is_ok_and(|there| there == wanted) && answers(&python) {
        return Ok(Some(python));
    }
    match made(&folder, &python, &path) {
        Ok(()) => {
            std::fs::write(&done, wanted).with_context(|| format!("cannot write {done}"))?;
            Ok(Some(python))
        }
        Err(error) => {
            let advice = format!(
                "{error:#}; get Python with: sudo apt-get install --yes python3-venv, and check that \
                 `python3 -m venv {folder} && {python} -m pip install --requirement {path}` works"
            );
            ensure!(std::env::var("CI").as_deref() != Ok("true"), "{advice}");
            eprintln!("{advice}");
            Ok(None)
        }
    }
}

fn made(folder: &Utf8Path, python: &Utf8Path, requirements: &Utf8Path) -> Result<()> {
    let mut make = Command::new(if cfg!(windows) { "python" } else { "python3" });
    make.args(["-m", "venv", "--clear"]).arg(folder);
    let status = shell::run_streamed(make)?.status;
    ensure!(status.success(), "Python cannot make an environment in {folder}");
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    install.arg(requirements);
    let status = shell::run_streamed(install)?.status;
    ensure!(status.success(), "pip cannot install what {requirements} asks for");
    Ok(())
}

fn answers(python: &Utf8Path) -> bool {
    let mut question = Command::new(python);
    question.arg("--version");
    shell::answers(question)
}
