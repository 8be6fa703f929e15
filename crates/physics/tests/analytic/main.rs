//! Physics against what can be calculated. Every bound is said where it is used, with what it is made of.

mod commands;
mod contacts;
mod falling;
mod motors;
mod pendulum;
mod plane;

use std::time::Duration;

use downbeat_physics::registry;
use downbeat_time::{RunnerConfig, TimeConfig};
use downbeat_world::{
    Body, Collider, EntityId, Joint, JointKind, JointState, MassProperties, Pose, Scene, Shape,
};
use glam::{Quat, Vec3};

/// What the tests take for gravity, in metres per square second.
const G: f32 = 9.81;

/// An empty scene with one runner at this rate and a solver on it.
fn lab(kind: &str, rate: &str, settings: &str) -> Scene {
    let config = TimeConfig {
        runners: vec![RunnerConfig::new("Robot", rate.parse().expect("a rate"))],
        ..TimeConfig::default()
    };
    let mut scene = Scene::with_time("lab", 1, registry(), config).expect("one runner");
    scene.add(kind, "physics", &settings.parse().expect("settings"), None).expect("a solver");
    scene
}

/// Three dimensions at this rate.
fn solid(rate: &str) -> Scene {
    lab("rapier3d", rate, "")
}

fn run(scene: &mut Scene, secs: f32) {
    scene.run_for(Duration::from_secs_f32(secs)).expect("it can be simulated");
}

fn ground(scene: &mut Scene, turned: Quat, friction: f32, restitution: f32) -> EntityId {
    let ground = scene.world_mut().spawn("ground", Pose::turned(turned));
    scene.world_mut().set(ground, Collider { friction, restitution, ..Collider::new(Shape::HalfSpace) });
    ground
}

fn ball(scene: &mut Scene, at: Vec3, radius: f32) -> EntityId {
    let ball = scene.world_mut().spawn("ball", Pose::at(at));
    scene.world_mut().set(ball, Body::default());
    scene.world_mut().set(ball, Collider::new(Shape::Sphere { radius }));
    ball
}

/// A mass whose moments of inertia are all the same.
fn round_mass(mass: f32, inertia: f32) -> MassProperties {
    MassProperties { mass, center: Vec3::ZERO, inertia: Vec3::splat(inertia), axes: Quat::IDENTITY }
}

/// A body without a collider on a joint with the world: 2 kg, 0.1 kg m².
fn on_joint(scene: &mut Scene, joint: Joint, body: Body) -> EntityId {
    let id = scene.world_mut().spawn("link", Pose::IDENTITY);
    scene.world_mut().set(id, Body { mass: Some(round_mass(2.0, 0.1)), can_sleep: false, ..body });
    scene.world_mut().set(id, joint);
    id
}

/// A hinge or a slide that gravity does not move.
fn weightless(scene: &mut Scene, joint: Joint) -> EntityId {
    on_joint(scene, joint, Body { gravity_scale: 0.0, ..Body::default() })
}

fn place(scene: &Scene, id: EntityId) -> Vec3 {
    scene.world().world_pose(id).position
}

fn state(scene: &Scene, id: EntityId) -> JointState {
    *scene.world().components.joint_state.get(id).expect("it hangs on a joint")
}

fn at_position(position: f32) -> JointState {
    let mut state = JointState::default();
    state.position[0] = position;
    state
}

fn hinge(axis: Vec3) -> Joint {
    Joint::new(JointKind::Hinge { axis })
}
