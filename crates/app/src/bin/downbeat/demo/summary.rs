//! What a run of the scene came to: a page to read, or one JSON object.
//!
//! Times of the wall are the only figures in it that differ from run to run.

use std::io::{self, Write};
use std::time::Duration;

use downbeat_time::{RunnerState, TimeManager};
use serde::{Serialize, Serializer};

use super::SPAN;
use super::scene::{self, PUSHES, Scene, SyncPoints};
use super::sparkline::sparkline;
use crate::paint::{Paint, Style};

pub(super) struct Summary<'a> {
    time: &'a TimeManager<Scene>,
    scene: &'a Scene,
    wall: Duration,
}

/// Stable: scripts read it.
#[derive(Serialize)]
struct Object<'a> {
    scene: &'static str,
    mode: &'static str,
    steps: u64,
    sim_time_ns: u64,
    wall_ns: u64,
    real_time_factor: f64,
    runners: RunnerSteps<'a>,
    schedule_hash: String,
    state_hash: String,
}

/// An object: name of a runner → its steps, lowest id first.
struct RunnerSteps<'a>(&'a TimeManager<Scene>);

impl Serialize for RunnerSteps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.swarm().iter().map(|runner| (runner.name, runner.index)))
    }
}

/// The width of the sparkline: one column per simulated second.
const COLUMNS: usize = 60;

impl<'a> Summary<'a> {
    pub(super) fn new(time: &'a TimeManager<Scene>, scene: &'a Scene, wall: Duration) -> Self {
        Self { time, scene, wall }
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let object = Object {
            scene: scene::NAME,
            mode: self.time.mode().name(),
            steps: self.time.steps(),
            sim_time_ns: self.time.now().as_nanos(),
            wall_ns: u64::try_from(self.wall.as_nanos()).unwrap_or(u64::MAX),
            real_time_factor: self.real_time_factor(),
            runners: RunnerSteps(self.time),
            schedule_hash: hex(self.time.schedule_hash()),
            state_hash: hex(self.scene.state_hash()),
        };
        serde_json::to_writer(&mut *out, &object)?;
        out.write_all(b"\n")
    }

    pub(super) fn write_text(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let strong = |text: &str| paint.text(Style::Strong, text);
        let faint = |text: &str| paint.text(Style::Faint, text);
        let headline = format!(
            "{} · {} simulated in {:.1} ms",
            scene::NAME,
            self.time.now(),
            self.wall.as_secs_f64() * 1e3
        );
        writeln!(out, "{} · {:.0}× real time", strong(&headline), self.real_time_factor())?;
        writeln!(out, "{}", faint("a cart balances a pole while somebody pushes it"))?;

        writeln!(out, "\n  {}", faint(&format!("{:9} {:>8} {:>8}", "runner", "rate", "steps")))?;
        for (number, runner) in self.time.swarm().iter().enumerate() {
            writeln!(out, "  {}", paint.text(Style::Runner(number), &self.runner_line(runner)))?;
        }
        let SyncPoints { count, angle_error_max_rad } = self.scene.sync_points;
        let error_degrees = angle_error_max_rad.to_degrees();
        writeln!(out, "  {} steps; all three meet in {count} of them,", self.time.steps())?;
        writeln!(out, "  where the encoders read the angle to within {error_degrees:.4}°")?;

        self.write_angle(out, paint)?;

        writeln!(out, "\n  schedule hash  {}   what ran when", hex(self.time.schedule_hash()))?;
        writeln!(
            out,
            "  state hash     {}   where it ended, the same in every run",
            hex(self.scene.state_hash())
        )?;

        writeln!(out, "\n{}", strong("try next"))?;
        for (command, what) in NEXT {
            writeln!(out, "  {command:COMMAND_WIDTH$}  {}", faint(what))?;
        }
        Ok(())
    }

    fn runner_line(&self, runner: RunnerState<'_>) -> String {
        let rate = self.time.runner(runner.id).map(|config| config.rate.to_string()).unwrap_or_default();
        format!("{:9} {rate:>8} {:>8}", runner.name, runner.index)
    }

    fn write_angle(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let angles = &self.scene.angle_samples_rad;
        let degrees = |pick: fn(f64, f64) -> f64| angles.iter().copied().fold(0.0, pick).to_degrees();
        let (least, most) = (degrees(f64::min), degrees(f64::max));
        writeln!(out, "\n  pole angle, {least:+.1}° to {most:+.1}°, from {} samples", angles.len())?;
        writeln!(out, "  {}", paint.text(Style::Runner(0), &sparkline(angles, COLUMNS)))?;

        let mut marks = vec![' '; COLUMNS];
        for push in &PUSHES {
            let column = push.start().as_secs_f64() / SPAN.as_secs_f64() * COLUMNS as f64;
            marks[(column as usize).min(COLUMNS - 1)] = '↑';
        }
        let marks: String = marks.iter().collect();
        writeln!(out, "  {}", paint.text(Style::Faint, &format!("{marks} ↑ push")))
    }

    fn real_time_factor(&self) -> f64 {
        self.time.now().as_secs_f64() / self.wall.as_secs_f64().max(1e-9)
    }
}

/// Commands that exist, and why one would type them.
const NEXT: [(&str, &str); 3] = [
    ("downbeat timeline", "when runners fire, and where they meet"),
    ("downbeat timeline --runner Imu=200 --for 50ms", "runners of your own"),
    ("downbeat --json", "this summary for scripts"),
];

const COMMAND_WIDTH: usize = NEXT[1].0.len();

fn hex(hash: u64) -> String {
    format!("{hash:#018x}")
}
