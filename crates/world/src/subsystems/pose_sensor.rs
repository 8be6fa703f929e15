//! A tracker: publishes where an entity is in the world as the signal `NAME/pose`, with noise if asked for.

use downbeat_time::{BoxError, Phase, StepContext};
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::EntityRef;
use super::not_negative;
use crate::component::Pose;
use crate::entity::EntityId;
use crate::hash::StateHasher;
use crate::random::Random;
use crate::signal::SignalKey;
use crate::subsystem::{
    SettingsError, Subsystem, SubsystemKind, settings_from, settings_into, state_from, state_into,
};
use crate::world::World;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "pose_sensor",
    about: "publishes where an entity is, as a tracker with noise would see it",
    runner: "Robot",
    phase: Phase::Acquisition,
    priority: 0,
    make: |birth| {
        let settings: PoseSensorSettings = settings_from(birth.settings)?;
        settings.check()?;
        Ok(Box::new(PoseSensor {
            name: birth.name.to_owned(),
            settings,
            random: Random::new(birth.seed, birth.name),
            wiring: Derived::new(),
        }))
    },
};

/// What a pose sensor looks at, and how well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoseSensorSettings {
    /// Whom it follows.
    pub entity: EntityRef,
    /// Standard deviation of each coordinate, in metres.
    #[serde(default)]
    pub position_noise: f32,
    /// Standard deviation of the turn about each axis, in radians.
    #[serde(default)]
    pub rotation_noise: f32,
}

/// A sensor of an entity's pose.
#[derive(Debug)]
pub struct PoseSensor {
    name: String,
    settings: PoseSensorSettings,
    random: Random,
    wiring: Derived<(EntityId, SignalKey<Pose>)>,
}

impl PoseSensorSettings {
    fn check(&self) -> Result<(), SettingsError> {
        not_negative("position_noise", self.position_noise.into())?;
        not_negative("rotation_noise", self.rotation_noise.into())
    }
}

fn wire(
    name: &str,
    settings: &PoseSensorSettings,
    world: &mut World,
) -> Result<(EntityId, SignalKey<Pose>), BoxError> {
    Ok((settings.entity.find(world)?, world.signals.declare(&format!("{name}/pose"))?))
}

impl Subsystem for PoseSensor {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.wiring.get(world, |world| wire(&self.name, &self.settings, world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let (entity, key) = *self.wiring.get(world, |world| wire(&self.name, &self.settings, world))?;
        let mut pose = world.world_pose(entity);
        pose.position += scattered(self.settings.position_noise, &mut self.random);
        let turn = scattered(self.settings.rotation_noise, &mut self.random);
        pose.rotation = (Quat::from_scaled_axis(turn) * pose.rotation).normalize();
        world.signals.publish(key, context.now(), pose);
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: PoseSensorSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.wiring.clear();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.random)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        self.random = state_from(bytes)?;
        Ok(())
    }

    fn hash(&self, hasher: &mut StateHasher) {
        hasher.random(&self.random);
    }
}

/// Three normally distributed numbers; none is drawn without noise.
fn scattered(noise: f32, random: &mut Random) -> Vec3 {
    if noise > 0.0 { Vec3::from_array([(); 3].map(|()| noise * random.normal() as f32)) } else { Vec3::ZERO }
}
