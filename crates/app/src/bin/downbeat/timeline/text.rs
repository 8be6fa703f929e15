//! The timeline as a page to read: what repeats, the chart, the first steps.
//!
//! It walks a bounded number of steps: a page is to be read now, and `--json` is there for the rest.

use std::io::Write;

use downbeat_time::{Cycle, RunnerConfig, SimTime};

use super::chart::Chart;
use super::steps::Walk;
use super::table::Table;
use super::unit::{self, Unit};
use super::window::{Window, latest_offset};
use crate::failure::Failure;
use crate::paint::{Paint, Style};

/// Everything that decides how the page looks.
pub(super) struct Page<'a> {
    pub(super) runners: &'a [RunnerConfig],
    pub(super) cycle: Cycle,
    pub(super) window: Window,
    pub(super) paint: Paint,
    pub(super) width: usize,
}

/// How many steps were seen, and how many of them shared.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    steps: u64,
    shared: u64,
}

impl Page<'_> {
    /// The most firings that are walked for a page: well below a second's work.
    const FIRINGS_MAX: u128 = 2_000_000;

    pub(super) fn write(&self, out: &mut impl Write, mut walk: Walk) -> Result<(), Failure> {
        let shown = self.window.cut_to(self.runners, Self::FIRINGS_MAX);
        let mut chart = Chart::new(self.runners, shown.end_nanos, self.width);
        let mut table = Table::new(self.runners);
        let mut seen = Seen::default();
        let end = SimTime::from_nanos(shown.end_nanos);
        while let Some(step) = walk.next_until(end).map_err(|error| Failure::Run(error.into()))? {
            chart.take(&step);
            table.take(&step);
            seen.steps += 1;
            seen.shared += u64::from(step.fired.is_shared());
        }

        let unit = Unit::up_to(shown.end_nanos);
        let mut lines = vec![self.paint.text(Style::Strong, &self.headline())];
        lines.extend(self.span_line(shown, seen));
        lines.push(String::new());
        lines.extend(chart.lines(unit, self.paint));
        lines.push(self.paint.text(Style::Faint, &format!("  {}", chart.legend())));
        lines.push(String::new());
        lines.extend(table.lines(unit, self.width, self.paint));
        lines.extend(self.remark(shown, seen.steps - table.rows_len() as u64));
        let text =
            lines.iter().map(|line| line.trim_end()).fold(String::new(), |text, line| text + line + "\n");
        out.write_all(text.as_bytes()).map_err(Failure::Output)
    }

    /// What repeats.
    fn headline(&self) -> String {
        let cycle = match (self.cycle.cycle_nanos, self.cycle.steps, self.cycle.shared_steps) {
            (Some(nanos), Some(steps), Some(shared)) => {
                format!("cycle {} · {}, {shared} shared", unit::label(nanos), counted(steps, "step"))
            }
            (Some(nanos), ..) if self.ends_on_the_timeline(nanos) => {
                format!("cycle {}, too long to count its steps", unit::label(nanos))
            }
            (Some(nanos), ..) => {
                format!(
                    "cycle {}, which starts too late to end on the timeline (584 years)",
                    unit::label(nanos)
                )
            }
            _ => "the cycle does not fit in 64 bits of nanoseconds (584 years)".to_owned(),
        };
        format!("{} · {cycle}", counted(self.runners.len() as u64, "runner"))
    }

    /// Whether a cycle of this length, counted from the latest offset, ends before time does.
    fn ends_on_the_timeline(&self, cycle_nanos: u64) -> bool {
        let end = latest_offset(self.runners).checked_add(cycle_nanos);
        end.is_some_and(|end| end <= SimTime::END.as_nanos())
    }

    /// What is shown, where that is not just the cycle.
    fn span_line(&self, shown: Window, seen: Seen) -> Option<String> {
        if (Some(shown.end_nanos), Some(seen.steps)) == (self.cycle.cycle_nanos, self.cycle.steps) {
            return None;
        }
        let span = unit::label(shown.end_nanos);
        let of = if shown == self.window {
            String::new()
        } else {
            format!(" of {}", unit::label(self.window.end_nanos))
        };
        Some(format!(
            "showing the first {span}{of} · {}, {} shared",
            counted(seen.steps, "step"),
            seen.shared
        ))
    }

    /// What the table leaves out.
    fn remark(&self, shown: Window, more: u64) -> Option<String> {
        let text = if shown != self.window {
            let firings = self.window.firings(self.runners);
            format!("… the whole span holds about {firings} firings; --json prints all")
        } else if more > 0 {
            format!("… {}; --json prints all", counted(more, "more step"))
        } else {
            return None;
        };
        Some(self.paint.text(Style::Faint, &format!("  {text}")))
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
