//! rapier3d as a subsystem: bodies of [`Space::Solid`], their colliders and joints.
//!
//! Before a step, what changed in the world goes into the solver; after it, poses, velocities and joint states come
//! back. Whether something changed is told by the versions of columns, so a quiet scene costs one comparison each.

pub(crate) mod convert;
mod joints;
#[path = "solver/motion.rs"]
mod motion;
#[path = "solver/query.rs"]
mod query;
#[path = "solver/structure.rs"]
mod structure;
#[path = "solver/subsystem.rs"]
mod subsystem;
#[path = "solver/touch.rs"]
mod touch;

use downbeat_time::Phase;
use downbeat_world::{Birth, Space, SubsystemKind, settings_from};
use glam::Vec3;
// What both solvers share (`solver/`) is compiled once for each, against this name.
use rapier3d as rapier;
use serde::{Deserialize, Serialize};

pub use convert::hull_triangles;

use subsystem::State;
use touch::Touches;

/// The kind that scenes name `rapier3d`.
pub(crate) const KIND: SubsystemKind = SubsystemKind {
    name: "rapier3d",
    about: "rigid bodies, contacts, joints and articulations in three dimensions",
    runner: "Robot",
    phase: Phase::Physics,
    priority: 0,
    make: |birth: &Birth<'_>| Ok(Box::new(Rapier3d::new(settings_from(birth.settings)?)?)),
};

/// How the solver works.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rapier3dSettings {
    /// Metres per square second.
    pub gravity: Vec3,
    /// Solver steps for each step of the runner.
    pub substeps: u32,
    /// Iterations of the solver in each of them.
    pub iterations: u32,
}

impl Default for Rapier3dSettings {
    fn default() -> Self {
        Self { gravity: Vec3::new(0.0, 0.0, -9.81), substeps: 1, iterations: 4 }
    }
}

/// The solver as a subsystem.
///
/// [`downbeat_world::Scene::subsystem`] gives it out, to ask it what a ray or a shape would meet.
pub struct Rapier3d {
    settings: Rapier3dSettings,
    state: State,
    touches: Touches,
}

// What the files in `solver/` call them.
use Rapier3d as Solver;
use Rapier3dSettings as Settings;

/// Whether this solver has to do with a body of this space.
const fn is_ours(space: Space) -> bool {
    matches!(space, Space::Solid)
}
