//! Scenes that several tests share. Nothing here asserts anything about the engine.

use downbeat_time::{Binding, Phase, RunnerId};
use downbeat_world::{
    Body, EntityId, Joint, JointKind, JointState, Motor, MotorMode, MotorTarget, Pose, Registry, Robot,
    Scene, World,
};
use glam::Vec3;

/// A scene without anything.
pub(crate) fn empty() -> Scene {
    Scene::new("test", 7, Registry::builtin())
}

/// Settings from their text.
pub(crate) fn settings(text: &str) -> toml::Table {
    text.parse().expect("the test's settings are TOML")
}

/// Adds a subsystem of a built-in kind where it goes by default.
pub(crate) fn add(scene: &mut Scene, kind: &str, name: &str, text: &str) {
    scene.add(kind, name, &settings(text), None).expect("the test's settings fit");
}

/// An arm of six hinges on the world, each with a motor, a tool and limits: a robot called `arm`.
pub(crate) fn arm(world: &mut World, mode: MotorMode) -> (EntityId, Vec<EntityId>, EntityId) {
    let shape =
        [(Vec3::Z, 0.1), (Vec3::Y, 0.3), (Vec3::Y, 0.4), (Vec3::Z, 0.1), (Vec3::Y, 0.3), (Vec3::Z, 0.1)];
    let mut joints = Vec::new();
    for (number, (axis, _)) in shape.iter().enumerate() {
        let below = number.checked_sub(1);
        let id = world.spawn(format!("link {number}"), Pose::IDENTITY);
        world.set(id, Body::default());
        let motor = Motor { mode, stiffness: 100.0, damping: 10.0, effort_max: 50.0 };
        world.set(
            id,
            Joint {
                to: below.map(|below| joints[below]),
                to_frame: Pose::at(Vec3::Z * below.map_or(0.0, |below| shape[below].1)),
                limits: Some([-2.8, 2.8]),
                motor: Some(motor),
                ..Joint::new(JointKind::Hinge { axis: *axis })
            },
        );
        world.set(id, JointState::default());
        world.set(id, MotorTarget::default());
        joints.push(id);
    }
    let tool = world.spawn_on(joints[5], "tool", Pose::at(Vec3::Z * 0.1));
    let robot = world.spawn("arm", Pose::IDENTITY);
    let home = vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let keyframes = [("home".to_owned(), home)].into_iter().collect();
    world.set(robot, Robot { joints: joints.clone(), tools: vec![tool], keyframes });
    (robot, joints, tool)
}

/// A stand-in for a solver: every joint is a unit mass that its motor's effort pushes, or that is where its motor's
/// target position is.
pub(crate) fn add_unit_masses(scene: &mut Scene) {
    let binding = Binding::new(RunnerId::ROBOT, Phase::Physics);
    scene
        .add_fn("unit masses", binding, |world, context| {
            let dt = context.dt_secs() as f32;
            let joints = &world.components.joint;
            let targets = &world.components.motor_target;
            for (id, state) in world.components.joint_state.iter_mut() {
                let target = targets.get(id).copied().unwrap_or_default();
                match joints.get(id).and_then(|joint| joint.motor).map(|motor| motor.mode) {
                    Some(MotorMode::Effort) => {
                        state.velocity[0] += target.effort * dt;
                        state.position[0] += state.velocity[0] * dt;
                    }
                    _ => state.position[0] = target.position,
                }
            }
            Ok(())
        })
        .expect("the name is free");
}
