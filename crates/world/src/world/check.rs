//! What a command must fulfil before it may take effect. Nothing is touched here.

use super::{DEPTH_MAX, World};
use crate::command::{CommandError, WorldCommand};
use crate::component::{Articulation, Body, BodyKind, Component, ComponentKind, Joint, JointKind, finite};
use crate::entity::{ENTITIES_MAX, EntityId};

/// How many pushes may wait for physics.
const IMPULSES_MAX: usize = 1 << 16;

impl World {
    /// Whether a command could take effect now.
    pub fn check(&self, command: &WorldCommand) -> Result<(), CommandError> {
        match command {
            WorldCommand::Spawn { components } => self.check_spawn(components),
            WorldCommand::Despawn { entity } => self.check_despawn(*entity),
            WorldCommand::Set { entity, component } => {
                self.lives(*entity)?;
                let body = self.components.body.get(*entity);
                let has = |kind| self.components.contains(*entity, kind);
                self.check_component(*entity, component, body, has)
            }
            WorldCommand::Remove { entity, kind } => self.check_remove(*entity, *kind),
            WorldCommand::Push { entity, linear, angular } => {
                self.lives(*entity)?;
                self.has(*entity, ComponentKind::Body, "a push")?;
                finite("a push", linear.to_array().into_iter().chain(angular.to_array()))
                    .map_err(|reason| CommandError::Unsound { entity: *entity, component: "push", reason })?;
                if self.impulses.len() >= IMPULSES_MAX { Err(CommandError::TooManyRequests) } else { Ok(()) }
            }
            WorldCommand::Drive { robot, targets } => self.check_drive(*robot, targets),
            WorldCommand::Configure { .. } | WorldCommand::Time(_) => Ok(()),
        }
    }

    /// Whether an entity that a command names is there.
    fn lives(&self, entity: EntityId) -> Result<(), CommandError> {
        if self.entities().contains(entity) { Ok(()) } else { Err(CommandError::UnknownEntity { entity }) }
    }

    fn has(
        &self,
        entity: EntityId,
        kind: ComponentKind,
        wanted_for: &'static str,
    ) -> Result<(), CommandError> {
        if self.components.contains(entity, kind) {
            return Ok(());
        }
        Err(CommandError::Missing { entity, component: kind.name(), wanted_for })
    }

    fn check_spawn(&self, components: &[Component]) -> Result<(), CommandError> {
        if self.entities().len() >= ENTITIES_MAX {
            return Err(CommandError::TooManyEntities);
        }
        let id = self.entities().next_id();
        for (at, component) in components.iter().enumerate() {
            let kind = component.kind();
            if components[..at].iter().any(|earlier| earlier.kind() == kind) {
                return Err(CommandError::Twice { component: kind.name() });
            }
            let has = |kind| components.iter().any(|other| other.kind() == kind);
            let body = components.iter().find_map(|other| match other {
                Component::Body(body) => Some(body),
                _ => None,
            });
            self.check_component(id, component, body, has)?;
        }
        Ok(())
    }

    /// Whether a component is sound, what it names lives, and what it needs is there too: `has` says what the entity
    /// has beside it, and `body` is that of it which a joint looks at.
    fn check_component(
        &self,
        entity: EntityId,
        component: &Component,
        body: Option<&Body>,
        has: impl Fn(ComponentKind) -> bool,
    ) -> Result<(), CommandError> {
        let kind = component.kind();
        component.check().map_err(|reason| CommandError::Unsound {
            entity,
            component: kind.name(),
            reason,
        })?;
        component.references().into_iter().try_for_each(|named| self.lives(named))?;
        let needed = match kind {
            ComponentKind::Velocity | ComponentKind::ExternalForce | ComponentKind::Joint => {
                Some(ComponentKind::Body)
            }
            ComponentKind::MotorTarget | ComponentKind::JointState => Some(ComponentKind::Joint),
            _ => None,
        };
        if let Some(needed) = needed.filter(|needed| !has(*needed)) {
            let component = needed.name();
            return Err(CommandError::Missing { entity, component, wanted_for: kind.name() });
        }
        match component {
            Component::Parent(parent) => self.check_hierarchy(entity, parent.0),
            Component::Body(body) => self.check_body(entity, body),
            Component::Joint(joint) => self.check_joint(entity, joint, body),
            Component::Robot(robot) => robot
                .joints
                .iter()
                .try_for_each(|joint| self.has(*joint, ComponentKind::Joint, "a robot's list of joints")),
            _ => Ok(()),
        }
    }

    fn check_hierarchy(&self, entity: EntityId, parent: EntityId) -> Result<(), CommandError> {
        let above = std::iter::successors(Some(parent), |id| self.components.parent.get(*id).map(|to| to.0));
        for (depth, id) in above.enumerate() {
            if id == entity {
                return Err(CommandError::Cycle { entity, through: parent });
            }
            if depth >= DEPTH_MAX {
                return Err(CommandError::TooDeep { entity });
            }
        }
        Ok(())
    }

    /// A body stays fit for its own joint and in the space of everything that is jointed to it.
    fn check_body(&self, entity: EntityId, body: &Body) -> Result<(), CommandError> {
        let refused = |reason| CommandError::Unsound { entity, component: "body", reason };
        let own = self.components.joint.get(entity);
        if let Some(joint) = own {
            fits(joint, body).map_err(refused)?;
        }
        let spaces = self.components.body.get(entity).is_some_and(|before| before.space != body.space);
        if !spaces {
            return Ok(());
        }
        let on_it = self.components.joint.iter().find(|(_, joint)| joint.to == Some(entity));
        match own.and_then(|joint| joint.to).or(on_it.map(|(id, _)| id)) {
            Some(other) => Err(refused(format!("it is jointed to {other}, which is in another space"))),
            None => Ok(()),
        }
    }

    /// Joints hang on bodies of the same space, and those in reduced coordinates form trees of dynamic bodies.
    fn check_joint(&self, entity: EntityId, joint: &Joint, body: Option<&Body>) -> Result<(), CommandError> {
        let refused = |reason| CommandError::Unsound { entity, component: "joint", reason };
        body.map_or(Ok(()), |body| fits(joint, body)).map_err(refused)?;
        let Some(to) = joint.to else { return Ok(()) };
        self.has(to, ComponentKind::Body, "a joint")?;
        let other = self.components.body.get(to);
        if let (Some(body), Some(other)) = (body, other)
            && body.space != other.space
        {
            return Err(refused(format!("{to} is in another space; a joint holds two bodies of one")));
        }
        let hangs_on = |id: &EntityId| {
            self.components.joint.get(*id).filter(|next| next.articulation == Articulation::Reduced)?.to
        };
        let mut chain = std::iter::successors(Some(to), hangs_on);
        let impulse = joint.articulation == Articulation::Impulse;
        let cycle = chain.by_ref().take(ENTITIES_MAX).any(|id| id == entity);
        if to == entity || (cycle && !impulse) {
            return Err(CommandError::Cycle { entity, through: to });
        }
        Ok(())
    }

    fn check_despawn(&self, entity: EntityId) -> Result<(), CommandError> {
        self.lives(entity)?;
        let family = self.with_descendants(entity);
        let gone = |id: &EntityId| family.contains(id);
        let joints =
            self.components.joint.iter().map(|(id, joint)| (id, joint.to.into_iter().collect::<Vec<_>>()));
        let robots = self
            .components
            .robot
            .iter()
            .map(|(id, robot)| (id, robot.joints.iter().chain(&robot.tools).copied().collect()));
        let names = joints.chain(robots).find(|(id, named)| !gone(id) && named.iter().any(gone));
        names.map_or(Ok(()), |(by, _)| Err(CommandError::InUse { entity, by }))
    }

    fn check_remove(&self, entity: EntityId, kind: ComponentKind) -> Result<(), CommandError> {
        self.lives(entity)?;
        self.has(entity, kind, "its removal")?;
        let needing: &[ComponentKind] = match kind {
            ComponentKind::Body => {
                &[ComponentKind::Velocity, ComponentKind::ExternalForce, ComponentKind::Joint]
            }
            ComponentKind::Joint => &[ComponentKind::MotorTarget, ComponentKind::JointState],
            // Without its pose, a body would be held at the origin.
            ComponentKind::Pose => &[ComponentKind::Body],
            _ => &[],
        };
        if let Some(needing) = needing.iter().find(|kind| self.components.contains(entity, **kind)) {
            return Err(CommandError::Needed { entity, component: kind.name(), by: needing.name() });
        }
        let named_by_joint = self.components.joint.iter().find(|(_, joint)| joint.to == Some(entity));
        let named_by_robot = self.components.robot.iter().find(|(_, robot)| robot.joints.contains(&entity));
        let by = match kind {
            ComponentKind::Body => named_by_joint.map(|(id, _)| id),
            ComponentKind::Joint => named_by_robot.map(|(id, _)| id),
            _ => None,
        };
        by.map_or(Ok(()), |by| Err(CommandError::InUse { entity, by }))
    }

    fn check_drive(&self, robot: EntityId, targets: &[f32]) -> Result<(), CommandError> {
        self.lives(robot)?;
        self.has(robot, ComponentKind::Robot, "driving it")?;
        let driven = self.driven_joints(robot).len();
        let unsound = |reason| CommandError::Unsound { entity: robot, component: "drive", reason };
        if targets.len() != driven {
            return Err(unsound(format!("it has {driven} motors, but {} targets were given", targets.len())));
        }
        finite("a target", targets.iter().copied()).map_err(unsound)
    }
}

/// Solvers in reduced coordinates move every link themselves, so its body must be theirs to move.
fn fits(joint: &Joint, body: &Body) -> Result<(), String> {
    let solved_as_a_link =
        joint.articulation == Articulation::Reduced && !matches!(joint.kind, JointKind::Free);
    if solved_as_a_link && body.kind != BodyKind::Dynamic {
        return Err("a joint in reduced coordinates moves its body, so that must be dynamic; \
                    make the body dynamic or the joint one of impulses"
            .to_owned());
    }
    Ok(())
}
