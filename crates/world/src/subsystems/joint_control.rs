//! A controller of joints by efforts, for motors in effort mode.
//!
//! Each step it takes the setpoint of every joint (from a signal, until then from its settings; without either it
//! pushes nothing), the measured position and velocity (from a joint sensor's signals, or the true ones), and writes
//! [`crate::MotorTarget::effort`]. Motors in position or velocity mode need no controller: the solver drives them.

use downbeat_time::{BoxError, Phase, StepContext};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::{EntityRef, joints};
use super::{positive, require};
use crate::component::{MotorMode, MotorTarget};
use crate::entity::EntityId;
use crate::hash::StateHasher;
use crate::signal::{Sampling, SignalKey};
use crate::subsystem::{
    SettingsError, Subsystem, SubsystemKind, settings_from, settings_into, state_from, state_into,
};
use crate::world::World;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "joint_control",
    about: "drives joints by efforts: PID on positions, PI on speeds, or efforts as they come",
    runner: "Robot",
    phase: Phase::Control,
    priority: 0,
    make: |birth| Ok(Box::new(JointControl::new(settings_from(birth.settings)?)?)),
};

/// What a controller of joints does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JointControlSettings {
    /// What setpoints mean.
    pub mode: ControlMode,
    /// The robot whose driven hinges and slides it controls.
    pub robot: Option<EntityRef>,
    /// The joints that it controls, instead of a robot's.
    pub joints: Vec<EntityRef>,
    /// The signal with one setpoint for each joint.
    pub setpoint: Option<String>,
    /// How that signal is read.
    pub sampling: Sampling,
    /// Setpoints until the signal has any; none, or one for each joint.
    pub targets: Vec<f32>,
    /// The joint sensor that measures the same joints; without one, the true state is taken.
    pub sensor: Option<String>,
    /// Effort per unit of error.
    pub kp: PerJoint,
    /// Effort per unit of error and second.
    pub ki: PerJoint,
    /// Effort per unit of speed, against it. For positions only.
    pub kd: PerJoint,
    /// The strongest effort. The motor's own limit holds too.
    pub effort_max: PerJoint,
}

/// What setpoints mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlMode {
    /// Positions: effort = kp · error + ki · ∫ error − kd · velocity.
    #[default]
    Position,
    /// Velocities: effort = kp · error + ki · ∫ error.
    Velocity,
    /// Efforts, passed on within the limits.
    Effort,
}

/// A number for all joints, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerJoint {
    /// The same for all.
    All(f32),
    /// One for each, in the order of joints.
    Each(Vec<f32>),
}

/// A controller of joints.
#[derive(Debug)]
pub struct JointControl {
    settings: JointControlSettings,
    /// ∫ error, for each joint.
    integrals: Vec<f32>,
    wiring: Derived<Wiring>,
}

#[derive(Debug)]
struct Wiring {
    joints: Vec<EntityId>,
    setpoint: Option<SignalKey<[f32]>>,
    measured: Option<[SignalKey<[f32]>; 2]>,
    positions: Vec<f32>,
    velocities: Vec<f32>,
    setpoints: Vec<f32>,
}

impl Default for JointControlSettings {
    fn default() -> Self {
        Self {
            mode: ControlMode::Position,
            robot: None,
            joints: Vec::new(),
            setpoint: None,
            sampling: Sampling::Held,
            targets: Vec::new(),
            sensor: None,
            kp: PerJoint::All(0.0),
            ki: PerJoint::All(0.0),
            kd: PerJoint::All(0.0),
            effort_max: PerJoint::All(f32::MAX),
        }
    }
}

impl PerJoint {
    /// The number of a joint.
    pub fn at(&self, joint: usize) -> f32 {
        match self {
            Self::All(number) => *number,
            Self::Each(numbers) => numbers.get(joint).copied().unwrap_or_default(),
        }
    }

    fn numbers(&self) -> &[f32] {
        match self {
            Self::All(number) => std::slice::from_ref(number),
            Self::Each(numbers) => numbers,
        }
    }
}

impl JointControlSettings {
    fn check(&self) -> Result<(), SettingsError> {
        for (what, gain) in [("kp", &self.kp), ("ki", &self.ki), ("kd", &self.kd)] {
            gain.numbers().iter().try_for_each(|number| super::not_negative(what, f64::from(*number)))?;
        }
        let strongest = self.effort_max.numbers();
        strongest.iter().try_for_each(|number| positive("effort_max", f64::from(*number)))?;
        require(self.targets.iter().all(|target| target.is_finite()), || {
            "`targets` must be finite".to_owned()
        })?;
        let damps = self.kd.numbers().iter().any(|gain| *gain > 0.0);
        require(self.mode == ControlMode::Position || !damps, || {
            "`kd` is for positions; a controller of velocities has `kp` and `ki`".to_owned()
        })
    }

    /// Whether every list has a number for each joint.
    fn check_lists(&self, joints: usize) -> Result<(), BoxError> {
        let lists = [("kp", &self.kp), ("ki", &self.ki), ("kd", &self.kd), ("effort_max", &self.effort_max)];
        let gains = lists.into_iter().filter_map(|(what, numbers)| match numbers {
            PerJoint::Each(numbers) => Some((what, numbers.len())),
            PerJoint::All(_) => None,
        });
        let targets = (!self.targets.is_empty()).then_some(("targets", self.targets.len()));
        match gains.chain(targets).find(|(_, len)| *len != joints) {
            Some((what, len)) => Err(format!("`{what}` has {len} numbers for {joints} joints").into()),
            None => Ok(()),
        }
    }
}

impl Wiring {
    fn new(settings: &JointControlSettings, world: &mut World) -> Result<Self, BoxError> {
        let mut joints = joints(world, settings.robot.as_ref(), &settings.joints)?;
        let mode_of = |id: &EntityId| Some(world.components.joint.get(*id)?.motor?.mode);
        if settings.robot.is_some() {
            joints.retain(|id| mode_of(id).is_some());
        }
        if let Some(other) = joints.iter().find(|id| mode_of(id) != Some(MotorMode::Effort)) {
            let found =
                mode_of(other).map_or("no motor".to_owned(), |mode| format!("a motor in {mode:?} mode"));
            return Err(format!("{other} has {found}; a controller needs motors in effort mode").into());
        }
        settings.check_lists(joints.len())?;
        let setpoint = settings.setpoint.as_ref();
        let setpoint = setpoint.map(|name| world.signals.declare_array(name, joints.len())).transpose()?;
        let measured = settings.sensor.as_ref().map(|name| {
            let [position, velocity] = ["position", "velocity"]
                .map(|what| world.signals.declare_array(&format!("{name}/{what}"), joints.len()));
            Ok::<_, BoxError>([position?, velocity?])
        });
        let zeros = vec![0.0; joints.len()];
        Ok(Self {
            setpoint,
            measured: measured.transpose()?,
            positions: zeros.clone(),
            velocities: zeros.clone(),
            setpoints: zeros,
            joints,
        })
    }

    /// Takes in what is measured and what is wanted. Says whether both are known.
    fn sample(&mut self, settings: &JointControlSettings, world: &World, context: &StepContext<'_>) -> bool {
        let (signals, now) = (&world.signals, context.now());
        let known = match self.measured {
            Some([position, velocity]) => {
                let read =
                    |key, into: &mut [f32]| signals.read_array(key, Sampling::Held, now, into).is_some();
                read(position, &mut self.positions) && read(velocity, &mut self.velocities)
            }
            None => {
                for (at, joint) in self.joints.iter().enumerate() {
                    let state = world.components.joint_state.get(*joint).copied().unwrap_or_default();
                    (self.positions[at], self.velocities[at]) = (state.position[0], state.velocity[0]);
                }
                true
            }
        };
        let read = |key| signals.read_array(key, settings.sampling, now, &mut self.setpoints).is_some();
        if self.setpoint.is_some_and(read) {
            return known;
        }
        if settings.targets.len() == self.setpoints.len() {
            self.setpoints.copy_from_slice(&settings.targets);
            return known;
        }
        false
    }
}

impl JointControl {
    /// A controller that has seen no error yet.
    pub fn new(settings: JointControlSettings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self { settings, integrals: Vec::new(), wiring: Derived::new() })
    }
}

impl Subsystem for JointControl {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.wiring.get(world, |world| Wiring::new(&self.settings, world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let settings = &self.settings;
        let wiring = self.wiring.get(world, |world| Wiring::new(settings, world))?;
        if self.integrals.len() != wiring.joints.len() {
            self.integrals = vec![0.0; wiring.joints.len()];
        }
        let known = wiring.sample(settings, world, context);
        let dt = context.dt_secs() as f32;
        for (at, joint) in wiring.joints.iter().enumerate() {
            let measured = (wiring.positions[at], wiring.velocities[at]);
            let effort = if known {
                settings.effort(at, wiring.setpoints[at], measured, dt, &mut self.integrals[at])
            } else {
                0.0
            };
            let before = world.components.motor_target.get(*joint).copied().unwrap_or_default();
            world.set(*joint, MotorTarget { effort, ..before });
        }
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: JointControlSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.wiring.clear();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.integrals)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        self.integrals = state_from(bytes)?;
        Ok(())
    }

    fn hash(&self, hasher: &mut StateHasher) {
        hasher.floats(&self.integrals);
    }
}

impl JointControlSettings {
    /// One joint's effort. The integral stands still while the effort is at its limit and the error would push it
    /// farther: otherwise it would wind up and overshoot by as much.
    fn effort(&self, at: usize, setpoint: f32, measured: (f32, f32), dt: f32, integral: &mut f32) -> f32 {
        let (position, velocity) = measured;
        let most = self.effort_max.at(at);
        let error = match self.mode {
            ControlMode::Position => setpoint - position,
            ControlMode::Velocity => setpoint - velocity,
            ControlMode::Effort => return setpoint.clamp(-most, most),
        };
        let (kp, ki, kd) = (self.kp.at(at), self.ki.at(at), self.kd.at(at));
        let summed = *integral + error * dt;
        let wanted = kp * error + ki * summed - kd * velocity;
        let effort = wanted.clamp(-most, most);
        let winds_up = (wanted - effort) * error > 0.0;
        if !winds_up {
            *integral = summed;
        }
        effort
    }
}
