//! `downbeat export LOG --mcap FILE`: a recorded run as a file that other programs open.
//!
//! The log holds what decides a run, not where things were. So it is run again, and every hash is compared on the way.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use downbeat_app::{ExportError, ExportFile, ExportHead, ExportSummary, McapExport, Pace, registry};
use downbeat_world::{Played, Player};
use serde::{Serialize, Serializer};

use crate::cli::ExportArgs;
use crate::failure::Failure;
use crate::number::bytes;
use crate::object;
use crate::replay::progress;

/// What was written. Stable: scripts read it.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    bytes: u64,
    steps: u64,
    messages: Messages<'a>,
}

/// An object: topic → how many messages.
struct Messages<'a>(&'a ExportSummary);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.messages.iter().copied())
    }
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let mut player =
        Player::open(&args.log, registry()).map_err(|error| Failure::of_log(&args.log, error))?;
    let summary = write(args, &mut player)?;
    let report = Report {
        file: &args.mcap,
        bytes: summary.bytes,
        steps: player.scene().time().steps(),
        messages: Messages(&summary),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json { object::write(&mut out, &report) } else { report.write_text(&mut out) };
    written.and_then(|()| out.flush()).map_err(Failure::Output)
}

fn write(args: &ExportArgs, player: &mut Player) -> Result<ExportSummary, Failure> {
    let run = &player.history().run;
    let head =
        ExportHead { scene: run.scene.clone(), seed: run.seed, build: format!("downbeat {}", run.engine) };
    let pace = if args.every_step { Pace::EveryStep } else { Pace::default() };
    let failed = |error: ExportError| Failure::Run(error.into());
    let mut export =
        McapExport::new(ExportFile::create(&args.mcap).map_err(failed)?, &head, pace).map_err(failed)?;
    export.step(player.scene()).map_err(failed)?;
    let (from, to) = (player.scene().time().steps(), player.history().step);
    let bar = progress(player.scene().name(), from, to);
    let mut trouble = None;
    let played = player.play_to(to, |scene, played| {
        let written = match played {
            Played::Command { command, .. } => export.command(scene, command),
            Played::Step { step, hashes } => {
                bar.set_position(step - from);
                export.step(scene).and_then(|()| export.hashes(scene, hashes))
            }
        };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                trouble = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    bar.finish_and_clear();
    if let Some(error) = trouble {
        return Err(failed(error));
    }
    played.map_err(|error| Failure::of_log(&args.log, error))?;
    let (file, summary) = export.finish(player.scene()).map_err(failed)?;
    file.keep().map_err(failed)?;
    Ok(summary)
}

impl Report<'_> {
    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} · {} · {} steps", self.file.display(), bytes(self.bytes), self.steps)?;
        for (topic, count) in &self.messages.0.messages {
            writeln!(out, "  {topic:12} {count:>10} messages")?;
        }
        Ok(())
    }
}
