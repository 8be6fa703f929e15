//! `downbeat` without arguments. Promise: the same bits in every run, whatever the build and the machine.
//! Method: run it twice, compare the hashes it prints with each other and with those written down here.

mod binary;

use binary::stdout_of;
use serde_json::Value;

fn object() -> Value {
    serde_json::from_str(&stdout_of(&["--json"])).expect("one object")
}

#[test]
fn two_runs_end_in_the_same_bits() {
    let (one, two) = (object(), object());
    for key in ["scene", "mode", "steps", "sim_time_ns", "runners", "schedule_hash", "state_hash"] {
        assert!(one[key] == two[key] && !one[key].is_null(), "{key}: {} and {}", one[key], two[key]);
    }
    // Changes with the scene's numbers and with nothing else, not even with optimisation.
    assert_eq!(one["state_hash"], "0x9f9e3f6160e9c6cf");
}

#[test]
fn the_object_holds_what_scripts_read_in_this_order() {
    let text = stdout_of(&["--json"]);
    assert_eq!(text.lines().count(), 1);
    let start = r#"{"scene":"cart-pole","mode":"sim-high-performance","steps":31200,"sim_time_ns":60000000000,"wall_ns":"#;
    assert!(text.starts_with(start), "{text}");
    let runners = r#","runners":{"Robot":3000,"Capture":1800,"Physics":30000},"schedule_hash":"0x"#;
    let keys = ["\"wall_ns\":", ",\"real_time_factor\":", runners, "\",\"state_hash\":\"0x"];
    let places: Vec<_> = keys.iter().map(|key| text.find(key)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");

    let object = object();
    let factor = object["real_time_factor"].as_f64().unwrap();
    let (sim, wall) = (object["sim_time_ns"].as_f64().unwrap(), object["wall_ns"].as_f64().unwrap());
    assert!((factor * wall / sim - 1.0).abs() < 1e-6, "{object}");
}

#[test]
fn the_summary_tells_the_same_as_the_object() {
    let (summary, object) = (stdout_of(&[]), object());
    for word in [
        "cart-pole · 60 s simulated in ",
        "  Robot        50 Hz     3000\n  Capture      30 Hz     1800\n  Physics     500 Hz    30000\n",
        "  31200 steps; all three meet in 600 of them",
        "  pole angle, -24.4° to +28.4°, from 1800 samples\n  ▅▄▄",
        object["schedule_hash"].as_str().unwrap(),
        object["state_hash"].as_str().unwrap(),
    ] {
        assert!(summary.contains(word), "{word:?} in\n{summary}");
    }
}

#[test]
fn what_the_summary_says_to_try_next_works() {
    let summary = stdout_of(&[]);
    let (_, next) = summary.split_once("try next\n").unwrap();
    let commands: Vec<&str> = next.lines().map(|line| line.trim().split("  ").next().unwrap()).collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        stdout_of(&command.strip_prefix("downbeat ").unwrap().split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn a_progress_line_is_for_terminals() {
    assert_eq!(binary::run(&[]).stderr, "");
}
