//! Motors: what they reach, and how fast.

use std::f32::consts::TAU;

use downbeat_time::{Binding, Phase, RunnerId};
use downbeat_world::{
    Articulation, Component, EntityId, Joint, JointKind, Motor, MotorMode, MotorTarget, Scene, WorldCommand,
};
use glam::Vec3;

use super::{G, at_position, hinge, on_joint, run, solid, state, weightless};

const BOTH: [Articulation; 2] = [Articulation::Reduced, Articulation::Impulse];

fn motor(mode: MotorMode, stiffness: f32, damping: f32) -> Option<Motor> {
    Some(Motor { mode, stiffness, damping, effort_max: 1000.0 })
}

fn aim(scene: &mut Scene, id: EntityId, target: MotorTarget) {
    scene.apply(WorldCommand::Set { entity: id, component: target.into() }).expect("it is sound");
}

/// Two per cent of the amplitude: what a stiff, critically damped drive lags behind half a turn a second.
#[test]
fn a_position_motor_follows_a_sine() {
    for articulation in BOTH {
        let mut scene = solid("1000");
        let joint = Joint { motor: motor(MotorMode::Position, 4000.0, 40.0), articulation, ..hinge(Vec3::Y) };
        let id = weightless(&mut scene, joint);
        scene.world_mut().set(id, MotorTarget::default());
        let sine =
            |time: f32| (0.5 * libm::sinf(TAU * 0.5 * time), 0.5 * TAU * 0.5 * libm::cosf(TAU * 0.5 * time));
        scene
            .add_fn("sine", Binding::new(RunnerId::ROBOT, Phase::Control), move |world, context| {
                let (position, velocity) = sine(context.now().as_secs_f64() as f32);
                world.set(id, MotorTarget { position, velocity, effort: 0.0 });
                Ok(())
            })
            .unwrap();
        run(&mut scene, 1.0);
        for _ in 0..2000 {
            scene.run_steps(1).unwrap();
            let wanted = sine(scene.world().now().as_secs_f64() as f32).0;
            let error = (state(&scene, id).position[0] - wanted).abs();
            assert!(error < 0.01, "{articulation:?}: {error} rad");
        }
    }
}

/// A spring under a weight: m g / k lower, to a promille of a metre.
#[test]
fn a_position_motor_gives_by_its_stiffness() {
    for articulation in BOTH {
        let mut scene = solid("1000");
        let kind = JointKind::Slide { axis: Vec3::Z };
        let joint =
            Joint { motor: motor(MotorMode::Position, 200.0, 40.0), articulation, ..Joint::new(kind) };
        let id = on_joint(&mut scene, joint, downbeat_world::Body::default());
        scene.world_mut().set(id, MotorTarget { position: 0.3, ..MotorTarget::default() });
        run(&mut scene, 5.0);
        let (there, exact) = (state(&scene, id).position[0], 0.3 - 2.0 * G / 200.0);
        assert!((there - exact).abs() < 1e-3, "{articulation:?}: {there} m, not {exact}");
        assert!(
            (state(&scene, id).effort - 2.0 * G).abs() < 0.3,
            "it holds the weight: {:?}",
            state(&scene, id)
        );
    }
}

/// A promille of the speed, once there; on the way it is never faster.
#[test]
fn a_velocity_motor_reaches_its_speed() {
    for articulation in BOTH {
        let mut scene = solid("1000");
        let joint = Joint { motor: motor(MotorMode::Velocity, 0.0, 2.0), articulation, ..hinge(Vec3::Z) };
        let id = weightless(&mut scene, joint);
        scene.world_mut().set(id, MotorTarget { velocity: 3.0, ..MotorTarget::default() });
        for _ in 0..1500 {
            scene.run_steps(1).unwrap();
            assert!(state(&scene, id).velocity[0] < 3.003, "{articulation:?}");
        }
        let speed = state(&scene, id).velocity[0];
        assert!((speed - 3.0).abs() < 3e-3, "{articulation:?}: {speed} rad/s");
    }
}

/// ω = τ t / I and s = F t² / 2 m, to half a per cent; armature is inertia too.
#[test]
fn an_effort_motor_accelerates_by_it() {
    for articulation in BOTH {
        for effort in [0.7, -0.3] {
            let mut scene = solid("1000");
            let joint = Joint { motor: motor(MotorMode::Effort, 0.0, 0.0), articulation, ..hinge(Vec3::X) };
            let id = weightless(&mut scene, joint);
            scene.world_mut().set(id, MotorTarget { effort, ..MotorTarget::default() });
            run(&mut scene, 0.5);
            let (speed, exact) = (state(&scene, id).velocity[0], effort * 0.5 / 0.1);
            assert!((speed / exact - 1.0).abs() < 5e-3, "{articulation:?}: {speed} rad/s, not {exact}");
            assert!((state(&scene, id).effort - effort).abs() < 1e-6);
        }
        let mut scene = solid("1000");
        let kind = JointKind::Slide { axis: Vec3::new(1.0, 1.0, 0.0) };
        let joint = Joint { motor: motor(MotorMode::Effort, 0.0, 0.0), articulation, ..Joint::new(kind) };
        let id = weightless(&mut scene, joint);
        scene.world_mut().set(id, MotorTarget { effort: 4.0, ..MotorTarget::default() });
        run(&mut scene, 1.0);
        let (way, exact) = (state(&scene, id).position[0], 4.0 / 2.0 / 2.0);
        assert!((way / exact - 1.0).abs() < 5e-3, "{articulation:?}: {way} m, not {exact}");
    }
    let mut scene = solid("1000");
    let joint = Joint { motor: motor(MotorMode::Effort, 0.0, 0.0), armature: 0.3, ..hinge(Vec3::X) };
    let id = weightless(&mut scene, joint);
    scene.world_mut().set(id, MotorTarget { effort: 2.0, ..MotorTarget::default() });
    run(&mut scene, 0.5);
    let (speed, exact) = (state(&scene, id).velocity[0], 2.0 * 0.5 / 0.4);
    assert!((speed / exact - 1.0).abs() < 5e-3, "with armature: {speed} rad/s, not {exact}");
}

/// A motor that lets go pushes no more: the speed stays, to a promille.
#[test]
fn an_effort_of_nothing_lets_go() {
    for articulation in BOTH {
        let mut scene = solid("1000");
        let joint = Joint { motor: motor(MotorMode::Effort, 0.0, 0.0), articulation, ..hinge(Vec3::Z) };
        let id = weightless(&mut scene, joint);
        scene.world_mut().set(id, MotorTarget { effort: 1.0, ..MotorTarget::default() });
        run(&mut scene, 0.2);
        aim(&mut scene, id, MotorTarget::default());
        scene.run_steps(1).unwrap();
        let speed = state(&scene, id).velocity[0];
        run(&mut scene, 1.0);
        let later = state(&scene, id).velocity[0];
        assert!(speed > 1.9 && (later / speed - 1.0).abs() < 1e-3, "{articulation:?}: {speed}, then {later}");
    }
}

/// The strongest effort counts: against more than it can hold, a joint gives way.
#[test]
fn a_motor_is_no_stronger_than_it_is() {
    for articulation in BOTH {
        let fallen = |effort_max: f32| {
            let mut scene = solid("500");
            let drive = Motor { mode: MotorMode::Position, stiffness: 1e4, damping: 1e3, effort_max };
            let kind = JointKind::Slide { axis: Vec3::Z };
            let joint = Joint { motor: Some(drive), articulation, ..Joint::new(kind) };
            let id = on_joint(&mut scene, joint, downbeat_world::Body::default());
            scene.world_mut().set(id, MotorTarget::default());
            run(&mut scene, 1.0);
            -state(&scene, id).position[0]
        };
        assert!(fallen(2.1 * G) < 5e-3, "{articulation:?}: it can hold 2 kg");
        let exact = (G - 0.5 * G) / 2.0;
        assert!((fallen(1.0 * G) / exact - 1.0).abs() < 0.01, "{articulation:?}: {} m", fallen(1.0 * G));
    }
}

/// What slows a joint: e^(−d t / I) of the speed is left, to half a per cent, with a motor that is off or without one.
#[test]
fn damping_slows_a_joint() {
    for articulation in BOTH {
        for motor in [None, motor(MotorMode::Effort, 0.0, 0.0)] {
            let mut scene = solid("1000");
            let id = weightless(&mut scene, Joint { damping: 0.2, motor, articulation, ..hinge(Vec3::Z) });
            let mut start = at_position(0.0);
            start.velocity[0] = 3.0;
            let component: Component = match articulation {
                Articulation::Reduced => start.into(),
                Articulation::Impulse => {
                    downbeat_world::Velocity { angular: Vec3::Z * 3.0, ..Default::default() }.into()
                }
            };
            scene.world_mut().set(id, component);
            run(&mut scene, 0.5);
            let (speed, exact) = (state(&scene, id).velocity[0], 3.0 * libm::expf(-0.2 * 0.5 / 0.1));
            assert!((speed / exact - 1.0).abs() < 5e-3, "{articulation:?}, {motor:?}: {speed}, not {exact}");
        }
    }
}
