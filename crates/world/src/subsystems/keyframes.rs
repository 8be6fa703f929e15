//! Plays timed targets: moves the motors of a robot from key to key, smoothly, and stops at each.
//!
//! Where it stands is a function of the simulated time alone, so there is nothing to save. It writes
//! [`crate::MotorTarget::position`] and the velocity that belongs to it; motors should be in position mode.

use downbeat_time::{BoxError, Phase, StepContext};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::EntityRef;
use super::require;
use crate::component::MotorTarget;
use crate::entity::EntityId;
use crate::subsystem::{SettingsError, Subsystem, SubsystemKind, settings_from, settings_into};
use crate::world::World;

/// How many keys there may be.
const KEYS_MAX: usize = 1 << 16;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "keyframes",
    about: "moves a robot's motors through a list of timed targets",
    runner: "Robot",
    phase: Phase::Control,
    priority: 0,
    make: |birth| Ok(Box::new(Keyframes::new(settings_from(birth.settings)?)?)),
};

/// What is played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyframesSettings {
    /// The robot whose motors are moved.
    pub robot: EntityRef,
    /// Whether it begins again after the last key; that should then be as the first.
    #[serde(default)]
    pub repeat: bool,
    /// The keys, in the order of their times.
    pub keys: Vec<Key>,
}

/// Targets at a time: given here, or a keyframe of the robot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Seconds since the scene's start.
    pub at: f64,
    /// One target for each joint that has a motor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<f32>,
    /// The name of one of [`crate::Robot::keyframes`], instead.
    #[serde(default)]
    pub keyframe: Option<String>,
}

/// A player of timed targets.
#[derive(Debug)]
pub struct Keyframes {
    settings: KeyframesSettings,
    wiring: Derived<Wiring>,
}

#[derive(Debug)]
struct Wiring {
    joints: Vec<EntityId>,
    /// Time in nanoseconds, and a target for each joint.
    keys: Vec<(u64, Vec<f32>)>,
}

impl Keyframes {
    /// A player of these keys.
    pub fn new(settings: KeyframesSettings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self { settings, wiring: Derived::new() })
    }
}

impl KeyframesSettings {
    fn check(&self) -> Result<(), SettingsError> {
        let keys = &self.keys;
        require((1..=KEYS_MAX).contains(&keys.len()), || format!("give 1 to {KEYS_MAX} `keys`"))?;
        for key in keys {
            super::not_negative("at", key.at)?;
            require(key.at <= 1e9, || format!("a key at {} s is too late; 10⁹ s is the latest", key.at))?;
            require(key.targets.is_empty() == key.keyframe.is_some(), || {
                format!("the key at {} s must have either `targets` or a `keyframe`", key.at)
            })?;
            require(key.targets.iter().all(|target| target.is_finite()), || {
                format!("the targets at {} s must be finite", key.at)
            })?;
        }
        let unordered = keys.windows(2).find(|pair| nanos(pair[0].at) >= nanos(pair[1].at));
        unordered.map_or(Ok(()), |pair| {
            Err(SettingsError(format!(
                "the key at {} s stands before the one at {} s",
                pair[0].at, pair[1].at
            )))
        })
    }
}

impl Wiring {
    fn new(settings: &KeyframesSettings, world: &World) -> Result<Self, BoxError> {
        let robot = settings.robot.robot(world)?;
        let joints = world.driven_joints(robot);
        let all = world.components.robot.get(robot);
        let targets = |key: &Key| -> Result<(u64, Vec<f32>), BoxError> {
            let targets = match (&key.keyframe, all) {
                (Some(name), Some(all)) => {
                    let named = all.keyframes.get(name);
                    let named = named.ok_or_else(|| format!("the robot has no keyframe `{name}`"))?;
                    // A keyframe has a position for each joint of the robot, driven or not.
                    let driven = all.joints.iter().zip(named).filter(|(id, _)| joints.contains(id));
                    driven.map(|(_, position)| *position).collect()
                }
                _ => key.targets.clone(),
            };
            if targets.len() == joints.len() {
                return Ok((nanos(key.at), targets));
            }
            let (at, found, motors) = (key.at, targets.len(), joints.len());
            Err(format!("the key at {at} s has {found} targets for {motors} motors").into())
        };
        let keys = settings.keys.iter().map(targets).collect::<Result<_, _>>()?;
        Ok(Self { joints, keys })
    }

    /// The keys around a time, how far between them it is, and how many seconds they are apart.
    fn around(&self, nanos: u64, repeat: bool) -> (&[f32], &[f32], f64, f64) {
        let last = &self.keys[self.keys.len() - 1];
        let nanos = if repeat && last.0 > 0 { nanos % last.0 } else { nanos };
        let next = self.keys.partition_point(|(at, _)| *at <= nanos);
        if next == 0 || next == self.keys.len() {
            let only = &self.keys[next.saturating_sub(1)].1;
            return (only, only, 0.0, 1.0);
        }
        let ((from_at, from), (to_at, to)) = (&self.keys[next - 1], &self.keys[next]);
        let span = (to_at - from_at) as f64;
        (from, to, (nanos - from_at) as f64 / span, span * 1e-9)
    }
}

impl Subsystem for Keyframes {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.wiring.get(world, |world| Wiring::new(&self.settings, world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let wiring = self.wiring.get(world, |world| Wiring::new(&self.settings, world))?;
        let (from, to, along, secs) = wiring.around(context.now().as_nanos(), self.settings.repeat);
        // The curve of least jerk: at rest, in speed and acceleration, at both ends.
        let way = along * along * along * (10.0 + along * (6.0 * along - 15.0));
        let speed = 30.0 * along * along * (along - 1.0) * (along - 1.0) / secs;
        for ((joint, from), to) in wiring.joints.iter().zip(from).zip(to) {
            let before = world.components.motor_target.get(*joint).copied().unwrap_or_default();
            let position = from + (to - from) * way as f32;
            let velocity = (to - from) * speed as f32;
            world.set(*joint, MotorTarget { position, velocity, ..before });
        }
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: KeyframesSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.wiring.clear();
        Ok(())
    }
}

/// Seconds that were checked, in whole nanoseconds.
fn nanos(secs: f64) -> u64 {
    (secs * 1e9).round_ties_even() as u64
}
