//! The time axis of the chart: which column a time falls in, and where its labels go.
//!
//! It does not know runners.

use super::unit::Unit;

/// Times from 0 to the window's end, spread over columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) end_nanos: u64,
    pub(super) columns: usize,
}

impl Axis {
    /// The column a time is nearest to. 0 is the first column, the window's end the last.
    pub(super) fn column(self, nanos: u64) -> usize {
        let (last, end) = (self.columns as u128 - 1, u128::from(self.end_nanos));
        ((u128::from(nanos) * last + end / 2) / end).min(last) as usize
    }

    /// The ruler and, below it, the labels of its ticks.
    pub(super) fn lines(self, unit: Unit) -> [String; 2] {
        let step = self.tick_nanos(unit);
        let mut ruler = vec!['─'; self.columns];
        let mut labels = vec![' '; self.columns];
        let mut free_from = 0;
        let ticks = (0..=self.end_nanos / step).map(|tick| tick * step);
        for nanos in ticks {
            let column = self.column(nanos);
            ruler[column] = '┴';
            let label: Vec<char> = unit.number(nanos).chars().collect();
            let start = column.saturating_sub(label.len() / 2).min(self.columns.saturating_sub(label.len()));
            if start >= free_from && label.len() <= self.columns {
                labels[start..start + label.len()].copy_from_slice(&label);
                free_from = start + label.len() + 1;
            }
        }
        ruler[0] = '└';
        if ruler[self.columns - 1] == '┴' {
            ruler[self.columns - 1] = '┘';
        }
        [ruler.iter().collect(), labels.iter().collect::<String>().trim_end().to_owned()]
    }

    /// The smallest 1, 2 or 5 times a power of ten that leaves room for its labels.
    fn tick_nanos(self, unit: Unit) -> u64 {
        let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
        let steps = powers.flat_map(|power| [1, 2, 5].map(|times| power.saturating_mul(times)));
        let fits = |step: u64| {
            let longest = unit.number(self.end_nanos - self.end_nanos % step).len();
            let second = unit.number(step).len();
            self.column(step) >= longest.max(second) + 4
        };
        steps.take_while(|&step| step <= self.end_nanos).find(|&step| fits(step)).unwrap_or(self.end_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_window_are_the_ends_of_the_axis() {
        for end_nanos in [1, 7, 100_000_000, u64::MAX - 1] {
            let axis = Axis { end_nanos, columns: 60 };
            assert_eq!((axis.column(0), axis.column(end_nanos), axis.column(u64::MAX)), (0, 59, 59));
            let [ruler, labels] = axis.lines(Unit::up_to(end_nanos));
            assert_eq!(ruler.chars().count(), 60, "{end_nanos}");
            assert!(labels.starts_with('0') && labels.chars().count() <= 60, "{labels}");
        }
    }

    #[test]
    fn ticks_are_round_and_apart() {
        let [ruler, labels] = Axis { end_nanos: 100_000_000, columns: 51 }.lines(Unit::Millis);
        assert_eq!(ruler, "└─────────┴─────────┴─────────┴─────────┴─────────┘");
        assert_eq!(labels, "0        20        40        60        80       100");
    }
}
