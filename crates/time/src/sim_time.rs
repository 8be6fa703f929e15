//! A point on the simulation timeline, in whole nanoseconds.
//!
//! It does not know the wall clock, and it is never a float: floats lose nanoseconds after 104 days.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::rate::NANOS_PER_SECOND;

/// Nanoseconds since the scene's start.
///
/// The timeline reaches to `u64::MAX - 1` nanoseconds, a little over 584 years; the last value stands for
/// "never".
///
/// ```
/// use downbeat_time::SimTime;
/// use std::time::Duration;
///
/// let t = SimTime::from_nanos(33_333_333);
/// assert_eq!(t.to_string(), "33.333333 ms");
/// assert_eq!(t.since(SimTime::ZERO), Duration::from_nanos(33_333_333));
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u64", into = "u64"))]
pub struct SimTime(u64);

impl SimTime {
    /// The common origin of all runners. Nothing fires here.
    pub const ZERO: Self = Self(0);
    /// The last instant of the timeline.
    pub const END: Self = Self(u64::MAX - 1);

    /// The instant `nanos` after the scene's start; values past [`SimTime::END`] become the end.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(if nanos > Self::END.0 { Self::END.0 } else { nanos })
    }

    /// Nanoseconds since the scene's start.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the scene's start, rounded to the nearest float. For display and maths, not for counting.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to here, zero when `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` later, or the end of the timeline when that lies beyond it.
    #[inline]
    pub fn saturating_add(self, span: Duration) -> Self {
        Self::from_nanos(self.0.saturating_add(nanos_of(span)))
    }
}

/// Whole nanoseconds of a duration; more than `u64` holds becomes `u64::MAX`.
#[inline]
pub(crate) fn nanos_of(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// So many nanoseconds as a duration, which holds more of them than 64 bits do.
pub(crate) fn duration_of(nanos: u128) -> Duration {
    let secs = u64::try_from(nanos / u128::from(NANOS_PER_SECOND));
    secs.map_or(Duration::MAX, |secs| Duration::new(secs, (nanos % u128::from(NANOS_PER_SECOND)) as u32))
}

impl TryFrom<u64> for SimTime {
    type Error = BeyondTheEnd;

    /// The instant `nanos` after the scene's start, refused where [`SimTime::from_nanos`] would take the end.
    fn try_from(nanos: u64) -> Result<Self, BeyondTheEnd> {
        if nanos > Self::END.0 { Err(BeyondTheEnd { nanos }) } else { Ok(Self(nanos)) }
    }
}

impl From<SimTime> for u64 {
    fn from(time: SimTime) -> Self {
        time.0
    }
}

/// A number of nanoseconds that is not on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{nanos} ns lies beyond the end of the timeline at {} ns", SimTime::END.0)]
pub struct BeyondTheEnd {
    /// Nanoseconds asked for.
    pub nanos: u64,
}

impl fmt::Display for SimTime {
    /// Every nanosecond is shown: seconds from one second on, milliseconds below.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit_nanos, digits, unit) =
            if self.0 >= 1_000_000_000 { (1_000_000_000, 9, "s") } else { (1_000_000, 6, "ms") };
        let text = format!("{}.{:0digits$}", self.0 / unit_nanos, self.0 % unit_nanos);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.pad(&format!("{text} {unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_shows_every_nanosecond_and_no_trailing_zero() {
        let cases = [
            (0, "0 ms"),
            (1, "0.000001 ms"),
            (20_000_000, "20 ms"),
            (66_666_666, "66.666666 ms"),
            (1_000_000_000, "1 s"),
            (1_000_000_001, "1.000000001 s"),
            (10_500_000_000, "10.5 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(SimTime::from_nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn adding_past_the_end_stays_at_the_end() {
        assert_eq!(SimTime::END.saturating_add(Duration::MAX), SimTime::END);
        assert_eq!(SimTime::from_nanos(u64::MAX), SimTime::END);
    }

    #[test]
    fn a_number_beyond_the_end_is_refused_where_it_is_read() {
        assert_eq!(SimTime::try_from(u64::MAX - 1), Ok(SimTime::END));
        assert_eq!(SimTime::try_from(u64::MAX), Err(BeyondTheEnd { nanos: u64::MAX }));
        #[cfg(feature = "serde")]
        {
            let read = serde_json::from_str::<SimTime>;
            assert_eq!(read("18446744073709551614").unwrap(), SimTime::END);
            assert!(read("18446744073709551615").unwrap_err().to_string().contains("end of the timeline"));
            assert_eq!(serde_json::to_string(&SimTime::END).unwrap(), "18446744073709551614");
        }
    }
}
