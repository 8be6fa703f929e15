//! Where an entity is and how it moves. Metres, radians, seconds; z points up.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{Checked, Refusal, ensure, finite};

/// Where it is, relative to its parent, or to the world without one.
///
/// ```
/// use downbeat_world::Pose;
/// use glam::{Quat, Vec3};
///
/// let world_from_table = Pose::at(Vec3::new(1.0, 0.0, 0.8));
/// let table_from_cup = Pose { position: Vec3::X, rotation: Quat::IDENTITY };
/// let world_from_cup = world_from_table * table_from_cup;
/// assert_eq!(world_from_cup.position, Vec3::new(2.0, 0.0, 0.8));
/// assert_eq!(world_from_table.inverse() * world_from_cup, table_from_cup);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[serde(default, deny_unknown_fields)]
pub struct Pose {
    /// Metres.
    pub position: Vec3,
    /// A unit quaternion, written x, y, z, w.
    pub rotation: Quat,
}

/// How it moves, in world axes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(C)]
#[serde(default, deny_unknown_fields)]
pub struct Velocity {
    /// Metres per second.
    pub linear: Vec3,
    /// Radians per second, about each axis.
    pub angular: Vec3,
}

impl Pose {
    /// The parent's own place.
    pub const IDENTITY: Self = Self { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// Moved there, not turned.
    pub const fn at(position: Vec3) -> Self {
        Self { position, rotation: Quat::IDENTITY }
    }

    /// Turned, not moved.
    pub const fn turned(rotation: Quat) -> Self {
        Self { position: Vec3::ZERO, rotation }
    }

    /// The way back.
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { position: rotation * -self.position, rotation }
    }

    /// A point of this frame, as its parent sees it.
    pub fn transform_point(self, point: Vec3) -> Vec3 {
        self.position + self.rotation * point
    }

    /// Between two poses, `alpha` of the way: straight for the place, along the shorter arc for the turn.
    #[must_use]
    pub fn interpolated(self, to: Self, alpha: f32) -> Self {
        let toward = if self.rotation.dot(to.rotation) < 0.0 { -to.rotation } else { to.rotation };
        Self { position: self.position.lerp(to.position, alpha), rotation: self.rotation.lerp(toward, alpha) }
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl std::ops::Mul for Pose {
    type Output = Self;

    fn mul(self, inner: Self) -> Self {
        Self { position: self.transform_point(inner.position), rotation: self.rotation * inner.rotation }
    }
}

impl Checked for Pose {
    fn check(&self) -> Result<(), Refusal> {
        finite("a position", self.position.to_array())?;
        finite("a rotation", self.rotation.to_array())?;
        ensure((self.rotation.length_squared() - 1.0).abs() < 1e-3, || {
            format!("a rotation must be a unit quaternion, this one has length {}", self.rotation.length())
        })
    }

    fn plain_bytes(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }
}

impl Checked for Velocity {
    fn check(&self) -> Result<(), Refusal> {
        finite("a velocity", self.linear.to_array().into_iter().chain(self.angular.to_array()))
    }

    fn plain_bytes(values: &[Self]) -> Option<&[u8]> {
        Some(bytemuck::cast_slice(values))
    }
}
