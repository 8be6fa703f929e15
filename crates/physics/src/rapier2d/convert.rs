//! The world's shapes and poses as the solver has them: seen along z.

use downbeat_world::{Body, BodyKind, Collider, Pose, Shape, Velocity};
use glam::{Quat, Vec2, Vec3};
use rapier2d::prelude::{
    ActiveCollisionTypes, ActiveEvents, ColliderBuilder, Group, InteractionGroups, InteractionTestMode,
    MassProperties, Pose as SolverPose, Real, RigidBody, RigidBodyBuilder, RigidBodyType, RigidBodyVelocity,
    Rotation, SharedShape,
};

/// A pose, of which only the turn about z is left.
pub(super) fn pose_in(pose: Pose) -> SolverPose {
    SolverPose::from_parts(vector_in(pose.position), rotation_in(pose.rotation))
}

/// A pose of the solver, as high above the plane as the one before.
pub(super) fn pose_out(pose: &SolverPose, before: Pose) -> Pose {
    Pose { position: pose.translation.extend(before.position.z), rotation: rotation_out(pose.rotation) }
}

pub(super) fn vector_in(vector: Vec3) -> Vec2 {
    vector.truncate()
}

pub(super) fn vector_out(vector: Vec2) -> Vec3 {
    vector.extend(0.0)
}

/// A speed of turning, or a torque.
pub(super) fn turn_in(turn: Vec3) -> Real {
    turn.z
}

pub(super) fn velocity_in(velocity: &Velocity) -> RigidBodyVelocity<Real> {
    RigidBodyVelocity { linvel: vector_in(velocity.linear), angvel: velocity.angular.z }
}

pub(super) fn velocity_out(body: &RigidBody) -> Velocity {
    Velocity { linear: vector_out(body.linvel()), angular: Vec3::Z * body.angvel() }
}

/// A velocity as the coordinates of a free root.
pub(super) fn coordinates(velocity: &Velocity) -> impl Iterator<Item = Real> {
    [velocity.linear.x, velocity.linear.y, velocity.angular.z].into_iter()
}

/// The turn about z: the one that is left when all tilting is taken away.
pub(super) fn rotation_in(rotation: Quat) -> Rotation {
    let (w, z) = (rotation.w, rotation.z);
    let square = w * w + z * z;
    if square < 1e-12 {
        return Rotation::IDENTITY;
    }
    Rotation::from_cos_sin_unchecked((w * w - z * z) / square, 2.0 * w * z / square)
}

/// Half the angle by square roots, from whichever side loses nothing.
fn rotation_out(rotation: Rotation) -> Quat {
    let (cos, sin) = (rotation.re, rotation.im);
    let (w, z) = if cos >= 0.0 {
        let w = ((1.0 + cos) / 2.0).sqrt();
        (w, sin / (2.0 * w))
    } else {
        let z = ((1.0 - cos) / 2.0).sqrt().copysign(sin);
        (sin / (2.0 * z), z)
    };
    Quat::from_xyzw(0.0, 0.0, z, w)
}

pub(super) fn body_kind(kind: BodyKind) -> RigidBodyType {
    match kind {
        BodyKind::Dynamic => RigidBodyType::Dynamic,
        BodyKind::Fixed => RigidBodyType::Fixed,
        BodyKind::Kinematic => RigidBodyType::KinematicVelocityBased,
    }
}

pub(super) fn body(body: &Body, world_from_body: Pose) -> RigidBodyBuilder {
    let builder = RigidBodyBuilder::new(body_kind(body.kind))
        .pose(pose_in(world_from_body))
        .gravity_scale(body.gravity_scale)
        .linear_damping(body.linear_damping)
        .angular_damping(body.angular_damping)
        .ccd_enabled(body.continuous)
        .can_sleep(body.can_sleep);
    match body.mass {
        Some(mass) => builder.additional_mass_properties(self::mass(&mass)),
        None => builder,
    }
}

/// A mass with its inertia about z.
pub(super) fn mass(mass: &downbeat_world::MassProperties) -> MassProperties {
    let along_z = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| (mass.axes * axis).z);
    let inertia = mass.inertia.dot(Vec3::from_array(along_z.map(|part| part * part)));
    MassProperties::new(vector_in(mass.center), mass.mass, inertia)
}

/// A collider; one of a body with a mass of its own weighs nothing.
pub(super) fn collider(
    collider: &Collider,
    body_from_collider: Pose,
    weighs: bool,
) -> Result<ColliderBuilder, String> {
    let (collider_from_shape, shape) = shape(&collider.shape)?;
    let groups = InteractionGroups::new(
        Group::from_bits_retain(collider.groups.memberships),
        Group::from_bits_retain(collider.groups.filter),
        InteractionTestMode::And,
    );
    let events = if collider.events { ActiveEvents::COLLISION_EVENTS } else { ActiveEvents::empty() };
    // Sensors notice everything that moves, also when they stand still themselves.
    let types = if collider.sensor { ActiveCollisionTypes::all() } else { ActiveCollisionTypes::default() };
    Ok(ColliderBuilder::new(shape)
        .position(pose_in(body_from_collider * collider.offset * collider_from_shape))
        .friction(collider.friction)
        .restitution(collider.restitution)
        .density(if weighs { collider.density } else { 0.0 })
        .sensor(collider.sensor)
        .collision_groups(groups)
        .active_events(events)
        .active_collision_types(types))
}

/// A shape, and where the solver has it, which in a plane is where it is.
pub(super) fn shape(shape: &Shape) -> Result<(Pose, SharedShape), String> {
    let shape = match shape {
        Shape::Box { half } => SharedShape::cuboid(half.x, half.y),
        Shape::Sphere { radius } => SharedShape::ball(*radius),
        Shape::Capsule { half_length, radius } => SharedShape::capsule_y(*half_length, *radius),
        Shape::HalfSpace => SharedShape::halfspace(Vec2::Y),
        Shape::Hull { points } => {
            let points: Vec<_> = points.iter().copied().map(vector_in).collect();
            SharedShape::convex_hull(&points)
                .ok_or("its points do not make a hull; are they all on one line?")?
        }
        Shape::Heights { columns, heights, size } => {
            SharedShape::heightfield(heights[..*columns].to_vec(), Vec2::new(size.x, size.z))
        }
        Shape::Compound { parts } => {
            let parts = parts.iter().map(|part| {
                let (part_from_shape, shape) = self::shape(&part.shape)?;
                Ok((pose_in(part.pose * part_from_shape), shape))
            });
            SharedShape::compound(parts.collect::<Result<_, String>>()?)
        }
        Shape::Cylinder { .. } | Shape::Cone { .. } | Shape::Triangles { .. } => {
            return Err(
                "cylinders, cones and triangles have no place in a plane; use a box or a hull".to_owned()
            );
        }
    };
    Ok((Pose::IDENTITY, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_goes_in_and_out() {
        for step in -62..=62 {
            let angle = step as f32 * 0.05 + 1e-5;
            let pose = Pose { position: Vec3::new(1.0, 2.0, 3.0), rotation: Quat::from_rotation_z(angle) };
            let there = pose_in(pose);
            assert!((there.rotation.angle() - angle).abs() < 1e-5, "{angle}");
            let back = pose_out(&there, pose);
            assert_eq!(back.position, pose.position);
            assert!(back.rotation.dot(pose.rotation).abs() > 1.0 - 1e-6, "{angle}: {}", back.rotation);
        }
        let tilted = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(0.4);
        assert!((rotation_in(tilted).angle() - 0.7).abs() < 1e-6, "tilting does not count");
    }
}
