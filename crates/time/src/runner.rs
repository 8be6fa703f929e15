//! What a runner is: its id, its settings, and sets of runners.
//!
//! Its place on the timeline is kept by `timeline.rs`.

use std::fmt;

use crate::rate::Rate;
use crate::sim_time::SimTime;

/// At most this many runners share a timeline.
pub const RUNNERS_MAX: usize = 8;
/// Names of runners and callbacks are at most this many bytes long.
pub const NAME_LEN_MAX: usize = 128;

/// One of the eight places for a runner. A removed runner's id is free to be given to the next one added.
///
/// ```
/// use downbeat_time::RunnerId;
///
/// assert_eq!(RunnerId::new(0), Some(RunnerId::ROBOT));
/// assert_eq!(RunnerId::new(8), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u8", into = "u8"))]
pub struct RunnerId(u8);

impl RunnerId {
    /// Robot, the first runner of a new scene.
    pub const ROBOT: Self = Self(0);
    /// Capture, the second runner of a new scene.
    pub const CAPTURE: Self = Self(1);

    /// The id with this number, 0 to 7.
    #[inline]
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < RUNNERS_MAX { Some(Self(number)) } else { None }
    }

    /// The number, 0 to 7.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The number as an index. Masked, so that indexing an array of eight needs no check.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize & (RUNNERS_MAX - 1)
    }

    /// All eight ids in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..RUNNERS_MAX as u8).map(Self)
    }
}

impl fmt::Display for RunnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "runner {}", self.0)
    }
}

impl TryFrom<u8> for RunnerId {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Self::new(number).ok_or_else(|| format!("runner {number} does not exist; ids go from 0 to 7"))
    }
}

impl From<RunnerId> for u8 {
    fn from(id: RunnerId) -> Self {
        id.0
    }
}

/// A set of runners, such as those that fire together in a step.
///
/// ```
/// use downbeat_time::{RunnerId, RunnerSet};
///
/// let both = RunnerSet::from_iter([RunnerId::ROBOT, RunnerId::CAPTURE]);
/// assert!(both.contains(RunnerId::CAPTURE) && both.is_shared());
/// assert_eq!(both.iter().count(), 2);
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RunnerSet(u8);

impl RunnerSet {
    /// No runner.
    pub const EMPTY: Self = Self(0);

    #[inline]
    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// One bit per runner, lowest first.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Just this runner.
    #[inline]
    pub const fn only(id: RunnerId) -> Self {
        Self(1 << id.0)
    }

    /// This set and `id`.
    #[inline]
    #[must_use]
    pub const fn with(self, id: RunnerId) -> Self {
        Self(self.0 | 1 << id.0)
    }

    /// This set except `id`.
    #[inline]
    #[must_use]
    pub const fn without(self, id: RunnerId) -> Self {
        Self(self.0 & !(1 << id.0))
    }

    /// The runners that are in both sets.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether `id` is in the set.
    #[inline]
    pub const fn contains(self, id: RunnerId) -> bool {
        self.0 & 1 << id.0 != 0
    }

    /// Whether every runner of `other` is in the set.
    #[inline]
    pub const fn contains_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it holds no runner.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many runners it holds.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether two or more runners fire together.
    #[inline]
    pub const fn is_shared(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// The runners, lowest id first.
    pub fn iter(self) -> impl Iterator<Item = RunnerId> {
        RunnerId::all().filter(move |&id| self.contains(id))
    }
}

impl FromIterator<RunnerId> for RunnerSet {
    fn from_iter<I: IntoIterator<Item = RunnerId>>(ids: I) -> Self {
        ids.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// What one sets for a runner.
///
/// ```
/// use downbeat_time::{Rate, RunnerConfig};
///
/// let lidar = RunnerConfig::new("Lidar", Rate::hz(500)?).with_offset_nanos(1_000_000);
/// assert_eq!(lidar.offset.as_nanos(), 1_000_000);
/// # Ok::<(), downbeat_time::RateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RunnerConfig {
    /// Shown to people, unique within a timeline.
    pub name: String,
    /// Steps per second.
    pub rate: Rate,
    /// Where the grid of boundaries starts; the first step ends one step length later.
    pub offset: SimTime,
}

impl RunnerConfig {
    /// A runner without offset.
    pub fn new(name: impl Into<String>, rate: Rate) -> Self {
        Self { name: name.into(), rate, offset: SimTime::ZERO }
    }

    /// The same runner with its grid shifted.
    #[must_use]
    pub const fn with_offset_nanos(mut self, offset_nanos: u64) -> Self {
        self.offset = SimTime::from_nanos(offset_nanos);
        self
    }

    /// The runners of a new scene: Robot at 50 Hz and Capture at 30 Hz.
    pub fn defaults() -> Vec<Self> {
        vec![Self::new("Robot", Rate::ROBOT), Self::new("Capture", Rate::CAPTURE)]
    }
}
