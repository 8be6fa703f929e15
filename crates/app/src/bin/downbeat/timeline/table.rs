//! The first steps as a table: when each ends, and under each runner that fires the exact length of its step.
//!
//! Points stand below points, so that a step one nanosecond longer is seen at a glance. It keeps its rows only.

use downbeat_time::{RunnerConfig, RunnerId};

use super::chart::shortened;
use super::steps::Step;
use super::unit::Unit;
use crate::paint::{Paint, Style};

/// More rows than this scroll the chart out of sight.
const ROWS_MAX: usize = 40;

/// Between columns.
const GAP: &str = "  ";

pub(super) struct Table<'a> {
    runners: &'a [RunnerConfig],
    rows: Vec<Step>,
}

impl<'a> Table<'a> {
    pub(super) fn new(runners: &'a [RunnerConfig]) -> Self {
        Self { runners, rows: Vec::with_capacity(ROWS_MAX) }
    }

    pub(super) fn take(&mut self, step: &Step) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(*step);
        }
    }

    pub(super) fn rows_len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn lines(&self, unit: Unit, width: usize, paint: Paint) -> Vec<String> {
        if self.rows.is_empty() {
            return vec!["  no step ends in this span; ask for more with --for".to_owned()];
        }
        let columns = self.columns(unit, width);
        let title = "  steps: when each ends, and how long it was for the runners that fire";
        let mut lines = vec![paint.text(Style::Faint, title)];
        let head: String = columns.iter().map(|column| column.head(paint)).collect();
        lines.push(format!("  {head}").trim_end().to_owned());
        for (row, step) in self.rows.iter().enumerate() {
            let mark = if step.fired.is_shared() { "◆ " } else { "  " };
            let cells: String = columns.iter().map(|column| column.cell(row, paint)).collect();
            lines.push((paint.text(Style::Shared, mark) + &cells).trim_end().to_owned());
        }
        lines
    }

    /// The column of times and one per runner. Titles give way until the table fits; numbers never do.
    fn columns(&self, unit: Unit, width: usize) -> Vec<Column> {
        let times = self.rows.iter().map(|step| Some(step.time_nanos));
        let mut columns = vec![Column::new(format!("t [{}]", unit.name()), Style::Strong, unit, times)];
        for (number, (id, runner)) in RunnerId::all().zip(self.runners).enumerate() {
            let deltas = self.rows.iter().map(|step| step.dt_nanos(id));
            columns.push(Column::new(runner.name.clone(), Style::Runner(number), unit, deltas));
        }
        for title_max in (3..=20).rev() {
            columns[1..].iter_mut().for_each(|column| column.title = shortened(&column.title, title_max));
            if columns.iter().map(Column::width).sum::<usize>() <= width {
                break;
            }
        }
        columns
    }
}

/// Numbers with their points below each other.
struct Column {
    title: String,
    style: Style,
    cells: Vec<String>,
    before_point: usize,
    from_point: usize,
}

impl Column {
    fn new(title: String, style: Style, unit: Unit, nanos: impl Iterator<Item = Option<u64>>) -> Self {
        let cells: Vec<String> =
            nanos.map(|nanos| nanos.map_or_else(String::new, |n| unit.number(n))).collect();
        let before_point = cells.iter().map(|cell| split_at_point(cell).0.len()).max().unwrap_or(0);
        let from_point = cells.iter().map(|cell| split_at_point(cell).1.len()).max().unwrap_or(0);
        Self { title, style, cells, before_point, from_point }
    }

    fn inner_width(&self) -> usize {
        (self.before_point + self.from_point).max(self.title.chars().count())
    }

    fn width(&self) -> usize {
        self.inner_width() + GAP.len()
    }

    fn head(&self, paint: Paint) -> String {
        let width = self.inner_width();
        paint.text(self.style, &format!("{:>width$}", self.title)) + GAP
    }

    fn cell(&self, row: usize, paint: Paint) -> String {
        let (units, fraction) = split_at_point(&self.cells[row]);
        let from_point = self.from_point;
        let before_point = self.inner_width() - from_point;
        let text = format!("{units:>before_point$}{fraction:from_point$}");
        paint.text(self.style, &text) + GAP
    }
}

fn split_at_point(number: &str) -> (&str, &str) {
    number.split_at(number.find('.').unwrap_or(number.len()))
}
