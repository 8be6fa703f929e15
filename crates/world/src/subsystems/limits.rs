//! Checks every step that the simulation still makes sense. What can no longer be simulated is an error, which pauses
//! the scene; what is merely out of its place is an event in every step that it lasts. It changes nothing.

use downbeat_time::{BoxError, Phase, StepContext};
use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::EntityRef;
use super::{not_negative, positive, require};
use crate::component::{BodyKind, Component, Components, JointKind};
use crate::entity::EntityId;
use crate::event::Event;
use crate::subsystem::{SettingsError, Subsystem, SubsystemKind, settings_from, settings_into};
use crate::world::World;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "limits",
    about: "stops the scene when something is no longer a number or out of bounds",
    runner: "Robot",
    phase: Phase::Validation,
    priority: 0,
    make: |birth| {
        let settings: LimitsSettings = settings_from(birth.settings)?;
        settings.check()?;
        Ok(Box::new(Limits { name: birth.name.to_owned(), settings, inside: Derived::new() }))
    },
};

/// What is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsSettings {
    /// How far an entity may be from its parent or the world's origin, in metres.
    pub position_max: f32,
    /// How fast a body may move, in metres per second.
    pub speed_max: f32,
    /// How fast a body may turn, in radians per second.
    pub spin_max: f32,
    /// How far a joint may be beyond its limits before that is an event, in radians or metres.
    pub joint_tolerance: Option<f32>,
    /// Where entities should stay.
    pub workspace: Option<Workspace>,
}

/// A box that entities should stay in, in world axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// Its lowest corner.
    pub low: Vec3,
    /// Its highest corner.
    pub high: Vec3,
    /// Who should stay in it; without any, all bodies that move.
    #[serde(default)]
    pub entities: Vec<EntityRef>,
}

/// A check of every step.
#[derive(Debug)]
pub struct Limits {
    name: String,
    settings: LimitsSettings,
    inside: Derived<Vec<EntityId>>,
}

impl Default for LimitsSettings {
    fn default() -> Self {
        Self { position_max: 1e5, speed_max: 1e4, spin_max: 1e5, joint_tolerance: None, workspace: None }
    }
}

impl LimitsSettings {
    fn check(&self) -> Result<(), SettingsError> {
        positive("position_max", self.position_max.into())?;
        positive("speed_max", self.speed_max.into())?;
        positive("spin_max", self.spin_max.into())?;
        not_negative("joint_tolerance", self.joint_tolerance.unwrap_or_default().into())?;
        self.workspace.as_ref().map_or(Ok(()), |space| check_box(space.low, space.high))
    }

    fn watched(&self, world: &World) -> Result<Vec<EntityId>, BoxError> {
        let listed = self.workspace.as_ref().map_or(&[][..], |space| &space.entities);
        listed.iter().map(|entity| entity.find(world)).collect()
    }

    /// The first number that cannot be simulated, in the order of kinds and creation.
    fn first_wrong(&self, components: &Components) -> Option<(EntityId, String)> {
        let unsound = |id: EntityId, component: Component| component.check().err().map(|why| (id, why));
        let poses = || {
            components.pose.iter().find_map(|(id, pose)| {
                let distance = pose.position.length();
                beyond("it is", distance, self.position_max, "m from its origin")
                    .map(|what| unsound(id, (*pose).into()).unwrap_or((id, what)))
                    .or_else(|| unsound(id, (*pose).into()))
            })
        };
        let velocities = || {
            components.velocity.iter().find_map(|(id, velocity)| {
                let moves = beyond("it moves with", velocity.linear.length(), self.speed_max, "m/s");
                let turns = beyond("it turns with", velocity.angular.length(), self.spin_max, "rad/s");
                moves.or(turns).map(|what| unsound(id, (*velocity).into()).unwrap_or((id, what)))
            })
        };
        let joints = || components.joint_state.iter().find_map(|(id, state)| unsound(id, (*state).into()));
        poses().or_else(velocities).or_else(joints)
    }
}

impl Limits {
    fn report_joints(&self, world: &mut World, tolerance: f32) {
        let World { components, events, .. } = world;
        for (id, joint) in components.joint.iter() {
            let Some([low, high]) = joint.limits else { continue };
            if !matches!(joint.kind, JointKind::Hinge { .. } | JointKind::Slide { .. }) {
                continue;
            }
            let Some(state) = components.joint_state.get(id) else { continue };
            let position = state.position[0];
            let over = (low - position).max(position - high);
            if over > tolerance {
                let what = format!("its joint is at {position}, {over} beyond its limits of {low} to {high}");
                events.push(Event::Violated { check: self.name.clone(), entity: Some(id), what });
            }
        }
    }

    fn report_workspace(&mut self, world: &mut World) -> Result<(), BoxError> {
        let settings = &self.settings;
        let Some(space) = &settings.workspace else { return Ok(()) };
        let listed = self.inside.get(world, |world| settings.watched(world))?;
        let leaves = |id: EntityId| {
            let place = world.world_pose(id).position;
            is_outside(place, space.low, space.high).then_some((id, place))
        };
        let moves =
            |id: &EntityId| world.components.body.get(*id).is_some_and(|body| body.kind != BodyKind::Fixed);
        let left: Vec<_> = if listed.is_empty() {
            world.components.body.ids().iter().filter(|id| moves(id)).copied().filter_map(leaves).collect()
        } else {
            listed.iter().copied().filter_map(leaves).collect()
        };
        for (id, place) in left {
            let what = format!("it is at {place}, outside the workspace of {} to {}", space.low, space.high);
            world.events.push(Event::Violated { check: self.name.clone(), entity: Some(id), what });
        }
        Ok(())
    }
}

impl Subsystem for Limits {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.inside.get(world, |world| self.settings.watched(world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, _context: &StepContext<'_>) -> Result<(), BoxError> {
        if let Some((id, what)) = self.settings.first_wrong(&world.components) {
            let name = world.components.name.get(id).map_or(String::new(), |name| format!(" `{}`", name.0));
            return Err(format!("{id}{name} cannot go on: {what}").into());
        }
        if let Some(tolerance) = self.settings.joint_tolerance {
            self.report_joints(world, tolerance);
        }
        self.report_workspace(world)
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: LimitsSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.inside.clear();
        Ok(())
    }
}

/// Refuses a box whose corners are the wrong way round.
pub(super) fn check_box(low: Vec3, high: Vec3) -> Result<(), SettingsError> {
    require(low.is_finite() && high.is_finite() && low.cmple(high).all(), || {
        format!("a box runs from low to high, not from {low} to {high}")
    })
}

/// Whether a place is outside a box. One that is no number is.
pub(super) fn is_outside(place: Vec3, low: Vec3, high: Vec3) -> bool {
    !(place.cmpge(low).all() && place.cmple(high).all())
}

/// What a number beyond its limit is, in words. One that is no number is beyond every limit.
fn beyond(what: &str, number: f32, most: f32, unit: &str) -> Option<String> {
    let within = number <= most;
    (!within).then(|| format!("{what} {number} {unit}, and {most} is allowed"))
}
