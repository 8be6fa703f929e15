//! What both solvers share. The files in `solver/` are compiled once for each of them, inside `rapier3d` and
//! `rapier2d`, whose types have the same names; this file holds what is the same type for both.

use downbeat_world::EntityId;
use glam::Vec3;

/// Where a ray or a moving shape meets something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// Whom it meets.
    pub entity: EntityId,
    /// How far along, in metres.
    pub distance: f32,
    /// Which way the surface looks there.
    pub normal: Vec3,
}
