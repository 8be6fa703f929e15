//! What balances the pole: encoders that see it in whole counts, and a state feedback that turns the view into
//! a force.
//!
//! It never sees the pole itself, only counts, as on a real machine.

use std::f64::consts::TAU;

use super::cart_pole::CartPole;

/// What the controller knows: places from the encoders, speeds from how they changed.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct View {
    pub(super) position_m: f64,
    pub(super) velocity_m_per_s: f64,
    pub(super) angle_rad: f64,
    pub(super) angular_velocity_rad_per_s: f64,
}

const POSITION_M_PER_COUNT: f64 = 1e-4;
const ANGLE_RAD_PER_COUNT: f64 = TAU / 65_536.0;

impl View {
    /// Encoders that have read once, at rest.
    pub(super) fn of(pole: &CartPole) -> Self {
        let mut view = Self::default();
        (view.position_m, view.angle_rad) = encoded(pole);
        view
    }

    /// Reads the encoders, `dt_secs` after the reading before.
    pub(super) fn read(&mut self, pole: &CartPole, dt_secs: f64) {
        let (position_m, angle_rad) = encoded(pole);
        self.velocity_m_per_s = (position_m - self.position_m) / dt_secs;
        self.angular_velocity_rad_per_s = (angle_rad - self.angle_rad) / dt_secs;
        (self.position_m, self.angle_rad) = (position_m, angle_rad);
    }

    /// The force that brings the pole upright and the cart to the middle.
    ///
    /// The gains are those of a linear-quadratic regulator of the 50 Hz loop, rounded to one decimal.
    pub(super) fn force_n(&self) -> f64 {
        let force = 5.6 * self.position_m
            + 7.4 * self.velocity_m_per_s
            + 56.0 * self.angle_rad
            + 15.2 * self.angular_velocity_rad_per_s;
        force.clamp(-MOTOR_MAX_N, MOTOR_MAX_N)
    }

    /// The bits of the view, for comparing runs.
    pub(super) fn bits(&self) -> [u64; 4] {
        [self.position_m, self.velocity_m_per_s, self.angle_rad, self.angular_velocity_rad_per_s]
            .map(f64::to_bits)
    }
}

const MOTOR_MAX_N: f64 = 20.0;

/// Position and angle in whole counts of their encoders.
fn encoded(pole: &CartPole) -> (f64, f64) {
    let in_counts = |value: f64, per_count: f64| (value / per_count).round() * per_count;
    (in_counts(pole.position_m, POSITION_M_PER_COUNT), in_counts(pole.angle_rad, ANGLE_RAD_PER_COUNT))
}
