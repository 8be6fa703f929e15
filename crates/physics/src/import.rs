//! Robots from URDF and MJCF files, as entities of a world.
//!
//! A file is looked over ([`xml`]), read by a parser of its format ([`urdf`], [`mjcf`]), turned into a [`plan`] and
//! spawned, whole or not at all. What a file asks for and does not get is said in the report. It starts no solver.

mod limits;
mod mass;
mod mesh;
mod mjcf;
mod plan;
mod urdf;
mod xml;

use std::path::{Path, PathBuf};

use downbeat_time::BoxError;
use downbeat_world::{EntityId, Motor, Pose, World, settings_from};
use serde::Deserialize;
use thiserror::Error;

/// How a robot comes into a world. Scenes write it beside the file they import.
///
/// ```toml
/// [[import]]
/// file = "robots/quadruped.xml"
/// settings = { name = "dog", pose = { position = [0, 0, 0.3] }, start_keyframe = "stand" }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportOptions {
    /// What the robot is called; without one, as its file says.
    pub name: Option<String>,
    /// Where it stands.
    pub pose: Pose,
    /// Whether its base cannot move. Without an answer an MJCF file decides, and a URDF's base is fixed.
    pub fixed_base: Option<bool>,
    /// The keyframe that it starts in, and that its motors start out holding.
    pub start_keyframe: Option<String>,
    /// What drives joints for which the file names no actuator. Their own strongest effort, if any, counts.
    pub motor: Option<Motor>,
    /// Whether links that do not hang on one another pass through each other, as collision group 31.
    pub ignore_self_contacts: bool,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    /// The entity with the robot's [`downbeat_world::Robot`]; its links hang on it.
    pub robot: EntityId,
    /// Its bodies, parents first.
    pub links: Vec<EntityId>,
    /// Its joints that can move, in the order of their coordinates.
    pub joints: Vec<EntityId>,
    /// What the file asks for and does not get, or not quite. The robot's user data has them too.
    pub notes: Vec<String>,
}

/// Why a file was not imported. The world is as it was.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It could not be read.
    #[error("{}: {error}", file.display())]
    Read {
        /// Which file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}: {what}", file.display())]
    Wrong {
        /// Which file.
        file: PathBuf,
        /// What is wrong and what to do.
        what: String,
    },
}

/// Brings the robot of a URDF file into a world.
pub fn import_urdf(
    path: &Path,
    options: &ImportOptions,
    world: &mut World,
) -> Result<ImportReport, ImportError> {
    urdf::plan(path, options)?.spawn(path, options, world)
}

/// Brings the robot of an MJCF file into a world, with the unmoving things around it.
///
/// ```no_run
/// use downbeat_physics::{ImportOptions, import_mjcf};
/// use downbeat_world::World;
///
/// let mut world = World::new(1);
/// let options = ImportOptions { start_keyframe: Some("stand".to_owned()), ..ImportOptions::default() };
/// let report = import_mjcf("scenes/robots/quadruped.xml".as_ref(), &options, &mut world)?;
/// for note in &report.notes {
///     println!("{note}");
/// }
/// # Ok::<(), downbeat_physics::ImportError>(())
/// ```
pub fn import_mjcf(
    path: &Path,
    options: &ImportOptions,
    world: &mut World,
) -> Result<ImportReport, ImportError> {
    mjcf::plan(path, options)?.spawn(path, options, world)
}

/// [`import_urdf`] as scenes call it.
pub(crate) fn urdf_importer(path: &Path, settings: &toml::Table, world: &mut World) -> Result<(), BoxError> {
    import_urdf(path, &settings_from(settings)?, world)?;
    Ok(())
}

/// [`import_mjcf`] as scenes call it.
pub(crate) fn mjcf_importer(path: &Path, settings: &toml::Table, world: &mut World) -> Result<(), BoxError> {
    import_mjcf(path, &settings_from(settings)?, world)?;
    Ok(())
}

impl ImportError {
    fn wrong(file: &Path, what: impl std::fmt::Display) -> Self {
        Self::Wrong { file: file.to_owned(), what: what.to_string() }
    }
}
