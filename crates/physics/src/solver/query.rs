//! Questions to the solver: rays and shapes through what it has, as of its last step. Shared by both solvers.

use downbeat_world::{EntityId, Pose, Shape};
use glam::Vec3;

use super::rapier::parry::query::ShapeCastOptions;
use super::rapier::prelude::{ColliderHandle, QueryFilter, Ray};
use super::{Solver, convert};
use crate::RayHit;

impl Solver {
    /// The first thing along a ray, sensors aside.
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, distance_max: f32) -> Option<RayHit> {
        let ray = Ray::new(convert::vector_in(origin), convert::vector_in(direction).try_normalize()?);
        let filter = QueryFilter::default().exclude_sensors();
        let (handle, hit) = self.state.physics.cast_ray_and_get_normal(&ray, distance_max, true, filter)?;
        Some(RayHit {
            entity: self.entity_of(handle)?,
            distance: hit.time_of_impact,
            normal: convert::vector_out(hit.normal),
        })
    }

    /// The first thing that a shape meets when it moves straight, sensors aside.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        from: Pose,
        direction: Vec3,
        distance_max: f32,
    ) -> Option<RayHit> {
        let direction = convert::vector_in(direction).try_normalize()?;
        let (pose, shape) = convert::shape(shape).ok()?;
        let options = ShapeCastOptions { max_time_of_impact: distance_max, ..Default::default() };
        let filter = QueryFilter::default().exclude_sensors();
        let start = convert::pose_in(from * pose);
        let (handle, hit) = self.state.physics.cast_shape(&start, direction, &*shape, options, filter)?;
        Some(RayHit {
            entity: self.entity_of(handle)?,
            distance: hit.time_of_impact,
            normal: convert::vector_out(hit.normal2),
        })
    }

    /// Whether a body has fallen asleep; `None` when the solver has no such body.
    pub fn is_asleep(&self, entity: EntityId) -> Option<bool> {
        let body = self.state.physics.bodies.get(self.state.structure.body(entity)?)?;
        Some(body.is_sleeping())
    }

    fn entity_of(&self, handle: ColliderHandle) -> Option<EntityId> {
        let collider = self.state.physics.colliders.get(handle)?;
        u64::try_from(collider.user_data).ok().map(EntityId::new)
    }
}
