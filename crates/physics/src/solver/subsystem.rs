//! A solver as a subsystem: its turn, its settings, and what is saved of it. Shared by both solvers.

use std::panic::catch_unwind;

use downbeat_time::{BoxError, StepContext};
use downbeat_world::{
    SettingsError, StateHasher, Subsystem, World, settings_from, settings_into, state_from, state_into,
};
use serde::{Deserialize, Serialize};

use super::rapier::prelude::{IntegrationParameters, PhysicsWorld, RigidBody};
use super::structure::{MadeBody, Structure};
use super::touch::Touches;
use super::{Settings, Solver, motion};
use crate::mirror::Row;

/// What is saved.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) physics: PhysicsWorld,
    pub(super) structure: Structure,
}

impl Solver {
    /// A solver without bodies.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        check(&settings)?;
        let mut solver = Self { settings, state: State::default(), touches: Touches::default() };
        solver.take_settings();
        Ok(solver)
    }

    fn take_settings(&mut self) {
        let Settings { gravity, iterations, .. } = self.settings;
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

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let Settings { gravity, substeps, iterations } = *settings;
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

impl Subsystem for Solver {
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
        // Matrices panic while they are read when their size is beyond all bounds.
        let read = catch_unwind(|| state_from(bytes));
        self.state = read.unwrap_or_else(|_| Err("its numbers are beyond all bounds".into()))?;
        self.state.physics.physics_pipeline.counters.disable();
        Ok(())
    }

    fn hash(&self, hasher: &mut StateHasher) {
        // Poses and velocities are components and hashed as such; what is left is who sleeps.
        // A bit each, in creation order: whose it is follows from the bodies' column.
        let State { physics, structure } = &self.state;
        let sleeps =
            |row: &Row<_, MadeBody>| physics.bodies.get(row.made.handle).is_some_and(RigidBody::is_sleeping);
        hasher.words(&[structure.bodies().len() as u64]);
        for rows in structure.bodies().chunks(64) {
            let bits = rows.iter().rev().fold(0_u64, |bits, row| (bits << 1) | u64::from(sleeps(row)));
            hasher.words(&[bits]);
        }
    }
}
