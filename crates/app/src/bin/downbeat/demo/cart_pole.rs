//! A pole that stands on a cart: a point mass on a massless rod, hinged to a cart on a track.
//!
//! It integrates the motion and knows neither sensors nor controllers. Angles are measured from upright,
//! positive towards positive positions.

/// Where the cart and the pole are and how they move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CartPole {
    pub(super) position_m: f64,
    pub(super) velocity_m_per_s: f64,
    pub(super) angle_rad: f64,
    pub(super) angular_velocity_rad_per_s: f64,
}

/// What pulls and pushes during a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forces {
    /// The motor, on the cart.
    pub(super) motor_n: f64,
    /// Somebody's finger, sideways on the mass at the pole's end.
    pub(super) push_n: f64,
}

const CART_KG: f64 = 1.0;
const POLE_KG: f64 = 0.2;
const POLE_M: f64 = 0.8;
const FRICTION_N_S_PER_M: f64 = 0.1;
const GRAVITY_M_PER_S2: f64 = 9.81;

impl CartPole {
    /// At rest on the track's middle, leaning by `angle_rad`.
    pub(super) const fn leaning(angle_rad: f64) -> Self {
        Self { position_m: 0.0, velocity_m_per_s: 0.0, angle_rad, angular_velocity_rad_per_s: 0.0 }
    }

    /// One step of semi-implicit Euler: speeds first, then places with the new speeds, which keeps energy in
    /// check.
    pub(super) fn step(&mut self, forces: Forces, dt_secs: f64) {
        let (sin, cos) = libm::sincos(self.angle_rad);
        let swing_n =
            POLE_KG * POLE_M * self.angular_velocity_rad_per_s * self.angular_velocity_rad_per_s * sin;
        let cart_n = forces.motor_n - FRICTION_N_S_PER_M * self.velocity_m_per_s + swing_n
            - POLE_KG * GRAVITY_M_PER_S2 * sin * cos
            + forces.push_n * sin * sin;
        let acceleration = cart_n / (CART_KG + POLE_KG * sin * sin);
        let angular_acceleration =
            (GRAVITY_M_PER_S2 * sin + forces.push_n / POLE_KG * cos - acceleration * cos) / POLE_M;

        self.velocity_m_per_s += acceleration * dt_secs;
        self.angular_velocity_rad_per_s += angular_acceleration * dt_secs;
        self.position_m += self.velocity_m_per_s * dt_secs;
        self.angle_rad += self.angular_velocity_rad_per_s * dt_secs;
    }

    /// The bits of the state, for comparing runs.
    pub(super) fn bits(&self) -> [u64; 4] {
        [self.position_m, self.velocity_m_per_s, self.angle_rad, self.angular_velocity_rad_per_s]
            .map(f64::to_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Forces = Forces { motor_n: 0.0, push_n: 0.0 };

    #[test]
    fn upright_and_at_rest_it_stays_to_the_bit() {
        let mut pole = CartPole::leaning(0.0);
        (0..10_000).for_each(|_| pole.step(FREE, 0.002));
        assert_eq!(pole.bits(), CartPole::leaning(0.0).bits());
    }

    #[test]
    fn left_alone_it_falls_to_the_side_it_leans_to() {
        let mut pole = CartPole::leaning(0.01);
        (0..500).for_each(|_| pole.step(FREE, 0.002));
        assert!(pole.angle_rad > 0.1 && pole.position_m < 0.0, "{pole:?}");
    }

    #[test]
    fn mirrored_forces_give_the_mirrored_motion() {
        let (mut left, mut right) = (CartPole::leaning(-0.1), CartPole::leaning(0.1));
        for _ in 0..1_000 {
            left.step(Forces { motor_n: -1.0, push_n: 0.5 }, 0.002);
            right.step(Forces { motor_n: 1.0, push_n: -0.5 }, 0.002);
        }
        assert_eq!(left.angle_rad.to_bits(), (-right.angle_rad).to_bits());
    }
}
