//! What a run came to: a page to read, or one JSON object.
//!
//! Times of the wall are the only figures in it that differ from run to run.

use std::io::{self, Write};
use std::time::Duration;

use downbeat_app::SHIPPED;
use downbeat_time::{RunnerState, SimTime};
use downbeat_world::Scene;
use serde::{Serialize, Serializer};

use super::logged::Logged;
use crate::number::{factor, hex, real_time_factor};
use crate::object;
use crate::paint::{Paint, Style};

pub(super) struct Summary<'a> {
    pub(super) scene: &'a Scene,
    /// Where simulated time stood when this process began.
    pub(super) start: SimTime,
    pub(super) wall: Duration,
    pub(super) interrupted: bool,
    pub(super) logged: Option<&'a Logged>,
}

/// Stable: scripts read it.
#[derive(Serialize)]
struct Object<'a> {
    scene: &'a str,
    mode: &'static str,
    steps: u64,
    sim_time_ns: u64,
    wall_ns: u64,
    real_time_factor: f64,
    runners: RunnerSteps<'a>,
    schedule_hash: String,
    state_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<&'a Logged>,
}

/// An object: name of a runner → its steps, lowest id first.
struct RunnerSteps<'a>(&'a Scene);

impl Serialize for RunnerSteps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.time().swarm().iter().map(|runner| (runner.name, runner.index)))
    }
}

/// Commands that exist, and why one would type them.
const NEXT: [(&str, &str); 4] = [
    ("downbeat run pile --for 5s", "a thousand bodies in contact"),
    ("downbeat order arm", "what runs in a step, and in which order"),
    ("downbeat timeline arm", "when runners fire, and where they meet"),
    ("downbeat --json", "this summary for scripts"),
];

const COMMAND_WIDTH: usize = NEXT[0].0.len();

impl Summary<'_> {
    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let time = self.scene.time();
        let object = Object {
            scene: self.scene.name(),
            mode: time.mode().name(),
            steps: time.steps(),
            sim_time_ns: time.now().as_nanos(),
            wall_ns: u64::try_from(self.wall.as_nanos()).unwrap_or(u64::MAX),
            real_time_factor: self.real_time_factor(),
            runners: RunnerSteps(self.scene),
            schedule_hash: hex(time.schedule_hash()),
            state_hash: hex(self.scene.state_hashes().total),
            log: self.logged,
        };
        object::write(out, &object)
    }

    pub(super) fn write_text(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let strong = |text: &str| paint.text(Style::Strong, text);
        let faint = |text: &str| paint.text(Style::Faint, text);
        let time = self.scene.time();
        let name = self.scene.name();
        let wall = self.wall.as_secs_f64();
        let simulated = SimTime::ZERO.saturating_add(time.now().since(self.start));
        let headline = format!("{name} · {simulated} simulated in {wall:.2} s");
        writeln!(out, "{} · {}× real time", strong(&headline), factor(self.real_time_factor()))?;
        if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == name) {
            writeln!(out, "{}", faint(shipped.about))?;
        }
        if self.interrupted {
            writeln!(out, "interrupted after {} steps", time.steps())?;
        }
        if let Some(logged) = self.logged {
            writeln!(out, "{}", logged.line())?;
        }

        writeln!(out, "\n  {}", faint(&format!("{:9} {:>10} {:>8}", "runner", "rate", "steps")))?;
        for (number, runner) in time.swarm().iter().enumerate() {
            writeln!(out, "  {}", paint.text(Style::Runner(number), &self.runner_line(runner)))?;
        }
        let world = self.scene.world();
        let (bodies, joints) = (world.components.body.len(), world.components.joint.len());
        writeln!(
            out,
            "  {} steps · {} entities · {bodies} bodies · {joints} joints",
            time.steps(),
            world.entities().len()
        )?;

        writeln!(out, "\n  schedule hash  {}   what ran when", hex(time.schedule_hash()))?;
        writeln!(
            out,
            "  state hash     {}   where it ended, the same in every run",
            hex(self.scene.state_hashes().total)
        )?;

        writeln!(out, "\n{}", strong("try next"))?;
        for (command, what) in NEXT {
            writeln!(out, "  {command:COMMAND_WIDTH$}  {}", faint(what))?;
        }
        Ok(())
    }

    fn runner_line(&self, runner: RunnerState<'_>) -> String {
        let rate =
            self.scene.time().runner(runner.id).map(|config| config.rate.to_string()).unwrap_or_default();
        format!("{:9} {rate:>10} {:>8}", runner.name, runner.index)
    }

    fn real_time_factor(&self) -> f64 {
        real_time_factor(self.start, self.scene.time().now(), self.wall)
    }
}
