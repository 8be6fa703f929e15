//! Which copy of a container this is, so that two histories that count alike are not taken for one.
//! An origin is never saved, compared or hashed: results do not depend on it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers go to containers of all threads. Nothing is published with them, so no order is needed.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Where a container came from. Every new one, every clone and every loaded one has its own, and a move keeps it.
///
/// A version alone says little: a column that is put back as it was a moment ago, or that comes from a snapshot, counts
/// on from the same number to other content.
pub(crate) struct Origin(u64);

/// What a container held at one moment: equal stamps, equal content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    origin: u64,
    version: u64,
}

impl Origin {
    /// The container at this version, which must count every change of what is derived from it.
    #[inline]
    pub(crate) fn at(&self, version: u64) -> Stamp {
        Stamp { origin: self.0, version }
    }
}

impl Default for Origin {
    fn default() -> Self {
        Self(NUMBERS.fetch_add(1, Ordering::Relaxed))
    }
}

/// A clone goes its own way from here.
impl Clone for Origin {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Containers are equal by what they hold.
impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

/// Without its number, which differs from run to run.
impl fmt::Debug for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Origin")
    }
}
