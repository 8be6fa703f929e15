//! The five phases of a step and the two free phases around the steps of a frame.
//!
//! Order within a phase is not decided here; see `order.rs`.

use std::fmt;

/// A stage of a simulation step. Phases always run in this order, for all firing runners together.
///
/// ```
/// use downbeat_time::Phase;
///
/// assert!(Phase::Acquisition < Phase::Control && Phase::Validation < Phase::Export);
/// assert_eq!(Phase::ALL.len(), 5);
/// assert_eq!("physics".parse::<Phase>(), Ok(Phase::Physics));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// Read sensors, sample inputs, latch sync points.
    Acquisition,
    /// Run controllers: IK, policies, PID.
    Control,
    /// Step the physics solvers.
    Physics,
    /// Check state, enforce limits, end episodes.
    Validation,
    /// Record and publish.
    Export,
}

impl Phase {
    /// All phases in the order they run.
    pub const ALL: [Self; 5] =
        [Self::Acquisition, Self::Control, Self::Physics, Self::Validation, Self::Export];

    /// The name as shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acquisition => "Acquisition",
            Self::Control => "Control",
            Self::Physics => "Physics",
            Self::Validation => "Validation",
            Self::Export => "Export",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Phase {
    type Err = UnknownPhase;

    fn from_str(text: &str) -> Result<Self, UnknownPhase> {
        Self::ALL
            .into_iter()
            .find(|phase| phase.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| UnknownPhase { text: text.chars().take(64).collect() })
    }
}

/// A text that names no phase.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a phase; choose Acquisition, Control, Physics, Validation or Export")]
pub struct UnknownPhase {
    /// What was written.
    pub text: String,
}

/// A stage outside the simulation clock: once per frame, with the frame's own delta. Off unless enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FreePhase {
    /// Before any step of the frame.
    PreAcquisition,
    /// After the last step of the frame.
    PostExport,
}

impl FreePhase {
    /// Both free phases in the order they run.
    pub const ALL: [Self; 2] = [Self::PreAcquisition, Self::PostExport];

    /// The name as shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreAcquisition => "PreAcquisition",
            Self::PostExport => "PostExport",
        }
    }
}

impl fmt::Display for FreePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
