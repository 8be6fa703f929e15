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
#[path = "solver/touch.rs"]
mod touch;

use downbeat_time::{BoxError, Phase, StepContext};
use downbeat_world::{
    Birth, SettingsError, Space, StateHasher, Subsystem, SubsystemKind, World, settings_from, settings_into,
    state_from, state_into,
};
use glam::Vec2;
// What both solvers share (`solver/`) is compiled once for each, against this name.
use rapier2d as rapier;
use rapier2d::prelude::{IntegrationParameters, PhysicsWorld};
use serde::{Deserialize, Serialize};

use structure::Structure;
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

use Rapier2d as Solver;

/// What is saved.
#[derive(Default, Serialize, Deserialize)]
struct State {
    physics: PhysicsWorld,
    structure: Structure,
}

impl Rapier2d {
    /// A solver without bodies.
    pub fn new(settings: Rapier2dSettings) -> Result<Self, SettingsError> {
        check(&settings)?;
        let mut solver = Self { settings, state: State::default(), touches: Touches::default() };
        solver.take_settings();
        Ok(solver)
    }

    fn take_settings(&mut self) {
        let Rapier2dSettings { gravity, iterations, .. } = self.settings;
        let physics = &mut self.state.physics;
        physics.gravity = gravity;
        physics.integration_parameters = IntegrationParameters {
            num_solver_iterations: iterations as usize,
            // The solver would slow fast bodies in silence, and stop the fastest; here they are an error.
            normalized_max_linear_velocity: f32::MAX,
            ..Default::default()
        };
        // Timings that nobody reads would cost a clock reading for each stage.
        physics.physics_pipeline.counters.disable();
    }
}

fn check(settings: &Rapier2dSettings) -> Result<(), SettingsError> {
    let Rapier2dSettings { gravity, substeps, iterations } = *settings;
    if !gravity.is_finite() {
        return Err(SettingsError("gravity must be finite".to_owned()));
    }
    if !(1..=1000).contains(&substeps) {
        return Err(SettingsError(format!("substeps are from 1 to 1000, not {substeps}")));
    }
    if !(1..=1000).contains(&iterations) {
        return Err(SettingsError(format!("iterations are from 1 to 1000, not {iterations}")));
    }
    Ok(())
}

impl Subsystem for Rapier2d {
    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let State { physics, structure } = &mut self.state;
        structure.sync(physics, world)?;
        motion::write_in(physics, structure, world, context.dt_secs() as f32);
        physics.integration_parameters.dt = (context.dt_secs() / f64::from(self.settings.substeps)) as f32;
        for _ in 0..self.settings.substeps {
            // The world keeps its last good state when this fails.
            motion::advance(physics, structure, &self.touches)?;
        }
        motion::read_out(physics, structure, world);
        self.touches.report(world);
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings = settings_from(settings)?;
        check(&settings)?;
        self.settings = settings;
        self.take_settings();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        self.state = state_from(bytes)?;
        self.state.physics.physics_pipeline.counters.disable();
        Ok(())
    }

    fn hash(&self, hasher: &mut StateHasher) {
        // Poses and velocities are components and hashed as such; what is left is who sleeps.
        for row in self.state.structure.bodies() {
            if let Some(body) = self.state.physics.bodies.get(row.made.handle) {
                hasher.data(&(row.id, body.is_sleeping()));
            }
        }
    }
}

/// Whether this solver has to do with a body of this space.
const fn is_ours(space: Space) -> bool {
    matches!(space, Space::Plane)
}
