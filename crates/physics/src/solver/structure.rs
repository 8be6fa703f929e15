//! Which bodies, colliders and joints the solver has, and what they were made from.
//!
//! Shared by both solvers; what differs in three dimensions and in a plane is in their `convert.rs` and `joints.rs`.

use super::rapier::prelude::{
    ColliderHandle, ImpulseJointHandle, MultibodyJointHandle, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle,
};
use downbeat_time::BoxError;
use downbeat_world::{
    Articulation, Body, BodyKind, Collider, EntityId, Joint, JointKind, JointState, Pose, Space, Velocity,
    World,
};
use serde::{Deserialize, Serialize};

use super::{convert, is_ours, joints};
use crate::mirror::{Mirror, Row};

/// What the solver has made of the world.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Structure {
    bodies: Mirror<Body, MadeBody>,
    colliders: Mirror<Collider, MadeCollider>,
    joints: Mirror<Joint, MadeJoint>,
    parents_seen: Option<u64>,
    /// Versions of the columns that motion is exchanged through, as the solver left them.
    pub(super) motion_seen: MotionSeen,
    /// Whether links of articulations were pushed for one step.
    pub(super) pushed: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct MadeBody {
    pub(super) handle: RigidBodyHandle,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct MadeCollider {
    pub(super) handle: ColliderHandle,
    /// The body it is part of; without one, it is part of the unmoving world.
    pub(super) owner: Option<EntityId>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct MadeJoint {
    pub(super) handle: JointHandle,
    /// A body of the solver's own that stands for the world, when the joint hangs on nothing else.
    anchor: Option<RigidBodyHandle>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum JointHandle {
    Reduced(MultibodyJointHandle),
    Impulse(ImpulseJointHandle),
    /// A free body: nothing holds it.
    Free,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MotionSeen {
    pub(super) pose: Option<u64>,
    pub(super) velocity: Option<u64>,
    pub(super) force: Option<u64>,
    pub(super) target: Option<u64>,
    pub(super) joint_state: Option<u64>,
}

impl Structure {
    pub(super) fn bodies(&self) -> &[Row<Body, MadeBody>] {
        self.bodies.rows()
    }

    pub(super) fn colliders(&self) -> &[Row<Collider, MadeCollider>] {
        self.colliders.rows()
    }

    pub(super) fn joints(&self) -> &[Row<Joint, MadeJoint>] {
        self.joints.rows()
    }

    pub(super) fn body(&self, id: EntityId) -> Option<RigidBodyHandle> {
        self.bodies.made(id).map(|made| made.handle)
    }

    /// Whether a body's place follows from its joint rather than from its pose.
    pub(super) fn follows_joint(&self, id: EntityId) -> bool {
        self.joints.made(id).is_some_and(|made| matches!(made.handle, JointHandle::Reduced(_)))
    }

    /// Makes, changes and removes what the world has changed, in creation order.
    pub(super) fn sync(&mut self, physics: &mut PhysicsWorld, world: &mut World) -> Result<(), BoxError> {
        let components = &world.components;
        let current = self.parents_seen == Some(components.parent.version())
            && self.bodies.is_current(&components.body)
            && self.colliders.is_current(&components.collider)
            && self.joints.is_current(&components.joint);
        if current {
            return Ok(());
        }
        let synced = self.take_in(physics, world);
        if synced.is_err() {
            // What is wrong is wrong until somebody mends it: every further step looks again.
            self.parents_seen = None;
        }
        synced
    }

    fn take_in(&mut self, physics: &mut PhysicsWorld, world: &mut World) -> Result<(), BoxError> {
        let components = &world.components;
        self.parents_seen = Some(components.parent.version());
        let ours = |id| components.body.get(id).is_some_and(|body| is_ours(body.space));
        let joints = self.joints.changes(&components.joint, |id, _| ours(id), |_| true);
        let rejoined = !(joints.gone.is_empty() && joints.new.is_empty());
        for (_, made) in joints.gone {
            made.remove(physics);
        }
        let changed = self.sync_bodies(physics, world);
        self.sync_colliders(physics, world, &changed)?;
        for id in joints.new {
            self.insert_joint(physics, world, id)?;
        }
        self.check_links()?;
        // Articulations that were joined or taken apart have forgotten what slows their joints, and where they stand.
        for row in self.joints.rows().iter().filter(|_| rejoined) {
            joints::settle(physics, &row.made);
            joints::set_passive(physics, &row.made, &row.component);
        }
        // Whatever was made begins with what the world says, not with what the solver said last.
        self.motion_seen = MotionSeen::default();
        Ok(())
    }

    /// A link of an articulation is moved by its joint and by nothing else; the solver relies on it.
    fn check_links(&self) -> Result<(), BoxError> {
        for row in self.joints.rows().iter().filter(|row| matches!(row.made.handle, JointHandle::Reduced(_)))
        {
            let kind = self.bodies.row(row.id).map(|body| body.component.kind);
            if kind != Some(BodyKind::Dynamic) {
                return Err(format!(
                    "{} hangs on a joint in reduced coordinates, so its body must be dynamic; make it so, or the \
                     joint an impulse joint",
                    row.id
                )
                .into());
            }
        }
        Ok(())
    }

    /// Brings bodies up to date. Returns those that were changed or removed.
    fn sync_bodies(&mut self, physics: &mut PhysicsWorld, world: &mut World) -> Vec<EntityId> {
        let changes = self.bodies.changes(&world.components.body, |_, body| is_ours(body.space), |_| true);
        let mut changed = Vec::new();
        for (id, made) in changes.gone {
            match world.components.body.get(id).filter(|body| is_ours(body.space)) {
                Some(body) => {
                    update_body(physics, made.handle, body);
                    self.bodies.insert(id, *body, made);
                }
                None => {
                    physics.remove_body(made.handle);
                }
            }
            changed.push(id);
        }
        for id in changes.new {
            if self.bodies.row(id).is_none() {
                self.insert_body(physics, world, id);
            }
        }
        changed
    }

    fn insert_body(&mut self, physics: &mut PhysicsWorld, world: &mut World, id: EntityId) {
        let Some(body) = world.components.body.get(id).copied() else { return };
        if !world.components.pose.contains(id) {
            world.set(id, Pose::IDENTITY);
        }
        if body.kind != BodyKind::Fixed && !world.components.velocity.contains(id) {
            world.set(id, Velocity::default());
        }
        let builder = convert::body(&body, world.world_pose(id)).user_data(u128::from(id.number()));
        let handle = physics.insert_body(builder);
        self.bodies.insert(id, body, MadeBody { handle });
    }

    fn sync_colliders(
        &mut self,
        physics: &mut PhysicsWorld,
        world: &World,
        changed: &[EntityId],
    ) -> Result<(), BoxError> {
        let belongs = |id, collider: &Collider| {
            is_ours(body_above(world, id).map_or(collider.space, |(_, space)| space))
        };
        let keeps = |row: &Row<Collider, MadeCollider>| {
            let owner = body_above(world, row.id).map(|(owner, _)| owner);
            owner == row.made.owner && !owner.is_some_and(|owner| changed.contains(&owner))
        };
        let changes = self.colliders.changes(&world.components.collider, belongs, keeps);
        for (_, made) in changes.gone {
            physics.remove_collider(made.handle);
        }
        for id in changes.new {
            self.insert_collider(physics, world, id)?;
        }
        Ok(())
    }

    fn insert_collider(
        &mut self,
        physics: &mut PhysicsWorld,
        world: &World,
        id: EntityId,
    ) -> Result<(), BoxError> {
        let Some(collider) = world.components.collider.get(id) else { return Ok(()) };
        let owner = body_above(world, id).map(|(owner, _)| owner);
        let place = world.world_pose(id);
        let place = owner.map_or(place, |owner| world.world_pose(owner).inverse() * place);
        let body = owner.and_then(|owner| self.bodies.row(owner));
        let weighs = body.is_none_or(|row| row.component.mass.is_none());
        let builder = convert::collider(collider, place, weighs)
            .map_err(|reason| format!("the collider of {id} cannot be used: {reason}"))?
            .user_data(u128::from(id.number()));
        let handle = physics.insert_collider(builder, body.map(|row| row.made.handle));
        self.colliders.insert(id, collider.clone(), MadeCollider { handle, owner });
        Ok(())
    }

    fn insert_joint(
        &mut self,
        physics: &mut PhysicsWorld,
        world: &mut World,
        id: EntityId,
    ) -> Result<(), BoxError> {
        let Some(joint) = world.components.joint.get(id).copied() else { return Ok(()) };
        let Some(body) = self.body(id) else { return Ok(()) };
        joints::check(&joint).map_err(|reason| format!("the joint of {id} cannot be used: {reason}"))?;
        if !world.components.joint_state.contains(id) {
            world.set(id, rest(joint.kind, world, id));
        }
        if joint.kind == JointKind::Free {
            self.joints.insert(id, joint, MadeJoint { handle: JointHandle::Free, anchor: None });
            return Ok(());
        }
        let (to, anchor) = match joint.to {
            Some(to) => {
                let there =
                    self.body(to).ok_or_else(|| format!("{id} hangs on {to}, which is in another space"))?;
                (there, None)
            }
            None => {
                let anchor = physics.insert_body(RigidBodyBuilder::fixed());
                (anchor, Some(anchor))
            }
        };
        let data = joints::generic(&joint);
        let handle = match joint.articulation {
            Articulation::Impulse => JointHandle::Impulse(physics.insert_impulse_joint(to, body, data)),
            Articulation::Reduced => {
                let handle = physics.insert_multibody_joint(to, body, data);
                JointHandle::Reduced(handle.ok_or_else(|| {
                    format!(
                        "the joint of {id} would close a loop; make one joint of the loop an impulse joint"
                    )
                })?)
            }
        };
        let made = MadeJoint { handle, anchor };
        self.joints.insert(id, joint, made);
        Ok(())
    }
}

impl MadeJoint {
    fn remove(self, physics: &mut PhysicsWorld) {
        match self.handle {
            JointHandle::Reduced(handle) => physics.remove_multibody_joint(handle),
            JointHandle::Impulse(handle) => {
                physics.remove_impulse_joint(handle);
            }
            JointHandle::Free => {}
        }
        if let Some(anchor) = self.anchor {
            physics.remove_body(anchor);
        }
    }
}

/// Where a joint is whose state nobody has set.
fn rest(kind: JointKind, world: &World, id: EntityId) -> JointState {
    let components = &world.components;
    let mut state = JointState::default();
    match kind {
        JointKind::Ball => state.position[3] = 1.0,
        JointKind::Free => {
            let pose = components.pose.get(id).copied().unwrap_or_default();
            state = super::motion::free_state(pose, components.velocity.get(id).copied().unwrap_or_default());
        }
        JointKind::Fixed | JointKind::Hinge { .. } | JointKind::Slide { .. } => {}
    }
    state
}

/// The nearest body at or above an entity, of whatever space.
fn body_above(world: &World, id: EntityId) -> Option<(EntityId, Space)> {
    let mut above = Some(id);
    while let Some(id) = above {
        if let Some(body) = world.components.body.get(id) {
            return Some((id, body.space));
        }
        above = world.components.parent.get(id).map(|parent| parent.0);
    }
    None
}

fn update_body(physics: &mut PhysicsWorld, handle: RigidBodyHandle, body: &Body) {
    let Some(there) = physics.bodies.get_mut(handle) else { return };
    let fresh = convert::body(body, Pose::IDENTITY).build();
    there.set_body_type(convert::body_kind(body.kind), true);
    there.set_gravity_scale(body.gravity_scale, true);
    there.set_linear_damping(body.linear_damping);
    there.set_angular_damping(body.angular_damping);
    there.enable_ccd(body.continuous);
    *there.activation_mut() = *fresh.activation();
    let mass = body.mass.map(|mass| convert::mass(&mass)).unwrap_or_default();
    there.set_additional_mass_properties(mass, true);
}
