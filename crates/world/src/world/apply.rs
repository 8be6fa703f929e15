//! Commands take effect. What may take effect is decided in `check.rs`, before anything is touched.

use super::{Impulse, World};
use crate::command::{CommandError, WorldCommand};
use crate::component::{MotorMode, Name, Parent, Pose};
use crate::entity::EntityId;

impl World {
    /// Does what a command says, or nothing. Returns the entity that it brought to life.
    pub(crate) fn apply(&mut self, command: &WorldCommand) -> Result<Option<EntityId>, CommandError> {
        self.check(command)?;
        match command {
            WorldCommand::Spawn { components } => {
                let id = self.table.create();
                for component in components {
                    self.components.insert(id, component.clone());
                }
                return Ok(Some(id));
            }
            WorldCommand::Despawn { entity } => self.despawn(*entity),
            WorldCommand::Set { entity, component } => self.components.insert(*entity, component.clone()),
            WorldCommand::Remove { entity, kind } => {
                self.components.remove(*entity, *kind);
            }
            WorldCommand::Push { entity, linear, angular } => {
                self.impulses.push(Impulse { entity: *entity, linear: *linear, angular: *angular });
            }
            WorldCommand::Drive { robot, targets } => self.drive(*robot, targets),
            WorldCommand::Configure { .. } | WorldCommand::Time(_) => {}
        }
        Ok(None)
    }

    /// Brings an entity to life under an id of its own: what loading a file does.
    pub(crate) fn spawn_as(&mut self, id: EntityId) -> bool {
        self.table.create_as(id)
    }

    /// Brings an entity to life under the next id: what loading a file does that names none.
    pub(crate) fn spawn_next(&mut self) -> EntityId {
        self.table.create()
    }

    /// Keeps ids below this one from being used.
    pub(crate) fn reserve_ids(&mut self, next: EntityId) {
        self.table.reserve_until(next);
    }

    /// An entity with a name and a pose, for scenes built in code.
    ///
    /// ```
    /// use downbeat_world::{Pose, World};
    ///
    /// let mut world = World::new(1);
    /// let table = world.spawn("table", Pose::IDENTITY);
    /// let cup = world.spawn_on(table, "cup", Pose::at(glam::Vec3::Z));
    /// assert_eq!(world.children(table).collect::<Vec<_>>(), [cup]);
    /// ```
    pub fn spawn(&mut self, name: impl Into<String>, pose: Pose) -> EntityId {
        let id = self.table.create();
        self.components.insert(id, Name(name.into()).into());
        self.components.insert(id, pose.into());
        id
    }

    /// An entity that hangs on another.
    pub fn spawn_on(&mut self, parent: EntityId, name: impl Into<String>, pose: Pose) -> EntityId {
        let id = self.spawn(name, pose);
        self.components.insert(id, Parent(parent).into());
        id
    }

    /// Sets a component that is known to be sound, inside a step or while a scene is built.
    pub fn set(&mut self, id: EntityId, component: impl Into<crate::component::Component>) {
        if self.table.contains(id) {
            self.components.insert(id, component.into());
        }
    }

    /// An entity and everything that hangs on it, the deepest last.
    pub fn with_descendants(&self, id: EntityId) -> Vec<EntityId> {
        let mut family = vec![id];
        let mut next = 0;
        while let Some(above) = family.get(next).copied() {
            family.extend(self.children(above));
            next += 1;
        }
        family
    }

    fn despawn(&mut self, id: EntityId) {
        for id in self.with_descendants(id) {
            for kind in crate::component::ComponentKind::ALL {
                self.components.remove(id, *kind);
            }
            self.table.remove(id);
            self.impulses.retain(|impulse| impulse.entity != id);
        }
    }

    fn drive(&mut self, robot: EntityId, targets: &[f32]) {
        for (joint, target) in self.driven_joints(robot).into_iter().zip(targets) {
            let mode = self.components.joint.get(joint).and_then(|joint| joint.motor).map(|motor| motor.mode);
            let mut there = self.components.motor_target.get(joint).copied().unwrap_or_default();
            match mode {
                Some(MotorMode::Position) => there.position = *target,
                Some(MotorMode::Velocity) => there.velocity = *target,
                Some(MotorMode::Effort) => there.effort = *target,
                None => continue,
            }
            self.components.insert(joint, there.into());
        }
    }

    /// The joints of a robot that have motors, in the robot's order.
    pub fn driven_joints(&self, robot: EntityId) -> Vec<EntityId> {
        let joints = self.components.robot.get(robot).map_or(&[][..], |robot| &robot.joints);
        let driven =
            |id: &EntityId| self.components.joint.get(*id).is_some_and(|joint| joint.motor.is_some());
        joints.iter().copied().filter(driven).collect()
    }
}
