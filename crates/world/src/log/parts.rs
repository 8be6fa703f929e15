//! The hashes of parts of the state: noted now and then, and compared when a run went another way than its log.
//!
//! A note holds the kinds of components that have changed since the one before. The first one behind a snapshot holds
//! all of them, so that whoever plays from there misses none.

use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::{KindHashes, PartHashes};
use crate::column::Column;
use crate::component::{Checked, ComponentKind, VisitColumn};
use crate::hash::{StateHashParts, StateHasher};
use crate::origin::Stamp;
use crate::scene::Scene;
use crate::world::World;

/// What the last note said, on the side that writes.
#[derive(Debug, Default)]
pub(crate) struct PartsMemo {
    hasher: StateHasher,
    noted: [Option<Stamp>; ComponentKind::ALL.len()],
    changed: Vec<(ComponentKind, KindHashes)>,
}

/// What the notes so far said, on the side that reads.
#[derive(Debug, Default)]
pub(super) struct NotedParts {
    bookkeeping: [u8; 8],
    subsystems: Vec<[u8; 8]>,
    components: BTreeMap<ComponentKind, KindHashes>,
}

impl PartsMemo {
    /// The note of a state after a step, of which the hash of state has just been made.
    pub(crate) fn note<I: Iterator<Item = u64>>(
        &mut self,
        step: u64,
        parts: StateHashParts<'_, I>,
        world: &World,
    ) -> PartHashes {
        PartHashes {
            step,
            bookkeeping: parts.bookkeeping.to_le_bytes(),
            subsystems: parts.subsystems.map(u64::to_le_bytes).collect(),
            components: self.changed(world),
        }
    }

    /// The next note holds all kinds again.
    pub(crate) fn forget(&mut self) {
        self.noted.fill(None);
    }

    fn changed(&mut self, world: &World) -> Vec<(ComponentKind, KindHashes)> {
        world.components.visit_columns(self);
        std::mem::take(&mut self.changed)
    }
}

impl VisitColumn for PartsMemo {
    fn visit_column<T: Serialize + Checked>(&mut self, kind: ComponentKind, column: &Column<T>) {
        let Self { hasher, noted, changed } = self;
        let stamp = Some(column.stamp());
        if std::mem::replace(&mut noted[kind as usize], stamp) == stamp {
            return;
        }
        let hash = |value: &T| hasher.only(|hasher| hasher.data(value)).to_le_bytes();
        let (ids, hashes) = (column.ids().iter().copied(), column.values().iter().map(hash));
        changed.push((kind, ids.zip(hashes).collect()));
    }
}

impl NotedParts {
    /// One more note. A kind that it leaves out is as it was.
    pub(super) fn take_in(&mut self, note: PartHashes) {
        (self.bookkeeping, self.subsystems) = (note.bookkeeping, note.subsystems);
        self.components.extend(note.components);
    }

    /// What differs in a scene, in words.
    pub(super) fn difference(&self, scene: &Scene) -> Option<String> {
        for (kind, here) in PartsMemo::default().changed(scene.world()) {
            // Nothing was said of it since play began.
            let Some(rows) = self.components.get(&kind) else { continue };
            let unlike = rows.iter().zip(&here).find(|(ours, theirs)| ours != theirs).map(|(ours, _)| ours.0);
            let longer = || rows.get(here.len()).or_else(|| here.get(rows.len())).map(|row| row.0);
            if let Some(entity) = unlike.or_else(longer) {
                return Some(format!("the {} of {entity}", kind.name()));
            }
        }
        let now = scene.state_hashes();
        let unlike = |((_, here), noted): &(&(String, u64), &[u8; 8])| here.to_le_bytes() != **noted;
        if let Some(((name, _), _)) = now.subsystems.iter().zip(&self.subsystems).find(unlike) {
            return Some(format!("subsystem `{name}`"));
        }
        let differs = self.bookkeeping != now.bookkeeping.to_le_bytes();
        differs.then(|| "ids, signals, events or random numbers".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{Name, Pose};
    use crate::subsystem::Registry;

    fn note(memo: &mut PartsMemo, scene: &Scene) -> PartHashes {
        let hashes = scene.state_hashes();
        let subsystems = hashes.subsystems.iter().map(|(_, hash)| *hash);
        let parts = StateHashParts { bookkeeping: hashes.bookkeeping, components: &[], subsystems };
        memo.note(1, parts, scene.world())
    }

    #[test]
    fn a_kind_that_is_left_out_counts_as_it_was_noted_before() {
        let mut scene = Scene::new("lab", 1, Registry::builtin());
        let ball = scene.world_mut().spawn("ball", Pose::IDENTITY);
        let (mut memo, mut noted) = (PartsMemo::default(), NotedParts::default());
        let first = note(&mut memo, &scene);
        assert_eq!(first.components.len(), ComponentKind::ALL.len());
        noted.take_in(first);

        scene.world_mut().components.pose.get_mut(ball).unwrap().position.z = 1.0;
        let second = note(&mut memo, &scene);
        assert!(matches!(second.components[..], [(ComponentKind::Pose, _)]), "{second:?}");
        noted.take_in(second);
        assert_eq!(noted.difference(&scene), None);

        *scene.world_mut().components.name.get_mut(ball).unwrap() = Name("other".to_owned());
        assert_eq!(noted.difference(&scene).as_deref(), Some("the name of ent_1"));
        memo.forget();
        assert_eq!(note(&mut memo, &scene).components.len(), ComponentKind::ALL.len());
    }
}
