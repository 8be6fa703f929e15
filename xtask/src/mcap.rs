//! `cargo xtask mcap`: writes logs of shipped scenes, exports them and reads the files with the public MCAP packages of Python, which know
//! nothing of ours.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::Utf8Path;

use crate::tally::Tally;
use crate::{python, shell};

const REQUIREMENTS: &str = "tests/python/requirements.txt";
const READER: &str = "tests/python/read_mcap.py";

/// Scenes, for how many milliseconds, and how much is written: one in space, one from a robot's file, one in a plane.
const EXPORTS: [(&str, &str, &[&str]); 3] =
    [("arm", "2000", &[]), ("quadruped", "500", &["--every-step"]), ("cart2d", "1000", &[])];

/// Exports and reads; each scene is one check.
pub(crate) fn run(workspace: &Metadata) -> Result<Tally> {
    let Some(python) = python::venv(workspace, Utf8Path::new(REQUIREMENTS))? else {
        println!("skipped: no Python to read with");
        return Ok(Tally::default());
    };
    let folder = workspace.target_directory.join("mcap");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {folder}"))?;
    let mut tally = Tally::default();
    for (scene, millis, how) in EXPORTS {
        let (log, file) = (folder.join(format!("{scene}.log")), folder.join(format!("{scene}.mcap")));
        if log.exists() {
            std::fs::remove_dir_all(&log).with_context(|| format!("cannot remove {log}"))?;
        }
        let mut write = shell::cargo(&workspace.workspace_root);
        write.args(["run", "--quiet", "--package", "downbeat-tests", "--bin", "logged", "--"]);
        write.args([scene, millis]).arg(&log);
        let mut export = shell::cargo(&workspace.workspace_root);
        export.args(["run", "--quiet", "--package", "downbeat-app", "--bin", "downbeat", "--", "export"]);
        export.arg(&log).arg("--mcap").arg(&file).args(how);
        for command in [write, export] {
            let status = shell::run_streamed(command)?.status;
            ensure!(status.success(), "`{scene}` cannot be exported: {status}");
        }

        let mut reader = Command::new(&python);
        reader.arg(workspace.workspace_root.join(READER)).arg(&file);
        let status = shell::run_streamed(reader)?.status;
        tally += if status.success() { Tally::ONE_PASSED } else { Tally::ONE_FAILED };
    }
    Ok(tally)
}
