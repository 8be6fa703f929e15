//! The unit in which a whole page shows its times, so that its columns compare.
//!
//! Every nanosecond is shown: a unit changes where the point is, never what is rounded.

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanos,
    Micros,
    Millis,
    Secs,
}

impl Unit {
    /// The unit that reads best for a page of times up to this one. Seconds come late: steps are milliseconds.
    pub(super) const fn up_to(nanos: u64) -> Self {
        match nanos {
            0..=999 => Self::Nanos,
            1_000..=999_999 => Self::Micros,
            1_000_000..=9_999_999_999 => Self::Millis,
            _ => Self::Secs,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nanos => "ns",
            Self::Micros => "µs",
            Self::Millis => "ms",
            Self::Secs => "s",
        }
    }

    /// The number alone, without trailing zeros.
    pub(super) fn number(self, nanos: u64) -> String {
        let digits: usize = match self {
            Self::Nanos => return nanos.to_string(),
            Self::Micros => 3,
            Self::Millis => 6,
            Self::Secs => 9,
        };
        let unit_nanos = [1_000, 1_000_000, 1_000_000_000][digits / 3 - 1];
        let text = format!("{}.{:0digits$}", nanos / unit_nanos, nanos % unit_nanos);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// A time by itself, in the unit that suits it.
pub(super) fn label(nanos: u64) -> String {
    let unit = if nanos >= 1_000_000_000 { Unit::Secs } else { Unit::up_to(nanos) };
    format!("{} {}", unit.number(nanos), unit.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_by_itself_shows_every_nanosecond() {
        let cases = [
            (0, "0 ns"),
            (1, "1 ns"),
            (1_500, "1.5 µs"),
            (33_333_333, "33.333333 ms"),
            (1_000_000_000, "1 s"),
            (10_000_000_001, "10.000000001 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(label(nanos), text);
        }
    }
}
