//! The shipped scenes load, run and stay sane.

use std::path::Path;

use downbeat_physics::registry;
use downbeat_world::Scene;
use downbeat_world::subsystems::PickAndPlace;

fn scene(name: &str) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).with_extension("toml");
    Scene::load_file(&file, registry()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_pile_stays_in_its_pit() {
    let mut scene = scene("pile");
    assert!(scene.world().components.body.len() >= 1000);
    scene.run_for(std::time::Duration::from_secs(2)).unwrap();
    for (id, pose) in scene.world().components.pose.iter() {
        assert!(pose.position.abs().max_element() < 5.0, "{id} is at {}", pose.position);
        assert!(pose.position.z > -0.1, "{id} fell through the ground");
    }
}

#[test]
fn the_pendulum_swings_as_calculated() {
    let mut scene = scene("pendulum");
    let bob = scene.world().find("bob").unwrap();
    let mut crossings = Vec::new();
    let mut before = 0.1_f32;
    while crossings.len() < 21 {
        scene.run_steps(1).unwrap();
        let angle = scene.world().components.joint_state.get(bob).unwrap().position[0];
        let now = scene.time().now().as_secs_f64();
        if angle < 0.0 && before >= 0.0 {
            crossings.push(now);
        }
        before = angle;
        assert!(now < 60.0, "it does not swing");
    }
    let period = (crossings[20] - crossings[0]) / 20.0;
    let length = 1.0_f64;
    let inertia = 0.0032 + 2.0 * length * length;
    let small = std::f64::consts::TAU * (inertia / (2.0 * 9.81 * length)).sqrt();
    // The first terms of the series for an amplitude of 0.1 rad.
    let expected = small * (1.0 + 0.1_f64 * 0.1 / 16.0);
    assert!((period / expected - 1.0).abs() < 2e-4, "{period} s instead of {expected} s");
}

#[test]
fn eight_runners_share_one_timeline() {
    let mut scene = scene("many_rates");
    assert_eq!(scene.time().runners().count(), 8);
    scene.run_for(std::time::Duration::from_secs(1)).unwrap();
    let steps = |name| scene.time().swarm().get(scene.time().runner_id(name).unwrap()).unwrap().index;
    assert_eq!((steps("Physics"), steps("Robot"), steps("Camera"), steps("Audio")), (1000, 50, 29, 172));
}

#[test]
fn the_arm_sorts_every_box_into_the_tray_of_its_colour() {
    let mut scene = scene("arm");
    assert_eq!(scene.subsystem::<PickAndPlace>("sorter").unwrap().placed(), 0);
    scene.run_for(std::time::Duration::from_secs(40)).unwrap();
    assert_eq!(scene.subsystem::<PickAndPlace>("sorter").unwrap().placed(), 6);
    let world = scene.world();
    let tagged = |tag: &'static str| world.components.tags.iter().filter(move |(_, tags)| tags.0[0] == tag);
    for (id, tags) in tagged("box") {
        let (tray, _) = tagged("tray").find(|(_, other)| other.0[1] == tags.0[1]).unwrap();
        let away = world.world_pose(id).position - world.world_pose(tray).position;
        assert!(away.x.abs() < 0.13 && away.y.abs() < 0.1 && away.z < 0.05, "{id} {tags:?} is {away} away");
    }
}
