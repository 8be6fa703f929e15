//! rapier2d as a subsystem: bodies of [`Space::Plane`], their colliders and joints.
//!
//! The plane is that of x and y, and y points up. Of a pose it knows x, y and the turn about z; z stays as it is. It
//! works like `rapier3d.rs`, and shares all but conversions with it.

mod convert;
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
use glam::Vec2;
// What both solvers share (`solver/`) is compiled once for each, against this name.
use rapier2d as rapier;
use serde::{Deserialize, Serialize};

use subsystem::State;
use touch::Touches;

/// The kind that scenes name `rapier2d`.
pub(crate) const KIND: SubsystemKind = SubsystemKind {
    name: "rapier2d",
    about: "rigid bodies, contacts, joints and articulations in the x-y plane",
    runner: "Robot",
    phase: Phase::Physics,
    priority: 0,
    make: |birth: &Birth<'_>| Ok(Box::new(Rapier2d::new(settings_from(birth.settings)?)?)),
};

/// How the solver works.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rapier2dSettings {
    /// Metres per square second.
    pub gravity: Vec2,
    /// Solver steps for each step of the runner.
    pub substeps: u32,
    /// Iterations of the solver in each of them.
    pub iterations: u32,
}

impl Default for Rapier2dSettings {
    fn default() -> Self {
        Self { gravity: Vec2::new(0.0, -9.81), substeps: 1, iterations: 4 }
    }
}

/// The solver as a subsystem.
///
/// [`downbeat_world::Scene::subsystem`] gives it out, to ask it what a ray or a shape would meet.
pub struct Rapier2d {
    settings: Rapier2dSettings,
    state: State,
    touches: Touches,
}

// What the files in `solver/` call them.
use Rapier2d as Solver;
use Rapier2dSettings as Settings;

/// Whether this solver has to do with a body of this space.
const fn is_ours(space: Space) -> bool {
    matches!(space, Space::Plane)
}
