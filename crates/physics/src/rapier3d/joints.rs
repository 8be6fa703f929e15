//! Joints as the solver has them: which axes are free, what drives them, and where they are.

use downbeat_world::{Articulation, Joint, JointKind, JointState, Motor, MotorMode, MotorTarget, Pose};
use glam::{Quat, Vec3};
use rapier3d::prelude::{
    GenericJoint, ImpulseJointHandle, JointAxesMask, JointAxis, MotorModel, Multibody, PhysicsWorld,
};

use super::convert;
use super::structure::{JointHandle, MadeJoint};

/// How hard a motor in effort mode chases its far-off speed: so hard that only its strongest effort limits it.
const EFFORT_GAIN: f32 = 1e6;
/// The far-off speed that a motor in effort mode chases and never reaches.
const EFFORT_SPEED: f32 = 1e4;

/// Whether such a joint can be made; in three dimensions all can.
#[expect(clippy::unnecessary_wraps, reason = "in a plane, some joints cannot")]
pub(super) fn check(_joint: &Joint) -> Result<(), String> {
    Ok(())
}

/// A joint whose one free axis, if it has one, is the x axis of both frames.
pub(super) fn generic(joint: &Joint) -> GenericJoint {
    let (free, axis) = match joint.kind {
        JointKind::Fixed => (JointAxesMask::empty(), Vec3::X),
        JointKind::Hinge { axis } => (JointAxesMask::ANG_X, axis),
        JointKind::Slide { axis } => (JointAxesMask::LIN_X, axis),
        JointKind::Ball => (JointAxesMask::ANG_AXES, Vec3::X),
        JointKind::Free => (JointAxesMask::all(), Vec3::X),
    };
    let frame_from_axis = match joint.kind {
        JointKind::Hinge { .. } | JointKind::Slide { .. } => {
            Pose::turned(GenericJoint::complete_ang_frame(axis.normalize()))
        }
        _ => Pose::IDENTITY,
    };
    let mut data = GenericJoint::new(free.complement());
    data.set_local_frame1(convert::pose_in(joint.to_frame * frame_from_axis));
    data.set_local_frame2(convert::pose_in(joint.frame * frame_from_axis));
    data.set_contacts_enabled(joint.contacts);
    if let Some(limits) = joint.limits {
        match joint.kind {
            JointKind::Hinge { .. } => _ = data.set_limits(JointAxis::AngX, limits),
            JointKind::Slide { .. } => _ = data.set_limits(JointAxis::LinX, limits),
            JointKind::Ball => {
                for axis in [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ] {
                    data.set_limits(axis, limits);
                }
            }
            JointKind::Fixed | JointKind::Free => {}
        }
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
    let Some(axis) = axis_of(joint.kind) else { return };
    let slowed = if joint.articulation == Articulation::Impulse { joint.damping } else { 0.0 };
    let Some(motor) = joint.motor else {
        if slowed > 0.0 {
            data.set_motor_model(axis, MotorModel::ForceBased);
            data.set_motor_velocity(axis, 0.0, slowed);
        }
        return;
    };
    let (position, velocity) = (target.position, target.velocity);
    let effort = target.effort.clamp(-motor.effort_max, motor.effort_max);
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
    match made.handle {
        JointHandle::Reduced(handle) => {
            let Some((multibody, link)) = physics.multibody_joints.get(handle) else { return state };
            let Some(link) = multibody.link(link) else { return state };
            if let Some(axis) = axis_of(joint.kind) {
                state.position[0] = link.joint.coords()[axis as usize];
            } else if joint.kind == JointKind::Ball {
                state.position[..4].copy_from_slice(&link.joint.joint_rot().to_array());
            }
            for (to, from) in state.velocity.iter_mut().zip(multibody.joint_velocity(link).iter()) {
                *to = *from;
            }
        }
        JointHandle::Impulse(handle) => impulse_state(physics, handle, joint.kind, &mut state),
        JointHandle::Free => {}
    }
    state.effort = joint.motor.map_or(0.0, |motor| effort(&motor, target, &state));
    state
}

/// Puts an articulation's joint somewhere. The bodies follow with [`settle`].
pub(super) fn set_state(physics: &mut PhysicsWorld, made: &MadeJoint, joint: &Joint, state: &JointState) {
    let JointHandle::Reduced(handle) = made.handle else { return };
    let Some((multibody, id)) = physics.multibody_joints.get_mut(handle) else { return };
    let Some((at, len)) = span(multibody, id) else { return };
    multibody.generalized_velocity_mut().rows_mut(at, len).copy_from_slice(&state.velocity[..len]);
    let Some(link) = multibody.link_mut(id) else { return };
    if let Some(axis) = axis_of(joint.kind) {
        let away = state.position[0] - link.joint.coords()[axis as usize];
        link.joint.apply_displacement(&[away]);
    } else if joint.kind == JointKind::Ball {
        let [x, y, z, w, ..] = state.position;
        let wanted = Quat::from_xyzw(x, y, z, w);
        let wanted = if wanted.length_squared() > 0.0 { wanted.normalize() } else { Quat::IDENTITY };
        let away = wanted * link.joint.joint_rot().inverse();
        link.joint.apply_displacement(&away.to_scaled_axis().to_array());
    }
}

/// Makes the bodies of all articulations follow their joints.
pub(super) fn settle(physics: &mut PhysicsWorld, made: &MadeJoint) {
    let JointHandle::Reduced(handle) = made.handle else { return };
    let PhysicsWorld { multibody_joints, bodies, .. } = physics;
    if let Some((multibody, _)) = multibody_joints.get_mut(handle) {
        multibody.forward_kinematics(bodies, true);
        multibody.update_rigid_bodies(bodies, true);
    }
}

/// The axis that a hinge or slide has.
const fn axis_of(kind: JointKind) -> Option<JointAxis> {
    match kind {
        JointKind::Hinge { .. } => Some(JointAxis::AngX),
        JointKind::Slide { .. } => Some(JointAxis::LinX),
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
    state: &mut JointState,
) {
    let Some(joint) = physics.impulse_joints.get(handle) else { return };
    let bodies = [joint.body1(), joint.body2()].map(|body| physics.bodies.get(body));
    let [Some(to), Some(body)] = bodies else { return };
    let place = |pose| convert::pose_out(&pose, Pose::IDENTITY);
    let world_from_to = place(*to.position() * joint.data.local_frame1);
    let world_from_own = place(*body.position() * joint.data.local_frame2);
    let between = world_from_to.inverse() * world_from_own;
    let axis = world_from_to.rotation * Vec3::X;
    let turning = body.angvel() - to.angvel();
    match kind {
        JointKind::Hinge { .. } => {
            state.position[0] = 2.0 * libm::atan2f(between.rotation.x, between.rotation.w);
            state.velocity[0] = turning.dot(axis);
        }
        JointKind::Slide { .. } => {
            let there = world_from_own.position;
            let passing = body.velocity_at_point(there) - to.velocity_at_point(there);
            state.position[0] = between.position.x;
            state.velocity[0] = passing.dot(axis);
        }
        JointKind::Ball => {
            state.position[..4].copy_from_slice(&between.rotation.to_array());
            let turning = world_from_to.rotation.conjugate() * turning;
            state.velocity[..3].copy_from_slice(&turning.to_array());
        }
        JointKind::Fixed | JointKind::Free => {}
    }
}
