//! Lanes in the terminal: one per runner with a mark at each boundary, one that counts who meets, a time axis.
//!
//! A column stands for a stretch of time; several boundaries in it are still one mark. It keeps columns, not
//! steps.

use downbeat_time::RunnerConfig;

use super::axis::Axis;
use super::steps::{Step, index};
use super::unit::{self, Unit};
use crate::paint::{Paint, Style};

/// What is seen in one column of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// The runner's origin lies ahead.
    Before,
    Origin,
    Line,
    Fires,
    FiresShared,
}

/// The chart of a window, filled step by step.
pub(super) struct Chart<'a> {
    runners: &'a [RunnerConfig],
    gutter: Gutter,
    axis: Axis,
    lanes: Vec<Vec<Mark>>,
    /// The most runners that fire together in any step of the column.
    meetings: Vec<usize>,
    /// Whether a mark stands for more than one boundary.
    crowded: bool,
}

impl<'a> Chart<'a> {
    pub(super) fn new(runners: &'a [RunnerConfig], end_nanos: u64, width: usize) -> Self {
        let gutter = Gutter::new(runners);
        let axis = Axis { end_nanos, columns: width.saturating_sub(gutter.width()).max(20) };
        let lanes = runners.iter().map(|runner| empty_lane(axis, runner.offset.as_nanos())).collect();
        Self { runners, gutter, axis, lanes, meetings: vec![0; axis.columns], crowded: false }
    }

    pub(super) fn take(&mut self, step: &Step) {
        let column = self.axis.column(step.time_nanos);
        let shared = step.fired.is_shared();
        for (id, _) in step.firings() {
            let mark = &mut self.lanes[index(id)][column];
            self.crowded |= matches!(*mark, Mark::Fires | Mark::FiresShared);
            // A shared step must not vanish behind a lone one that falls in the same column.
            if shared || *mark != Mark::FiresShared {
                *mark = if shared { Mark::FiresShared } else { Mark::Fires };
            }
        }
        self.meetings[column] = self.meetings[column].max(step.fired.len());
    }

    pub(super) fn lines(&self, unit: Unit, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, (runner, lane)) in self.runners.iter().zip(&self.lanes).enumerate() {
            let head = self.gutter.line(&runner.name, &rate_text(runner));
            let head = paint.text(Style::Runner(number), &head);
            lines.push(head + &self.lane_text(number, runner, lane, paint));
        }
        if self.runners.len() > 1 {
            lines.push(self.meeting_line(paint));
        }
        let [ruler, labels] = self.axis.lines(unit);
        let [blank, unit] = [self.gutter.line("", ""), self.gutter.line("", unit.name())];
        lines.push(blank + &paint.text(Style::Faint, &ruler));
        lines.push(paint.text(Style::Faint, &(unit + &labels)));
        lines
    }

    /// How to read the chart, in one line.
    pub(super) fn legend(&self) -> String {
        let mut legend = String::from("● fires");
        if self.runners.len() > 1 {
            legend += "   ◆ fires with others   shared: how many fire";
        }
        if self.crowded {
            legend += "   (a mark may be several)";
        }
        legend
    }

    fn lane_text(&self, number: usize, runner: &RunnerConfig, lane: &[Mark], paint: Paint) -> String {
        let offset_nanos = runner.offset.as_nanos();
        if offset_nanos > self.axis.end_nanos {
            return paint.text(Style::Faint, &format!("starts later, at {}", unit::label(offset_nanos)));
        }
        let pieces = lane.chunk_by(|a, b| a == b).map(|run| {
            let (glyph, style) = match run[0] {
                Mark::Before => (" ", Style::Plain),
                Mark::Origin => ("├", Style::Faint),
                Mark::Line => ("─", Style::Faint),
                Mark::Fires => ("●", Style::Runner(number)),
                Mark::FiresShared => ("◆", Style::Shared),
            };
            paint.text(style, &glyph.repeat(run.len()))
        });
        pieces.collect()
    }

    fn meeting_line(&self, paint: Paint) -> String {
        let count = |&runners: &usize| match runners {
            0 | 1 => ' ',
            _ => char::from_digit(runners as u32, 10).unwrap_or('◆'),
        };
        let counts: String = self.meetings.iter().map(count).collect();
        let head = paint.text(Style::Faint, &self.gutter.line("shared", ""));
        match counts.trim_end() {
            "" => head + &paint.text(Style::Faint, "none"),
            counts => head + &paint.text(Style::Shared, counts),
        }
    }
}

fn empty_lane(axis: Axis, offset_nanos: u64) -> Vec<Mark> {
    let mut lane = vec![Mark::Line; axis.columns];
    let origin = axis.column(offset_nanos);
    lane[..origin].fill(Mark::Before);
    lane[origin] = Mark::Origin;
    lane
}

/// Names and rates at the left of the lanes.
struct Gutter {
    name_width: usize,
    rate_width: usize,
}

impl Gutter {
    const NAME_WIDTH_MAX: usize = 20;

    fn new(runners: &[RunnerConfig]) -> Self {
        let shared = if runners.len() > 1 { "shared".len() } else { 0 };
        let names = runners.iter().map(|runner| runner.name.chars().count());
        let rates = runners.iter().map(|runner| rate_text(runner).chars().count());
        Self {
            name_width: names.max().unwrap_or(0).clamp(shared, Self::NAME_WIDTH_MAX),
            rate_width: rates.max().unwrap_or(0),
        }
    }

    fn width(&self) -> usize {
        2 + self.name_width + 2 + self.rate_width + 1
    }

    fn line(&self, name: &str, rate: &str) -> String {
        let (name_width, rate_width) = (self.name_width, self.rate_width);
        format!("  {:name_width$}  {rate:>rate_width$} ", shortened(name, name_width))
    }
}

/// The name, with its end left out where it is longer than `len_max`.
pub(super) fn shortened(name: &str, len_max: usize) -> String {
    if name.chars().count() <= len_max {
        return name.to_owned();
    }
    let kept: String = name.chars().take(len_max.saturating_sub(1)).collect();
    kept + "…"
}

/// The exact rate where it is short, else about what it is.
fn rate_text(runner: &RunnerConfig) -> String {
    const LEN_MAX: usize = 16;
    let exact = runner.rate.to_string();
    if exact.len() <= LEN_MAX { exact } else { format!("≈ {:.4} Hz", runner.rate.as_hz_f64()) }
}
