//! One frame for each entity: what it is called and where it is.

use std::collections::{BTreeMap, BTreeSet};

use downbeat_world::{EntityId, World};
use foxglove::messages::{FrameTransform, FrameTransforms, Timestamp};

use super::geometry;

/// What everything hangs on in the end.
pub(super) const ROOT: &str = "world";

/// The names of frames. People's names need not be unique; these are, and an entity keeps its own while it lives.
#[derive(Default)]
pub(super) struct Frames {
    names: BTreeMap<EntityId, FrameName>,
    /// The versions of the entities and names that these were made from.
    made_from: Option<(u64, u64)>,
}

struct FrameName {
    /// What the entity is called.
    wanted: String,
    /// What its frame is called.
    unique: String,
}

impl Frames {
    /// Takes in who has come, who has gone and who has another name.
    pub(super) fn refresh(&mut self, world: &World) {
        let version = Some((world.entities().version(), world.components.name.version()));
        if self.made_from == version {
            return;
        }
        self.made_from = version;
        self.names.retain(|id, name| world.entities().contains(*id) && name.wanted == wanted(world, *id));
        let mut taken: BTreeSet<_> = self.names.values().map(|name| name.unique.clone()).collect();
        taken.insert(ROOT.to_owned());
        for id in world.entities().iter() {
            self.names.entry(id).or_insert_with(|| {
                let wanted = wanted(world, id);
                let mut unique = wanted.clone();
                if taken.contains(&unique) {
                    unique = format!("{wanted} ({id})");
                }
                // Only somebody who tries gets here.
                while taken.contains(&unique) {
                    unique.push('\'');
                }
                taken.insert(unique.clone());
                FrameName { wanted, unique }
            });
        }
    }

    /// An entity's frame.
    pub(super) fn name(&self, id: EntityId) -> &str {
        self.names.get(&id).map_or(ROOT, |name| &name.unique)
    }

    /// Where every frame is, relative to the one that it hangs on.
    pub(super) fn transforms(&self, world: &World, stamp: Timestamp) -> FrameTransforms {
        let transforms = world.entities().iter().map(|id| {
            let pose = world.components.pose.get(id).copied().unwrap_or_default();
            let parent = world.components.parent.get(id).map_or(ROOT, |parent| self.name(parent.0));
            FrameTransform {
                timestamp: Some(stamp),
                parent_frame_id: parent.to_owned(),
                child_frame_id: self.name(id).to_owned(),
                translation: Some(geometry::vector(pose.position)),
                rotation: Some(geometry::quaternion(pose.rotation)),
            }
        });
        FrameTransforms { transforms: transforms.collect() }
    }
}

fn wanted(world: &World, id: EntityId) -> String {
    world.components.name.get(id).map_or_else(|| id.to_string(), |name| name.0.clone())
}

#[cfg(test)]
mod tests {
    use downbeat_world::{Pose, World};

    use super::Frames;

    #[test]
    fn frames_have_names_of_their_own_and_keep_them() {
        let mut world = World::new(1);
        let ids = ["box", "box", "world"].map(|name| world.spawn(name, Pose::IDENTITY));
        let mut frames = Frames::default();
        frames.refresh(&world);
        assert_eq!(ids.map(|id| frames.name(id)), ["box", "box (ent_2)", "world (ent_3)"]);

        let thief = world.spawn("box (ent_5)", Pose::IDENTITY);
        let late = world.spawn("box", Pose::IDENTITY);
        frames.refresh(&world);
        assert_eq!(frames.name(ids[1]), "box (ent_2)");
        assert_eq!([thief, late].map(|id| frames.name(id)), ["box (ent_5)", "box (ent_5)'"]);
    }
}
