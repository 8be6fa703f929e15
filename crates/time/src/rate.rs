//! How often a runner steps: an exact ratio in hertz.
//!
//! It does not place steps on the timeline; [`Grid`](crate::Grid) does.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::ratio::{self, RatioError};

/// A frequency in hertz as an exact ratio in lowest terms, above 0 and at most 1 GHz.
///
/// ```
/// use downbeat_time::Rate;
///
/// let ntsc: Rate = "30000/1001".parse()?;
/// assert_eq!((ntsc.numer(), ntsc.denom()), (30000, 1001));
/// assert_eq!("50Hz".parse::<Rate>()?, Rate::hz(50)?);
/// assert_eq!("29.97".parse::<Rate>()?.to_string(), "29.97 Hz");
/// assert!("0".parse::<Rate>().is_err());
/// # Ok::<(), downbeat_time::RateError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Rate {
    numer: u64,
    denom: u64,
}

/// Why something is not a rate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RateError {
    /// The text is not a ratio.
    #[error("rate `{text}` {cause}")]
    Text {
        /// What was written.
        text: String,
        /// What is wrong with it.
        cause: RatioError,
    },
    /// A rate of zero would never step.
    #[error(
        "rate {numer}/{denom} Hz must be above 0; a runner that should not run can have its callbacks disabled"
    )]
    NotAboveZero {
        /// Numerator asked for.
        numer: u64,
        /// Denominator asked for.
        denom: u64,
    },
    /// A step shorter than the timeline's nanosecond.
    #[error("rate {numer}/{denom} Hz is above 1 GHz, where a step would be shorter than one nanosecond")]
    AboveOneGigahertz {
        /// Numerator asked for.
        numer: u64,
        /// Denominator asked for.
        denom: u64,
    },
}

impl Rate {
    /// The fastest rate: one step a nanosecond.
    pub const MAX: Self = Self { numer: NANOS_PER_SECOND, denom: 1 };

    pub(crate) const ROBOT: Self = Self { numer: 50, denom: 1 };
    pub(crate) const CAPTURE: Self = Self { numer: 30, denom: 1 };

    /// `numer / denom` hertz, reduced to lowest terms.
    pub const fn new(numer: u64, denom: u64) -> Result<Self, RateError> {
        if numer == 0 || denom == 0 {
            return Err(RateError::NotAboveZero { numer, denom });
        }
        let (numer, denom) = ratio::reduce(numer, denom);
        if numer as u128 > NANOS_PER_SECOND as u128 * denom as u128 {
            return Err(RateError::AboveOneGigahertz { numer, denom });
        }
        Ok(Self { numer, denom })
    }

    /// A whole number of hertz.
    pub const fn hz(hz: u32) -> Result<Self, RateError> {
        Self::new(hz as u64, 1)
    }

    /// Numerator in lowest terms.
    #[inline]
    pub const fn numer(self) -> u64 {
        self.numer
    }

    /// Denominator in lowest terms.
    #[inline]
    pub const fn denom(self) -> u64 {
        self.denom
    }

    /// The nominal length of a step in seconds, `denom / numer`: one constant for integrators, while the exact
    /// lengths in nanoseconds cycle.
    #[inline]
    pub fn step_secs(self) -> f64 {
        self.denom as f64 / self.numer as f64
    }

    /// The rate as a float, for display and estimates.
    #[inline]
    pub fn as_hz_f64(self) -> f64 {
        self.numer as f64 / self.denom as f64
    }
}

pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl FromStr for Rate {
    type Err = RateError;

    /// Reads `50`, `50Hz`, `29.97 Hz` or `30000/1001`.
    fn from_str(text: &str) -> Result<Self, RateError> {
        let number = strip_hz(text.trim());
        let (numer, denom) = ratio::parse(number)
            .map_err(|cause| RateError::Text { text: text.chars().take(64).collect(), cause })?;
        Self::new(numer, denom)
    }
}

fn strip_hz(text: &str) -> &str {
    match text.len().checked_sub(2).filter(|&at| text.is_char_boundary(at)) {
        Some(at) if text[at..].eq_ignore_ascii_case("hz") => &text[..at],
        _ => text,
    }
}

impl fmt::Display for Rate {
    /// Decimals where they are exact and short, else the ratio. What is printed parses to the same rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match exact_decimal(self.numer, self.denom) {
            Some(decimal) => format!("{decimal} Hz"),
            None => format!("{}/{} Hz", self.numer, self.denom),
        };
        f.pad(&text)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// At most six decimals, only when they say the ratio exactly.
pub(crate) fn exact_decimal(numer: u64, denom: u64) -> Option<String> {
    const SCALE: u64 = 1_000_000;
    if !SCALE.is_multiple_of(denom) {
        return None;
    }
    let (units, rest) = (numer / denom, numer % denom * (SCALE / denom));
    if rest == 0 {
        return Some(units.to_string());
    }
    Some(format!("{units}.{rest:06}").trim_end_matches('0').to_owned())
}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rate {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.numer) * u128::from(other.denom);
        let right = u128::from(other.numer) * u128::from(self.denom);
        left.cmp(&right)
    }
}

impl TryFrom<String> for Rate {
    type Error = RateError;

    fn try_from(text: String) -> Result<Self, RateError> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_limits_are_above_zero_and_one_gigahertz() {
        assert!(matches!(Rate::new(0, 1), Err(RateError::NotAboveZero { .. })));
        assert!(matches!(Rate::new(1, 0), Err(RateError::NotAboveZero { .. })));
        assert_eq!("1000000000".parse::<Rate>(), Ok(Rate::MAX));
        assert!(matches!("1000000000.1".parse::<Rate>(), Err(RateError::AboveOneGigahertz { .. })));
        assert!(Rate::new(1, u64::MAX).is_ok());
    }

    #[test]
    fn a_unit_is_welcome_in_any_case_and_alone_is_an_error() {
        for text in ["50", "50Hz", "50 hz", " 50HZ ", "100/2", "50.0"] {
            assert_eq!(text.parse::<Rate>(), Rate::hz(50), "{text}");
        }
        for text in ["Hz", "", "50 kHz", "½", "50Ｈz", "z"] {
            let error = text.parse::<Rate>().expect_err(text).to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn rates_sort_by_value() {
        let mut rates: Vec<Rate> =
            ["30", "30000/1001", "29.97", "50"].iter().map(|t| t.parse().unwrap()).collect();
        rates.sort();
        let text: Vec<_> = rates.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["29.97 Hz", "30000/1001 Hz", "30 Hz", "50 Hz"]);
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_to_the_same_rate(numer in 1_u64..=u64::MAX, denom in 1_u64..=u64::MAX) {
            if let Ok(rate) = Rate::new(numer, denom) {
                prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = text.parse::<Rate>();
        }
    }
}
