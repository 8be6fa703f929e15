//! States that no manager can have saved are refused, with what is wrong with them, and change nothing.

#![cfg(feature = "serde")]

use std::time::Duration;

use downbeat_time::{RestoreError, RunnerConfig, TimeConfig, TimeManager, TimeMode, TimeState};
use serde_json::{Value, json};

/// A default scene after five steps, at 66.666666 ms, and its state.
fn saved() -> (TimeManager<()>, Value) {
    let mut time = TimeManager::default();
    time.run_steps(&mut (), 5).expect("no callback fails");
    let state = serde_json::to_value(time.save()).expect("plain data");
    (time, state)
}

/// Restores a state in which `path` holds `value` instead.
fn restore(path: &str, value: Value) -> Result<(), String> {
    let (mut time, mut state) = saved();
    let before = time.save();
    *state.pointer_mut(path).expect("a part of the state") = value;
    let state: TimeState = serde_json::from_value(state).map_err(|error| error.to_string())?;
    let outcome = time.restore(&state);
    if outcome.is_err() {
        assert_eq!(time.save(), before, "a refused state changes nothing");
    }
    outcome.map_err(|error| {
        assert!(matches!(error, RestoreError::Damaged { .. }), "{error}");
        error.to_string()
    })
}

#[test]
fn what_cannot_be_is_refused_and_named() {
    for (path, value, words) in [
        ("/frames", json!(u64::MAX), "counts 18446744073709551615 frames"),
        ("/now", json!(u64::MAX), "beyond the end of the timeline"),
        ("/run_until", json!(u64::MAX), "beyond the end of the timeline"),
        ("/steps", json!(66_666_667), "counts more than 66.666666 ms has nanoseconds"),
        ("/steps", json!(2), "runner `Robot` has fired 3 times in 2 steps"),
        ("/runners/0/index", json!(6), "runner `Robot` has fired 6 times in 5 steps"),
        ("/runners/0/dt_nanos", json!(u64::MAX), "counts more than 66.666666 ms has nanoseconds"),
        ("/runners/0/last", json!(null), "runner `Robot` cannot stand nowhere at 66.666666 ms"),
        // On the grid, but not where the runner would wait or stand.
        ("/runners/0/last", json!(1_000_000_000_000_u64), "cannot stand at 1000 s at 66.666666 ms"),
        ("/runners/0/last", json!(100_000_000), "cannot stand at 100 ms at 66.666666 ms"),
        ("/runners/0/last", json!(40_000_000), "cannot stand at 40 ms at 66.666666 ms"),
        ("/runners/0/last", json!(60_000_001), "cannot stand at 60.000001 ms at 66.666666 ms"),
        ("/runners/0/origin", json!(u64::MAX), "beyond the end of the timeline"),
        ("/runners/0/config/name", json!("Capture"), "runner `Capture` is there twice"),
    ] {
        let error = restore(path, value.clone()).expect_err("it cannot be");
        assert!(error.contains(words), "{path} = {value}: {error}");
    }
}

#[test]
fn what_can_be_is_taken() {
    for (path, value) in [
        ("/frames", json!(u64::MAX / 2)),
        ("/run_until", json!(u64::MAX - 1)),
        ("/runners/0/last", json!(60_000_000)),
        // It waits for the next point of its grid, as after a change of offset.
        ("/runners/0/last", json!(80_000_000)),
    ] {
        restore(path, value.clone()).unwrap_or_else(|error| panic!("{path} = {value}: {error}"));
    }
}

#[test]
fn a_runner_that_never_fires_may_stand_nowhere() {
    let mut time = TimeManager::<()>::default();
    time.run_steps(&mut (), 5).unwrap();
    time.add_runner(RunnerConfig::new("slow", "1/18446744073709551615".parse().unwrap())).unwrap();
    let state = serde_json::to_value(time.save()).unwrap();
    assert_eq!(state.pointer("/runners/2/last"), Some(&json!(null)));
    time.restore(&serde_json::from_value(state).unwrap()).unwrap();
}

#[test]
fn a_restored_manager_counts_its_frames_on() {
    let (mut time, mut state) = saved();
    state["frames"] = json!(u64::MAX / 2);
    time.restore(&serde_json::from_value(state).unwrap()).unwrap();
    assert_eq!(time.tick(&mut (), Duration::from_millis(1)).unwrap().frame, u64::MAX / 2 + 1);
}

#[test]
fn a_callback_whose_name_cannot_be_shown_is_damage() {
    let scene = || {
        let mut time = TimeManager::<()>::new(TimeConfig::default()).expect("usable");
        let binding =
            downbeat_time::Binding::new(downbeat_time::RunnerId::ROBOT, downbeat_time::Phase::Export);
        time.register("work", binding, |(), _| ()).expect("usable");
        time.register_free("hook", downbeat_time::FreePhase::PostExport, 0, |(), _| ()).expect("usable");
        time.set_mode(TimeMode::GameRealtime);
        time
    };
    for path in ["/callbacks/0/name", "/free_callbacks/0/name"] {
        let mut state = serde_json::to_value(scene().save()).unwrap();
        *state.pointer_mut(path).unwrap() = json!("a\nb");
        let error = scene().restore(&serde_json::from_value(state).unwrap()).unwrap_err();
        assert!(error.to_string().contains("is not usable"), "{path}: {error}");
    }
}
