//! Counting instructions and allocations: the bench binary runs itself under valgrind, twice, and takes the
//! difference.
//!
//! The start of the process and the building of the workload are in both runs and cancel out, so a count is exact
//! and the same on a busy machine. It does not count what the kernel does. Allocations are counted from outside as
//! well: an allocator that counts would slow down every peer that allocates.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// The hidden option with which the binary asks itself for a workload.
const OPTION: &str = "--count";

const CALLGRIND: [&str; 2] = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
const MEMCHECK: [&str; 2] = ["--tool=memcheck", "--leak-check=no"];

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
        let count = |units| self.count(units, &CALLGRIND, "Collected :");
        let (once, twice) = (count(units)?, count(2 * units)?);
        ensure!(twice > once, "`{}` took no instructions for {units} more units", self.name);
        Ok((twice - once) as f64 / units as f64)
    }

    /// Allocations that one unit makes once `units` units have been done.
    pub fn allocations_per_unit(&self, units: u64) -> Result<f64> {
        let count = |units| self.count(units, &MEMCHECK, "total heap usage:");
        let (once, twice) = (count(units)?, count(2 * units)?);
        Ok((twice as f64 - once as f64) / units as f64)
    }

    /// The number that valgrind prints behind `label` after a process that does `units` units.
    fn count(&self, units: u64, tool: &[&str], label: &str) -> Result<u64> {
        let binary = std::env::current_exe().context("cannot find the bench binary to count in")?;
        let output = Command::new("valgrind")
            .args(tool)
            .arg(binary)
            .args([OPTION, self.name, &units.to_string()])
            .output()
            .context("cannot start valgrind")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` failed under valgrind:\n{stderr}", self.name);
        let counted = stderr.lines().find_map(|line| line.split_once(label));
        let (_, rest) = counted.with_context(|| format!("valgrind printed no `{label}`:\n{stderr}"))?;
        let number = rest.split_whitespace().next().unwrap_or_default().replace(',', "");
        number.parse().with_context(|| format!("valgrind's `{label}{rest}` begins with no number"))
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
    let advice = "valgrind is missing, so nothing is counted; get it from the package manager";
    if std::env::var("CI").as_deref() == Ok("true") {
        bail!(advice);
    }
    eprintln!("{advice}");
    Ok(false)
}
