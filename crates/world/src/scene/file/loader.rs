//! From a file's text to a scene, in the order in which things need one another. Every mistake is named with its place.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use downbeat_time::{Phase, Rate, RunnerConfig, RunnerSet, TimeConfig, TimeManager, TimeMode};
use toml::Spanned;

use super::super::scatter::ScatterText;
use super::super::{Scene, Stage, list};
use super::{FILE_VERSION, ImportText, RunnerText, SceneFileError, SceneText, SubsystemText};
use crate::command::WorldCommand;
use crate::component::{Component, ComponentKind, EntityText, Mesh, Surface};
use crate::entity::{ENTITIES_MAX, EntityId};
use crate::subsystem::Registry;

/// The text that is being read, for messages.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
}

impl Source<'_> {
    pub(super) fn wrong(&self, span: Range<usize>, what: impl std::fmt::Display) -> SceneFileError {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
        SceneFileError::Text { file: self.file.to_owned(), line, column, what: what.to_string() }
    }

    pub(super) fn check_version(&self, version: &Spanned<u32>) -> Result<(), SceneFileError> {
        let found = *version.get_ref();
        if (1..=FILE_VERSION).contains(&found) {
            return Ok(());
        }
        let what =
            format!("format {found} is not known; this build reads 1 to {FILE_VERSION}, use a newer one");
        Err(self.wrong(version.span(), what))
    }
}

/// Makes a scene from what was read.
pub(super) struct Loader<'a> {
    pub(super) source: Source<'a>,
    pub(super) folder: &'a Path,
    pub(super) registry: Arc<Registry>,
}

impl Loader<'_> {
    pub(super) fn build(self, text: SceneText) -> Result<Scene, SceneFileError> {
        let mut scene = Scene::new(text.name, text.seed, Arc::clone(&self.registry));
        scene.stage.folder = self.folder.to_owned();
        scene.time = self.time(text.mode, &text.runners)?;
        self.entities(&mut scene, text.entities)?;
        if let Some(next) = text.next_id {
            scene.stage.world.reserve_ids(next);
        }
        for import in text.imports {
            self.import(&mut scene, &import)?;
        }
        for (number, scatter) in text.scatters.into_iter().enumerate() {
            self.scatter(&mut scene, scatter, number)?;
        }
        for subsystem in text.subsystems {
            self.subsystem(&mut scene, subsystem)?;
        }
        Ok(scene)
    }

    fn time(
        &self,
        mode: Option<Spanned<String>>,
        runners: &[RunnerText],
    ) -> Result<TimeManager<Stage>, SceneFileError> {
        let mut config = TimeConfig::default();
        if let Some(mode) = mode {
            config.mode =
                mode.get_ref().parse::<TimeMode>().map_err(|error| self.source.wrong(mode.span(), error))?;
        }
        if runners.is_empty() {
            return TimeManager::new(config).map_err(|error| self.source.wrong(0..0, error));
        }
        config.runners.clear();
        let mut last = 0..0;
        for runner in runners {
            let rate = runner.rate.get_ref().parse::<Rate>();
            let rate = rate.map_err(|error| self.source.wrong(runner.rate.span(), error))?;
            let name = runner.name.get_ref().clone();
            config.runners.push(RunnerConfig::new(name, rate).with_offset_nanos(runner.offset_ns));
            last = runner.name.span();
            // Each one is tried as it comes, so that a wrong one is named by its own line.
            let tried = TimeManager::<Stage>::new(config.clone());
            tried.map_err(|error| self.source.wrong(runner.name.span(), error))?;
        }
        TimeManager::new(config).map_err(|error| self.source.wrong(last, error))
    }

    /// All ids first, then bodies, then the rest by kind: what a component names is there when it comes.
    fn entities(&self, scene: &mut Scene, entities: Vec<EntityText>) -> Result<(), SceneFileError> {
        if entities.len() > ENTITIES_MAX {
            return Err(self.source.wrong(0..0, format!("a scene has at most {ENTITIES_MAX} entities")));
        }
        let mut components = Vec::new();
        let mut last: Option<EntityId> = None;
        for entity in entities {
            let id = match &entity.id {
                Some(id) => self.named(scene, id, last)?,
                None => scene.stage.world.spawn_next(),
            };
            last = Some(id);
            components.extend(entity.components().into_iter().map(|component| (id, component)));
        }
        // The sort is stable, so each kind keeps the order of entities.
        components.sort_by_key(|(_, component)| {
            let kind = component.get_ref().kind();
            (kind != ComponentKind::Body, kind)
        });
        for (entity, component) in components {
            let span = component.span();
            let component = component.into_inner();
            self.mesh_exists(&component).map_err(|what| self.source.wrong(span.clone(), what))?;
            let command = WorldCommand::Set { entity, component };
            scene.apply(command).map_err(|error| self.source.wrong(span, error))?;
        }
        Ok(())
    }

    /// Brings an entity to life under the id that the file gives it.
    fn named(
        &self,
        scene: &mut Scene,
        id: &Spanned<EntityId>,
        last: Option<EntityId>,
    ) -> Result<EntityId, SceneFileError> {
        let (id, span) = (*id.get_ref(), id.span());
        if scene.stage.world.spawn_as(id) {
            return Ok(id);
        }
        let what = match last {
            Some(last) if last == id => format!("{id} is there twice; give each entity an id of its own"),
            Some(last) => format!("{id} stands after {last}; entities stand in the order of their ids"),
            None => format!("{id} cannot be used; ids are from ent_1 up"),
        };
        Err(self.source.wrong(span, what))
    }

    fn mesh_exists(&self, component: &Component) -> Result<(), String> {
        let Component::Mesh(Mesh { surface: Surface::File { path, .. }, .. }) = component else {
            return Ok(());
        };
        let file = self.folder.join(path);
        if file.is_file() {
            return Ok(());
        }
        Err(format!("there is no mesh {}; paths are looked for from the scene's folder", file.display()))
    }

    fn import(&self, scene: &mut Scene, import: &ImportText) -> Result<(), SceneFileError> {
        let span = import.file.span();
        let path = self.folder.join(import.file.get_ref());
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let Some(importer) = self.registry.importer(extension) else {
            let known = list(self.registry.importers());
            let what = format!("nothing here imports `.{extension}` files; known are {known}");
            return Err(self.source.wrong(span, what));
        };
        importer(&path, &import.settings, &mut scene.stage.world)
            .map_err(|error| self.source.wrong(span, format!("cannot import {}: {error}", path.display())))?;
        // An importer knows its own file only; a scene names meshes from its folder, wherever that is.
        for (_, mesh) in scene.stage.world.components.mesh.iter_mut() {
            if let Surface::File { path, .. } = &mut mesh.surface
                && let Ok(inside) = path.strip_prefix(self.folder)
            {
                *path = inside.to_owned();
            }
        }
        Ok(())
    }

    fn scatter(&self, scene: &mut Scene, scatter: ScatterText, number: usize) -> Result<(), SceneFileError> {
        let span = scatter.count.span();
        let wrong = |what: String| self.source.wrong(span.clone(), what);
        let scatter = scatter.plan(scene.stage.world.seed(), number).map_err(wrong)?;
        for at in 0..scatter.poses.len() {
            let components = scatter.components(at);
            scene.apply(WorldCommand::Spawn { components }).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(())
    }

    fn subsystem(&self, scene: &mut Scene, text: SubsystemText) -> Result<(), SceneFileError> {
        let runner_of = |name: &Spanned<String>| {
            scene.time.runner_id(name.get_ref()).ok_or_else(|| {
                let known = list(scene.time.runners().map(|(_, runner)| runner.name.as_str()));
                let what = format!("there is no runner `{}`; there are {known}", name.get_ref());
                self.source.wrong(name.span(), what)
            })
        };
        let mut binding = self.registry.get(text.kind.get_ref()).map(|kind| scene.default_binding(kind));
        if let Some(binding) = &mut binding {
            if let Some(runner) = &text.runner {
                binding.runner = runner_of(runner)?;
            }
            if let Some(phase) = &text.phase {
                let parsed = phase.get_ref().parse::<Phase>();
                binding.phase = parsed.map_err(|error| self.source.wrong(phase.span(), error))?;
            }
            binding.priority = text.priority.unwrap_or(binding.priority);
            let shared = text.on_shared.iter().map(runner_of).collect::<Result<Vec<_>, _>>()?;
            if !shared.is_empty() {
                binding.on_shared = shared.into_iter().fold(RunnerSet::EMPTY, RunnerSet::with);
            }
        }
        let at = text.settings.as_ref().map_or(text.kind.span(), Spanned::span);
        let settings = text.settings.map(Spanned::into_inner).unwrap_or_default();
        let added = scene.add(text.kind.get_ref(), text.name.get_ref(), &settings, binding);
        let callback = added.map_err(|error| self.source.wrong(at, error))?;
        scene
            .time
            .set_enabled(callback, text.enabled)
            .map_err(|error| self.source.wrong(text.name.span(), error))
    }
}
