//! The hash of a scene's whole state while it runs, beside the same hash from scratch; and what hashing every step adds
//! to the arm's step.

use std::cell::RefCell;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_world::Scene;

use crate::scenes;

const HASHES: [(&str, &str, u64); 2] =
    [("world/state_hash_arm", "arm", 500), ("world/state_hash_pile", "pile", 10)];
const STEP: &str = "world/state_hash_step";
const STEPS: u64 = 500;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    for (bench, name, steps) in HASHES {
        if suite.wants(bench) {
            let (scene, saved) = running(name)?;
            // Each figure has one reading of the clock in it: the steps between two hashes must not count.
            let hashes = |name, hash: fn(&mut Scene) -> u64| {
                let (scene, saved) = (&scene, &saved);
                Contestant::timed_within(name, move |watch| {
                    let mut scene = back(scene, saved);
                    (0..steps).fold(0, |sum: u64, _| {
                        scene.run_steps(1).expect("the scene runs");
                        sum.rotate_left(7) ^ watch.time(|| hash(&mut scene))
                    })
                })
            };
            let scratch = hashes("from scratch", |scene| scene.state_hashes().total);
            let results = race(steps, vec![hashes("kept", Scene::state_hash), scratch])?;
            suite.print(&Figure::of_race(bench, "ns", results[0], &results[1..]))?;
        }
    }
    if suite.wants(STEP) {
        let (scene, saved) = running("arm")?;
        let steps = |name, hash: fn(&mut Scene)| {
            let (scene, saved) = (&scene, &saved);
            Contestant::timed_within(name, move |watch| {
                let mut scene = back(scene, saved);
                watch.time(|| {
                    for _ in 0..STEPS {
                        scene.run_steps(1).expect("the scene runs");
                        hash(&mut scene);
                    }
                });
                scene.state_hash()
            })
        };
        let hashed = steps("hashed", |scene| _ = std::hint::black_box(scene.state_hash()));
        let results = race(STEPS, vec![hashed, steps("not hashed", |_| {})])?;
        suite.print(&Figure::of_race(STEP, "ns/step", results[0], &results[1..]))?;
    }
    Ok(())
}

/// A shipped scene in the middle of what it is about, and the way back there.
fn running(name: &str) -> anyhow::Result<(RefCell<Scene>, Vec<u8>)> {
    let mut scene = scenes::load(name)?;
    scene.run_for(std::time::Duration::from_secs(2))?;
    let saved = scene.save()?;
    Ok((RefCell::new(scene), saved))
}

/// The scene where it was saved, hashed once: a steady run is measured, not its first step.
fn back<'a>(scene: &'a RefCell<Scene>, saved: &[u8]) -> std::cell::RefMut<'a, Scene> {
    let mut scene = scene.borrow_mut();
    scene.restore(saved).expect("it was saved from this scene");
    scene.state_hash();
    scene
}
