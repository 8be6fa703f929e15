//! Many scenes at once: the results are those of each scene alone, for any number of threads, and trouble in one is
//! its own.

use downbeat_time::{Binding, Phase, RunnerId};
use downbeat_world::{Pose, Registry, Scene, SceneError, SceneSet};

/// A scene with some arithmetic of its own: scenes of other numbers give other results and take other times.
fn scene(number: u64) -> Scene {
    let mut scene = Scene::new(format!("scene {number}"), number, Registry::builtin());
    let id = scene.world_mut().spawn("walker", Pose::IDENTITY);
    let walk = move |world: &mut downbeat_world::World, _: &downbeat_time::StepContext<'_>| {
        for _ in 0..1 + 50 * (number % 7) {
            let step = world.random.normal() as f32;
            let pose = world.components.pose.get_mut(id).ok_or("it is gone")?;
            pose.position.x += step;
        }
        Ok(())
    };
    scene.add_fn("walk", Binding::new(RunnerId::ROBOT, Phase::Physics), walk).expect("the name is free");
    scene
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let alone: Vec<u64> = (0..37)
        .map(|number| {
            let mut scene = scene(number);
            scene.run_steps(25).unwrap();
            scene.run_for(std::time::Duration::from_millis(300)).unwrap();
            scene.state_hashes().total
        })
        .collect();
    for workers in [1, 2, 3] {
        let mut set = SceneSet::new((0..37).map(scene).collect(), workers).unwrap();
        assert_eq!((set.len(), set.workers()), (37, workers));
        for outcome in set.run_steps(25) {
            assert_eq!(outcome.unwrap().steps, 25);
        }
        assert!(set.run_for(std::time::Duration::from_millis(300)).into_iter().all(|ran| ran.is_ok()));
        let hashes: Vec<u64> = set.iter().map(|scene| scene.state_hashes().total).collect();
        assert_eq!(hashes, alone, "{workers} workers");
        for at in 0..37 {
            assert_eq!(set.get(at).unwrap().name(), format!("scene {at}"));
        }
        assert!(set.get(37).is_none());
    }
}

#[test]
fn trouble_in_one_scene_is_its_own() {
    let mut scenes: Vec<Scene> = (0..9).map(scene).collect();
    let control = Binding::new(RunnerId::ROBOT, Phase::Control);
    scenes[3].add_fn("fails", control, |_, _| Err("no more".into())).unwrap();
    scenes[5].add_fn("panics", control, |_, _| panic!("out of luck")).unwrap();
    let mut set = SceneSet::new(scenes, 2).unwrap();
    for round in 0..2 {
        let outcomes = set.run_steps(10);
        for (at, outcome) in outcomes.into_iter().enumerate() {
            match (at, outcome) {
                (3, Err(SceneError::Step(error))) => {
                    assert!(error.to_string().contains("no more"), "{error}");
                }
                (5, Err(SceneError::Panicked(panic))) => assert_eq!(panic.message(), "out of luck"),
                (3 | 5, other) => panic!("{at} in round {round}: {other:?}"),
                (_, outcome) => assert_eq!(outcome.unwrap().steps, 10),
            }
        }
    }
    assert_eq!(set.get(4).unwrap().time().steps(), 20);
}

#[test]
fn a_set_may_be_empty_small_changed_and_taken_apart() {
    let mut none = SceneSet::new(Vec::new(), 4).unwrap();
    assert!(none.run_steps(3).is_empty() && none.is_empty());
    let mut set = SceneSet::new((0..2).map(scene).collect(), 4).unwrap();
    set.get_mut(1).unwrap().world_mut().spawn("guest", Pose::IDENTITY);
    assert!(set.run_steps(1).into_iter().all(|ran| ran.is_ok()));
    let scenes = set.into_scenes();
    assert_eq!(scenes[1].world().entities().len(), 2);
    assert_eq!(scenes[0].world().entities().len(), 1);
}
