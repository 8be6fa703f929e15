//! Joint encoders: publishes positions and velocities of joints, with noise and steps if asked for.
//!
//! It reads what physics wrote last, never the solver. The signals are `NAME/position` and `NAME/velocity`, one number
//! for each joint.

use downbeat_time::{BoxError, Phase, StepContext};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::{EntityRef, joints};
use super::not_negative;
use crate::entity::EntityId;
use crate::hash::StateHasher;
use crate::random::Random;
use crate::signal::SignalKey;
use crate::subsystem::{
    SettingsError, Subsystem, SubsystemKind, settings_from, settings_into, state_from, state_into,
};
use crate::world::World;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "joint_sensor",
    about: "publishes where joints are, as a sensor with noise and steps would see it",
    runner: "Robot",
    phase: Phase::Acquisition,
    priority: 0,
    make: |birth| {
        let settings: JointSensorSettings = settings_from(birth.settings)?;
        settings.check()?;
        Ok(Box::new(JointSensor {
            name: birth.name.to_owned(),
            settings,
            random: Random::new(birth.seed, birth.name),
            wiring: Derived::new(),
        }))
    },
};

/// What a joint sensor looks at, and how well.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JointSensorSettings {
    /// The robot whose hinges and slides it reads.
    pub robot: Option<EntityRef>,
    /// The joints that it reads, instead of a robot's.
    pub joints: Vec<EntityRef>,
    /// Standard deviation of positions, in radians or metres.
    pub position_noise: f32,
    /// Standard deviation of velocities.
    pub velocity_noise: f32,
    /// The smallest step of a position; 0 for none.
    pub position_resolution: f32,
    /// The smallest step of a velocity; 0 for none.
    pub velocity_resolution: f32,
}

/// A sensor of joints.
#[derive(Debug)]
pub struct JointSensor {
    name: String,
    settings: JointSensorSettings,
    random: Random,
    wiring: Derived<Wiring>,
}

#[derive(Debug)]
struct Wiring {
    joints: Vec<EntityId>,
    position: SignalKey<[f32]>,
    velocity: SignalKey<[f32]>,
    numbers: Vec<f32>,
}

impl JointSensorSettings {
    fn check(&self) -> Result<(), SettingsError> {
        not_negative("position_noise", self.position_noise.into())?;
        not_negative("velocity_noise", self.velocity_noise.into())?;
        not_negative("position_resolution", self.position_resolution.into())?;
        not_negative("velocity_resolution", self.velocity_resolution.into())
    }
}

impl Wiring {
    fn new(name: &str, settings: &JointSensorSettings, world: &mut World) -> Result<Self, BoxError> {
        let joints = joints(world, settings.robot.as_ref(), &settings.joints)?;
        let position = world.signals.declare_array(&format!("{name}/position"), joints.len())?;
        let velocity = world.signals.declare_array(&format!("{name}/velocity"), joints.len())?;
        let numbers = vec![0.0; joints.len()];
        Ok(Self { joints, position, velocity, numbers })
    }
}

impl Subsystem for JointSensor {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.wiring.get(world, |world| Wiring::new(&self.name, &self.settings, world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let settings = &self.settings;
        let wiring = self.wiring.get(world, |world| Wiring::new(&self.name, settings, world))?;
        let World { components, signals, .. } = world;
        let state = |joint: &EntityId| components.joint_state.get(*joint).copied().unwrap_or_default();
        for (number, joint) in wiring.numbers.iter_mut().zip(&wiring.joints) {
            let measured = state(joint).position[0];
            *number = seen(measured, settings.position_noise, settings.position_resolution, &mut self.random);
        }
        signals.publish_array(wiring.position, context.now(), &wiring.numbers);
        for (number, joint) in wiring.numbers.iter_mut().zip(&wiring.joints) {
            let measured = state(joint).velocity[0];
            *number = seen(measured, settings.velocity_noise, settings.velocity_resolution, &mut self.random);
        }
        signals.publish_array(wiring.velocity, context.now(), &wiring.numbers);
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: JointSensorSettings = settings_from(settings)?;
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

/// A number as a sensor sees it. Without noise, no random number is drawn.
fn seen(number: f32, noise: f32, resolution: f32, random: &mut Random) -> f32 {
    let noisy = if noise > 0.0 { number + noise * random.normal() as f32 } else { number };
    if resolution > 0.0 { (noisy / resolution).round_ties_even() * resolution } else { noisy }
}
