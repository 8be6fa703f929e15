//! Motion between the world and the solver: what the world changed goes in before a step, what the solver moved comes
//! out after it.

use downbeat_world::{BodyKind, Components, EntityId, JointKind, MotorTarget, Pose, Velocity, World};
use rapier3d::prelude::{PhysicsWorld, RigidBodyVelocity};

use super::structure::{JointHandle, MotionSeen, Structure};
use super::{convert, joints};

/// Takes in poses, velocities, forces, targets and joint states that somebody else has changed.
pub(super) fn write_in(physics: &mut PhysicsWorld, structure: &mut Structure, world: &mut World) {
    let seen = structure.motion_seen;
    let now = versions(&world.components);
    if seen.joint_state != now.joint_state {
        joint_states_in(physics, structure, world);
    }
    if seen.pose != now.pose {
        poses_in(physics, structure, world);
    }
    if seen.velocity != now.velocity {
        velocities_in(physics, structure, &world.components);
    }
    if seen.force != now.force {
        forces_in(physics, structure, &world.components);
    }
    if seen.target != now.target {
        let targets = &world.components.motor_target;
        for row in structure.joints() {
            let target = targets.get(row.id).copied().unwrap_or_default();
            joints::drive(physics, &row.made, &row.component, &target);
        }
    }
    for impulse in std::mem::take(&mut world.impulses) {
        let body = structure.body(impulse.entity).and_then(|handle| physics.bodies.get_mut(handle));
        match body {
            Some(body) => {
                body.apply_impulse(impulse.linear, true);
                body.apply_torque_impulse(impulse.angular, true);
            }
            // It belongs to another solver.
            None => world.impulses.push(impulse),
        }
    }
}

/// Writes out where everything is.
pub(super) fn read_out(physics: &PhysicsWorld, structure: &mut Structure, world: &mut World) {
    poses_out(physics, structure, &mut world.components);
    velocities_out(physics, structure, &mut world.components);
    joint_states_out(physics, structure, &mut world.components);
    structure.motion_seen = versions(&world.components);
}

fn versions(components: &Components) -> MotionSeen {
    MotionSeen {
        pose: Some(components.pose.version()),
        velocity: Some(components.velocity.version()),
        force: Some(components.force.version()),
        target: Some(components.motor_target.version()),
        joint_state: Some(components.joint_state.version()),
    }
}

/// Bodies and unmoving colliders whose pose in the world is not the solver's. A body in an articulation follows its
/// joints, so its pose is not looked at.
fn poses_in(physics: &mut PhysicsWorld, structure: &Structure, world: &World) {
    let mut moved_articulation = false;
    for row in structure.bodies().iter().filter(|row| !structure.follows_joint(row.id)) {
        let Some(body) = physics.bodies.get(row.made.handle) else { continue };
        let there = convert::pose_out(body.position());
        if world.components.pose.get(row.id) == Some(&local_pose(world, row.id, there)) {
            continue;
        }
        moved_articulation |= physics.multibody_joints.rigid_body_link(row.made.handle).is_some();
        if let Some(body) = physics.bodies.get_mut(row.made.handle) {
            body.set_position(convert::pose_in(world.world_pose(row.id)), true);
        }
    }
    if moved_articulation {
        structure.joints().iter().for_each(|row| joints::settle(physics, &row.made));
    }
    for row in structure.colliders().iter().filter(|row| row.made.owner.is_none()) {
        let Ok(wanted) = convert::collider(&row.component, world.world_pose(row.id), true) else { continue };
        let wanted = wanted.position;
        if let Some(collider) =
            physics.colliders.get_mut(row.made.handle).filter(|there| *there.position() != wanted)
        {
            collider.set_position(wanted);
        }
    }
}

fn velocities_in(physics: &mut PhysicsWorld, structure: &Structure, components: &Components) {
    for row in structure.bodies().iter().filter(|row| !structure.follows_joint(row.id)) {
        let Some(wanted) = components.velocity.get(row.id) else { continue };
        let Some(body) = physics.bodies.get_mut(row.made.handle) else { continue };
        if (body.linvel(), body.angvel()) == (wanted.linear, wanted.angular) {
            continue;
        }
        let velocity = RigidBodyVelocity { linvel: wanted.linear, angvel: wanted.angular };
        body.set_vels(velocity, true);
        let root = physics.multibody_joints.rigid_body_link(row.made.handle).copied();
        let multibody = root.and_then(|root| physics.multibody_joints.get_multibody_mut(root.multibody));
        if let Some(multibody) = multibody.filter(|multibody| multibody.root().joint().ndofs() == 6) {
            let six = wanted.linear.to_array().into_iter().chain(wanted.angular.to_array());
            multibody.generalized_velocity_mut().iter_mut().zip(six).for_each(|(to, from)| *to = from);
        }
    }
}

fn forces_in(physics: &mut PhysicsWorld, structure: &Structure, components: &Components) {
    for row in structure.bodies() {
        let Some(body) = physics.bodies.get_mut(row.made.handle) else { continue };
        let wanted = components.force.get(row.id).copied().unwrap_or_default();
        if (body.user_force(), body.user_torque()) != (wanted.force, wanted.torque) {
            body.reset_forces(true);
            body.reset_torques(true);
            body.add_force(wanted.force, true);
            body.add_torque(wanted.torque, true);
        }
    }
}

/// Joints of articulations whose state in the world is not the solver's.
fn joint_states_in(physics: &mut PhysicsWorld, structure: &Structure, world: &World) {
    let mut moved = false;
    for row in structure.joints() {
        let Some(wanted) = world.components.joint_state.get(row.id) else { continue };
        let there = joints::state(physics, &row.made, &row.component, &MotorTarget::default());
        if (wanted.position, wanted.velocity) != (there.position, there.velocity) {
            joints::set_state(physics, &row.made, &row.component, wanted);
            moved = true;
        }
    }
    if moved {
        structure.joints().iter().for_each(|row| joints::settle(physics, &row.made));
    }
}

fn poses_out(physics: &PhysicsWorld, structure: &Structure, components: &mut Components) {
    let no_parents = components.parent.is_empty();
    let mut hanging = Vec::new();
    let mut rows = structure.bodies().iter().peekable();
    for (id, pose) in components.pose.iter_mut() {
        while rows.next_if(|row| row.id < id).is_some() {}
        let Some(row) = rows.next_if(|row| row.id == id) else { continue };
        if row.component.kind == BodyKind::Fixed {
            continue;
        }
        let Some(body) = physics.bodies.get(row.made.handle) else { continue };
        *pose = convert::pose_out(body.position());
        if !no_parents {
            hanging.push((id, *pose));
        }
    }
    for (id, world_pose) in hanging {
        let Some(parent) = components.parent.get(id) else { continue };
        let parent = downbeat_world::world_pose(components, parent.0);
        if let Some(pose) = components.pose.get_mut(id) {
            *pose = parent.inverse() * world_pose;
        }
    }
}

fn velocities_out(physics: &PhysicsWorld, structure: &Structure, components: &mut Components) {
    let mut rows = structure.bodies().iter().peekable();
    for (id, velocity) in components.velocity.iter_mut() {
        while rows.next_if(|row| row.id < id).is_some() {}
        let Some(row) = rows.next_if(|row| row.id == id) else { continue };
        if let Some(body) = physics.bodies.get(row.made.handle) {
            *velocity = Velocity { linear: body.linvel(), angular: body.angvel() };
        }
    }
}

fn joint_states_out(physics: &PhysicsWorld, structure: &Structure, components: &mut Components) {
    let Components { pose, velocity, motor_target, joint_state, .. } = components;
    let mut rows = structure.joints().iter().peekable();
    for (id, state) in joint_state.iter_mut() {
        while rows.next_if(|row| row.id < id).is_some() {}
        let Some(row) = rows.next_if(|row| row.id == id) else { continue };
        if matches!(row.made.handle, JointHandle::Free) || row.component.kind == JointKind::Free {
            let (pose, velocity) = (pose.get(id).copied(), velocity.get(id).copied().unwrap_or_default());
            *state = joints::free_state(pose.unwrap_or_default(), velocity.linear, velocity.angular);
            continue;
        }
        let target = motor_target.get(id).copied().unwrap_or_default();
        *state = joints::state(physics, &row.made, &row.component, &target);
    }
}

/// A pose in the world as the entity itself would have it.
fn local_pose(world: &World, id: EntityId, world_pose: Pose) -> Pose {
    match world.components.parent.get(id) {
        Some(parent) => world.world_pose(parent.0).inverse() * world_pose,
        None => world_pose,
    }
}
