//! Counts passed and failed checks, and reads such counts from what nextest and libtest print.
//! Runs nothing itself.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;

/// How many checks passed and failed. Skipped ones count as neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    pub(crate) const ONE_PASSED: Self = Self { passed: 1, failed: 0 };
    pub(crate) const ONE_FAILED: Self = Self { passed: 0, failed: 1 };

    /// Reads the summary of one nextest run, `None` when it has none (the build failed).
    ///
    /// Only the last summary counts: the output of a failing test, shown before it, may contain another.
    pub(crate) fn of_nextest(output: &str) -> Option<Self> {
        output.lines().rev().find_map(Self::of_summary_line)
    }

    /// Sums the results of all the test binaries of one `cargo test`, `None` when there are none.
    pub(crate) fn of_libtest(output: &str) -> Option<Self> {
        output.lines().filter_map(Self::of_result_line).reduce(|mut sum, binary| {
            sum += binary;
            sum
        })
    }

    /// `Summary [   0.5s] 4/5 tests run: 1 passed (1 slow, 1 flaky), 2 failed, 1 timed out, 0 skipped`
    fn of_summary_line(line: &str) -> Option<Self> {
        let (_, counts) = line.trim().strip_prefix("Summary [")?.split_once(" run: ")?;
        let mut tally = Self::default();
        for part in without_parentheses(counts).split(',') {
            let (count, state) = part.trim().split_once(' ')?;
            let count: u64 = count.parse().ok()?;
            match state.trim() {
                "passed" => tally.passed += count,
                "skipped" => {}
                // "failed", "timed out", "exec failed", and whatever comes: not passed is failed.
                _ => tally.failed += count,
            }
        }
        Some(tally)
    }

    /// `test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`
    fn of_result_line(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let count_of = |state: &str| -> Option<u64> {
            counts.split(';').find_map(|part| part.trim().strip_suffix(state)?.trim().parse().ok())
        };
        Some(Self { passed: count_of("passed")?, failed: count_of("failed")? })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The name of the first test that failed, in the output of nextest or of libtest.
pub(crate) fn first_failure(output: &str) -> Option<&str> {
    output.lines().find_map(failure)
}

/// The names of all tests that failed. Each is there once, although nextest names it again at the end.
pub(crate) fn failures(output: &str) -> BTreeSet<&str> {
    output.lines().filter_map(failure).collect()
}

fn failure(line: &str) -> Option<&str> {
    nextest_failure(line).or_else(|| libtest_failure(line))
}

/// `FAIL [   0.094s] (3/3) crate::binary module::name`, also `TRY 2 FAIL [`, `SIGABRT [`, `TIMEOUT [`.
fn nextest_failure(line: &str) -> Option<&str> {
    let (state, rest) = line.trim().split_once(" [")?;
    let word = state.rsplit(' ').next()?;
    let failed = word.starts_with("SIG") || ["FAIL", "TIMEOUT", "ABORT"].contains(&word);
    // A test's own output may start alike; nextest's line goes on with a duration.
    let (duration, name) = rest.split_once("s] ")?;
    let timed = duration.trim_start_matches(['>', ' ']).parse::<f64>().is_ok();
    if failed && timed { name.split_whitespace().last() } else { None }
}

/// `test module::name ... FAILED`, with ` - should panic` between for some.
fn libtest_failure(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.split(" - ").next()
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(char),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_nextest(summary: &str, passed: u64, failed: u64) {
        assert_eq!(Tally::of_nextest(summary), Some(Tally { passed, failed }), "{summary}");
    }

    #[test]
    fn nextest_summaries_are_read() {
        assert_nextest("     Summary [   0.5s] 42 tests run: 42 passed, 0 skipped", 42, 0);
        assert_nextest("     Summary [   0.5s] 1 test run: 1 passed, 3 skipped", 1, 0);
        assert_nextest("     Summary [   0.5s] 42 tests run: 40 passed (1 slow), 2 failed, 0 skipped", 40, 2);
        let counts = "5 passed (1 slow, 2 flaky), 1 failed, 2 timed out, 1 exec failed, 0 skipped";
        assert_nextest(&format!("     Summary [  61.2s] 9/12 tests run: {counts}"), 5, 4);
        assert_nextest("     Summary [   0.000s] 0 tests run: 0 passed, 0 skipped", 0, 0);
    }

    #[test]
    fn the_last_nextest_summary_counts() {
        let output = "
    Summary [ 1s] 9 tests run: 9 passed, 0 skipped
     Summary [ 2s] 3 tests run: 1 passed, 2 failed, 0 skipped
error: test run failed
";
        assert_nextest(output, 1, 2);
    }

    #[test]
    fn no_summary_is_not_zero_tests() {
        assert_eq!(Tally::of_nextest("error: could not compile `downbeat-time`"), None);
        assert_eq!(Tally::of_libtest("error: could not compile `downbeat-time`"), None);
    }

    #[test]
    fn libtest_results_are_summed_over_binaries() {
        let output = "\
test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
   Doc-tests downbeat_time
test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
";
        assert_eq!(Tally::of_libtest(output), Some(Tally { passed: 7, failed: 3 }));
    }

    #[test]
    fn results_inside_a_failing_tests_output_are_not_counted() {
        assert_eq!(Tally::of_libtest("    test result: ok. 5 passed; 0 failed; 0 ignored"), None);
    }

    #[test]
    fn the_first_failing_test_is_named() {
        let nextest = "\
        PASS [   0.004s] (1/3) downbeat-time grid::tests::ok
     SIGABRT [   0.004s] (2/3) downbeat-time::order order::aborts
        FAIL [   0.094s] (3/3) downbeat-time::order order::fails";
        assert_eq!(first_failure(nextest), Some("order::aborts"));
        assert_eq!(first_failure("  TRY 2 FAIL [   0.1s] (1/1) a::b c::d"), Some("c::d"));
        assert_eq!(first_failure("test grid::rounds ... FAILED\n"), Some("grid::rounds"));
        assert_eq!(first_failure("test grid::rounds - should panic ... FAILED\n"), Some("grid::rounds"));
        assert_eq!(first_failure("test grid::rounds ... ok\n FAIL [x] [ 1s] name"), None);
    }

    #[test]
    fn the_closing_line_is_exact() {
        assert_eq!(Tally { passed: 12, failed: 0 }.to_string(), "12 passed, 0 failed");
    }
}
