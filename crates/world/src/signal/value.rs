//! What a signal can carry: values that are a fixed number of floats.

use glam::{Quat, Vec3};

use crate::component::Pose;

/// A value that a signal can carry: a fixed number of floats.
pub trait SignalValue: Copy {
    /// How many floats it is.
    const WIDTH: usize;

    /// Its floats, into a slice of that width.
    fn store(self, floats: &mut [f32]);

    /// Back from its floats.
    fn load(floats: &[f32]) -> Self;

    /// Between this and another, `alpha` of the way.
    #[must_use]
    fn interpolated(self, to: Self, alpha: f32) -> Self;
}

impl<const N: usize> SignalValue for [f32; N] {
    const WIDTH: usize = N;

    fn store(self, floats: &mut [f32]) {
        floats.copy_from_slice(&self);
    }

    fn load(floats: &[f32]) -> Self {
        std::array::from_fn(|at| floats[at])
    }

    fn interpolated(self, to: Self, alpha: f32) -> Self {
        std::array::from_fn(|at| self[at] + (to[at] - self[at]) * alpha)
    }
}

impl SignalValue for f32 {
    const WIDTH: usize = 1;

    fn store(self, floats: &mut [f32]) {
        [self].store(floats);
    }

    fn load(floats: &[f32]) -> Self {
        floats[0]
    }

    fn interpolated(self, to: Self, alpha: f32) -> Self {
        self + (to - self) * alpha
    }
}

impl SignalValue for Vec3 {
    const WIDTH: usize = 3;

    fn store(self, floats: &mut [f32]) {
        self.to_array().store(floats);
    }

    fn load(floats: &[f32]) -> Self {
        Self::from_array(<[f32; 3]>::load(floats))
    }

    fn interpolated(self, to: Self, alpha: f32) -> Self {
        self.lerp(to, alpha)
    }
}

impl SignalValue for Pose {
    const WIDTH: usize = 7;

    fn store(self, floats: &mut [f32]) {
        self.position.store(&mut floats[..3]);
        self.rotation.to_array().store(&mut floats[3..]);
    }

    fn load(floats: &[f32]) -> Self {
        Self {
            position: Vec3::load(&floats[..3]),
            rotation: Quat::from_array(<[f32; 4]>::load(&floats[3..])),
        }
    }

    fn interpolated(self, to: Self, alpha: f32) -> Self {
        Self::interpolated(self, to, alpha)
    }
}
