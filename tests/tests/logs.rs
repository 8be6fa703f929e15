//! Promise: a log holds all that decided a run, so that running it again gives the same bits, and what was acknowledged
//! outlives its process.
//! Method: shipped scenes with commands of all kinds, every hash compared; processes that are killed. At length with
//! `cargo xtask replay` and `cargo xtask kill`.

use downbeat_tests::{Plan, record, rounds, verify};

/// Writes a log and runs it again.
fn replays(scene: &str, steps: u64, command_every: u64) {
    let folder = tempfile::tempdir().unwrap();
    record(scene, folder.path(), steps, command_every, |_| ()).unwrap();
    let totals = verify(folder.path(), |_| ()).unwrap();
    assert_eq!((totals.steps, totals.commands), (steps, steps.div_ceil(command_every)), "{scene}");
}

#[test]
fn a_long_run_replays() {
    replays("pendulum", 20_000, 97);
}

#[test]
fn an_arm_that_is_pushed_and_told_otherwise_replays() {
    replays("arm", 1500, 7);
}

#[test]
fn a_pile_that_is_pushed_replays() {
    replays("pile", 200, 5);
}

#[test]
fn scenes_of_every_other_kind_replay() {
    for scene in ["many_rates", "cart2d", "quadruped"] {
        replays(scene, 600, 5);
    }
}

#[test]
fn a_killed_process_has_lost_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (program, seed) = (env!("CARGO_BIN_EXE_kill").into(), 1);
    let plan = Plan { rounds: 40, seed, program, folder: folder.path().to_owned() };
    let totals = rounds(&plan, |_| ()).unwrap();
    assert!(totals.acks > 0 && totals.running > 0, "{totals}");
    assert_eq!(totals.rounds, plan.rounds);
}
