//! `downbeat timeline`: when runners fire, where they share a step, after how long it repeats.
//!
//! Every step shown was taken by a real `TimeManager`; nothing is recomputed beside it.

mod axis;
mod chart;
mod json;
mod steps;
mod table;
mod text;
mod unit;
mod window;

use std::io::{self, BufWriter, Write as _};

use downbeat_app::load_scene;
use downbeat_time::RunnerConfig;
use downbeat_world::LoadOptions;

use crate::cli::TimelineArgs;
use crate::failure::Failure;
use crate::paint::Paint;
use steps::Walk;
use window::Window;

pub(crate) fn run(args: &TimelineArgs) -> Result<(), Failure> {
    let runners = match &args.scene {
        Some(scene) => {
            let scene = load_scene(scene, &LoadOptions::default())?;
            scene.time().runners().map(|(_, runner)| runner.clone()).collect()
        }
        None if args.runners.is_empty() => RunnerConfig::defaults(),
        None => args.runners.clone(),
    };
    let walk = Walk::new(runners.clone()).map_err(|error| Failure::Usage(format!("--runner: {error}")))?;
    let window = Window::new(args.span_nanos, &runners, || walk.cycle());

    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        json::write(&mut out, walk, window)?;
    } else {
        let (cycle, paint) = (walk.cycle(), Paint::for_stdout());
        let page = text::Page { runners: &runners, cycle, window, paint, width: width() };
        page.write(&mut out, walk)?;
    }
    out.flush().map_err(Failure::Output)
}

/// How wide the text may be: what the terminal says through `COLUMNS`, within reason, else 80.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(80).clamp(60, 160)
}
