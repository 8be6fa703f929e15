//! The account of wall time: every nanosecond handed to a frame ends up simulated, owed, forgiven or skipped.
//!
//! Wall time is kept in units of `1 / scale.numer()` nanoseconds, in which a step costs a whole number at any
//! rational scale. Booking rounds each balance, never an amount, so the accounts add up exactly and nothing
//! drifts. It does not decide what is forgiven or skipped.

use crate::mode::TimeScale;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ledger {
    scale: TimeScale,
    /// Wall time owed, times `scale.numer()`; equally simulated time owed, times `scale.denom()`.
    owed_units: u128,
    /// What this frame has booked so far.
    pub(crate) booked: Booked,
}

/// Wall time of one frame by what became of it, in nanoseconds.
///
/// Wider than 64 bits: a frame of absurd length on top of what is owed must not wrap around.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Booked {
    pub(crate) simulated: u128,
    pub(crate) forgiven: u128,
    pub(crate) skipped: u128,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { scale: TimeScale::ONE, owed_units: 0, booked: Booked::default() }
    }

    pub(crate) fn scale(&self) -> TimeScale {
        self.scale
    }

    /// Keeps what is owed, in whole nanoseconds of wall time.
    pub(crate) fn set_scale(&mut self, scale: TimeScale) {
        let owed = self.owed_wall();
        self.scale = scale;
        self.owed_units = owed.saturating_mul(u128::from(scale.numer()));
    }

    /// Starts a frame: its wall time is owed.
    pub(crate) fn deposit(&mut self, wall: u64) {
        self.booked = Booked::default();
        self.owed_units += u128::from(wall) * u128::from(self.scale.numer());
    }

    /// Wall time owed, in whole nanoseconds.
    pub(crate) fn owed_wall(&self) -> u128 {
        self.owed_units / u128::from(self.scale.numer())
    }

    /// Simulated time owed, in whole nanoseconds.
    pub(crate) fn owed_sim(&self) -> u64 {
        u64::try_from(self.owed_units / u128::from(self.scale.denom())).unwrap_or(u64::MAX)
    }

    /// Whether the owed time reaches over `sim` nanoseconds of simulated time.
    #[inline]
    pub(crate) fn covers(&self, sim: u64) -> bool {
        self.units_of_sim(sim) <= self.owed_units
    }

    /// Wall time missing until `sim` nanoseconds are covered.
    pub(crate) fn wall_until(&self, sim: u64) -> u64 {
        let missing = self.units_of_sim(sim).saturating_sub(self.owed_units);
        u64::try_from(missing.div_ceil(u128::from(self.scale.numer()))).unwrap_or(u64::MAX)
    }

    /// Wall time by which a step of `sim` nanoseconds is overdue.
    pub(crate) fn overdue_wall(&self, sim: u64) -> u128 {
        self.owed_units.saturating_sub(self.units_of_sim(sim)) / u128::from(self.scale.numer())
    }

    /// Books `sim` nanoseconds as simulated.
    #[inline]
    pub(crate) fn simulate(&mut self, sim: u64) {
        let units = self.units_of_sim(sim).min(self.owed_units);
        self.booked.simulated += self.pay(units);
    }

    /// Books up to `wall` nanoseconds as simulated, for a mode in which the scale does not apply.
    pub(crate) fn simulate_wall(&mut self, wall: u128) {
        self.booked.simulated += self.pay(self.units_of_wall(wall));
    }

    /// Books up to `wall` nanoseconds as forgiven.
    pub(crate) fn forgive(&mut self, wall: u128) {
        self.booked.forgiven += self.pay(self.units_of_wall(wall));
    }

    /// Books up to `wall` nanoseconds as skipped and returns the simulated time they stand for, at most
    /// `sim_room`. What does not fit is forgiven.
    pub(crate) fn skip(&mut self, wall: u128, sim_room: u64) -> u64 {
        let units = self.units_of_wall(wall);
        let denom = u128::from(self.scale.denom());
        let sim = u64::try_from(units / denom).unwrap_or(u64::MAX).min(sim_room);
        self.booked.skipped += self.pay(u128::from(sim) * denom);
        let rest = units - u128::from(sim) * denom;
        if rest >= denom {
            self.booked.forgiven += self.pay(rest);
        }
        sim
    }

    fn units_of_sim(&self, sim: u64) -> u128 {
        u128::from(sim) * u128::from(self.scale.denom())
    }

    fn units_of_wall(&self, wall: u128) -> u128 {
        wall.saturating_mul(u128::from(self.scale.numer())).min(self.owed_units)
    }

    /// Takes units out and returns by how many whole nanoseconds the balance fell.
    fn pay(&mut self, units: u128) -> u128 {
        let before = self.owed_wall();
        self.owed_units -= units;
        before - self.owed_wall()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Entry {
        Deposit(u64),
        Simulate(u64),
        Forgive(u128),
        Skip(u128, u64),
        Scale(u32, u32),
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let nanos = 0_u64..1_000_000_000;
        prop_oneof![
            8 => nanos.clone().prop_map(Entry::Deposit),
            // A clock that jumped: together with what is owed, more than 64 bits of nanoseconds.
            1 => Just(Entry::Deposit(u64::MAX)),
            8 => nanos.clone().prop_map(Entry::Simulate),
            8 => nanos.clone().prop_map(|wall| Entry::Forgive(wall.into())),
            1 => Just(Entry::Forgive(u128::MAX)),
            8 => (nanos.clone(), nanos).prop_map(|(wall, room)| Entry::Skip(wall.into(), room)),
            8 => (1_u32..1000, 1_u32..1000).prop_map(|(n, d)| Entry::Scale(n, d)),
        ]
    }

    proptest! {
        /// Invariant: deposits = simulated + forgiven + skipped + owed, after every entry, at any scale.
        #[test]
        fn no_nanosecond_is_lost(entries in prop::collection::vec(entry(), 1..100)) {
            let mut ledger = Ledger::new();
            let (mut deposited, mut spent) = (0_u128, 0_u128);
            for entry in entries {
                match entry {
                    Entry::Deposit(wall) => {
                        let Booked { simulated, forgiven, skipped } = ledger.booked;
                        spent += simulated + forgiven + skipped;
                        deposited += u128::from(wall);
                        ledger.deposit(wall);
                    }
                    Entry::Simulate(sim) => if ledger.covers(sim) { ledger.simulate(sim) },
                    Entry::Forgive(wall) => ledger.forgive(wall),
                    Entry::Skip(wall, room) => prop_assert!(ledger.skip(wall, room) <= room),
                    Entry::Scale(n, d) => ledger.set_scale(TimeScale::new(n.into(), d.into()).unwrap()),
                }
                let Booked { simulated, forgiven, skipped } = ledger.booked;
                prop_assert_eq!(deposited, spent + simulated + forgiven + skipped + ledger.owed_wall());
            }
        }

        /// At a fixed scale p/q, simulating s nanoseconds books s·q/p of wall time, less than one nanosecond off.
        #[test]
        fn simulated_time_is_wall_time_over_scale(p in 1_u64..50, q in 1_u64..50, steps in prop::collection::vec(1_u64..50_000_000, 1..50)) {
            let mut ledger = Ledger::new();
            ledger.set_scale(TimeScale::new(p, q).unwrap());
            let sim: u64 = steps.iter().sum();
            ledger.deposit(sim * q / p + 1);
            for step in steps {
                prop_assert!(ledger.covers(step));
                ledger.simulate(step);
            }
            prop_assert!((ledger.booked.simulated * u128::from(p)).abs_diff(u128::from(sim * q)) < u128::from(p));
        }
    }

    #[test]
    fn a_third_of_the_speed_needs_three_times_the_wall_time_to_the_nanosecond() {
        let mut ledger = Ledger::new();
        ledger.set_scale(TimeScale::new(1, 3).unwrap());
        ledger.deposit(59_999_999);
        assert!(!ledger.covers(20_000_000));
        assert_eq!(ledger.wall_until(20_000_000), 1);
        ledger.deposit(1);
        assert!(ledger.covers(20_000_000));
    }
}
