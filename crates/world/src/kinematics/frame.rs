//! A pose in double precision, for chains only.

use std::ops::Mul;

use glam::{DQuat, DVec3};

use crate::component::Pose;

#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) position: DVec3,
    pub(super) rotation: DQuat,
}

impl Frame {
    pub(super) const IDENTITY: Self = Self { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    pub(super) const fn at(position: DVec3) -> Self {
        Self { position, rotation: DQuat::IDENTITY }
    }

    /// Turned about a unit axis.
    pub(super) fn turned(axis: DVec3, angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle / 2.0);
        let [x, y, z] = (axis * sin).to_array();
        Self { position: DVec3::ZERO, rotation: DQuat::from_xyzw(x, y, z, cos) }
    }

    pub(super) fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { position: rotation * -self.position, rotation }
    }

    /// The turn that leads from this one's to another's, as an axis times an angle of at most π.
    pub(super) fn turn_to(self, to: Self) -> DVec3 {
        let turn = to.rotation * self.rotation.conjugate();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let axis = DVec3::new(turn.x, turn.y, turn.z);
        let length = axis.length();
        if length < 1e-12 {
            return axis * 2.0;
        }
        axis * (2.0 * libm::atan2(length, turn.w) / length)
    }
}

impl Mul for Frame {
    type Output = Self;

    fn mul(self, inner: Self) -> Self {
        Self {
            position: self.position + self.rotation * inner.position,
            rotation: self.rotation * inner.rotation,
        }
    }
}

impl From<Pose> for Frame {
    /// A pose's rotation has the length of single precision; here it is exactly a turn.
    fn from(pose: Pose) -> Self {
        Self { position: pose.position.as_dvec3(), rotation: pose.rotation.as_dquat().normalize() }
    }
}

impl From<Frame> for Pose {
    fn from(frame: Frame) -> Self {
        Self { position: frame.position.as_vec3(), rotation: frame.rotation.as_quat().normalize() }
    }
}
