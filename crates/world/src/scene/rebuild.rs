//! A scene goes to a snapshot. Everything that can fail is done aside; the scene changes only when all of it is there.

use std::path::PathBuf;
use std::sync::Arc;

use super::snapshot::{Saved, SavedSubsystem};
use super::{AddError, Scene, SnapshotError};
use crate::subsystem::{Birth, Registry, SettingsError, Subsystem};
use crate::world::World;

impl Scene {
    /// The scene of a snapshot. All its subsystems must be of known kinds.
    ///
    /// Damage is found by the check sum, and what was made by hand is refused where it contradicts itself. The inside
    /// of a solver is for that solver alone to read: step snapshots with solvers only from whom you trust.
    pub fn from_snapshot(bytes: &[u8], registry: impl Into<Arc<Registry>>) -> Result<Self, SnapshotError> {
        let saved = Saved::read(bytes)?;
        let mut scene = Self::new(&saved.scene, saved.world.seed(), registry);
        for subsystem in &saved.subsystems {
            let Some(kind) = &subsystem.kind else {
                return Err(SnapshotError::Native { name: subsystem.name.clone() });
            };
            scene.add_unattached(kind, &subsystem.name, &subsystem.settings()?)?;
        }
        scene.go_to(saved)?;
        Ok(scene)
    }

    /// Adds a subsystem that will find its world in the snapshot.
    fn add_unattached(&mut self, kind: &str, name: &str, settings: &toml::Table) -> Result<(), AddError> {
        let kind = self.known(kind)?;
        let subsystem = self.made(kind, name, settings)?;
        let binding = self.default_binding(&kind);
        self.add_slot(name, Some(kind.name), subsystem, binding).map(|_| ())
    }

    /// Goes to a snapshot of this scene, or of one with the same subsystems. When that fails, the scene is as it was.
    ///
    /// A scene with a log is refused: its log could not tell where it went. [`Scene::rewind_to`] goes to any step of it.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        if self.stage.log.is_some() {
            return Err(SnapshotError::Logged);
        }
        self.go_to(Saved::read(bytes)?)
    }

    fn go_to(&mut self, saved: Saved) -> Result<(), SnapshotError> {
        self.check_subsystems(&saved)?;
        let fresh = self.made_again(&saved)?;
        let natives = self.load_natives(&saved)?;
        if let Err(error) = self.time.restore(&saved.time) {
            self.put_natives_back(natives);
            return Err(error.into());
        }
        for (place, fresh) in self.stage.subsystems.iter_mut().zip(fresh) {
            if let Some(fresh) = fresh {
                *place = fresh;
            }
        }
        self.stage.world = saved.world;
        self.stage.name = saved.scene;
        self.stage.folder = PathBuf::from(saved.folder);
        Ok(())
    }

    fn check_subsystems(&self, saved: &Saved) -> Result<(), SnapshotError> {
        for at in 0..self.stage.slots.len().max(saved.subsystems.len()) {
            let here = self.stage.slots.get(at).map(|slot| (slot.name.as_str(), slot.kind));
            let there = saved.subsystems.get(at).map(|saved| (saved.name.as_str(), saved.kind.as_deref()));
            if here != there {
                let words = |found: Option<(&str, Option<&str>)>| match found {
                    Some((name, kind)) => format!("`{name}` ({})", kind.unwrap_or("native")),
                    None => "missing".to_owned(),
                };
                let position = at + 1;
                return Err(SnapshotError::OtherSubsystems {
                    position,
                    here: words(here),
                    saved: words(there),
                });
            }
        }
        Ok(())
    }

    /// The subsystems of known kinds, made from their saved settings and state; `None` for native ones.
    fn made_again(&self, saved: &Saved) -> Result<Vec<Option<Box<dyn Subsystem>>>, SnapshotError> {
        let Saved { subsystems, world, .. } = saved;
        let made = subsystems.iter().map(|subsystem| {
            let Some(kind) = &subsystem.kind else { return Ok(None) };
            self.make_again(kind, subsystem, world).map(Some)
        });
        made.collect()
    }

    fn make_again(
        &self,
        kind: &str,
        saved: &SavedSubsystem,
        world: &World,
    ) -> Result<Box<dyn Subsystem>, SnapshotError> {
        let kind =
            self.registry.get(kind).ok_or_else(|| SnapshotError::Native { name: saved.name.clone() })?;
        let birth = Birth { name: &saved.name, seed: world.seed(), settings: &saved.settings()? };
        let refused = |reason: String| SnapshotError::Subsystem { name: saved.name.clone(), reason };
        let mut subsystem = (kind.make)(&birth).map_err(|error| refused(error.to_string()))?;
        subsystem.load(&saved.state).map_err(|error| refused(error.to_string()))?;
        Ok(subsystem)
    }

    /// Loads what native subsystems had saved and returns what they held before. On failure all hold that again.
    fn load_natives(&mut self, saved: &Saved) -> Result<Vec<(usize, Vec<u8>)>, SnapshotError> {
        let mut before = Vec::new();
        for (at, saved) in saved.subsystems.iter().enumerate().filter(|(_, saved)| saved.kind.is_none()) {
            let subsystem = &mut self.stage.subsystems[at];
            let held = subsystem.save();
            let loaded = held.and_then(|held| {
                before.push((at, held));
                subsystem.load(&saved.state)
            });
            if let Err(error) = loaded {
                self.put_natives_back(before);
                return Err(SnapshotError::Subsystem { name: saved.name.clone(), reason: error.to_string() });
            }
        }
        Ok(before)
    }

    fn put_natives_back(&mut self, before: Vec<(usize, Vec<u8>)>) {
        for (at, held) in before {
            // It wrote these bytes itself a moment ago; one that cannot read them has nothing better to hold.
            let _ = self.stage.subsystems[at].load(&held);
        }
    }
}

impl SavedSubsystem {
    fn settings(&self) -> Result<toml::Table, AddError> {
        self.settings.parse().map_err(|error: toml::de::Error| AddError::Settings {
            name: self.name.clone(),
            error: SettingsError(error.message().to_owned()),
        })
    }
}
