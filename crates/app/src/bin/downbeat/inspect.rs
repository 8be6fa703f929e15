//! `downbeat inspect LOG|SNAPSHOT`: what it holds, how large it is, and whether it is whole.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use downbeat_time::SimTime;
use downbeat_world::{Disk, History, Scene, SnapshotRef};
use serde::Serialize;

use crate::cli::InspectArgs;
use crate::failure::Failure;
use crate::number::{bytes, count};
use crate::object;
use crate::paint::{Paint, Style};

/// A log. Stable: scripts read it.
#[derive(Serialize)]
struct LogReport {
    kind: &'static str,
    scene: String,
    seed: u64,
    engine: String,
    steps: u64,
    first_step: u64,
    sim_time_ns: u64,
    commands: u64,
    position: u64,
    bytes: u64,
    segments: Vec<Segment>,
    snapshots: Vec<Snapshot>,
    /// Whether it was ended in order.
    closed: bool,
    torn: Option<Place>,
    damage: Option<String>,
}

#[derive(Serialize)]
struct Segment {
    file: String,
    bytes: u64,
    first_step: u64,
}

#[derive(Serialize)]
struct Snapshot {
    file: String,
    step: u64,
    sim_time_ns: u64,
    bytes: u64,
    damage: Option<String>,
}

#[derive(Serialize)]
struct Place {
    file: String,
    offset: u64,
    bytes: u64,
}

/// A snapshot. Stable: scripts read it.
#[derive(Serialize)]
struct SnapshotReport {
    kind: &'static str,
    scene: String,
    steps: u64,
    sim_time_ns: u64,
    entities: usize,
    bytes: u64,
}

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let path = &args.path;
    if !path.exists() {
        return Err(Failure::Usage(format!("there is nothing at {}", path.display())));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if path.is_dir() {
        let report = LogReport::of(path)?;
        if args.json {
            object::write(&mut out, &report)
        } else {
            report.write_text(&mut out, Paint::for_stdout())
        }
    } else {
        let report = SnapshotReport::of(path)?;
        if args.json {
            object::write(&mut out, &report)
        } else {
            report.write_text(&mut out, Paint::for_stdout())
        }
    };
    written.and_then(|()| out.flush()).map_err(Failure::Output)
}

impl LogReport {
    fn of(folder: &Path) -> Result<Self, Failure> {
        let disk = Disk::new(folder);
        let read = History::read_what_can_be(&disk);
        let (history, damage) = read.map_err(|error| Failure::of_log(folder, error))?;
        let closed = damage.is_none() && history.segments.last().is_some_and(|segment| segment.closed);
        let snapshots: Vec<_> =
            history.snapshots.iter().map(|snapshot| Snapshot::of(&history, &disk, snapshot)).collect();
        let segments: Vec<_> = history
            .segments
            .iter()
            .map(|segment| Segment {
                file: segment.file.clone(),
                bytes: segment.bytes,
                first_step: segment.step,
            })
            .collect();
        let size = segments.iter().map(|segment| segment.bytes).sum::<u64>()
            + snapshots.iter().map(|snapshot| snapshot.bytes).sum::<u64>();
        Ok(Self {
            kind: "log",
            scene: history.run.scene.clone(),
            seed: history.run.seed,
            engine: history.run.engine.clone(),
            steps: history.step,
            first_step: history.snapshots.first().map_or(0, |snapshot| snapshot.step),
            sim_time_ns: history.now_nanos,
            commands: history.commands,
            position: history.position,
            bytes: size,
            segments,
            snapshots,
            closed,
            torn: history.torn.map(|torn| Place { file: torn.file, offset: torn.offset, bytes: torn.bytes }),
            damage: damage.map(|damage| damage.to_string()),
        })
    }

    fn write_text(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let faint = |text: &str| paint.text(Style::Faint, text);
        let time = SimTime::from_nanos(self.sim_time_ns);
        let headline = format!("log of {} · {} steps · {time}", self.scene, self.steps);
        writeln!(out, "{}", paint.text(Style::Strong, &headline))?;
        writeln!(
            out,
            "seed {} · engine {} · {} · {} entries · {}",
            self.seed,
            self.engine,
            count(self.commands, "command"),
            self.position,
            bytes(self.bytes)
        )?;
        if self.first_step > 0 {
            writeln!(out, "steps before {} were let go", self.first_step)?;
        }
        writeln!(out, "\n  {}", faint(&format!("{:26} {:>12} {:>12}", "segment", "from step", "size")))?;
        for segment in &self.segments {
            writeln!(out, "  {:26} {:>12} {:>12}", segment.file, segment.first_step, bytes(segment.bytes))?;
        }
        writeln!(out, "\n  {}", faint(&format!("{:26} {:>12} {:>12}", "snapshot", "step", "size")))?;
        for snapshot in &self.snapshots {
            let damage =
                snapshot.damage.as_ref().map_or(String::new(), |damage| format!("  DAMAGED: {damage}"));
            writeln!(
                out,
                "  {:26} {:>12} {:>12}{damage}",
                snapshot.file,
                snapshot.step,
                bytes(snapshot.bytes)
            )?;
        }
        writeln!(out, "\n{}", self.verdict())
    }

    fn verdict(&self) -> String {
        match (&self.damage, &self.torn) {
            (Some(damage), _) => {
                format!(
                    "DAMAGED: {damage}\nwhat stands above could be read; steps up to {} are whole",
                    self.steps
                )
            }
            (None, Some(torn)) => format!(
                "not ended in order: {} bytes of a commit that was never acknowledged follow byte {} of {}; \
                 they are cut off when it is continued",
                torn.bytes, torn.offset, torn.file
            ),
            (None, None) if self.closed => "whole, ended in order".to_owned(),
            (None, None) => {
                "whole; it is being written, or its process was killed between two commits".to_owned()
            }
        }
    }
}

impl Snapshot {
    fn of(history: &History, disk: &Disk, snapshot: &SnapshotRef) -> Self {
        let good = history.snapshot(disk, snapshot).and_then(|bytes| Ok(Scene::inspect(&bytes)?));
        Self {
            file: snapshot.file(),
            step: snapshot.step,
            sim_time_ns: snapshot.now_nanos,
            bytes: snapshot.len,
            damage: good.err().map(|error| error.to_string()),
        }
    }
}

impl SnapshotReport {
    fn of(path: &Path) -> Result<Self, Failure> {
        let about = || path.display().to_string();
        let read = std::fs::read(path).with_context(about).map_err(Failure::Run)?;
        let summary = Scene::inspect(&read).with_context(about).map_err(Failure::Run)?;
        Ok(Self {
            kind: "snapshot",
            scene: summary.scene,
            steps: summary.steps,
            sim_time_ns: summary.now.as_nanos(),
            entities: summary.entities,
            bytes: read.len() as u64,
        })
    }

    fn write_text(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let headline = format!("snapshot of {} · step {}", self.scene, self.steps);
        writeln!(out, "{}", paint.text(Style::Strong, &headline))?;
        let time = SimTime::from_nanos(self.sim_time_ns);
        writeln!(out, "{time} · {} entities · {}", self.entities, bytes(self.bytes))
    }
}
