//! Promise: the same scene, commands and steps give the same bits, whatever the frame rate, the load, the build and the
//! number of threads, and also through a snapshot at any step.
//! Method: hashes of every step compared between ways to run, with golden ones, and bytes through snapshots.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use downbeat_tests::{SCENES, Trail, exact_over, shipped};
use downbeat_time::{Governor, ManualClock, TimeMode};
use downbeat_world::SceneSet;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde::{Deserialize, Serialize};

const STEPS: u64 = 300;

/// What a scene leaves behind after [`STEPS`] steps.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Golden {
    schedule_hash: String,
    state_hash: String,
}

#[test]
fn every_scene_has_the_hashes_it_always_had() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/hashes.toml");
    let found: BTreeMap<&str, Golden> = SCENES
        .iter()
        .map(|name| {
            let mut scene = shipped(name).unwrap();
            scene.run_steps(STEPS).unwrap();
            let schedule_hash = format!("{:016x}", scene.time().schedule_hash());
            let state_hash = format!("{:016x}", scene.state_hashes().total);
            (*name, Golden { schedule_hash, state_hash })
        })
        .collect();
    let found = toml::to_string(&found).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap();
    assert_eq!(found, golden, "a scene or the engine has changed; if it was meant, run with UPDATE_GOLDEN=1");
}

/// A log keeps the hash of every step, which a scene makes from what has changed since the step before.
#[test]
fn the_hash_of_every_step_is_the_one_from_scratch() {
    for name in SCENES {
        let mut scene = shipped(name).unwrap();
        let start = scene.save().unwrap();
        for step in 0..200 {
            if step == 100 {
                scene.restore(&start).unwrap();
            }
            scene.run_steps(1).unwrap();
            assert_eq!(scene.state_hash(), scene.state_hashes().total, "{name} at step {step}");
        }
    }
}

#[test]
fn scenes_go_through_snapshots_with_the_same_bytes() {
    for (name, steps) in
        [("arm", 60), ("pendulum", 60), ("many_rates", 60), ("quadruped", 60), ("cart2d", 60), ("pile", 12)]
    {
        assert_eq!(exact_over(shipped(name).unwrap(), steps, |_| {}).unwrap(), None, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn frames_and_load_decide_when_steps_run_and_nothing_else(
        frames in proptest::collection::vec((1_u64..60_000_000, 0_u64..20_000_000), 40),
        budget_micros in 100_u64..50_000,
    ) {
        let mut scene = shipped("arm").unwrap();
        scene.set_mode(TimeMode::SimRealtime);
        let clock = ManualClock::new();
        scene.set_clock(clock.clock());
        let budget = Duration::from_micros(budget_micros);
        scene.set_governor(Governor { budget, ..Governor::default() }).unwrap();
        for (elapsed, load) in frames {
            clock.advance(Duration::from_nanos(load));
            scene.tick(Duration::from_nanos(elapsed)).unwrap();
        }
        let steps = scene.time().steps();
        let mut flat_out = shipped("arm").unwrap();
        flat_out.run_steps(steps).unwrap();
        assert_eq!(scene.time().schedule_hash(), flat_out.time().schedule_hash());
        assert_eq!(scene.state_hashes(), flat_out.state_hashes());
    }

    #[test]
    fn any_number_of_workers_gives_the_same_bits(workers in 1_usize..4, steps in 1_u64..40) {
        let scenes = || ["arm", "cart2d", "quadruped"].iter().map(|name| shipped(name).unwrap()).collect();
        let hashes = |workers| {
            let mut set = SceneSet::new(scenes(), workers).unwrap();
            assert!(set.run_steps(steps).iter().all(Result::is_ok));
            set.iter().map(|scene| scene.state_hashes().total).collect::<Vec<_>>()
        };
        assert_eq!(hashes(workers), hashes(1));
    }

    #[test]
    fn a_trail_finds_where_two_runs_part(step in 1_u64..30, bit in any::<u64>()) {
        let trail = Trail { hashes: (0..30).map(|number| (number, number * 7)).collect() };
        let mut other: Trail = trail.to_text().parse().unwrap();
        assert_eq!(trail.first_difference(&other), None);
        other.hashes[step as usize - 1].1 ^= bit | 1;
        assert_eq!(trail.first_difference(&other), Some(step));
    }
}
