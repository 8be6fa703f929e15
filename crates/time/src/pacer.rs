//! Sleeping until the next step is due, for realtime loops.
//!
//! It sleeps on the system timer and spins only for the last stretch that the timer cannot resolve. It does not
//! tick anything; the loop stays yours.

use std::time::Duration;

use spin_sleep::SpinSleeper;

use crate::clock::Clock;
use crate::sim_time::nanos_of;

/// Measures a loop's wall time and sleeps between its rounds.
///
/// Every round is measured from the end of the wait before, so lateness never adds up.
///
/// ```
/// use downbeat_time::{ManualClock, Pacer, SimTime, TimeManager};
/// use std::time::Duration;
///
/// let mut time = TimeManager::<()>::default();
/// let mut pacer = Pacer::new(ManualClock::new().clock()); // `Clock::system()` in a real loop
/// while time.now() < SimTime::from_nanos(100_000_000) {
///     let elapsed = pacer.wait(time.until_due());
///     time.tick(&mut (), elapsed)?;
/// }
/// assert_eq!(time.steps(), 7);
/// # Ok::<(), downbeat_time::BoxError>(())
/// ```
#[derive(Debug)]
pub struct Pacer {
    clock: Clock,
    /// When the wait before ended.
    mark: u64,
    sleeper: SpinSleeper,
    idle: Duration,
}

impl Pacer {
    /// A pacer that starts measuring now.
    pub fn new(clock: Clock) -> Self {
        let mark = clock.nanos();
        Self { clock, mark, sleeper: SpinSleeper::new(SPIN_NANOS), idle: Duration::from_millis(10) }
    }

    /// How long a round waits when nothing is due: paused, or held by a gate. 10 ms unless set.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Waits until `due` after the last wait's end, `None` for the idle time, and returns the wall time since
    /// then. Returns at once when that moment has passed.
    pub fn wait(&mut self, due: Option<Duration>) -> Duration {
        let target = self.mark.saturating_add(nanos_of(due.unwrap_or(self.idle)));
        let rest = Duration::from_nanos(target.saturating_sub(self.clock.nanos()));
        match self.clock.hand() {
            Some(hand) => hand.advance(rest),
            None if rest.is_zero() => {}
            None => self.sleeper.sleep(rest),
        }
        let now = self.clock.nanos();
        let elapsed = now.saturating_sub(self.mark);
        self.mark = now;
        Duration::from_nanos(elapsed)
    }
}

/// How much of a wait is spent spinning.
const SPIN_NANOS: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn work_between_waits_is_part_of_the_round() {
        let hand = ManualClock::new();
        let mut pacer = Pacer::new(hand.clock());
        hand.advance(Duration::from_millis(3));
        assert_eq!(pacer.wait(Some(Duration::from_millis(10))), Duration::from_millis(10));
        hand.advance(Duration::from_millis(12));
        assert_eq!(pacer.wait(Some(Duration::from_millis(10))), Duration::from_millis(12));
        assert_eq!(hand.clock().elapsed(), Duration::from_millis(22));
    }

    #[test]
    fn lateness_never_adds_up() {
        let hand = ManualClock::new();
        let mut pacer = Pacer::new(hand.clock());
        let mut round = |late: u64| {
            hand.advance(Duration::from_millis(10 + late));
            pacer.wait(Some(Duration::from_millis(10)))
        };
        // Two late rounds are as long as they were; the one after them owes nothing.
        assert_eq!([round(5), round(7)], [15, 17].map(Duration::from_millis));
        assert_eq!(round(0), Duration::from_millis(10));
        assert_eq!(pacer.wait(Some(Duration::from_millis(10))), Duration::from_millis(10));
    }

    #[test]
    fn with_nothing_due_a_round_is_the_idle_time() {
        let mut pacer = Pacer::new(ManualClock::new().clock()).with_idle(Duration::from_millis(5));
        assert_eq!(pacer.wait(None), Duration::from_millis(5));
    }

    #[test]
    fn the_system_clock_is_never_early() {
        let mut pacer = Pacer::new(Clock::system());
        assert!(pacer.wait(Some(Duration::from_micros(300))) >= Duration::from_micros(300));
    }
}
