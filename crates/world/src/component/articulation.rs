//! Joints, what drives them, and the robots they make.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{Checked, Pose, Refusal, ensure, finite, not_negative, positive};
use crate::entity::EntityId;

/// How many joints a robot may have.
const JOINTS_MAX: usize = 1024;

/// How it hangs on another body.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// The body it hangs on; without one, the world.
    #[serde(default)]
    pub to: Option<EntityId>,
    /// What it lets move.
    pub kind: JointKind,
    /// The joint's frame as the other body sees it.
    #[serde(default)]
    pub to_frame: Pose,
    /// The joint's frame as this body sees it.
    #[serde(default)]
    pub frame: Pose,
    /// The lowest and highest position, in radians or metres. For a ball, how far it may bend.
    #[serde(default)]
    pub limits: Option<[f32; 2]>,
    /// What drives it.
    #[serde(default)]
    pub motor: Option<Motor>,
    /// How it is solved.
    #[serde(default)]
    pub articulation: Articulation,
    /// What slows it down, in newton metres (or newtons) per unit of speed.
    #[serde(default)]
    pub damping: f32,
    /// Inertia of what drives it, as felt at the joint.
    #[serde(default)]
    pub armature: f32,
    /// Whether the two bodies may touch each other.
    #[serde(default)]
    pub contacts: bool,
}

/// What a joint lets move. Axes are those of the joint's frames.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// A turn about an axis.
    Hinge {
        /// The axis.
        axis: Vec3,
    },
    /// A way along an axis.
    Slide {
        /// The axis.
        axis: Vec3,
    },
    /// Every turn.
    Ball,
    /// Everything: the body is free, and its pose and velocity are coordinates.
    Free,
}

/// How a joint is solved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Articulation {
    /// In reduced coordinates: it cannot come apart. For robots; such joints form trees.
    #[default]
    Reduced,
    /// By impulses: it may give a little, and joints may form loops.
    Impulse,
}

/// What drives a joint toward its [`MotorTarget`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// What the target means.
    pub mode: MotorMode,
    /// Effort per unit of distance from the target position.
    #[serde(default)]
    pub stiffness: f32,
    /// Effort per unit of difference from the target velocity.
    #[serde(default)]
    pub damping: f32,
    /// The strongest effort, in newton metres or newtons.
    #[serde(default = "Motor::default_effort_max")]
    pub effort_max: f32,
}

/// What a motor's target means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MotorMode {
    /// Go there and stay.
    #[default]
    Position,
    /// Move that fast.
    Velocity,
    /// Push that hard.
    Effort,
}

/// Where its joint should go. Which of them counts is for [`Motor::mode`] to say.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(C)]
#[serde(default, deny_unknown_fields)]
pub struct MotorTarget {
    /// Radians or metres.
    pub position: f32,
    /// Radians or metres per second.
    pub velocity: f32,
    /// Newton metres or newtons.
    pub effort: f32,
}

/// Where its joint is, in generalised coordinates; written by physics.
///
/// A hinge or slide has one position and one velocity. A ball has a quaternion (x, y, z, w) and three velocities. A
/// free body has a place and a quaternion, and six velocities, linear first. The rest is zero.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(C)]
#[serde(default, deny_unknown_fields)]
pub struct JointState {
    /// Positions; [`JointKind::position_len`] of them count.
    pub position: [f32; 7],
    /// Velocities; [`JointKind::velocity_len`] of them count.
    pub velocity: [f32; 6],
    /// What the motor was asked to push in the last step.
    pub effort: f32,
}

/// A robot: which joints it has, in the order in which their coordinates stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Robot {
    /// Its joints, by the entity that carries each.
    pub joints: Vec<EntityId>,
    /// The entities at the end of its arms.
    pub tools: Vec<EntityId>,
    /// Poses to go back to, by name: all positions in the order of joints.
    pub keyframes: std::collections::BTreeMap<String, Vec<f32>>,
}

impl JointKind {
    /// How many positions it has.
    pub const fn position_len(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Hinge { .. } | Self::Slide { .. } => 1,
            Self::Ball => 4,
            Self::Free => 7,
        }
    }

    /// How many velocities it has.
    pub const fn velocity_len(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Hinge { .. } | Self::Slide { .. } => 1,
            Self::Ball => 3,
            Self::Free => 6,
        }
    }
}

impl Joint {
    /// A joint of this kind with its frames in the origins.
    pub fn new(kind: JointKind) -> Self {
        Self {
            to: None,
            kind,
            to_frame: Pose::IDENTITY,
            frame: Pose::IDENTITY,
            limits: None,
            motor: None,
            articulation: Articulation::Reduced,
            damping: 0.0,
            armature: 0.0,
            contacts: false,
        }
    }
}

impl Motor {
    const fn default_effort_max() -> f32 {
        f32::MAX
    }
}

impl Checked for Joint {
    fn check(&self) -> Result<(), Refusal> {
        if let JointKind::Hinge { axis } | JointKind::Slide { axis } = self.kind {
            finite("an axis", axis.to_array())?;
            ensure(axis.length_squared() > 1e-6, || "an axis must have a direction".to_owned())?;
        }
        self.to_frame.check()?;
        self.frame.check()?;
        if let Some([low, high]) = self.limits {
            finite("limits", [low, high])?;
            ensure(low <= high, || format!("limits run from low to high, not from {low} to {high}"))?;
        }
        not_negative("damping", self.damping)?;
        not_negative("armature", self.armature)?;
        if let Some(motor) = self.motor {
            not_negative("stiffness", motor.stiffness)?;
            not_negative("a motor's damping", motor.damping)?;
            positive("a motor's strongest effort", motor.effort_max)?;
            let one = matches!(self.kind, JointKind::Hinge { .. } | JointKind::Slide { .. });
            ensure(one, || "only a hinge or a slide can have a motor".to_owned())?;
        }
        Ok(())
    }

    fn references(&self) -> Vec<EntityId> {
        self.to.into_iter().collect()
    }
}

impl Checked for MotorTarget {
    fn check(&self) -> Result<(), Refusal> {
        finite("a motor's target", [self.position, self.velocity, self.effort])
    }

    fn plain_bytes(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }
}

impl Checked for JointState {
    fn check(&self) -> Result<(), Refusal> {
        finite("a joint's state", self.position.into_iter().chain(self.velocity).chain([self.effort]))
    }

    fn plain_bytes(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }
}

impl Checked for Robot {
    fn check(&self) -> Result<(), Refusal> {
        let most = self.joints.len().max(self.tools.len()).max(self.keyframes.len());
        ensure(most <= JOINTS_MAX, || format!("a robot may have {JOINTS_MAX} joints, tools and keyframes"))?;
        finite("a keyframe", self.keyframes.values().flatten().copied())
    }

    fn references(&self) -> Vec<EntityId> {
        self.joints.iter().chain(&self.tools).copied().collect()
    }
}
