//! How `downbeat` ends: codes, one line per error, closed pipes, full disks.

mod binary;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use binary::{downbeat, run, stdout_of};

/// Bad usage: exit code 2, nothing on stdout, one line on stderr.
fn refused(arguments: &[&str]) -> String {
    let outcome = run(arguments);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}");
    let line = outcome.stderr.strip_suffix('\n').expect("a whole line");
    assert!(!line.contains(char::is_control), "{line:?}");
    line.to_owned()
}

#[test]
fn an_error_says_what_where_and_what_to_do() {
    let cases: [(&[&str], &str); 4] = [
        (
            &["timeline", "--runner", "Robot=fast"],
            "error: invalid value 'Robot=fast' for '--runner <NAME=RATE[@OFFSET_NS]>': rate `fast` is not a number; \
             write it as 50, 29.97 or 30000/1001; see `downbeat timeline --help`",
        ),
        (
            &["timeline", "--runner", "a=1", "--runner", "a=2"],
            "error: --runner: a runner named `a` exists already; choose another name; see `downbeat timeline --help`",
        ),
        (
            &["timeline", "--runer", "a=1"],
            "error: unexpected argument '--runer' found; tip: a similar argument exists: '--runner'; \
             see `downbeat timeline --help`",
        ),
        (&["--bogus"], "error: unexpected argument '--bogus' found; see `downbeat --help`"),
    ];
    for (arguments, line) in cases {
        assert_eq!(refused(arguments), line);
    }
}

#[test]
fn every_bad_runner_is_refused_in_one_line() {
    for (runner, word) in [
        ("Robot", "no `=`"),
        ("", "no `=`"),
        ("Robot=", "is empty"),
        ("=50", "the name `` is not usable"),
        ("Robot=0", "above 0"),
        ("Robot=-50", "is not a number"),
        ("Robot=1e3", "is not a number"),
        ("Robot=1/0", "divides by zero"),
        ("Robot=1000000001", "above 1 GHz"),
        ("Robot=50@", "offset ``"),
        ("Robot=50@1ms", "offset `1ms`"),
        ("Robot=50@18446744073709551616", "offset `18446744073709551616` is too large"),
        ("a\nb=50", "the name `a\\nb` is not usable"),
        ("a\n\nUsage: x=y", "rate `y` is not a number"),
    ] {
        let line = refused(&["timeline", "--runner", runner]);
        assert!(
            line.contains(word) && line.ends_with("; see `downbeat timeline --help`"),
            "{runner}: {line}"
        );
    }
}

#[test]
fn nine_runners_are_one_too_many() {
    let runners: Vec<String> = (1..=9).map(|hz| format!("--runner=r{hz}={hz}")).collect();
    let mut arguments = vec!["timeline", "--for", "1s"];
    arguments.extend(runners.iter().map(String::as_str));
    assert!(refused(&arguments).contains("there is no place for runner `r9`: a timeline takes at most 8"));
    arguments.pop();
    stdout_of(&arguments);
}

#[test]
fn every_bad_duration_is_refused_in_one_line() {
    for (span, word) in [
        ("soon", "write a duration such as 100ms"),
        ("10", "time unit needed"),
        ("", "write a duration such as 100ms"),
        ("0s", "above 0"),
        ("600years", "584 years"),
        ("99999999999999999999s", "write a duration such as 100ms"),
    ] {
        let line = refused(&["timeline", "--for", span]);
        assert!(line.contains(word) && line.contains("--for"), "{span}: {line}");
    }
}

#[test]
fn what_does_not_exist_is_refused() {
    for arguments in [
        &["timeline", "--bogus"][..],
        &["timeline", "amr"],
        &["timeline", "arm", "--runner", "Imu=200"],
        &["timeline", "--runner"],
        &["timeline", "--for", "1s", "--for", "2s"],
        &["timeline", "--json=yes"],
        &["--json", "timeline"],
        &["run"],
        &["run", "arm", "--steps", "1", "--for", "1s"],
        &["run", "arm", "--mode", "fast"],
        &["order", "amr"],
        &["timelin"],
        &[""],
        &["help", "nothing"],
    ] {
        assert!(refused(arguments).ends_with(" --help`"), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    assert_eq!(stdout_of(&["--version"]), concat!("downbeat ", env!("CARGO_PKG_VERSION"), "\n"));
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["timeline", "--help"],
        &["timeline", "-h"],
        &["help", "timeline"],
        &["run", "--help"],
    ] {
        let help = stdout_of(arguments);
        assert!(help.contains("\nExamples:\n  downbeat"), "{arguments:?}: {help}");
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{arguments:?}: {widest} columns");
    }
}

#[test]
fn the_examples_of_the_help_work() {
    let help = stdout_of(&["help", "timeline"]);
    let mut tried = 0;
    for line in help.lines().filter_map(|line| line.strip_prefix("  downbeat ")) {
        let command = line.split(" | ").next().unwrap();
        stdout_of(&command.split_whitespace().collect::<Vec<_>>());
        tried += 1;
    }
    assert_eq!(tried, 4);
}

#[test]
fn a_reader_that_has_enough_ends_the_run_quietly() {
    // An hour is more than any pipe holds, so the writer finds it closed.
    let command = downbeat(&["timeline", "--for", "1h", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = command.unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with(r#"{"t_ns":20000000,"#));
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_of_one_line() {
    for arguments in [&[][..], &["--json"], &["timeline"], &["timeline", "--json"], &["--help"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = downbeat(arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: cannot write to standard output: "), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    }
}
