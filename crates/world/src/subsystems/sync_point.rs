//! A sync point: latches every signal, so that readers of all rates see one instant.
//!
//! Bound with `on_shared` it runs only where those runners meet. There every sensor of the set has just published, and
//! the sync point comes after them in the phase: what it latches is true now, in all signals. It reads nothing itself.

use downbeat_time::{BoxError, Phase, StepContext};

use crate::subsystem::{Subsystem, SubsystemKind};
use crate::world::World;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "sync_point",
    about: "latches all signals, so that readers of every rate see one instant",
    runner: "Robot",
    phase: Phase::Acquisition,
    priority: 1000,
    make: |birth| {
        let mut point = SyncPoint;
        point.configure(birth.settings)?;
        Ok(Box::new(point))
    },
};

/// Latches every signal.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncPoint;

impl Subsystem for SyncPoint {
    fn step(&mut self, world: &mut World, _context: &StepContext<'_>) -> Result<(), BoxError> {
        world.signals.latch();
        Ok(())
    }
}
