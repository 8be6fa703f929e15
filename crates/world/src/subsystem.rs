//! Subsystems: physics, controllers, sensors, recorders. Each is stepped where its binding says and meets the others
//! only in the world's components and signals.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;

use downbeat_time::{BoxError, Phase, StepContext};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::hash::StateHasher;
use crate::world::World;

/// Something that a scene steps.
///
/// What it keeps between steps is saved and restored with the scene: after `load(save())` it goes on with the same
/// bits. What it derives from the world it keeps by version and builds again when that has changed.
pub trait Subsystem: Any + Send {
    /// Looks at the world when it is added to a scene and when its settings have changed, so that what it cannot work
    /// with is refused at once. A restored scene does not call it: [`Subsystem::load`] and the next step must do.
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        let _ = world;
        Ok(())
    }

    /// Does one step. An error pauses the scene and names this subsystem.
    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError>;

    /// Its settings, as the scene's file keeps them.
    fn settings(&self) -> toml::Table {
        toml::Table::new()
    }

    /// Takes other settings, whole; refused ones change nothing.
    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        settings_from(settings).map(|NoSettings {}| ())
    }

    /// Everything that it keeps between steps, as bytes.
    fn save(&self) -> Result<Vec<u8>, BoxError> {
        Ok(Vec::new())
    }

    /// Back to what was saved.
    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        if bytes.is_empty() { Ok(()) } else { Err("it keeps nothing, but something was saved".into()) }
    }

    /// Takes what it keeps between steps into a hash, as far as it decides what comes.
    fn hash(&self, hasher: &mut StateHasher) {
        let _ = hasher;
    }
}

/// A kind of subsystem that scenes can name in their files.
#[derive(Debug, Clone, Copy)]
pub struct SubsystemKind {
    /// Its name in files.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The runner it goes on unless the scene says otherwise.
    pub runner: &'static str,
    /// The phase it goes into unless the scene says otherwise.
    pub phase: Phase,
    /// Its priority unless the scene says otherwise.
    pub priority: i32,
    /// Makes one with these settings.
    pub make: fn(&Birth<'_>) -> Result<Box<dyn Subsystem>, SettingsError>,
}

/// What a subsystem is made from.
#[derive(Debug)]
pub struct Birth<'a> {
    /// Its name in the scene: its random numbers are those of this name.
    pub name: &'a str,
    /// The scene's seed.
    pub seed: u64,
    /// Its settings.
    pub settings: &'a toml::Table,
}

/// Settings that a subsystem cannot work with.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SettingsError(pub String);

/// Brings what a file describes, such as a robot, into a world. The table is what the scene says beside the file.
pub type Importer = fn(&Path, &toml::Table, &mut World) -> Result<(), BoxError>;

/// The kinds of subsystems and of files to import that are known, by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    kinds: BTreeMap<&'static str, SubsystemKind>,
    importers: BTreeMap<&'static str, Importer>,
}

impl Registry {
    /// Those that this crate brings.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for kind in crate::subsystems::KINDS {
            registry.add(*kind);
        }
        registry
    }

    /// Adds a kind; one of the same name goes.
    pub fn add(&mut self, kind: SubsystemKind) {
        self.kinds.insert(kind.name, kind);
    }

    /// The kind of this name.
    pub fn get(&self, name: &str) -> Option<&SubsystemKind> {
        self.kinds.get(name)
    }

    /// Adds a way to import files with this extension; one for the same extension goes.
    pub fn add_importer(&mut self, extension: &'static str, importer: Importer) {
        self.importers.insert(extension, importer);
    }

    /// The way to import files with this extension.
    pub fn importer(&self, extension: &str) -> Option<Importer> {
        self.importers.get(extension).copied()
    }

    /// The extensions that can be imported.
    pub fn importers(&self) -> impl Iterator<Item = &'static str> {
        self.importers.keys().copied()
    }

    /// All kinds, by name.
    pub fn iter(&self) -> impl Iterator<Item = &SubsystemKind> {
        self.kinds.values()
    }
}

/// Settings as the type that a subsystem keeps them in.
pub fn settings_from<T: DeserializeOwned>(settings: &toml::Table) -> Result<T, SettingsError> {
    T::deserialize(settings.clone()).map_err(|error| SettingsError(error.message().to_owned()))
}

/// Settings as a table.
pub fn settings_into<T: Serialize>(settings: &T) -> toml::Table {
    // Through text, because a table holds doubles: 0.1 as a float would read 0.10000000149 there. Settings are structs
    // of plain data, and those always have a text.
    toml::to_string(settings).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// State through postcard, for [`Subsystem::save`].
pub fn state_into<T: Serialize>(state: &T) -> Result<Vec<u8>, BoxError> {
    Ok(postcard::to_stdvec(state)?)
}

/// State through postcard, for [`Subsystem::load`].
pub fn state_from<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BoxError> {
    let (state, rest) = postcard::take_from_bytes(bytes)?;
    if rest.is_empty() { Ok(state) } else { Err(format!("{} bytes too many", rest.len()).into()) }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoSettings {}
