//! Joints as the solver has them: which axes are free, what drives them, and where they are.
//!
//! A plane has one way to turn. A hinge whose axis is −z turns the other way round, so its numbers change their sign.

use downbeat_world::{Articulation, Joint, JointKind, JointState, Motor, MotorMode, MotorTarget, Pose};
use glam::Vec3;
use rapier2d::prelude::{
    GenericJoint, ImpulseJointHandle, JointAxesMask, JointAxis, MotorModel, Multibody, PhysicsWorld,
};

use super::convert;
use super::structure::{JointHandle, MadeJoint};

/// How hard a motor in effort mode chases its far-off speed: so hard that only its strongest effort limits it.
const EFFORT_GAIN: f32 = 1e6;
/// The far-off speed that a motor in effort mode chases and never reaches.
const EFFORT_SPEED: f32 = 1e4;
/// How far an axis may lean and still count as in the plane, or as z.
const LEAN_MAX: f32 = 1e-3;

/// Whether such a joint can be made in a plane.
pub(super) fn check(joint: &Joint) -> Result<(), String> {
    match joint.kind {
        JointKind::Hinge { axis } if axis.normalize().z.abs() < 1.0 - LEAN_MAX => {
            Err("in a plane, a hinge turns about z; its axis must be z or -z".to_owned())
        }
        JointKind::Slide { axis } if axis.normalize().z.abs() > LEAN_MAX => {
            Err("in a plane, a slide goes along x and y; its axis must have no z".to_owned())
        }
        JointKind::Ball => Err("in a plane, a ball is a hinge about z; make it one".to_owned()),
        _ => Ok(()),
    }
}

/// A joint whose free axis, if it slides, is the x axis of both frames.
pub(super) fn generic(joint: &Joint) -> GenericJoint {
    let (free, frame_from_axis) = match joint.kind {
        JointKind::Fixed | JointKind::Ball => (JointAxesMask::empty(), Pose::IDENTITY),
        JointKind::Hinge { .. } => (JointAxesMask::ANG_X, Pose::IDENTITY),
        JointKind::Slide { axis } => {
            let angle = libm::atan2f(axis.y, axis.x);
            (JointAxesMask::LIN_X, Pose::turned(glam::Quat::from_rotation_z(angle)))
        }
        JointKind::Free => (JointAxesMask::all(), Pose::IDENTITY),
    };
    let mut data = GenericJoint::new(free.complement());
    data.set_local_frame1(convert::pose_in(joint.to_frame * frame_from_axis));
    data.set_local_frame2(convert::pose_in(joint.frame * frame_from_axis));
    data.set_contacts_enabled(joint.contacts);
    if let (Some([low, high]), Some((axis, sign))) = (joint.limits, axis_of(joint.kind)) {
        data.set_limits(axis, if sign > 0.0 { [low, high] } else { [-high, -low] });
    }
    set_motor(&mut data, joint, &MotorTarget::default());
    data
}

/// Damping and armature, which an articulation keeps beside its joints.
pub(super) fn set_passive(physics: &mut PhysicsWorld, made: &MadeJoint, joint: &Joint) {
    let JointHandle::Reduced(handle) = made.handle else { return };
    let Some((multibody, link)) = physics.multibody_joints.get_mut(handle) else { return };
    let Some((at, len)) = span(multibody, link) else { return };
    multibody.damping_mut().rows_mut(at, len).fill(joint.damping);
    multibody.armature_mut().rows_mut(at, len).fill(joint.armature);
}

/// Gives a joint's motor its target, and wakes what hangs on it.
pub(super) fn drive(physics: &mut PhysicsWorld, made: &MadeJoint, joint: &Joint, target: &MotorTarget) {
    if joint.motor.is_none() {
        return;
    }
    match made.handle {
        JointHandle::Reduced(handle) => {
            let Some((multibody, link)) = physics.multibody_joints.get_mut(handle) else { return };
            let Some(link) = multibody.link_mut(link) else { return };
            set_motor(&mut link.joint.data, joint, target);
            let body = link.rigid_body_handle();
            physics.wake_up(body, true);
        }
        JointHandle::Impulse(handle) => {
            if let Some(there) = physics.impulse_joints.get_mut(handle, true) {
                set_motor(&mut there.data, joint, target);
            }
        }
        JointHandle::Free => {}
    }
}

/// What drives a joint and, if it is held by impulses, what slows it: such a joint has one law for both.
fn set_motor(data: &mut GenericJoint, joint: &Joint, target: &MotorTarget) {
    let Some((axis, sign)) = axis_of(joint.kind) else { return };
    let slowed = if joint.articulation == Articulation::Impulse { joint.damping } else { 0.0 };
    let Some(motor) = joint.motor else {
        if slowed > 0.0 {
            data.set_motor_model(axis, MotorModel::ForceBased);
            data.set_motor_velocity(axis, 0.0, slowed);
        }
        return;
    };
    let (position, velocity) = (sign * target.position, sign * target.velocity);
    let effort = sign * target.effort.clamp(-motor.effort_max, motor.effort_max);
    data.set_motor_model(axis, MotorModel::ForceBased);
    data.set_motor_max_force(axis, motor.effort_max);
    // k (p* − p) + d (v* − v) − s v is a motor of damping d + s for the speed d v* / (d + s).
    let damping = motor.damping + slowed;
    let velocity = if damping > 0.0 { velocity * motor.damping / damping } else { 0.0 };
    match motor.mode {
        MotorMode::Position => _ = data.set_motor(axis, position, velocity, motor.stiffness, damping),
        MotorMode::Velocity => _ = data.set_motor(axis, 0.0, velocity, 0.0, damping),
        // τ − s v is a motor of damping s for the speed τ / s, as strong as it takes.
        MotorMode::Effort if slowed > 0.0 => {
            data.set_motor(axis, 0.0, effort / slowed, 0.0, slowed);
            data.set_motor_max_force(axis, f32::MAX);
        }
        MotorMode::Effort => {
            data.set_motor(axis, 0.0, EFFORT_SPEED.copysign(effort), 0.0, EFFORT_GAIN);
            data.set_motor_max_force(axis, effort.abs());
        }
    }
}

/// Where a joint is, and how it moves.
pub(super) fn state(
    physics: &PhysicsWorld,
    made: &MadeJoint,
    joint: &Joint,
    target: &MotorTarget,
) -> JointState {
    let mut state = JointState::default();
    let Some((axis, sign)) = axis_of(joint.kind) else { return state };
    match made.handle {
        JointHandle::Reduced(handle) => {
            let Some((multibody, link)) = physics.multibody_joints.get(handle) else { return state };
            let Some(link) = multibody.link(link) else { return state };
            state.position[0] = sign * link.joint.coords()[axis as usize];
            state.velocity[0] =
                sign * multibody.joint_velocity(link).iter().copied().next().unwrap_or_default();
        }
        JointHandle::Impulse(handle) => impulse_state(physics, handle, joint.kind, sign, &mut state),
        JointHandle::Free => {}
    }
    state.effort = joint.motor.map_or(0.0, |motor| effort(&motor, target, &state));
    state
}

/// Puts an articulation's joint somewhere. The bodies follow with [`settle`].
pub(super) fn set_state(physics: &mut PhysicsWorld, made: &MadeJoint, joint: &Joint, state: &JointState) {
    let JointHandle::Reduced(handle) = made.handle else { return };
    let Some((axis, sign)) = axis_of(joint.kind) else { return };
    let Some((multibody, id)) = physics.multibody_joints.get_mut(handle) else { return };
    let Some((at, len)) = span(multibody, id) else { return };
    multibody.generalized_velocity_mut().rows_mut(at, len).fill(sign * state.velocity[0]);
    let Some(link) = multibody.link_mut(id) else { return };
    let away = sign * state.position[0] - link.joint.coords()[axis as usize];
    link.joint.apply_displacement(&[away]);
}

/// Makes the bodies of all articulations follow their joints.
pub(super) fn settle(physics: &mut PhysicsWorld, made: &MadeJoint) {
    let JointHandle::Reduced(handle) = made.handle else { return };
    let PhysicsWorld { multibody_joints, bodies, .. } = physics;
    let Some((multibody, _)) = multibody_joints.get_mut(handle) else { return };
    multibody.forward_kinematics(bodies, true);
    // The solver reads a free root's place from its body, but not the angle that it goes on from.
    let root = bodies.get(multibody.root().rigid_body_handle()).map(|root| root.position().rotation);
    let free = multibody.root().joint().ndofs() == 3;
    if let Some(turn) = root.filter(|_| free) {
        let joint = &mut multibody.root_mut().joint;
        let away = libm::atan2f(turn.im, turn.re) - joint.coords()[JointAxis::AngX as usize];
        joint.apply_displacement(&[0.0, 0.0, away]);
        multibody.forward_kinematics(bodies, false);
    }
    multibody.update_rigid_bodies(bodies, true);
}

/// The axis that a hinge or slide has, and the sign of its numbers.
fn axis_of(kind: JointKind) -> Option<(JointAxis, f32)> {
    match kind {
        JointKind::Hinge { axis } => Some((JointAxis::AngX, 1_f32.copysign(axis.z))),
        JointKind::Slide { .. } => Some((JointAxis::LinX, 1.0)),
        JointKind::Fixed | JointKind::Ball | JointKind::Free => None,
    }
}

/// Where a link's coordinates stand in its articulation, and how many there are.
fn span(multibody: &Multibody, link: usize) -> Option<(usize, usize)> {
    let link = multibody.link(link)?;
    Some((link.assembly_id(), link.joint().ndofs()))
}

/// What a motor's law asks for.
fn effort(motor: &Motor, target: &MotorTarget, state: &JointState) -> f32 {
    let faster = motor.damping * (target.velocity - state.velocity[0]);
    let effort = match motor.mode {
        MotorMode::Position => motor.stiffness * (target.position - state.position[0]) + faster,
        MotorMode::Velocity => faster,
        MotorMode::Effort => target.effort,
    };
    effort.clamp(-motor.effort_max, motor.effort_max)
}

/// Where a joint is that is held by impulses: from the two bodies that it holds.
fn impulse_state(
    physics: &PhysicsWorld,
    handle: ImpulseJointHandle,
    kind: JointKind,
    sign: f32,
    state: &mut JointState,
) {
    let Some(joint) = physics.impulse_joints.get(handle) else { return };
    let bodies = [joint.body1(), joint.body2()].map(|body| physics.bodies.get(body));
    let [Some(to), Some(body)] = bodies else { return };
    let world_from_to = *to.position() * joint.data.local_frame1;
    let world_from_own = *body.position() * joint.data.local_frame2;
    let between = world_from_to.inverse() * world_from_own;
    match kind {
        JointKind::Hinge { .. } => {
            state.position[0] = sign * libm::atan2f(between.rotation.im, between.rotation.re);
            state.velocity[0] = sign * (body.angvel() - to.angvel());
        }
        JointKind::Slide { .. } => {
            let there = world_from_own.translation;
            let passing = body.velocity_at_point(there) - to.velocity_at_point(there);
            let axis = world_from_to.rotation * convert::vector_in(Vec3::X);
            state.position[0] = between.translation.x;
            state.velocity[0] = passing.dot(axis);
        }
        JointKind::Fixed | JointKind::Ball | JointKind::Free => {}
    }
}
