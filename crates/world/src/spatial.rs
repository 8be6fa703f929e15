//! A spatial index over entities: who is in a box, in a ball, along a ray.
//! It is derived from the world and never saved; it knows boxes around things, not their exact shapes.

use glam::Vec3;
use rstar::{AABB, RTree, RTreeObject, SelectionFunction};

use crate::component::{Components, Surface, around_points, corners};
use crate::entity::{EntityId, EntityTable};
use crate::world::world_pose;

/// The index, and the versions of what it was built from.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpatialIndex {
    tree: RTree<Entry>,
    built_at: Option<Versions>,
}

/// What the index depends on. While these stand, a query uses the index as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Versions([u64; 5]);

#[derive(Debug, Clone)]
struct Entry {
    id: EntityId,
    low: [f32; 3],
    high: [f32; 3],
}

impl RTreeObject for Entry {
    type Envelope = AABB<[f32; 3]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_corners(self.low, self.high)
    }
}

impl SpatialIndex {
    /// Builds the index again if what it depends on has changed.
    pub(crate) fn refresh(&mut self, table: &EntityTable, components: &Components) {
        let Components { parent, pose, collider, mesh, .. } = components;
        let versions =
            Versions([table.version(), parent.version(), pose.version(), collider.version(), mesh.version()]);
        if self.built_at == Some(versions) {
            return;
        }
        let entries = pose.ids().iter().filter_map(|id| entry(components, *id));
        self.tree = RTree::bulk_load(entries.collect());
        self.built_at = Some(versions);
    }

    /// Entities whose box touches a box, in creation order.
    pub(crate) fn in_box(&self, low: Vec3, high: Vec3) -> Vec<EntityId> {
        let envelope = AABB::from_corners(low.to_array(), high.to_array());
        sorted(self.tree.locate_in_envelope_intersecting(envelope).map(|entry| entry.id))
    }

    /// Entities whose box touches a ball, in creation order.
    pub(crate) fn in_sphere(&self, center: Vec3, radius: f32) -> Vec<EntityId> {
        let half = Vec3::splat(radius);
        let envelope = AABB::from_corners((center - half).to_array(), (center + half).to_array());
        let touching = self.tree.locate_in_envelope_intersecting(envelope);
        sorted(
            touching
                .filter(|entry| entry.envelope().distance_2(&center.to_array()) <= radius * radius)
                .map(|entry| entry.id),
        )
    }

    /// Entities whose box a ray meets, nearest first, with the distance; ties in creation order.
    pub(crate) fn along_ray(&self, origin: Vec3, direction: Vec3, distance_max: f32) -> Vec<(EntityId, f32)> {
        let ray = Ray { origin, inverse: direction.normalize_or_zero().recip(), distance_max };
        let met = self.tree.locate_with_selection_function(RayCandidates(ray));
        let mut met: Vec<_> =
            met.filter_map(|entry| Some((entry.id, ray.meets(entry.low, entry.high)?))).collect();
        met.sort_by(|(id_a, a), (id_b, b)| a.total_cmp(b).then(id_a.cmp(id_b)));
        met
    }
}

/// The box around an entity: its collider's, else its mesh's, else its place. What is no longer a number is nowhere,
/// and a tree could not sort it.
fn entry(components: &Components, id: EntityId) -> Option<Entry> {
    let collider = components.collider.get(id).map(|collider| (collider.offset, collider.shape.bounds()));
    let bounds = collider.or_else(|| {
        let mesh = components.mesh.get(id)?;
        let Surface::Shape(shape) = &mesh.surface else { return None };
        Some((mesh.offset, shape.bounds()))
    });
    let world = world_pose(components, id);
    let (low, high) = bounds.map_or((world.position, world.position), |(offset, (low, high))| {
        let pose = world * offset;
        around_points(corners(low, high).map(|corner| pose.transform_point(corner)))
    });
    (low.is_finite() && high.is_finite()).then(|| Entry { id, low: low.to_array(), high: high.to_array() })
}

fn sorted(ids: impl Iterator<Item = EntityId>) -> Vec<EntityId> {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids
}

#[derive(Debug, Clone, Copy)]
struct Ray {
    origin: Vec3,
    inverse: Vec3,
    distance_max: f32,
}

impl Ray {
    /// Where the ray enters a box, if it does.
    fn meets(&self, low: [f32; 3], high: [f32; 3]) -> Option<f32> {
        let (mut enter, mut leave) = (0.0_f32, self.distance_max);
        for axis in 0..3 {
            let (origin, inverse) = (self.origin[axis], self.inverse[axis]);
            if inverse.is_infinite() {
                // It runs beside this axis: inside the slab everywhere or nowhere.
                if origin < low[axis] || origin > high[axis] {
                    return None;
                }
                continue;
            }
            let (a, b) = ((low[axis] - origin) * inverse, (high[axis] - origin) * inverse);
            (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
        }
        (enter <= leave).then_some(enter)
    }
}

struct RayCandidates(Ray);

impl SelectionFunction<Entry> for RayCandidates {
    fn should_unpack_parent(&self, envelope: &AABB<[f32; 3]>) -> bool {
        self.0.meets(envelope.lower(), envelope.upper()).is_some()
    }

    fn should_unpack_leaf(&self, leaf: &Entry) -> bool {
        self.0.meets(leaf.low, leaf.high).is_some()
    }
}
