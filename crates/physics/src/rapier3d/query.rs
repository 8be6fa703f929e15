//! Questions to the solver: rays and shapes through what it has, as of its last step.

use downbeat_world::{EntityId, Pose, Shape};
use glam::Vec3;
use rapier3d::parry::query::ShapeCastOptions;
use rapier3d::prelude::{ColliderHandle, QueryFilter, Ray};

use super::{Rapier3d, convert};

/// Where a ray or a moving shape meets something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// Whom it meets.
    pub entity: EntityId,
    /// How far along, in metres.
    pub distance: f32,
    /// Which way the surface looks there.
    pub normal: Vec3,
}

impl Rapier3d {
    /// The first thing along a ray, sensors aside.
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, distance_max: f32) -> Option<RayHit> {
        let ray = Ray::new(origin, direction.try_normalize()?);
        let filter = QueryFilter::default().exclude_sensors();
        let (handle, hit) = self.state.physics.cast_ray_and_get_normal(&ray, distance_max, true, filter)?;
        Some(RayHit { entity: self.entity_of(handle)?, distance: hit.time_of_impact, normal: hit.normal })
    }

    /// The first thing that a shape meets when it moves straight, sensors aside.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        from: Pose,
        direction: Vec3,
        distance_max: f32,
    ) -> Option<RayHit> {
        let direction = direction.try_normalize()?;
        let (pose, shape) = convert::shape(shape).ok()?;
        let options = ShapeCastOptions { max_time_of_impact: distance_max, ..Default::default() };
        let filter = QueryFilter::default().exclude_sensors();
        let start = convert::pose_in(from * pose);
        let (handle, hit) = self.state.physics.cast_shape(&start, direction, &*shape, options, filter)?;
        Some(RayHit { entity: self.entity_of(handle)?, distance: hit.time_of_impact, normal: hit.normal2 })
    }

    fn entity_of(&self, handle: ColliderHandle) -> Option<EntityId> {
        let collider = self.state.physics.colliders.get(handle)?;
        u64::try_from(collider.user_data).ok().map(EntityId::new)
    }
}
