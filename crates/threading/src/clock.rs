//! The crate's only look at the system clock: deadlines of waits and budgets.
//!
//! It decides how long somebody waits, never what comes out.

use std::time::{Duration, Instant};

/// A point in time at which waiting ends; never, when it lies beyond what the clock can show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The point `timeout` from now.
    #[expect(clippy::disallowed_methods, reason = "this is this crate's clock.rs")]
    pub(crate) fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    /// What is left; `None` once it has passed.
    #[expect(clippy::disallowed_methods, reason = "this is this crate's clock.rs")]
    pub(crate) fn left(self) -> Option<Duration> {
        match self.0 {
            None => Some(Duration::MAX),
            Some(at) => at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()),
        }
    }

    pub(crate) fn has_passed(self) -> bool {
        self.left().is_none()
    }
}

/// How long some work took, for the reader of a report.
#[cfg(downbeat_loom)]
#[expect(clippy::disallowed_methods, reason = "this is this crate's clock.rs")]
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}
