//! Promise: a log holds all that decided a run, so that running it again gives the same bits, and what was acknowledged
//! outlives its process.
//! Method: shipped scenes with commands of all kinds, every hash compared; processes that are killed. At length with
//! `cargo xtask replay` and `cargo xtask kill`.

use std::path::Path;

use downbeat_tests::{Plan, Recording, record, rounds, verify};

/// Writes a log and runs it again.
fn replays(recording: Recording<'_>) {
    let folder = tempfile::tempdir().expect("a log is written and run again");
    record(recording, folder.path(), |_| ()).expect("a log is written and run again");
    let totals = verify(folder.path(), |_| ()).expect("a log is written and run again");
    let Recording { steps, command_every, .. } = recording;
    assert_eq!((totals.steps, totals.commands), (steps, steps.div_ceil(command_every)), "{recording:?}");
}

#[test]
fn a_long_run_replays() {
    replays(Recording { scene: "cart2d", steps: 20_000, command_every: 97 });
}

#[test]
fn an_arm_that_is_pushed_and_told_otherwise_replays() {
    replays(Recording { scene: "arm", steps: 1500, command_every: 7 });
}

#[test]
fn a_pile_that_is_pushed_replays() {
    replays(Recording { scene: "pile", steps: 200, command_every: 5 });
}

#[test]
fn scenes_of_every_other_kind_replay() {
    for scene in ["many_rates", "pendulum", "quadruped"] {
        replays(Recording { scene, steps: 600, command_every: 5 });
    }
}

#[test]
fn a_killed_process_has_lost_nothing_that_it_acknowledged() {
    // Not a folder that goes with the test: the log of a failure is kept in it.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill");
    std::fs::create_dir_all(&folder).unwrap();
    let plan = Plan { rounds: 40, seed: 1, program: env!("CARGO_BIN_EXE_kill").into(), folder };
    let totals = rounds(&plan, |_| ()).unwrap();
    assert!(totals.acks > 0 && totals.running > 0, "{totals}");
    assert_eq!(totals.rounds, plan.rounds);
}
