//! `downbeat replay LOG`: a recorded run again, every step compared with what was written down.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use downbeat_app::{ExportFile, registry};
use downbeat_time::{Clock, SimTime};
use downbeat_world::{LogError, Played, Player, Scene};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::cli::ReplayArgs;
use crate::failure::Failure;
use crate::number::{count, factor, hex, real_time_factor};
use crate::object;
use crate::paint::{Paint, Style};

/// Steps between two looks at the progress bar.
const REDRAW_EVERY: u64 = 256;

/// What a replay came to. Stable: scripts read it.
#[derive(Serialize)]
struct Outcome<'a> {
    scene: &'a str,
    /// The step that it started from.
    from_step: u64,
    steps: u64,
    /// Commands that were given again.
    commands: u64,
    sim_time_ns: u64,
    wall_ns: u64,
    real_time_factor: f64,
    /// Whether every step from the first snapshot on was run and is the same.
    verified: bool,
    first_difference: Option<Difference>,
    schedule_hash: String,
    state_hash: String,
    snapshot: Option<PathBuf>,
}

#[derive(Serialize)]
struct Difference {
    step: u64,
    what: String,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let mut player = open(args)?;
    let to = args.to_step.unwrap_or(player.history().step);
    let (from_step, from_time) = (player.scene().time().steps(), player.scene().time().now());
    let (clock, bar) = (Clock::system(), progress(player.scene().name(), from_step, to));
    let mut commands = 0;
    let played = player.play_to(to, |_, played| {
        match played {
            Played::Command { .. } => commands += 1,
            Played::Step { step, .. } if step.is_multiple_of(REDRAW_EVERY) => {
                bar.set_position(step - from_step);
            }
            Played::Step { .. } => {}
        }
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let wall = clock.elapsed();
    let (difference, failure) = match played {
        Ok(()) => (None, None),
        Err(LogError::Diverged { step, ref what }) => {
            (Some(Difference { step, what: what.clone() }), played.err())
        }
        Err(error) => return Err(Failure::of_log(&args.log, error)),
    };
    let scene = player.scene();
    let snapshot = match args.to_step {
        Some(step) if failure.is_none() => Some(write_snapshot(scene, step, args.out.as_deref())?),
        _ => None,
    };
    let now = scene.time().now();
    let outcome = Outcome {
        scene: scene.name(),
        from_step,
        steps: scene.time().steps(),
        commands,
        sim_time_ns: now.as_nanos(),
        wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
        real_time_factor: real_time_factor(from_time, now, wall),
        verified: args.verify && args.to_step.is_none() && failure.is_none(),
        first_difference: difference,
        schedule_hash: hex(scene.time().schedule_hash()),
        state_hash: hex(scene.state_hashes().total),
        snapshot,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json {
        object::write(&mut out, &outcome)
    } else {
        outcome.write_text(&mut out, from_time, wall, Paint::for_stdout())
    };
    written.and_then(|()| out.flush()).map_err(Failure::Output)?;
    failure.map_or(Ok(()), |failure| Err(Failure::of_log(&args.log, failure)))
}

/// At the first snapshot to verify everything, else at the last one before where it ends.
fn open(args: &ReplayArgs) -> Result<Player, Failure> {
    let player = if args.verify {
        Player::open(&args.log, registry())
    } else {
        Player::open_before(&args.log, registry(), args.to_step.unwrap_or(u64::MAX))
    };
    player.map_err(|error| Failure::of_log(&args.log, error))
}

pub(crate) fn progress(scene: &str, from: u64, to: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(to.saturating_sub(from)), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} steps · {eta} left") {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(scene.to_owned());
    bar
}

fn write_snapshot(scene: &Scene, step: u64, out: Option<&Path>) -> Result<PathBuf, Failure> {
    let path =
        out.map_or_else(|| PathBuf::from(format!("{}-step-{step}.snap", scene.name())), Path::to_owned);
    let written = scene.save().map_err(anyhow::Error::from).and_then(|bytes| {
        let mut file = ExportFile::create(&path)?;
        file.write_all(&bytes)?;
        Ok(file.keep()?)
    });
    written.with_context(|| format!("cannot write {}", path.display())).map_err(Failure::Run)?;
    Ok(path)
}

impl Outcome<'_> {
    fn write_text(
        &self,
        out: &mut impl Write,
        from: SimTime,
        wall: Duration,
        paint: Paint,
    ) -> io::Result<()> {
        let to = SimTime::from_nanos(self.sim_time_ns);
        let headline = format!(
            "{} · steps {} to {} in {:.2} s",
            self.scene,
            self.from_step,
            self.steps,
            wall.as_secs_f64()
        );
        let pace = factor(real_time_factor(from, to, wall));
        writeln!(out, "{} · {pace}× real time", paint.text(Style::Strong, &headline))?;
        let verdict = match (&self.first_difference, self.verified) {
            (Some(difference), _) => format!("differs from step {} on: {}", difference.step, difference.what),
            (None, true) => "verified: every step has the hashes that were written down".to_owned(),
            (None, false) => "the same as far as it ran; --verify runs all of it".to_owned(),
        };
        writeln!(out, "{verdict}")?;
        writeln!(out, "\n  {} · {to} simulated", count(self.commands, "command"))?;
        writeln!(out, "  schedule hash  {}", self.schedule_hash)?;
        writeln!(out, "  state hash     {}", self.state_hash)?;
        if let Some(snapshot) = &self.snapshot {
            writeln!(out, "  snapshot       {}", snapshot.display())?;
        }
        Ok(())
    }
}
