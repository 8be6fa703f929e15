//! The shipped scenes load, run and stay sane.

use std::path::Path;

use downbeat_physics::registry;
use downbeat_world::{LoadOptions, Scene};

fn scene(name: &str) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).with_extension("toml");
    Scene::load_file(&file, registry(), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_arm_keeps_its_home() {
    let mut scene = scene("arm");
    let home = scene.world().components.motor_target.clone();
    scene.run_for(std::time::Duration::from_secs(5)).unwrap();
    for (id, target) in home.iter() {
        let there = scene.world().components.joint_state.get(id).unwrap().position[0];
        assert!((there - target.position).abs() < 0.02, "{id} is at {there}, not at {}", target.position);
    }
    for (id, tags) in scene.world().components.tags.iter().filter(|(_, tags)| tags.0[0] == "box") {
        let height = scene.world().world_pose(id).position.z;
        assert!((height - 0.42).abs() < 0.002, "{id} {tags:?} is at {height}");
    }
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
