//! Motion between the world and the solver: what the world changed goes in before a step, what the solver moved comes
//! out after it. Shared by both solvers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use downbeat_time::BoxError;
use downbeat_world::{
    BodyKind, Components, EntityId, JointKind, JointState, MotorTarget, Pose, Velocity, World,
};
use glam::{Quat, Vec3};

use super::rapier::prelude::PhysicsWorld;
use super::structure::{JointHandle, MotionSeen, Structure};
use super::touch::Touches;
use super::{convert, joints};
use crate::mirror::Row;

/// How far from the origin a body may be, in metres: a fall of months.
const FAR_MAX: f32 = 1e15;
/// How fast a body may be, in metres or radians per second.
const FAST_MAX: f32 = 1e10;

/// Takes in poses, velocities, forces, targets and joint states that somebody else has changed, and what pushes for
/// the step of this length.
pub(super) fn write_in(
    physics: &mut PhysicsWorld,
    structure: &mut Structure,
    world: &mut World,
    step_secs: f32,
) {
    let seen = structure.motion_seen;
    if seen.joint_state != Some(world.components.joint_state.version()) {
        joint_states_in(physics, structure, world);
    }
    let now = versions(&world.components);
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
    structure.pushed = false;
    for impulse in std::mem::take(&mut world.impulses) {
        let Some(handle) = structure.body(impulse.entity) else {
            // It belongs to another solver.
            world.impulses.push(impulse);
            continue;
        };
        let articulated = physics.multibody_joints.rigid_body_link(handle).is_some();
        let Some(body) = physics.bodies.get_mut(handle) else { continue };
        let (linear, angular) = (convert::vector_in(impulse.linear), convert::turn_in(impulse.angular));
        if articulated {
            // The velocity of a link follows from its joints, so it is pushed by a force for this step alone.
            body.add_force(linear / step_secs, true);
            body.add_torque(angular / step_secs, true);
            structure.pushed = true;
        } else {
            body.apply_impulse(linear, true);
            body.apply_torque_impulse(angular, true);
        }
    }
}

/// One step of the solver. State that can no longer be simulated is an error that names who has it.
pub(super) fn advance(
    physics: &mut PhysicsWorld,
    structure: &Structure,
    touches: &Touches,
) -> Result<(), BoxError> {
    // The solver panics when a joint's position is no longer a number. What it leaves behind is not used again: the
    // error says to go back to a snapshot, and every further step of what is left ends here too.
    let stepped = catch_unwind(AssertUnwindSafe(|| physics.step_with_events(&(), touches)));
    check(physics, structure)?;
    stepped.map_err(|_| {
        let lost =
            |state: &JointState| !state.position.iter().chain(&state.velocity).all(|part| part.is_finite());
        let state =
            |row: &Row<_, _>| joints::state(physics, &row.made, &row.component, &MotorTarget::default());
        let joint = structure.joints().iter().find(|row| lost(&state(row)));
        joint.map_or_else(|| beyond_bounds("something"), |row| beyond_bounds(&row.id.to_string()))
    })
}

/// Refuses state that can no longer be simulated, and names the first body that has it.
fn check(physics: &PhysicsWorld, structure: &Structure) -> Result<(), BoxError> {
    let taken_out = physics.quarantine().bodies();
    for row in structure.bodies() {
        let Some(body) = physics.bodies.get(row.made.handle) else { continue };
        let pose = convert::pose_out(body.position(), Pose::IDENTITY);
        let Velocity { linear, angular } = convert::velocity_out(body);
        // Numbers that are none are beyond every bound, so they fail here too.
        let sound = pose.position.abs().max_element() < FAR_MAX
            && linear.abs().max_element() < FAST_MAX
            && angular.abs().max_element() < FAST_MAX
            && pose.position.is_finite()
            && pose.rotation.is_finite()
            && linear.is_finite()
            && angular.is_finite();
        if !sound || taken_out.contains(&row.made.handle) {
            return Err(beyond_bounds(&row.id.to_string()));
        }
    }
    Ok(())
}

fn beyond_bounds(who: &str) -> BoxError {
    let what = "cannot be simulated: its place or speed is beyond all bounds";
    format!("{who} {what}. Look at its mass, its joints and what drives it, and go back to a snapshot").into()
}

/// Writes out where everything is.
pub(super) fn read_out(physics: &PhysicsWorld, structure: &mut Structure, world: &mut World) {
    poses_out(physics, structure, &mut world.components);
    velocities_out(physics, structure, &mut world.components);
    joint_states_out(physics, structure, &mut world.components);
    structure.motion_seen = versions(&world.components);
    if structure.pushed {
        // The forces of pushes go before the next step.
        structure.motion_seen.force = None;
    }
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
        let there = convert::pose_out(body.position(), world.world_pose(row.id));
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
        let velocity = convert::velocity_in(wanted);
        if (body.linvel(), body.angvel()) == (velocity.linvel, velocity.angvel) {
            continue;
        }
        body.set_vels(velocity, true);
        let root = physics.multibody_joints.rigid_body_link(row.made.handle).copied();
        let multibody = root.and_then(|root| physics.multibody_joints.get_multibody_mut(root.multibody));
        if let Some(multibody) = multibody.filter(|multibody| multibody.root().joint().ndofs() > 0) {
            let coordinates = convert::coordinates(wanted);
            multibody
                .generalized_velocity_mut()
                .iter_mut()
                .zip(coordinates)
                .for_each(|(to, from)| *to = from);
        }
    }
}

fn forces_in(physics: &mut PhysicsWorld, structure: &Structure, components: &Components) {
    for row in structure.bodies() {
        let Some(body) = physics.bodies.get_mut(row.made.handle) else { continue };
        let wanted = components.force.get(row.id).copied().unwrap_or_default();
        let (force, torque) = (convert::vector_in(wanted.force), convert::turn_in(wanted.torque));
        if (body.user_force(), body.user_torque()) != (force, torque) {
            body.reset_forces(true);
            body.reset_torques(true);
            body.add_force(force, true);
            body.add_torque(torque, true);
        }
    }
}

/// Joints of articulations whose state in the world is not the solver's. Those of a free body are its pose and its
/// velocity, which go in after this.
fn joint_states_in(physics: &mut PhysicsWorld, structure: &Structure, world: &mut World) {
    let mut moved = false;
    for row in structure.joints() {
        let Some(wanted) = world.components.joint_state.get(row.id).copied() else { continue };
        if row.component.kind == JointKind::Free {
            free_state_in(physics, structure, world, row.id, &wanted);
            continue;
        }
        let there = joints::state(physics, &row.made, &row.component, &MotorTarget::default());
        if (wanted.position, wanted.velocity) != (there.position, there.velocity) {
            joints::set_state(physics, &row.made, &row.component, &wanted);
            moved = true;
        }
    }
    if moved {
        structure.joints().iter().for_each(|row| joints::settle(physics, &row.made));
    }
}

fn free_state_in(
    physics: &PhysicsWorld,
    structure: &Structure,
    world: &mut World,
    id: EntityId,
    wanted: &JointState,
) {
    let Some(body) = structure.body(id).and_then(|handle| physics.bodies.get(handle)) else { return };
    let pose = local_pose(world, id, convert::pose_out(body.position(), world.world_pose(id)));
    let there = free_state(pose, convert::velocity_out(body));
    if (wanted.position, wanted.velocity) == (there.position, there.velocity) {
        return;
    }
    let [x, y, z, turn @ ..] = wanted.position;
    let rotation = Quat::from_array(turn);
    let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
    let [linear, angular] = [0, 3].map(|at| Vec3::from_slice(&wanted.velocity[at..]));
    world.set(id, Pose { position: Vec3::new(x, y, z), rotation });
    world.set(id, Velocity { linear, angular });
}

/// Where a free body is, as a joint's state.
pub(super) fn free_state(pose: Pose, velocity: Velocity) -> JointState {
    let mut state = JointState::default();
    state.position[..3].copy_from_slice(&pose.position.to_array());
    state.position[3..].copy_from_slice(&pose.rotation.to_array());
    state.velocity[..3].copy_from_slice(&velocity.linear.to_array());
    state.velocity[3..].copy_from_slice(&velocity.angular.to_array());
    state
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
        if no_parents {
            *pose = convert::pose_out(body.position(), *pose);
        } else {
            hanging.push((id, *body.position()));
        }
    }
    // In creation order, so whoever hangs on a body that was created before finds it where it is now.
    for (id, position) in hanging {
        let world_pose = convert::pose_out(&position, downbeat_world::world_pose(components, id));
        let parent = components.parent.get(id).map(|parent| downbeat_world::world_pose(components, parent.0));
        if let Some(pose) = components.pose.get_mut(id) {
            *pose = parent.map_or(world_pose, |parent| parent.inverse() * world_pose);
        }
    }
}

fn velocities_out(physics: &PhysicsWorld, structure: &Structure, components: &mut Components) {
    let mut rows = structure.bodies().iter().peekable();
    for (id, velocity) in components.velocity.iter_mut() {
        while rows.next_if(|row| row.id < id).is_some() {}
        let Some(row) = rows.next_if(|row| row.id == id) else { continue };
        if let Some(body) = physics.bodies.get(row.made.handle) {
            *velocity = convert::velocity_out(body);
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
            let (pose, velocity) = (pose.get(id).copied(), velocity.get(id).copied());
            *state = free_state(pose.unwrap_or_default(), velocity.unwrap_or_default());
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
