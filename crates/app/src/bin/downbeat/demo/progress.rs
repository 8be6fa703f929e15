//! The live line on stderr while the scene runs: simulated time and real-time factor.
//!
//! It is shown on a terminal only, and it is gone when the run ends. It does not slow the run down: between
//! redraws a look at it compares two numbers.

use std::time::Duration;

use downbeat_time::SimTime;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::scene;

pub(super) struct Progress {
    bar: ProgressBar,
    span: Duration,
    next_redraw: Duration,
}

/// Wall time between two redraws: enough to be lively, too little to cost anything.
const REDRAW_EVERY: Duration = Duration::from_millis(50);

impl Progress {
    pub(super) fn new(span: Duration) -> Self {
        let length = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        // The target is hidden where stderr is not a terminal.
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {msg}") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_prefix(scene::NAME);
        Self { bar, span, next_redraw: Duration::ZERO }
    }

    pub(super) fn show(&mut self, now: SimTime, wall: Duration) {
        if wall < self.next_redraw || self.bar.is_hidden() {
            return;
        }
        self.next_redraw = wall + REDRAW_EVERY;
        let factor = now.as_secs_f64() / wall.as_secs_f64().max(1e-9);
        let message =
            format!("{:.1} of {} s · {factor:.0}× real time", now.as_secs_f64(), self.span.as_secs());
        self.bar.set_message(message);
        self.bar.set_position(now.as_nanos() / 1_000_000);
    }
}

impl Drop for Progress {
    /// Also when the run fails: the error must not stand behind the bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
