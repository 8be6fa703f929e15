//! The subsystems that this crate brings.

use crate::subsystem::SubsystemKind;

/// All of them.
pub(crate) const KINDS: &[SubsystemKind] = &[];
