//! A scene: a world, the subsystems that move it, and the time manager that says when.
//!
//! ```
//! use downbeat_world::{Pose, Registry, Scene, WorldCommand};
//!
//! let mut scene = Scene::new("lab", 7, Registry::builtin());
//! let ball = scene.apply(WorldCommand::Spawn { components: vec![Pose::IDENTITY.into()] })?;
//! scene.run_steps(10)?;
//! let saved = scene.save()?;
//! scene.run_steps(10)?;
//! scene.restore(&saved)?; // and it goes on with the same bits
//! assert_eq!(ball.map(|id| id.to_string()), Some("ent_1".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod drive;
mod file;
mod logged;
mod rebuild;
mod scatter;
mod snapshot;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use downbeat_time::{Binding, BoxError, CallbackId, StepContext, TimeConfig, TimeManager};
use thiserror::Error;

pub use file::{LoadOptions, SceneFileError};
pub use snapshot::{SNAPSHOT_VERSION, SnapshotError, SnapshotSummary};

use crate::command::{CommandError, WorldCommand};
use crate::entity::EntityId;
use crate::hash::{StateHashMemo, StateHashes, name_hash};
use crate::log::WorldLog;
use crate::subsystem::{Birth, Registry, SettingsError, Subsystem};
use crate::world::World;

/// How many subsystems a scene may have.
pub const SUBSYSTEMS_MAX: usize = 256;

/// A scene.
pub struct Scene {
    registry: Arc<Registry>,
    time: TimeManager<Stage>,
    stage: Stage,
}

/// What a scene's time manager drives. Its inside is the scene's alone.
pub struct Stage {
    name: String,
    folder: PathBuf,
    world: World,
    subsystems: Vec<Box<dyn Subsystem>>,
    /// The hashes of the subsystems' names, in their order.
    names: Vec<u64>,
    memo: StateHashMemo,
    /// The places of the subsystems, in their order.
    slots: Vec<Slot>,
    /// What is written down of the run, if anything. Boxed, because it moves out of the way of every step.
    log: Option<Box<WorldLog>>,
}

/// A subsystem's place in the scene.
struct Slot {
    name: String,
    /// Its kind in files; `None` for code that no file can name.
    kind: Option<&'static str>,
    callback: CallbackId,
}

/// Why a subsystem could not be added.
#[derive(Debug, Error)]
pub enum AddError {
    /// Nobody knows the kind.
    #[error("there is no kind of subsystem `{kind}`; there are {known}")]
    UnknownKind {
        /// What was asked for.
        kind: String,
        /// Those there are.
        known: String,
    },
    /// The name is taken.
    #[error("the scene already has a subsystem `{name}`; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no room.
    #[error("a scene has at most {SUBSYSTEMS_MAX} subsystems")]
    TooMany,
    /// The log could not tell of it.
    #[error("subsystem `{name}` cannot be added while the scene has a log; add it first, or close the log")]
    Logged {
        /// Which one.
        name: String,
    },
    /// Its settings are wrong.
    #[error("subsystem `{name}`: {error}")]
    Settings {
        /// Which one.
        name: String,
        /// What is wrong.
        #[source]
        error: SettingsError,
    },
    /// The time manager refused its binding.
    #[error("subsystem `{name}`: {error}")]
    Binding {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        error: downbeat_time::EditError,
    },
}

impl Scene {
    /// An empty scene with the default runners, Robot at 50 Hz and Capture at 30 Hz.
    pub fn new(name: impl Into<String>, seed: u64, registry: impl Into<Arc<Registry>>) -> Self {
        let stage = Stage {
            name: name.into(),
            folder: PathBuf::new(),
            world: World::new(seed),
            subsystems: Vec::new(),
            names: Vec::new(),
            memo: StateHashMemo::default(),
            slots: Vec::new(),
            log: None,
        };
        Self { registry: registry.into(), time: TimeManager::default(), stage }
    }

    /// An empty scene with runners and modes of its own.
    pub fn with_time(
        name: impl Into<String>,
        seed: u64,
        registry: impl Into<Arc<Registry>>,
        time: TimeConfig,
    ) -> Result<Self, downbeat_time::EditError> {
        let time = TimeManager::new(time)?;
        Ok(Self { time, ..Self::new(name, seed, registry) })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.stage.name
    }

    /// The folder that its meshes and robots are looked for in.
    pub fn folder(&self) -> &Path {
        &self.stage.folder
    }

    /// Sets the folder that its meshes and robots are looked for in.
    pub fn set_folder(&mut self, folder: impl Into<PathBuf>) {
        self.stage.folder = folder.into();
    }

    /// The kinds of subsystems that it knows.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Its world.
    pub fn world(&self) -> &World {
        &self.stage.world
    }

    /// Its world, to build a scene in code and to ask it questions that need its index. A running scene changes by
    /// [`Scene::apply`].
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.stage.world
    }

    /// Its time manager.
    pub fn time(&self) -> &TimeManager<Stage> {
        &self.time
    }

    /// The subsystems: name, kind if it can stand in a file, and callback, in registration order.
    pub fn subsystems(&self) -> impl Iterator<Item = (&str, Option<&'static str>, CallbackId)> {
        self.stage.slots.iter().map(|slot| (slot.name.as_str(), slot.kind, slot.callback))
    }

    /// A subsystem by name, as the type that it is.
    pub fn subsystem<T: Subsystem>(&self, name: &str) -> Option<&T> {
        let at = self.stage.slots.iter().position(|slot| slot.name == name)?;
        let subsystem: &dyn std::any::Any = &*self.stage.subsystems[at];
        subsystem.downcast_ref()
    }

    /// Adds a subsystem of a known kind. Without a binding it goes where its kind goes by default.
    pub fn add(
        &mut self,
        kind: &str,
        name: &str,
        settings: &toml::Table,
        binding: Option<Binding>,
    ) -> Result<CallbackId, AddError> {
        let kind = self.known(kind)?;
        let mut subsystem = self.made(kind, name, settings)?;
        self.attached(name, &mut *subsystem)?;
        let binding = binding.unwrap_or_else(|| self.default_binding(&kind));
        self.add_slot(name, Some(kind.name), subsystem, binding)
    }

    fn known(&self, kind: &str) -> Result<crate::subsystem::SubsystemKind, AddError> {
        self.registry.get(kind).copied().ok_or_else(|| {
            let known = list(self.registry.iter().map(|kind| kind.name));
            AddError::UnknownKind { kind: kind.to_owned(), known }
        })
    }

    fn made(
        &self,
        kind: crate::subsystem::SubsystemKind,
        name: &str,
        settings: &toml::Table,
    ) -> Result<Box<dyn Subsystem>, AddError> {
        let birth = Birth { name, seed: self.stage.world.seed(), settings };
        (kind.make)(&birth).map_err(|error| AddError::Settings { name: name.to_owned(), error })
    }

    /// Shows the world to a subsystem that is about to be added, if there is room for it.
    fn attached(&mut self, name: &str, subsystem: &mut dyn Subsystem) -> Result<(), AddError> {
        self.check_room(name)?;
        attach(subsystem, &mut self.stage.world)
            .map_err(|error| AddError::Settings { name: name.to_owned(), error })
    }

    fn check_room(&self, name: &str) -> Result<(), AddError> {
        if self.stage.slots.iter().any(|slot| slot.name == name) {
            return Err(AddError::NameTaken { name: name.to_owned() });
        }
        if self.stage.log.is_some() {
            return Err(AddError::Logged { name: name.to_owned() });
        }
        if self.stage.slots.len() >= SUBSYSTEMS_MAX { Err(AddError::TooMany) } else { Ok(()) }
    }

    /// Adds a subsystem of your own. Scenes that have one cannot be made from a file alone; a snapshot restores into
    /// a scene that has the same.
    pub fn add_native(
        &mut self,
        name: &str,
        mut subsystem: Box<dyn Subsystem>,
        binding: Binding,
    ) -> Result<CallbackId, AddError> {
        self.attached(name, &mut *subsystem)?;
        self.add_slot(name, None, subsystem, binding)
    }

    /// Adds a function that is called with the world. It keeps no state; what it must remember belongs into the world.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId};
    /// use downbeat_world::{Pose, Registry, Scene};
    ///
    /// let mut scene = Scene::new("lab", 1, Registry::builtin());
    /// let lift = scene.world_mut().spawn("lift", Pose::IDENTITY);
    /// scene.add_fn("raise", Binding::new(RunnerId::ROBOT, Phase::Control), move |world, context| {
    ///     let pose = world.components.pose.get_mut(lift).ok_or("the lift is gone")?;
    ///     pose.position.z += context.dt_secs() as f32;
    ///     Ok(())
    /// })?;
    /// scene.run_steps(70)?; // 50 of Robot and 30 of Capture in a second, 10 of them shared
    /// let height = scene.world().world_pose(lift).position.z;
    /// assert!((height - 1.0).abs() < 1e-5);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn add_fn<F>(&mut self, name: &str, binding: Binding, step: F) -> Result<CallbackId, AddError>
    where
        F: FnMut(&mut World, &StepContext<'_>) -> Result<(), BoxError> + Send + 'static,
    {
        self.add_slot(name, None, Box::new(Function(step)), binding)
    }

    /// Checks a change and does it, whole, between two steps. Returns the entity that it brought to life.
    ///
    /// In a scene with a log it is noted there; one that cannot be noted is refused.
    pub fn apply(&mut self, command: WorldCommand) -> Result<Option<EntityId>, CommandError> {
        if self.stage.log.is_some() { self.apply_logged(command) } else { self.apply_unlogged(command) }
    }

    fn apply_unlogged(&mut self, command: WorldCommand) -> Result<Option<EntityId>, CommandError> {
        match command {
            WorldCommand::Configure { subsystem, settings } => self.configure(&subsystem, &settings),
            WorldCommand::Time(edit) => Ok(self.time.apply(edit)?).map(|()| None),
            command => self.stage.world.apply(&command),
        }
    }

    /// The hashes of its state, from scratch: equal for equal runs, step by step.
    pub fn state_hashes(&self) -> StateHashes {
        self.stage.state_hashes()
    }

    /// The total of [`Scene::state_hashes`], at the price of what has changed since it was asked for last: for every
    /// step of a long run.
    ///
    /// ```
    /// use downbeat_world::{Pose, Registry, Scene};
    ///
    /// let mut scene = Scene::new("lab", 7, Registry::builtin());
    /// let before = scene.state_hash();
    /// scene.world_mut().spawn("ball", Pose::IDENTITY);
    /// assert_ne!(scene.state_hash(), before);
    /// assert_eq!(scene.state_hash(), scene.state_hashes().total);
    /// ```
    pub fn state_hash(&mut self) -> u64 {
        self.stage.state_hash()
    }

    fn configure(&mut self, name: &str, settings: &str) -> Result<Option<EntityId>, CommandError> {
        let Some(at) = self.stage.slots.iter().position(|slot| slot.name == name) else {
            let there = list(self.stage.slots.iter().map(|slot| slot.name.as_str()));
            return Err(CommandError::UnknownSubsystem { name: name.to_owned(), there });
        };
        let refused = |error| CommandError::Settings { name: name.to_owned(), error };
        let changes: toml::Table = settings
            .parse()
            .map_err(|error: toml::de::Error| refused(SettingsError(error.message().to_owned())))?;
        let Stage { world, subsystems, .. } = &mut self.stage;
        let before = subsystems[at].settings();
        let mut settings = before.clone();
        settings.extend(changes);
        subsystems[at].configure(&settings).map_err(refused)?;
        if let Err(error) = attach(&mut *subsystems[at], world) {
            // They were its own a moment ago, so it takes them back.
            let _ = subsystems[at].configure(&before).map(|()| attach(&mut *subsystems[at], world));
            return Err(refused(error));
        }
        Ok(None)
    }

    fn add_slot(
        &mut self,
        name: &str,
        kind: Option<&'static str>,
        subsystem: Box<dyn Subsystem>,
        binding: Binding,
    ) -> Result<CallbackId, AddError> {
        self.check_room(name)?;
        let at = self.stage.slots.len();
        let step = move |stage: &mut Stage, context: &StepContext<'_>| stage.step(at, context);
        let callback = self
            .time
            .register(name, binding, step)
            .map_err(|error| AddError::Binding { name: name.to_owned(), error })?;
        self.stage.slots.push(Slot { name: name.to_owned(), kind, callback });
        self.stage.subsystems.push(subsystem);
        self.stage.names.push(name_hash(name));
        Ok(callback)
    }

    fn default_binding(&self, kind: &crate::subsystem::SubsystemKind) -> Binding {
        let runner = self.time.runner_id(kind.runner).unwrap_or_else(|| {
            self.time.runners().next().map_or(downbeat_time::RunnerId::ROBOT, |(id, _)| id)
        });
        Binding::new(runner, kind.phase).with_priority(kind.priority)
    }
}

impl Stage {
    /// One subsystem's turn. The first turn of a step begins it for the world.
    fn step(&mut self, at: usize, context: &StepContext<'_>) -> Result<(), BoxError> {
        if self.world.now() != context.now() {
            self.world.begin_step(context.now());
        }
        self.subsystems[at].step(&mut self.world, context)
    }

    fn state_hashes(&self) -> StateHashes {
        let names = self.slots.iter().map(|slot| slot.name.as_str());
        StateHashes::of(&self.world, &self.subsystems, names)
    }

    /// What [`Scene::state_hash`] says, also inside a step.
    pub(crate) fn state_hash(&mut self) -> u64 {
        self.memo.hash(&self.world, &self.subsystems, &self.names)
    }
}

/// Shows the world to a subsystem. One that refuses leaves no signals behind.
fn attach(subsystem: &mut dyn Subsystem, world: &mut World) -> Result<(), SettingsError> {
    let signals = world.signals.clone();
    subsystem.attach(world).map_err(|error| {
        world.signals = signals;
        SettingsError(error.to_string())
    })
}

/// A function as a subsystem.
struct Function<F>(F);

impl<F> Subsystem for Function<F>
where
    F: FnMut(&mut World, &StepContext<'_>) -> Result<(), BoxError> + Send + 'static,
{
    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        (self.0)(world, context)
    }
}

/// Names as a sentence has them.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
