//! Scene files: TOML that people read and edit. Loading reports what is wrong with file, line and cure; saving
//! replaces the file whole or not at all.
//!
//! Comments do not survive a save: a file is written from the scene, not edited.

mod loader;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use downbeat_time::{Binding, Phase, RunnerConfig, RunnerId};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Spanned;

use loader::{Loader, Source};

use super::Scene;
use super::scatter::ScatterText;
use crate::component::{EntityRow, EntityText};
use crate::entity::EntityId;
use crate::subsystem::Registry;

/// The version that this build writes.
pub(crate) const FILE_VERSION: u32 = 1;
/// The largest file that is read.
const FILE_LEN_MAX: u64 = 256 << 20;

/// What is wrong with a scene's file: where, what, and what to do.
#[derive(Debug, Error)]
pub enum SceneFileError {
    /// The text is wrong.
    #[error("{file}:{line}:{column}: {what}")]
    Text {
        /// The file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong and what to do.
        what: String,
    },
    /// The file could not be read.
    #[error("cannot read {}: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The file could not be written; the one that was there is untouched.
    #[error("cannot write {}: {error}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The file is too large.
    #[error("{} has more than {FILE_LEN_MAX} bytes, and no scene has", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
    },
    /// The scene has something that no file can hold.
    #[error("subsystem `{name}` is native code, which a file cannot hold")]
    Native {
        /// Which one.
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneText {
    downbeat: Spanned<u32>,
    name: String,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    mode: Option<Spanned<String>>,
    next_id: Option<EntityId>,
    #[serde(default, rename = "runner")]
    runners: Vec<RunnerText>,
    #[serde(default, rename = "subsystem")]
    subsystems: Vec<SubsystemText>,
    #[serde(default, rename = "entity")]
    entities: Vec<EntityText>,
    #[serde(default, rename = "import")]
    imports: Vec<ImportText>,
    #[serde(default, rename = "scatter")]
    scatters: Vec<ScatterText>,
}

#[derive(Deserialize)]
struct VersionText {
    downbeat: Spanned<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunnerText {
    name: Spanned<String>,
    rate: Spanned<String>,
    #[serde(default)]
    offset_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubsystemText {
    name: Spanned<String>,
    kind: Spanned<String>,
    runner: Option<Spanned<String>>,
    phase: Option<Spanned<String>>,
    priority: Option<i32>,
    #[serde(default)]
    on_shared: Vec<Spanned<String>>,
    #[serde(default = "enabled")]
    enabled: bool,
    settings: Option<Spanned<toml::Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportText {
    file: Spanned<PathBuf>,
    #[serde(default)]
    settings: toml::Table,
}

#[derive(Serialize)]
struct SceneRow<'a> {
    downbeat: u32,
    name: &'a str,
    seed: u64,
    mode: &'static str,
    next_id: EntityId,
    #[serde(rename = "runner")]
    runners: Vec<RunnerRow<'a>>,
    #[serde(rename = "subsystem", skip_serializing_if = "Vec::is_empty")]
    subsystems: Vec<SubsystemRow<'a>>,
    #[serde(rename = "entity", skip_serializing_if = "Vec::is_empty")]
    entities: Vec<EntityRow<'a>>,
}

#[derive(Serialize)]
struct RunnerRow<'a> {
    name: &'a str,
    rate: String,
    #[serde(skip_serializing_if = "is_zero")]
    offset_ns: u64,
}

#[derive(Serialize)]
struct SubsystemRow<'a> {
    name: &'a str,
    kind: &'static str,
    runner: &'a str,
    phase: &'static str,
    priority: i32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    on_shared: Vec<&'a str>,
    #[serde(skip_serializing_if = "is_true")]
    enabled: bool,
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    settings: toml::Table,
}

/// What may be said beside a scene's file.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// A seed instead of the file's own.
    pub seed: Option<u64>,
}

impl Scene {
    /// Loads a scene from a file. Meshes and robots that it names are looked for from its folder.
    pub fn load_file(path: &Path, registry: impl Into<Arc<Registry>>) -> Result<Self, SceneFileError> {
        Self::load_file_with(path, registry, &LoadOptions::default())
    }

    /// As [`Scene::load_file`], with something said beside the file.
    pub fn load_file_with(
        path: &Path,
        registry: impl Into<Arc<Registry>>,
        options: &LoadOptions,
    ) -> Result<Self, SceneFileError> {
        let read = |error| SceneFileError::Read { file: path.to_owned(), error };
        let mut text = String::new();
        // Not what the system says of its length but what comes is counted: a pipe has no length.
        let file = std::fs::File::open(path).map_err(read)?;
        let length = file.take(FILE_LEN_MAX + 1).read_to_string(&mut text).map_err(read)? as u64;
        if length > FILE_LEN_MAX {
            return Err(SceneFileError::TooLarge { file: path.to_owned() });
        }
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        Self::from_text_with(&text, &path.display().to_string(), folder, registry, options)
    }

    /// Makes a scene from a file's text. `file` is how messages call it.
    pub fn from_text(
        text: &str,
        file: &str,
        folder: &Path,
        registry: impl Into<Arc<Registry>>,
    ) -> Result<Self, SceneFileError> {
        Self::from_text_with(text, file, folder, registry, &LoadOptions::default())
    }

    /// As [`Scene::from_text`], with something said beside the text.
    pub fn from_text_with(
        text: &str,
        file: &str,
        folder: &Path,
        registry: impl Into<Arc<Registry>>,
        options: &LoadOptions,
    ) -> Result<Self, SceneFileError> {
        let source = Source { text, file };
        let mut scene = toml::from_str::<SceneText>(text).map_err(|error| {
            // What a later build has added is unknown here; then the version is what is wrong.
            let version = toml::from_str::<VersionText>(text).ok();
            let version = version.map_or(Ok(()), |text| source.check_version(&text.downbeat));
            let wrong = || source.wrong(error.span().unwrap_or_default(), error.message().trim());
            version.err().unwrap_or_else(wrong)
        })?;
        source.check_version(&scene.downbeat)?;
        scene.seed = options.seed.unwrap_or(scene.seed);
        Loader { source, folder, registry: registry.into() }.build(scene)
    }

    /// The scene as a file's text. Loaded again, it gives the same scene.
    pub fn to_text(&self) -> Result<String, SceneFileError> {
        let name_of = |id| self.time.runner(id).map_or("", |runner: &RunnerConfig| runner.name.as_str());
        let subsystems = self.stage.slots.iter().zip(&self.stage.subsystems).map(|(slot, subsystem)| {
            let kind = slot.kind.ok_or_else(|| SceneFileError::Native { name: slot.name.clone() })?;
            let view = self.time.callback(slot.callback);
            let (binding, enabled) = view
                .map_or((Binding::new(RunnerId::ROBOT, Phase::Control), false), |view| {
                    (view.binding, view.enabled)
                });
            Ok(SubsystemRow {
                name: &slot.name,
                kind,
                runner: name_of(binding.runner),
                phase: binding.phase.name(),
                priority: binding.priority,
                on_shared: binding.on_shared.iter().map(name_of).collect(),
                enabled,
                settings: subsystem.settings(),
            })
        });
        let world = self.world();
        let row = SceneRow {
            downbeat: FILE_VERSION,
            name: &self.stage.name,
            seed: world.seed(),
            mode: self.time.mode().name(),
            next_id: world.entities().next_id(),
            runners: self.time.runners().map(|(_, runner)| RunnerRow::of(runner)).collect(),
            subsystems: subsystems.collect::<Result<_, SceneFileError>>()?,
            entities: world.entities().iter().map(|id| EntityRow::of(&world.components, id)).collect(),
        };
        // Rows are plain data with string keys, which TOML can always hold.
        Ok(toml::to_string(&row).unwrap_or_default())
    }

    /// Writes the scene to a file, which then is whole or as it was before.
    pub fn save_file(&self, path: &Path) -> Result<(), SceneFileError> {
        let text = self.to_text()?;
        let write = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let mut file = as_others_write(path, tempfile::Builder::new())
                .tempfile_in(folder.unwrap_or_else(|| Path::new(".")))?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|error| SceneFileError::Write { file: path.to_owned(), error })
    }
}

impl<'a> RunnerRow<'a> {
    fn of(runner: &'a RunnerConfig) -> Self {
        Self { name: &runner.name, rate: runner.rate.to_string(), offset_ns: runner.offset.as_nanos() }
    }
}

/// A temporary file is its owner's alone; a scene's is for whom the one before was, or a new one would be.
#[cfg(unix)]
fn as_others_write<'a>(path: &Path, mut builder: tempfile::Builder<'a, 'a>) -> tempfile::Builder<'a, 'a> {
    use std::os::unix::fs::PermissionsExt as _;
    let before = std::fs::metadata(path).map(|there| there.permissions());
    builder.permissions(before.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o666)));
    builder
}

#[cfg(not(unix))]
fn as_others_write<'a>(_path: &Path, builder: tempfile::Builder<'a, 'a>) -> tempfile::Builder<'a, 'a> {
    builder
}

const fn enabled() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_true(flag: &bool) -> bool {
    *flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
