//! A tool that follows an entity: solves for joint positions and writes [`crate::MotorTarget::position`].
//!
//! It goes on from the targets that the motors have, no faster than allowed, so it keeps nothing between steps and its
//! targets never jump. What is left between tool and target, once the joints are where the solver sends them, is the signal
//! `NAME/error`: metres and radians.

use downbeat_time::{BoxError, Phase, StepContext};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::EntityRef;
use super::positive;
use crate::component::{MotorMode, MotorTarget};
use crate::entity::EntityId;
use crate::kinematics::{Chain, IkSettings};
use crate::signal::SignalKey;
use crate::subsystem::{SettingsError, Subsystem, SubsystemKind, settings_from, settings_into};
use crate::world::World;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "ik",
    about: "moves a robot's motors so that its tool follows an entity",
    runner: "Robot",
    phase: Phase::Control,
    priority: 0,
    make: |birth| {
        let settings: IkFollowSettings = settings_from(birth.settings)?;
        settings.check()?;
        Ok(Box::new(Ik { name: birth.name.to_owned(), settings, wiring: Derived::new() }))
    },
};

/// Who follows whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IkFollowSettings {
    /// The tool: an entity on a robot, at the end of joints whose motors are in position mode.
    pub tool: EntityRef,
    /// Whom it follows.
    pub target: EntityRef,
    /// Whether it takes the target's turn too, or its place alone.
    #[serde(default = "IkFollowSettings::default_orientation")]
    pub orientation: bool,
    /// How fast a joint may go, in radians or metres per second.
    #[serde(default = "IkFollowSettings::default_speed_max")]
    pub speed_max: f32,
    /// The most steps that the solver takes each time.
    #[serde(default = "IkFollowSettings::default_iterations")]
    pub iterations: u32,
    /// How much the first of them is damped.
    #[serde(default = "IkFollowSettings::default_damping")]
    pub damping: f64,
}

/// A tool that follows an entity.
#[derive(Debug)]
pub struct Ik {
    name: String,
    settings: IkFollowSettings,
    wiring: Derived<Wiring>,
}

#[derive(Debug)]
struct Wiring {
    chain: Chain,
    target: EntityId,
    error: SignalKey<[f32; 2]>,
    before: Vec<f32>,
    positions: Vec<f32>,
}

impl IkFollowSettings {
    const fn default_orientation() -> bool {
        true
    }

    const fn default_speed_max() -> f32 {
        1.0
    }

    const fn default_iterations() -> u32 {
        20
    }

    const fn default_damping() -> f64 {
        1e-2
    }

    fn check(&self) -> Result<(), SettingsError> {
        positive("speed_max", self.speed_max.into())?;
        positive("damping", self.damping)?;
        super::require((1..=10_000).contains(&self.iterations), || {
            format!("`iterations` are from 1 to 10000, not {}", self.iterations)
        })
    }
}

impl Wiring {
    fn new(name: &str, settings: &IkFollowSettings, world: &mut World) -> Result<Self, BoxError> {
        let target = settings.target.find(world)?;
        let chain = Chain::to_tool(&world.components, settings.tool.find(world)?)?;
        for joint in chain.joints() {
            let motor = world.components.joint.get(*joint).and_then(|joint| joint.motor);
            if motor.is_none_or(|motor| motor.mode != MotorMode::Position) {
                return Err(format!("{joint} needs a motor in position mode to follow").into());
            }
        }
        let error = world.signals.declare(&format!("{name}/error"))?;
        let zeros = vec![0.0; chain.joints().len()];
        Ok(Self { chain, target, error, before: zeros.clone(), positions: zeros })
    }
}

impl Subsystem for Ik {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.wiring.get(world, |world| Wiring::new(&self.name, &self.settings, world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let settings = &self.settings;
        let wiring = self.wiring.get(world, |world| Wiring::new(&self.name, settings, world))?;
        let Wiring { chain, target, error, before, positions } = wiring;
        for (at, joint) in chain.joints().iter().enumerate() {
            before[at] = world.components.motor_target.get(*joint).map_or(0.0, |target| target.position);
        }
        positions.copy_from_slice(before);
        let world_from_base = chain.world_from_base(&world.components);
        let base_from_goal = world_from_base.inverse() * world.world_pose(*target);
        let search = IkSettings {
            orientation: settings.orientation,
            iterations: settings.iterations,
            damping: settings.damping,
            // Another branch of solutions would be a leap.
            restarts: 0,
            ..IkSettings::default()
        };
        let reach = chain.reach(base_from_goal, positions, &search);
        let most =
            positions.iter().zip(&*before).fold(0.0_f32, |most, (to, from)| most.max((to - from).abs()));
        let allowed = settings.speed_max * context.dt_secs() as f32;
        // All joints are slowed alike, so that they arrive together.
        let part = if most > allowed { allowed / most } else { 1.0 };
        for ((joint, from), to) in chain.joints().iter().zip(&*before).zip(&*positions) {
            let there = world.components.motor_target.get(*joint).copied().unwrap_or_default();
            world.set(*joint, MotorTarget { position: from + (to - from) * part, ..there });
        }
        let left = [reach.position_error as f32, reach.rotation_error as f32];
        world.signals.publish(*error, context.now(), left);
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: IkFollowSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.wiring.clear();
        Ok(())
    }
}
