//! `downbeat` without arguments, and `downbeat run`. Promise: the same bits in every run, whatever the build and the
//! machine. Method: run it twice, compare the hashes it prints with each other and with those written down here.

mod binary;

use binary::stdout_of;
use serde_json::Value;

fn object(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(arguments)).expect("one object")
}

#[test]
fn two_runs_end_in_the_same_bits() {
    let (one, two) = (object(&["--json"]), object(&["--json"]));
    for key in ["scene", "mode", "steps", "sim_time_ns", "runners", "schedule_hash", "state_hash"] {
        assert!(one[key] == two[key] && !one[key].is_null(), "{key}: {} and {}", one[key], two[key]);
    }
    // Changes with the scene and the solver, and with nothing else, not even with optimisation.
    assert_eq!(one["state_hash"], "0xa6b1f11247195ace");
}

#[test]
fn the_object_holds_what_scripts_read_in_this_order() {
    let text = stdout_of(&["--json"]);
    assert_eq!(text.lines().count(), 1);
    let start =
        r#"{"scene":"arm","mode":"sim-high-performance","steps":20800,"sim_time_ns":40000000000,"wall_ns":"#;
    assert!(text.starts_with(start), "{text}");
    let runners = r#","runners":{"Robot":2000,"Capture":1200,"Physics":20000},"schedule_hash":"0x"#;
    let keys = ["\"wall_ns\":", ",\"real_time_factor\":", runners, "\",\"state_hash\":\"0x"];
    let places: Vec<_> = keys.iter().map(|key| text.find(key)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");

    let object = object(&["--json"]);
    let factor = object["real_time_factor"].as_f64().unwrap();
    let (sim, wall) = (object["sim_time_ns"].as_f64().unwrap(), object["wall_ns"].as_f64().unwrap());
    assert!((factor * wall / sim - 1.0).abs() < 1e-6, "{object}");
}

#[test]
fn the_summary_tells_the_same_as_the_object() {
    let (summary, object) = (stdout_of(&[]), object(&["--json"]));
    for word in [
        "arm · 40 s simulated in ",
        "  Robot          50 Hz     2000\n  Capture        30 Hz     1200\n  Physics       500 Hz    20000\n",
        "  20800 steps · 22 entities · 14 bodies · 8 joints\n",
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
    assert_eq!(commands.len(), 4);
    for command in commands {
        let arguments: Vec<_> = command.strip_prefix("downbeat ").unwrap().split(' ').collect();
        // Realtime runs take their time; the same command without the clock is the same run.
        let flat_out: &[&str] = if arguments[0] == "run" { &["--mode", "sim-high-performance"] } else { &[] };
        stdout_of(&[&arguments[..], flat_out].concat());
    }
}

#[test]
fn a_progress_line_is_for_terminals() {
    assert_eq!(
        binary::run(&["run", "pendulum", "--steps", "10", "--mode", "sim-high-performance"]).stderr,
        ""
    );
}

#[test]
fn a_scene_ends_where_it_was_told_to() {
    let flat_out = ["--mode", "sim-high-performance", "--json"];
    let run = |arguments: &[&str]| object(&[&["run", "pendulum"], arguments, &flat_out].concat());
    assert_eq!(run(&["--steps", "123"])["steps"], 123);
    assert_eq!(run(&["--for", "250ms"])["sim_time_ns"], 250_000_000);
    let paced = object(&["run", "pendulum", "--for", "50ms", "--mode", "sim-realtime", "--json"]);
    assert_eq!(paced["sim_time_ns"], 50_000_000);
    let (paced_hash, flat_hash) = (&paced["state_hash"], &run(&["--for", "50ms"])["state_hash"]);
    assert_eq!(paced_hash, flat_hash, "the pace decides no bit");
    assert!(paced["real_time_factor"].as_f64().unwrap() <= 1.0, "{paced}");
}

#[test]
fn a_scene_of_slow_runners_ends_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.toml");
    std::fs::write(&file, "downbeat = 1\nname = \"slow\"\n[[runner]]\nname = \"Robot\"\nrate = \"2\"\n")
        .unwrap();
    let run =
        object(&["run", file.to_str().unwrap(), "--for", "1s", "--mode", "sim-high-performance", "--json"]);
    assert_eq!((&run["steps"], &run["sim_time_ns"]), (&2.into(), &1_000_000_000_u64.into()));
}

#[test]
fn a_seed_of_ones_own_gives_another_run() {
    let run = |seed| {
        object(&[
            "run",
            "many_rates",
            "--steps",
            "50",
            "--seed",
            seed,
            "--mode",
            "sim-high-performance",
            "--json",
        ])
    };
    assert_eq!(run("1")["state_hash"], run("1")["state_hash"]);
    assert_ne!(run("1")["state_hash"], run("2")["state_hash"]);
}

#[test]
fn a_scene_that_is_not_there_is_told_with_those_that_are() {
    let outcome = binary::run(&["run", "amr"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("`amr`") && outcome.stderr.contains("arm, pile"), "{}", outcome.stderr);
}

#[test]
fn a_wrong_file_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lab.toml");
    std::fs::write(&file, "downbeat = 1\nname = \"lab\"\n[[entity]]\nnam = \"cup\"\n").unwrap();
    let outcome = binary::run(&["run", file.to_str().unwrap()]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("lab.toml:4:1: unknown field `nam`"), "{}", outcome.stderr);
}

#[test]
fn the_order_is_a_table_and_lines_of_json() {
    let table = stdout_of(&["order", "arm"]);
    let systems: Vec<_> = table.lines().skip(1).map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(systems, ["encoders", "sync", "sorter", "reach", "physics", "sanity", "tape"]);
    let lines = stdout_of(&["order", "arm", "--json"]);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["phase"], &first["runner"], &first["rate"]),
        (&"Acquisition".into(), &"Robot".into(), &"50 Hz".into())
    );
}

#[test]
fn a_scenes_timeline_is_that_of_its_runners() {
    let last = stdout_of(&["timeline", "arm", "--for", "100ms", "--json"]);
    assert!(last.contains("Physics") && last.lines().count() > 50, "{last}");
}
