//! That physics moves an entity, what it collides with, and what pushes it.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{Checked, Pose, Refusal, Shape, ensure, finite, not_negative, positive};

/// That physics moves it, and how.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Body {
    /// Who moves it.
    pub kind: BodyKind,
    /// Which solver it belongs to.
    pub space: Space,
    /// Its mass, when that of its colliders is not meant.
    pub mass: Option<MassProperties>,
    /// How much of the scene's gravity it feels.
    pub gravity_scale: f32,
    /// What slows it down, per second.
    pub linear_damping: f32,
    /// What slows its turning down, per second.
    pub angular_damping: f32,
    /// Whether it may not pass through thin things, however fast.
    pub continuous: bool,
    /// Whether it may fall asleep when nothing moves it.
    pub can_sleep: bool,
}

/// Who moves a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyKind {
    /// Forces and contacts.
    #[default]
    Dynamic,
    /// Nobody.
    Fixed,
    /// Its velocity, whatever is in the way.
    Kinematic,
}

/// Which solver a body belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Three dimensions.
    #[default]
    Solid,
    /// The x-y plane: y points up, and only the turn about z counts.
    Plane,
}

/// A mass and how it is spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MassProperties {
    /// Kilograms.
    pub mass: f32,
    /// Where the mass is centred.
    #[serde(default)]
    pub center: Vec3,
    /// Kilogram square metres about the principal axes.
    pub inertia: Vec3,
    /// The turn of the principal axes.
    #[serde(default)]
    pub axes: Quat,
}

/// What it collides with. An entity without a body lends its collider to the nearest body above it; without one,
/// it is part of the unmoving world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collider {
    /// Its shape.
    pub shape: Shape,
    /// Where the shape is.
    #[serde(default)]
    pub offset: Pose,
    /// Which solver it belongs to, when there is no body above it.
    #[serde(default)]
    pub space: Space,
    /// How it resists sliding.
    #[serde(default = "Collider::default_friction")]
    pub friction: f32,
    /// How it bounces: 0 not at all, 1 without loss.
    #[serde(default)]
    pub restitution: f32,
    /// Kilograms per cubic metre (per square metre in a plane).
    #[serde(default = "Collider::default_density")]
    pub density: f32,
    /// Whether it only notices what touches it.
    #[serde(default)]
    pub sensor: bool,
    /// Whether its contacts are reported as events.
    #[serde(default)]
    pub events: bool,
    /// What it may touch.
    #[serde(default)]
    pub groups: Groups,
}

/// What may touch what: two colliders touch if each is in a group that the other lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Groups {
    /// The groups it is in, one bit each.
    pub memberships: u32,
    /// The groups it lets through, one bit each.
    pub filter: u32,
}

/// What is pushing it, in world axes, until changed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(C)]
#[serde(default, deny_unknown_fields)]
pub struct ExternalForce {
    /// Newtons, at the centre of mass.
    pub force: Vec3,
    /// Newton metres.
    pub torque: Vec3,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            kind: BodyKind::Dynamic,
            space: Space::Solid,
            mass: None,
            gravity_scale: 1.0,
            linear_damping: 0.0,
            angular_damping: 0.0,
            continuous: false,
            can_sleep: true,
        }
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self { memberships: u32::MAX, filter: u32::MAX }
    }
}

impl Collider {
    /// A collider of this shape, with the usual material.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            offset: Pose::IDENTITY,
            space: Space::Solid,
            friction: Self::default_friction(),
            restitution: 0.0,
            density: Self::default_density(),
            sensor: false,
            events: false,
            groups: Groups::default(),
        }
    }

    const fn default_friction() -> f32 {
        0.5
    }

    const fn default_density() -> f32 {
        1000.0
    }
}

impl Checked for Body {
    fn check(&self) -> Result<(), Refusal> {
        finite("a gravity scale", [self.gravity_scale])?;
        not_negative("linear damping", self.linear_damping)?;
        not_negative("angular damping", self.angular_damping)?;
        self.mass.map_or(Ok(()), |mass| mass.check())
    }
}

impl MassProperties {
    fn check(&self) -> Result<(), Refusal> {
        positive("a mass", self.mass)?;
        finite("a centre of mass", self.center.to_array())?;
        let inertia = self.inertia.to_array();
        inertia.into_iter().try_for_each(|inertia| positive("an inertia", inertia))?;
        Pose::turned(self.axes).check()
    }
}

impl Checked for Collider {
    fn check(&self) -> Result<(), Refusal> {
        self.shape.check()?;
        self.offset.check()?;
        not_negative("friction", self.friction)?;
        not_negative("density", self.density)?;
        ensure((0.0..=1.0).contains(&self.restitution), || {
            format!("restitution is from 0 to 1, not {}", self.restitution)
        })
    }
}

impl Checked for ExternalForce {
    fn check(&self) -> Result<(), Refusal> {
        finite("a force", self.force.to_array().into_iter().chain(self.torque.to_array()))
    }

    fn plain_bytes(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }
}
