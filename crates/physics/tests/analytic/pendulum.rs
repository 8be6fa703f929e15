//! A pendulum of 2 kg at 1 m, whose period is known for every amplitude, as a joint of each kind.

use std::f32::consts::PI;

use downbeat_world::{Articulation, Body, EntityId, Joint, Pose, Scene};
use glam::{Quat, Vec3};

use super::{G, at_position, hinge, lab, on_joint, place, solid, state};

const LENGTH: f32 = 1.0;
const MASS: f32 = 2.0;
const INERTIA: f32 = 0.1;

/// A pendulum in the x-z plane that starts at rest, this far from hanging down.
fn pendulum(scene: &mut Scene, articulation: Articulation, angle: f32) -> EntityId {
    let joint = Joint { frame: Pose::at(Vec3::Z * LENGTH), articulation, ..hinge(Vec3::Y) };
    let id = on_joint(scene, joint, Body::default());
    let rotation = Quat::from_rotation_y(angle);
    scene.world_mut().set(id, Pose { position: rotation * (Vec3::NEG_Z * LENGTH), rotation });
    scene.world_mut().set(id, at_position(angle));
    id
}

/// The period of any amplitude: that of small ones, by the arithmetic-geometric mean of 1 and cos(θ/2).
fn exact_period(angle: f32) -> f32 {
    let small = 2.0 * PI * ((INERTIA + MASS * LENGTH * LENGTH) / (MASS * G * LENGTH)).sqrt();
    let (mut a, mut b) = (1.0, libm::cosf(angle / 2.0));
    for _ in 0..20 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    small / a
}

/// The mean period over some swings, from where the joint passes zero, between steps by a straight line.
fn measured_period(scene: &mut Scene, id: EntityId, swings: usize) -> f32 {
    let mut passed = Vec::new();
    let mut before = (0.0, state(scene, id).position[0]);
    while passed.len() < 2 * swings + 1 {
        scene.run_steps(1).expect("nothing is in its way");
        let now = (scene.world().now().as_secs_f64() as f32, state(scene, id).position[0]);
        if before.1 * now.1 <= 0.0 && before.1 != 0.0 {
            passed.push(before.0 + (now.0 - before.0) * before.1 / (before.1 - now.1));
        }
        before = now;
        assert!(now.0 < 60.0, "it does not swing");
    }
    (passed[2 * swings] - passed[0]) / swings as f32
}

/// Half a promille: the order of one step (1 ms) in a period of two seconds. A joint of impulses loses amplitude, which
/// at 2.5 rad, where the period depends on it most, makes three per cent in five swings.
#[test]
fn the_period_is_that_of_its_amplitude() {
    for (articulation, angle, bound) in [
        (Articulation::Reduced, 0.05, 5e-4),
        (Articulation::Reduced, 1.0, 5e-4),
        (Articulation::Reduced, 2.5, 5e-4),
        (Articulation::Impulse, 0.05, 5e-4),
        (Articulation::Impulse, 1.0, 1e-3),
        (Articulation::Impulse, 2.5, 0.03),
    ] {
        let mut scene = solid("1000");
        let id = pendulum(&mut scene, articulation, angle);
        let (measured, exact) = (measured_period(&mut scene, id, 5), exact_period(angle));
        let error = measured / exact - 1.0;
        assert!(error.abs() < bound, "{articulation:?}, {angle}: {measured} s, not {exact} s ({error})");
    }
}

/// What a swing of one radian could do without a joint to hold it: a joint of impulses gives by a tenth of a
/// millimetre, one of reduced coordinates by rounding only.
#[test]
fn the_joint_holds() {
    for (articulation, bound) in [(Articulation::Reduced, 1e-5), (Articulation::Impulse, 1e-4)] {
        let mut scene = solid("1000");
        let id = pendulum(&mut scene, articulation, 1.0);
        for _ in 0..3000 {
            scene.run_steps(1).unwrap();
            let apart = (place(&scene, id).length() - LENGTH).abs();
            assert!(apart < bound, "{articulation:?}: {apart} m");
        }
    }
}

/// Of the energy of a swing of one radian, a joint of reduced coordinates changes less than one per cent in a minute.
/// One of impulses loses four, in proportion to the length of the step, and gains nothing.
#[test]
fn energy_stays_for_a_minute() {
    for (articulation, lost_max) in [(Articulation::Reduced, 0.01), (Articulation::Impulse, 0.05)] {
        let mut scene = solid("1000");
        let id = pendulum(&mut scene, articulation, 1.0);
        let energy = |scene: &Scene| {
            let [angle, speed] = [state(scene, id).position[0], state(scene, id).velocity[0]];
            let kinetic = (INERTIA + MASS * LENGTH * LENGTH) * speed * speed / 2.0;
            kinetic + MASS * G * LENGTH * (1.0 - libm::cosf(angle))
        };
        let start = MASS * G * LENGTH * (1.0 - libm::cosf(1.0));
        for _ in 0..600 {
            scene.run_steps(100).unwrap();
            let change = energy(&scene) / start - 1.0;
            assert!(change > -lost_max && change < 0.01, "{articulation:?}: {change}");
        }
    }
}

/// A tenth of the period's error for ten solver steps in each step: the error is of first order.
#[test]
fn more_solver_steps_come_nearer() {
    let error = |substeps: u32| {
        let mut scene = lab("rapier3d", "50", &format!("substeps = {substeps}"));
        let id = pendulum(&mut scene, Articulation::Reduced, 2.0);
        (measured_period(&mut scene, id, 5) / exact_period(2.0) - 1.0).abs()
    };
    let (one, ten) = (error(1), error(10));
    assert!(ten < one / 3.0 && ten < 2e-3, "{one} with one step, {ten} with ten");
}

/// One degree past the limit, at the speed of a fall from upright to 0.5 rad.
#[test]
fn limits_hold_a_swing() {
    for articulation in [Articulation::Reduced, Articulation::Impulse] {
        let mut scene = solid("1000");
        let id = pendulum(&mut scene, articulation, 0.0);
        let joint = scene.world().components.joint.get(id).copied().unwrap();
        scene.world_mut().set(id, Joint { limits: Some([-0.5, 0.8]), ..joint });
        let mut start = at_position(0.0);
        start.velocity[0] = 4.0;
        match articulation {
            Articulation::Reduced => scene.world_mut().set(id, start),
            Articulation::Impulse => {
                let speed = downbeat_world::Velocity { linear: Vec3::NEG_X * 4.0, angular: Vec3::Y * 4.0 };
                scene.world_mut().set(id, speed);
            }
        }
        let (mut low, mut high) = (0.0_f32, 0.0_f32);
        for _ in 0..4000 {
            scene.run_steps(1).unwrap();
            low = low.min(state(&scene, id).position[0]);
            high = high.max(state(&scene, id).position[0]);
        }
        assert!(high > 0.75 && high < 0.8 + 0.0175, "{articulation:?}: {high}");
        assert!(low > -0.5 - 0.0175, "{articulation:?}: {low}");
    }
}
