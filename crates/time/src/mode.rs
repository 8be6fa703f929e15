//! How the timeline follows the wall clock: the mode and the time scale.
//!
//! Neither changes the length of a step or, in the deterministic modes, the sequence of steps.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::rate::exact_decimal;
use crate::ratio::{self, RatioError};

/// How the timeline advances relative to the wall clock.
///
/// ```
/// use downbeat_time::TimeMode;
///
/// assert!(TimeMode::default().is_deterministic());
/// assert_eq!("sim-high-performance".parse(), Ok(TimeMode::SimHighPerformance));
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TimeMode {
    /// Deterministic, never ahead of the wall clock, never skips; slows down under load.
    #[default]
    SimRealtime,
    /// Deterministic, as fast as the machine allows, without the wall clock.
    SimHighPerformance,
    /// Follows the wall clock; time that cannot be simulated is skipped and counted.
    GameRealtime,
}

impl TimeMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::SimRealtime, Self::SimHighPerformance, Self::GameRealtime];

    /// Whether the sequence of steps depends on the registrations alone.
    pub const fn is_deterministic(self) -> bool {
        !matches!(self, Self::GameRealtime)
    }

    /// Whether steps wait for the wall clock.
    pub const fn is_realtime(self) -> bool {
        !matches!(self, Self::SimHighPerformance)
    }

    /// The name as written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SimRealtime => "sim-realtime",
            Self::SimHighPerformance => "sim-high-performance",
            Self::GameRealtime => "game-realtime",
        }
    }
}

impl fmt::Display for TimeMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TimeMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| UnknownMode { text: text.chars().take(64).collect() })
    }
}

/// A text that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not a time mode; choose sim-realtime, sim-high-performance or game-realtime")]
pub struct UnknownMode {
    /// What was written.
    pub text: String,
}

/// Simulated seconds per second of wall time, as an exact ratio. Step lengths never change.
///
/// ```
/// use downbeat_time::TimeScale;
///
/// let slow: TimeScale = "1/3".parse()?;
/// assert_eq!(slow, TimeScale::new(2, 6)?);
/// assert!("0".parse::<TimeScale>().is_err());
/// # Ok::<(), downbeat_time::TimeScaleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct TimeScale {
    numer: u32,
    denom: u32,
}

/// Why something is not a time scale.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeScaleError {
    /// The text is not a ratio.
    #[error("time scale `{text}` {cause}")]
    Text {
        /// What was written.
        text: String,
        /// What is wrong with it.
        cause: RatioError,
    },
    /// Standing still is what `pause` is for.
    #[error("time scale must be above 0; pause the manager to stand still")]
    NotAboveZero,
    /// The ratio does not fit.
    #[error("time scale {numer}/{denom} is too fine; in lowest terms both parts may go up to 4294967295")]
    TooFine {
        /// Numerator asked for.
        numer: u64,
        /// Denominator asked for.
        denom: u64,
    },
}

impl TimeScale {
    /// As fast as the wall clock.
    pub const ONE: Self = Self { numer: 1, denom: 1 };

    /// `numer / denom` simulated seconds per second.
    pub fn new(numer: u64, denom: u64) -> Result<Self, TimeScaleError> {
        if numer == 0 || denom == 0 {
            return Err(TimeScaleError::NotAboveZero);
        }
        let (n, d) = ratio::reduce(numer, denom);
        match (u32::try_from(n), u32::try_from(d)) {
            (Ok(numer), Ok(denom)) => Ok(Self { numer, denom }),
            _ => Err(TimeScaleError::TooFine { numer, denom }),
        }
    }

    /// Numerator in lowest terms.
    pub const fn numer(self) -> u32 {
        self.numer
    }

    /// Denominator in lowest terms.
    pub const fn denom(self) -> u32 {
        self.denom
    }

    /// The scale as a float, for display.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numer) / f64::from(self.denom)
    }
}

impl Default for TimeScale {
    fn default() -> Self {
        Self::ONE
    }
}

impl FromStr for TimeScale {
    type Err = TimeScaleError;

    /// Reads `2`, `0.5` or `1/3`.
    fn from_str(text: &str) -> Result<Self, TimeScaleError> {
        let (numer, denom) = ratio::parse(text)
            .map_err(|cause| TimeScaleError::Text { text: text.chars().take(64).collect(), cause })?;
        Self::new(numer, denom)
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match exact_decimal(self.numer.into(), self.denom.into()) {
            Some(decimal) => f.pad(&decimal),
            None => f.pad(&format!("{}/{}", self.numer, self.denom)),
        }
    }
}

impl TryFrom<String> for TimeScale {
    type Error = TimeScaleError;

    fn try_from(text: String) -> Result<Self, TimeScaleError> {
        text.parse()
    }
}

impl From<TimeScale> for String {
    fn from(scale: TimeScale) -> Self {
        scale.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_above_zero_and_fits() {
        assert_eq!(TimeScale::new(0, 1), Err(TimeScaleError::NotAboveZero));
        assert!(matches!(TimeScale::new(u64::MAX, 1), Err(TimeScaleError::TooFine { .. })));
        for text in ["2", "0.5", "1/3", "10/3"] {
            let scale: TimeScale = text.parse().unwrap();
            assert_eq!(scale.to_string(), text);
        }
    }

    #[test]
    fn every_mode_is_found_by_its_name() {
        for mode in TimeMode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        assert!("realtime".parse::<TimeMode>().unwrap_err().to_string().contains("sim-realtime"));
    }
}
