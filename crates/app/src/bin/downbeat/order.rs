//! `downbeat order SCENE`: every system in the order in which it runs, when all runners fire together.

use std::io::{self, BufWriter, Write};

use downbeat_app::load_scene;
use downbeat_time::OrderEntry;
use downbeat_world::LoadOptions;
use serde::Serialize;

use crate::cli::OrderArgs;
use crate::failure::Failure;
use crate::object;
use crate::paint::{Paint, Style};

/// One system. Stable: scripts read it.
#[derive(Serialize)]
struct Row<'a> {
    phase: &'static str,
    priority: i32,
    runner: &'a str,
    rate: String,
    name: &'a str,
    enabled: bool,
}

pub(crate) fn run(args: &OrderArgs) -> Result<(), Failure> {
    let scene = load_scene(&args.scene, &LoadOptions::default())?;
    let order = scene.time().order_of_all();
    let rows: Vec<_> = order.iter().map(row).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json {
        write_json(&mut out, &rows)
    } else {
        write_text(&mut out, &rows, Paint::for_stdout())
    };
    written.and_then(|()| out.flush()).map_err(Failure::Output)
}

fn row(entry: &OrderEntry) -> Row<'_> {
    Row {
        phase: entry.binding.phase.name(),
        priority: entry.binding.priority,
        runner: &entry.runner_name,
        rate: entry.rate.to_string(),
        name: &entry.name,
        enabled: entry.enabled,
    }
}

fn write_json(out: &mut impl Write, rows: &[Row<'_>]) -> io::Result<()> {
    rows.iter().try_for_each(|row| object::write(out, row))
}

fn write_text(out: &mut impl Write, rows: &[Row<'_>], paint: Paint) -> io::Result<()> {
    let head = format!("{:12} {:>8}  {:12} {:>12}  {}", "phase", "priority", "runner", "rate", "system");
    writeln!(out, "{}", paint.text(Style::Faint, &head))?;
    for Row { phase, priority, runner, rate, name, enabled } in rows {
        let off = if *enabled { "" } else { " (off)" };
        writeln!(out, "{phase:12} {priority:>8}  {runner:12} {rate:>12}  {name}{off}")?;
    }
    Ok(())
}
