//! What there is to see: one entity of Foxglove's scene for each of ours that has a mesh or a collider.

use std::collections::BTreeMap;

use downbeat_world::{Body, Collider, EntityId, Mesh, Shape, Space, Surface, World};
use foxglove::messages::scene_entity_deletion::Type as Deletion;
use foxglove::messages::{SceneEntity, SceneEntityDeletion, SceneUpdate, Timestamp};
use glam::Vec4;

use super::frames::Frames;
use super::geometry;
use super::primitives::{self, Look};

/// Colliders that nobody drew, and those that only notice: linear red, green, blue and opacity.
const BARE: Vec4 = Vec4::new(0.35, 0.38, 0.42, 0.35);
const SENSOR: Vec4 = Vec4::new(0.20, 0.55, 0.35, 0.15);

/// What was shown last.
#[derive(Default)]
pub(super) struct Scenery {
    shown: BTreeMap<EntityId, SceneEntity>,
    /// The versions of everything that it was made from.
    made_from: Option<[u64; 5]>,
}

impl Scenery {
    /// The whole scene, if there is anything new to see.
    ///
    /// It is whole every time, because a viewer that jumps in time reads the last message of a channel and no more.
    pub(super) fn update(&mut self, world: &World, frames: &Frames, stamp: Timestamp) -> Option<SceneUpdate> {
        let components = &world.components;
        let first = self.made_from.is_none();
        let version = Some([
            world.entities().version(),
            components.name.version(),
            components.collider.version(),
            components.mesh.version(),
            components.body.version(),
        ]);
        if self.made_from == version {
            return None;
        }
        self.made_from = version;
        let now: BTreeMap<_, _> = world
            .entities()
            .iter()
            .filter_map(|id| Some((id, entity(world, id, frames.name(id))?)))
            .collect();
        // A version counts what was touched, changed or not.
        if now == self.shown && !first {
            return None;
        }
        let gone = self.shown.keys().filter(|id| !now.contains_key(id));
        let deletion = |id: &EntityId| SceneEntityDeletion {
            timestamp: Some(stamp),
            r#type: Deletion::MatchingId as i32,
            id: id.to_string(),
        };
        let deletions = gone.map(deletion).collect();
        let stamped = |entity: &SceneEntity| SceneEntity { timestamp: Some(stamp), ..entity.clone() };
        let entities = now.values().map(stamped).collect();
        self.shown = now;
        Some(SceneUpdate { deletions, entities })
    }
}

/// An entity without its time, if there is anything to see of it.
fn entity(world: &World, id: EntityId, frame: &str) -> Option<SceneEntity> {
    let components = &world.components;
    let mesh = components.mesh.get(id);
    let collider = components.collider.get(id);
    let (shape, look) = look(mesh, collider, space(world, id))?;
    let mut entity = SceneEntity {
        frame_id: frame.to_owned(),
        id: id.to_string(),
        frame_locked: true,
        ..SceneEntity::default()
    };
    primitives::draw(&mut entity, shape, &look);
    Some(entity)
}

/// What to draw, and how. A mesh goes before a collider; one from a file is stood for by its entity's collider.
fn look<'a>(
    mesh: Option<&'a Mesh>,
    collider: Option<&'a Collider>,
    space: Space,
) -> Option<(&'a Shape, Look)> {
    let Some(mesh) = mesh else {
        let collider = collider?;
        let colour = geometry::colour(if collider.sensor { SENSOR } else { BARE });
        return Some((&collider.shape, Look { frame_from_shape: collider.offset, colour, space }));
    };
    let colour = geometry::colour(mesh.colour);
    match &mesh.surface {
        Surface::Shape(shape) => {
            Some((shape, Look { frame_from_shape: mesh.offset, colour, space: Space::Solid }))
        }
        Surface::Collider => {
            let collider = collider?;
            let frame_from_shape = mesh.offset * collider.offset;
            Some((&collider.shape, Look { frame_from_shape, colour, space }))
        }
        Surface::File { .. } => {
            let collider = collider?;
            Some((&collider.shape, Look { frame_from_shape: collider.offset, colour, space }))
        }
    }
}

/// The space of an entity's collider: that of the nearest body above it, or its own.
fn space(world: &World, id: EntityId) -> Space {
    let components = &world.components;
    let mut above = Some(id);
    while let Some(id) = above {
        if let Some(Body { space, .. }) = components.body.get(id) {
            return *space;
        }
        above = components.parent.get(id).map(|parent| parent.0);
    }
    components.collider.get(id).map_or(Space::Solid, |collider| collider.space)
}
