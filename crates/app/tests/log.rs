//! Logs from the command line: written, continued, replayed, inspected, exported. Promise: killed at any moment and
//! started again, a run ends in the bits of one that was never interrupted.

mod binary;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use binary::{downbeat, run, stdout_of};
use serde_json::Value;

fn object(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(arguments)).expect("one object")
}

/// The arguments of a run of `arm` with a log, as fast as it goes.
fn logged<'a>(folder: &'a str, steps: &'a str) -> Vec<&'a str> {
    vec!["run", "arm", "--steps", steps, "--mode", "sim-high-performance", "--log", folder, "--json"]
}

#[test]
fn a_run_with_a_log_gives_the_same_bits_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("log");
    let folder = folder.to_str().unwrap();
    let plain = object(&["run", "arm", "--steps", "6000", "--mode", "sim-high-performance", "--json"]);
    let with = object(&logged(folder, "6000"));
    assert_eq!(plain["state_hash"], with["state_hash"]);
    assert_eq!(plain["schedule_hash"], with["schedule_hash"]);
    assert_eq!(with["log"]["continued_from_step"], Value::Null);

    let replayed = object(&["replay", folder, "--verify", "--json"]);
    assert_eq!(replayed["verified"], true);
    assert_eq!((&replayed["from_step"], &replayed["steps"]), (&0.into(), &6000.into()));
    assert_eq!(replayed["state_hash"], with["state_hash"]);
    let quick = object(&["replay", folder, "--json"]);
    assert_eq!((&quick["from_step"], &quick["verified"]), (&5200.into(), &false.into()));
    assert_eq!(quick["state_hash"], with["state_hash"]);
}

#[test]
fn a_run_that_was_killed_ends_in_the_same_bits_when_it_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let whole = object(&["run", "arm", "--steps", "20000", "--mode", "sim-high-performance", "--json"]);
    let log = folder.path().join("log");
    let log = log.to_str().unwrap();
    let mut kills = 0;
    let ended = loop {
        let mut child = downbeat(&logged(log, "20000")).stdout(Stdio::piped()).spawn().unwrap();
        // Killed as soon as it has come some steps farther than the last one, so that all of them are needed.
        let reached = kills * 3000;
        let is_over = wait_for_steps(Path::new(log), reached, &mut child);
        if is_over {
            let line = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
            child.wait().unwrap();
            break serde_json::from_str::<Value>(&line).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    };
    assert!(kills > 2, "{kills} kills");
    assert_eq!(ended["state_hash"], whole["state_hash"]);
    assert_eq!(ended["schedule_hash"], whole["schedule_hash"]);
    assert!(ended["log"]["continued_from_step"].as_u64().unwrap() > 0, "{ended}");
    assert_eq!(object(&["replay", log, "--verify", "--json"])["verified"], true);
}

/// Waits until a log has more than so many steps, or its writer has ended: then true.
fn wait_for_steps(log: &Path, steps: u64, child: &mut std::process::Child) -> bool {
    loop {
        if child.try_wait().expect("the child is ours").is_some() {
            return true;
        }
        let written = run(&["inspect", log.to_str().expect("the child is ours"), "--json"]);
        let found = serde_json::from_str::<Value>(&written.stdout).ok().and_then(|log| log["steps"].as_u64());
        if found.is_some_and(|found| found > steps) {
            return false;
        }
    }
}

#[test]
fn a_step_of_a_run_becomes_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log"), folder.path().join("there.snap"));
    let (log, out) = (log.to_str().unwrap(), out.to_str().unwrap());
    object(&logged(log, "300"));
    let replayed = object(&["replay", log, "--to-step", "123", "--out", out, "--json"]);
    assert_eq!((&replayed["steps"], &replayed["snapshot"]), (&123.into(), &out.into()));
    let snapshot = object(&["inspect", out, "--json"]);
    assert_eq!((&snapshot["kind"], &snapshot["steps"]), (&"snapshot".into(), &123.into()));
    assert_eq!(snapshot["entities"], 22);
    let after = object(&["run", "arm", "--steps", "123", "--mode", "sim-high-performance", "--json"]);
    assert_eq!(replayed["state_hash"], after["state_hash"]);
}

#[test]
fn an_inspection_tells_what_a_log_holds_and_what_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let name = log.to_str().unwrap();
    object(&logged(name, "6000"));
    let report = object(&["inspect", name, "--json"]);
    for (key, value) in [
        ("kind", Value::from("log")),
        ("scene", "arm".into()),
        ("seed", 7.into()),
        ("steps", 6000.into()),
        ("commands", 1.into()),
        ("closed", true.into()),
        ("damage", Value::Null),
        ("torn", Value::Null),
    ] {
        assert_eq!(report[key], value, "{key}");
    }
    assert_eq!(report["snapshots"].as_array().unwrap().len(), 2);
    assert!(stdout_of(&["inspect", name]).contains("whole, ended in order"));

    let segment = log.join("segment-00000001.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 16;
    std::fs::write(&segment, bytes).unwrap();
    let report = object(&["inspect", name, "--json"]);
    let damage = report["damage"].as_str().unwrap();
    assert!(damage.starts_with("segment-00000001.log is damaged at byte "), "{damage}");
    let steps = report["steps"].as_u64().unwrap();
    assert!(steps > 0 && steps < 6000, "what stands before the damage is told: {steps}");
    let refused = run(&["replay", name, "--verify"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("segment-00000001.log is damaged at byte"), "{}", refused.stderr);
    let refused = run(&logged(name, "7000"));
    assert!(refused.code == 1 && refused.stderr.contains("damaged at byte"), "{}", refused.stderr);
}

#[test]
fn a_log_of_something_else_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().to_str().unwrap();
    object(&logged(log, "50"));
    let other = |arguments: &[&str]| {
        let outcome = run(&[arguments, &["--steps", "60", "--log", log]].concat());
        assert_eq!(outcome.code, 1, "{arguments:?}");
        outcome.stderr
    };
    assert!(other(&["run", "pendulum"]).contains("it is of the scene `arm`, and this is `pendulum`"));
    assert!(other(&["run", "arm", "--seed", "8"]).contains("its seed is 7, and this one's 8"));
    let busy = folder.path().join("lock");
    let held = std::fs::File::options().write(true).open(busy).unwrap();
    held.lock().unwrap();
    assert!(other(&["run", "arm"]).contains("another process is writing this log"));
}

#[test]
fn what_is_not_there_is_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    let none = none.to_str().unwrap();
    let mcap = folder.path().join("x.mcap");
    for arguments in [
        vec!["replay", none],
        vec!["inspect", none],
        vec!["export", none, "--mcap", mcap.to_str().unwrap()],
        vec!["run", "arm", "--log-keep", "3"],
        vec!["run", "arm", "--log", none, "--log-keep", "1"],
    ] {
        let outcome = run(&arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
    object(&logged(none, "20"));
    assert_eq!(run(&["replay", none, "--to-step", "21"]).code, 2);
}

#[test]
fn a_log_is_exported_with_every_command_and_hash() {
    let folder = tempfile::tempdir().unwrap();
    let (log, mcap) = (folder.path().join("log"), folder.path().join("run.mcap"));
    let (log, mcap) = (log.to_str().unwrap(), mcap.to_str().unwrap());
    object(&logged(log, "520"));
    let report = object(&["export", log, "--mcap", mcap, "--json"]);
    let messages = &report["messages"];
    assert_eq!((&report["steps"], &messages["/hashes"]), (&520.into(), &520.into()));
    assert_eq!((&messages["/commands"], &messages["/scene"]), (&1.into(), &1.into()));
    assert_eq!(report["bytes"].as_u64().unwrap(), std::fs::metadata(mcap).unwrap().len());
    let every = object(&["export", log, "--mcap", mcap, "--every-step", "--json"]);
    assert_eq!(every["messages"]["/tf"], 521, "also before the first step");
}
