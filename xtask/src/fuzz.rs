//! `cargo xtask fuzz`: builds the targets of `fuzz/` with coverage for libFuzzer and lets each run for a bounded time.
//! Needs neither a nightly compiler nor the program `cargo fuzz`. Does not mend or shrink what it finds: it says where
//! the input is and how to run it again.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Metadata;
use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};
use toml::{Table, Value};

use crate::packages::{self, CPP_COMPILER};
use crate::shell::{self, Finished};
use crate::tally::Tally;

/// What the step of `cargo xtask test` gives each target.
pub(crate) const SECONDS_IN_TEST: u64 = 10;

/// The fuzz targets are a workspace of their own.
pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

/// Counts every edge and shows libFuzzer what is compared with what: the flags of `cargo fuzz`, as far as a stable
/// compiler has them. A sanitizer it has not; memory is bounded by the targets' own allocator.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The same inputs are tried in the same order, as long as the corpus is the same.
const SEED: u64 = 1;
/// Longer than this for one input counts as a hang.
const INPUT_SECS_MAX: u64 = 10;

/// Where everything of the fuzzer is.
struct Place {
    root: Utf8PathBuf,
    /// `target/fuzz`.
    folder: Utf8PathBuf,
    /// The triple of this machine.
    host: String,
}

/// Builds the target of this name, or all of them, and runs each for so many seconds. Each counts as one check.
pub(crate) fn run(workspace: &Metadata, name: Option<&str>, seconds: u64) -> Result<Tally> {
    if !packages::have(CPP_COMPILER)? {
        println!("skipped: no C++ compiler");
        return Ok(Tally::default());
    }
    let root = workspace.workspace_root.clone();
    let targets = chosen(targets(&root)?, name)?;
    let place = Place { root, folder: workspace.target_directory.join("fuzz"), host: host()? };
    place.build(&targets)?;
    let mut tally = Tally::default();
    for target in &targets {
        let passed = place.fuzz(target, seconds)?;
        tally += if passed { Tally::ONE_PASSED } else { Tally::ONE_FAILED };
    }
    Ok(tally)
}

/// The names of the programs in the manifest, which are the targets.
fn targets(root: &Utf8Path) -> Result<Vec<String>> {
    let text =
        std::fs::read_to_string(root.join(MANIFEST)).with_context(|| format!("cannot read {MANIFEST}"))?;
    let manifest: Table = text.parse().with_context(|| format!("cannot parse {MANIFEST}"))?;
    let programs = manifest.get("bin").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(programs.iter().filter_map(|program| Some(program.get("name")?.as_str()?.to_owned())).collect())
}

fn chosen(targets: Vec<String>, name: Option<&str>) -> Result<Vec<String>> {
    let Some(name) = name else { return Ok(targets) };
    ensure!(
        targets.iter().any(|target| target == name),
        "there is no fuzz target `{name}`; there are {}",
        targets.join(", ")
    );
    Ok(vec![name.to_owned()])
}

fn host() -> Result<String> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.arg("-vV");
    let version = String::from_utf8(shell::stdout_of(rustc)?).context("rustc does not speak UTF-8")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host; is it rustc?")
}

impl Place {
    fn build(&self, targets: &[String]) -> Result<()> {
        let mut cargo = shell::cargo(&self.root);
        cargo.args(["build", "--release", "--locked", "--manifest-path", MANIFEST]);
        for target in targets {
            cargo.args(["--bin", target]);
        }
        // Named, so that build scripts and macros, which have no fuzzer to report to, are built without the flags.
        cargo.args(["--target", &self.host]).arg("--target-dir").arg(&self.folder);
        shell::append_flags(&mut cargo, "RUSTFLAGS", COVERAGE);
        let status = shell::run_inherited(cargo)?;
        ensure!(status.success(), "the fuzz targets cannot be built: {status}; see above");
        Ok(())
    }

    /// Whether a target ran for its time without a find.
    fn fuzz(&self, target: &str, seconds: u64) -> Result<bool> {
        let [corpus, finds, scratch] =
            ["corpus", "artifacts", "scratch"].map(|folder| self.folder.join(folder).join(target));
        for folder in [&corpus, &finds, &scratch] {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {folder}"))?;
        }
        let under_way = finds.join("under-way");
        let mut fuzzer = Command::new(self.program(target));
        fuzzer.current_dir(&self.root).env("TMPDIR", &scratch).env("DOWNBEAT_FUZZ_UNDER_WAY", &under_way);
        fuzzer.arg(&corpus).arg(self.root.join("fuzz/seeds").join(target));
        fuzzer.arg(format!("-artifact_prefix={finds}/"));
        fuzzer.args([format!("-max_total_time={seconds}"), format!("-seed={SEED}")]);
        fuzzer.args([format!("-timeout={INPUT_SECS_MAX}"), "-print_final_stats=1".to_owned()]);
        println!("fuzz: {target} for {seconds} s, seed {SEED}");
        let finished = shell::run_quietly(fuzzer)?;
        // What is left of a process that was ended is not worth keeping, nor failing for.
        let _ = std::fs::remove_dir_all(&scratch);
        if finished.status.success() {
            println!("fuzz: {target}: {}", summary(&finished.output));
            return Ok(true);
        }
        let find = match written(&finished.output) {
            Some(find) => find.into(),
            // Nobody was left to write it: a stack that overflows takes libFuzzer with it.
            None => kept(&under_way, &finds)?,
        };
        self.report(target, &finished, &find);
        Ok(false)
    }

    fn program(&self, target: &str) -> Utf8PathBuf {
        self.folder.join(&self.host).join("release").join(target)
    }

    fn report(&self, target: &str, finished: &Finished, find: &Utf8Path) {
        const LINES_SHOWN: usize = 60;
        let lines: Vec<&str> = finished.output.lines().collect();
        println!("{}", lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n"));
        println!("error: {target} failed ({}) on {find}", finished.status);
        println!("run it again with: RUST_BACKTRACE=1 {} {find}", self.program(target));
    }
}

/// Moves the input that was under way to a name of its own.
fn kept(under_way: &Utf8Path, finds: &Utf8Path) -> Result<Utf8PathBuf> {
    let names = (0_u32..).map(|number| finds.join(format!("ended-{number}")));
    let free = names.into_iter().find(|name| !name.exists()).context("there are too many finds already")?;
    std::fs::copy(under_way, &free).with_context(|| format!("cannot keep {under_way}"))?;
    Ok(free)
}

/// The file that libFuzzer says it wrote.
fn written(output: &str) -> Option<&str> {
    output.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path.trim()))
}

/// How much was tried, from libFuzzer's last lines: `stat::number_of_executed_units: 12` and `cov: 34 ft: 56`.
fn summary(output: &str) -> String {
    let after = |mark: &str| {
        let line = output.lines().rev().find(|line| line.contains(mark))?;
        line.split_once(mark)?.1.split_whitespace().next()
    };
    let [runs, rate, edges, peak] =
        ["number_of_executed_units:", "average_exec_per_sec:", "cov:", "peak_rss_mb:"]
            .map(|mark| after(mark).unwrap_or("?"));
    format!("{runs} inputs, {rate} a second, {edges} edges, {peak} MiB at most")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_from_its_last_lines() {
        let output = "#2\tINITED cov: 10 ft: 11\n#99\tDONE   cov: 345 ft: 678 corp: 9\nDone 99 runs in 3 second(s)\n\
                      stat::number_of_executed_units: 99\nstat::average_exec_per_sec:     33\nstat::peak_rss_mb:              41\n";
        assert_eq!(summary(output), "99 inputs, 33 a second, 345 edges, 41 MiB at most");
        assert_eq!(summary(""), "? inputs, ? a second, ? edges, ? MiB at most");
    }

    #[test]
    fn a_find_is_named_as_libfuzzer_names_it() {
        let output =
            "==1== ERROR: libFuzzer: deadly signal\nartifact_prefix='a/'; Test unit written to a/crash-12\n";
        assert_eq!(written(output), Some("a/crash-12"));
        assert_eq!(written("Done 99 runs in 3 second(s)"), None);
    }

    #[test]
    fn a_target_that_is_not_there_is_answered_with_those_that_are() {
        let targets = || vec!["model".to_owned(), "urdf".to_owned()];
        assert_eq!(chosen(targets(), None).unwrap(), ["model", "urdf"]);
        assert_eq!(chosen(targets(), Some("urdf")).unwrap(), ["urdf"]);
        let refusal = chosen(targets(), Some("log")).unwrap_err().to_string();
        assert_eq!(refusal, "there is no fuzz target `log`; there are model, urdf");
    }
}
