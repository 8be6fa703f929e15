//! Counting instructions: the bench binary runs itself under callgrind, twice, and takes the difference.
//!
//! The start of the process and the building of the workload are in both runs and cancel out, so a count is exact
//! and the same on a busy machine. It does not count what the kernel does.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// The hidden option with which the binary asks itself for a workload.
const OPTION: &str = "--count";

/// A workload that can be counted: `run` builds it and does so many units of it.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Names it between the two processes.
    pub name: &'static str,
    /// Builds the workload and does `units` units.
    pub run: fn(units: u64),
}

impl Counted {
    /// Instructions that one unit takes.
    pub fn per_unit(&self, units: u64) -> Result<f64> {
        let (once, twice) = (self.collect(units)?, self.collect(2 * units)?);
        ensure!(twice > once, "`{}` took no instructions for {units} more units", self.name);
        Ok((twice - once) as f64 / units as f64)
    }

    /// All instructions of a process that does `units` units.
    fn collect(&self, units: u64) -> Result<u64> {
        let binary = std::env::current_exe().context("cannot find the bench binary to count in")?;
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(binary)
            .args([OPTION, self.name, &units.to_string()])
            .output()
            .context("cannot start valgrind")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` failed under valgrind:\n{stderr}", self.name);
        let collected = stderr.lines().find_map(|line| line.split_once("Collected :"));
        let (_, count) = collected.with_context(|| format!("callgrind printed no count:\n{stderr}"))?;
        count.trim().parse().with_context(|| format!("callgrind's count `{count}` is not a number"))
    }
}

/// Does the workload that the command line names and returns true; false when it names none.
pub fn count_if_asked(workloads: &[Counted]) -> Result<bool> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [option, name, units] = args.as_slice() else { return Ok(false) };
    if option != OPTION {
        return Ok(false);
    }
    let workload = workloads.iter().find(|workload| workload.name == name);
    let workload = workload.with_context(|| format!("no workload is named `{name}`"))?;
    (workload.run)(units.parse().with_context(|| format!("`{units}` is not a number of units"))?);
    Ok(true)
}

pub(crate) fn can_count() -> Result<bool> {
    let mut question = Command::new("valgrind");
    question.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if question.status().is_ok_and(|status| status.success()) {
        return Ok(true);
    }
    let advice = "valgrind is missing, so instructions are not counted; get it from the package manager";
    if std::env::var("CI").as_deref() == Ok("true") {
        bail!(advice);
    }
    eprintln!("{advice}");
    Ok(false)
}
