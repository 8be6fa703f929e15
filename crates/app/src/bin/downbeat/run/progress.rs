//! The live line on stderr while a scene runs: simulated time, real-time factor, steps of each runner.
//!
//! It is shown on a terminal only, and it is gone when the run ends. It does not slow the run down: between redraws a
//! look at it compares two numbers.

use std::time::Duration;

use downbeat_time::SimTime;
use downbeat_world::Scene;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::End;
use crate::number::{self, real_time_factor};

pub(super) struct Progress {
    bar: ProgressBar,
    end: End,
    /// Where simulated time stood when this process began.
    start: SimTime,
    next_redraw: Duration,
}

/// Wall time between two redraws: enough to be lively, too little to cost anything.
const REDRAW_EVERY: Duration = Duration::from_millis(50);

impl Progress {
    pub(super) fn new(scene: &Scene, end: End) -> Self {
        let (length, template) = match end {
            End::Time(time) => (Some(time.as_nanos() / 1_000_000), "{prefix} {bar:30} {msg}"),
            End::Steps(steps) => (Some(steps), "{prefix} {bar:30} {msg}"),
            End::Interrupted => (None, "{prefix} {spinner} {msg}"),
        };
        // The target is hidden where stderr is not a terminal.
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_prefix(scene.name().to_owned());
        Self { bar, end, start: scene.time().now(), next_redraw: Duration::ZERO }
    }

    pub(super) fn show(&mut self, scene: &Scene, wall: Duration) {
        if wall < self.next_redraw || self.bar.is_hidden() {
            return;
        }
        self.next_redraw = wall + REDRAW_EVERY;
        let now = scene.time().now();
        let factor = real_time_factor(self.start, now, wall);
        let runners: Vec<_> =
            scene.time().swarm().iter().map(|runner| format!("{} {}", runner.name, runner.index)).collect();
        let factor = number::factor(factor);
        self.bar.set_message(format!(
            "{:.1} s · {factor}× real time · {}",
            now.as_secs_f64(),
            runners.join(" · ")
        ));
        match self.end {
            End::Time(_) => self.bar.set_position(now.as_nanos() / 1_000_000),
            End::Steps(_) => self.bar.set_position(scene.time().steps()),
            End::Interrupted => self.bar.tick(),
        }
    }
}

impl Drop for Progress {
    /// Also when the run fails: the error must not stand behind the bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
