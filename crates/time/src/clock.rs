//! The only file that reads the system clock, and a clock set by hand for tests.
//!
//! The simulation itself never reads a clock: it is told how much wall time has passed. Clocks serve the frame
//! governor's budget, the profiler and the pacer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::sim_time::nanos_of;

/// A monotonic clock: the system's, or one that a [`ManualClock`] drives.
///
/// ```
/// use downbeat_time::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let hand = ManualClock::new();
/// let clock = hand.clock();
/// hand.advance(Duration::from_millis(3));
/// assert_eq!(clock.elapsed(), Duration::from_millis(3));
/// assert!(Clock::system().elapsed() < Duration::from_secs(3600));
/// ```
#[derive(Debug, Clone)]
pub struct Clock {
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    System(Instant),
    Manual(ManualClock),
}

impl Clock {
    /// The system's monotonic clock, counted from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system clock")]
    pub fn system() -> Self {
        Self { source: Source::System(Instant::now()) }
    }

    /// Time since the clock was made.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    /// Nanoseconds since the clock was made.
    #[inline]
    pub(crate) fn nanos(&self) -> u64 {
        match &self.source {
            Source::System(start) => nanos_of(start.elapsed()),
            Source::Manual(hand) => hand.nanos.load(Ordering::Relaxed),
        }
    }

    /// The hand that moves this clock, where there is one.
    pub(crate) fn hand(&self) -> Option<&ManualClock> {
        match &self.source {
            Source::System(_) => None,
            Source::Manual(hand) => Some(hand),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

/// The hand of a clock that moves only when told to. Clones move the same clock.
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    // Relaxed suffices: the value alone is shared, nothing is published through it.
    nanos: Arc<AtomicU64>,
}

impl ManualClock {
    /// A clock at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader of this clock.
    pub fn clock(&self) -> Clock {
        Clock { source: Source::Manual(self.clone()) }
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.nanos.fetch_add(nanos_of(by), Ordering::Relaxed);
    }
}
