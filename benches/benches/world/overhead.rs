//! What the engine costs around the solver: a scene stepped by its time manager, beside the same solver's world in a
//! bare loop. Both begin with the same bytes and must end with the same bits.

use std::cell::RefCell;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_physics::Rapier3d;
use downbeat_time::Edit;
use downbeat_world::{Scene, Subsystem as _, WorldCommand};
use rapier3d::prelude::PhysicsWorld;

use crate::scenes;

/// Steps in a round: so many that the first one after a restore, with its cold memory, is one of many.
const BENCHES: [(&str, &str, u64); 2] =
    [("physics/overhead_pile", "pile", 60), ("physics/overhead_arm", "arm", 500)];

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    for (bench, name, steps) in BENCHES {
        if !suite.wants(bench) {
            continue;
        }
        let mut scene = scenes::load(name)?;
        // Into the middle of what the scene is about: contacts in the pile, a settled arm.
        scene.run_for(std::time::Duration::from_secs(2))?;
        hold_still(&mut scene)?;
        let saved = scene.save()?;
        let solver = physics(&scene)?.save().map_err(anyhow::Error::from_boxed)?;
        let scene = RefCell::new(scene);
        let contestants = vec![
            Contestant::timed_within("engine", |watch| {
                let mut scene = scene.borrow_mut();
                scene.restore(&saved).expect("it was saved from this scene");
                watch.time(|| {
                    let physics = scene.time().runner_id("Physics").expect("both scenes have it");
                    let index =
                        |scene: &Scene| scene.time().swarm().get(physics).map_or(0, |runner| runner.index);
                    let end = index(&scene) + steps;
                    while index(&scene) < end {
                        scene.run_steps(1).expect("the scene runs");
                    }
                });
                solver_proof(&physics_world(
                    &physics(&scene).expect("it has one").save().expect("it can be saved"),
                ))
            }),
            Contestant::timed_within("bare rapier", |watch| {
                let mut world = physics_world(&solver);
                watch.time(|| (0..steps).for_each(|_| world.step()));
                solver_proof(&world)
            }),
        ];
        let results = race(steps, contestants)?;
        suite.print(&Figure::of_race(bench, "ns/step", results[0], &results[1..]))?;
    }
    Ok(())
}

/// Turns off who gives the arm new targets: the bare loop has nobody who would.
fn hold_still(scene: &mut Scene) -> anyhow::Result<()> {
    let leaders = scene.subsystems().filter(|(name, ..)| ["sorter", "reach"].contains(name));
    let leaders: Vec<_> = leaders.map(|(_, _, callback)| callback).collect();
    for callback in leaders {
        scene.apply(WorldCommand::Time(Edit::SetEnabled { callback, enabled: false }))?;
    }
    Ok(())
}

fn physics(scene: &Scene) -> anyhow::Result<&Rapier3d> {
    scene.subsystem("physics").ok_or_else(|| anyhow::anyhow!("the scene has no rapier3d"))
}

/// The solver's world, which stands first in what the subsystem saves.
fn physics_world(saved: &[u8]) -> PhysicsWorld {
    let (mut world, _): (PhysicsWorld, _) = postcard::take_from_bytes(saved).expect("the world stands first");
    world.physics_pipeline.counters.disable();
    world
}

fn solver_proof(world: &PhysicsWorld) -> u64 {
    scenes::proof(world.rigid_bodies().map(|(_, body)| body.translation().to_array()))
}
