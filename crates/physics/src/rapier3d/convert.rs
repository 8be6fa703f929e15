//! The world's shapes and poses as the solver has them.

use downbeat_world::{Body, BodyKind, Collider, Pose, Shape, Velocity};
use glam::{Quat, Vec3};
use rapier3d::parry::shape::ConvexPolyhedron;
use rapier3d::parry::utils::Array2;
use rapier3d::prelude::{
    ActiveCollisionTypes, ActiveEvents, ColliderBuilder, Group, InteractionGroups, InteractionTestMode,
    MassProperties, Pose as SolverPose, Real, RigidBody, RigidBodyBuilder, RigidBodyType, RigidBodyVelocity,
    SharedShape,
};

/// The solver's cylinders stand along y, ours along z.
const Z_FROM_Y: Quat =
    Quat::from_xyzw(std::f32::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2);

pub(crate) fn pose_in(pose: Pose) -> SolverPose {
    SolverPose::from_parts(pose.position, pose.rotation)
}

/// A pose of the solver. In three dimensions nothing is left of what was there before.
pub(super) fn pose_out(pose: &SolverPose, _before: Pose) -> Pose {
    Pose { position: pose.translation, rotation: pose.rotation }
}

pub(super) fn vector_in(vector: Vec3) -> Vec3 {
    vector
}

pub(super) fn vector_out(vector: Vec3) -> Vec3 {
    vector
}

/// A speed of turning, or a torque.
pub(super) fn turn_in(turn: Vec3) -> Vec3 {
    turn
}

pub(super) fn velocity_in(velocity: &Velocity) -> RigidBodyVelocity<Real> {
    RigidBodyVelocity { linvel: velocity.linear, angvel: velocity.angular }
}

pub(super) fn velocity_out(body: &RigidBody) -> Velocity {
    Velocity { linear: body.linvel(), angular: body.angvel() }
}

/// A velocity as the coordinates of a free root.
pub(super) fn coordinates(velocity: &Velocity) -> impl Iterator<Item = Real> {
    velocity.linear.to_array().into_iter().chain(velocity.angular.to_array())
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

pub(super) fn mass(mass: &downbeat_world::MassProperties) -> MassProperties {
    MassProperties::with_principal_inertia_frame(mass.center, mass.mass, mass.inertia, mass.axes)
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

/// A shape, and where the solver has it: its cylinders, cones and heights stand along y.
pub(crate) fn shape(shape: &Shape) -> Result<(Pose, SharedShape), String> {
    let upright = Pose::turned(Z_FROM_Y);
    let as_it_is = Pose::IDENTITY;
    Ok(match shape {
        Shape::Box { half } => (as_it_is, SharedShape::cuboid(half.x, half.y, half.z)),
        Shape::Sphere { radius } => (as_it_is, SharedShape::ball(*radius)),
        Shape::Capsule { half_length, radius } => (as_it_is, SharedShape::capsule_z(*half_length, *radius)),
        Shape::Cylinder { half_length, radius } => (upright, SharedShape::cylinder(*half_length, *radius)),
        Shape::Cone { half_length, radius } => (upright, SharedShape::cone(*half_length, *radius)),
        Shape::HalfSpace => (as_it_is, SharedShape::halfspace(Vec3::Z)),
        Shape::Hull { points } => {
            let hull = SharedShape::convex_hull(points);
            (as_it_is, hull.ok_or("its points do not make a hull; are they all in one plane?")?)
        }
        Shape::Triangles { vertices, indices } => {
            let mesh = SharedShape::trimesh(vertices.clone(), indices.clone());
            (as_it_is, mesh.map_err(|error| error.to_string())?)
        }
        Shape::Heights { columns, heights, size } => (upright, height_field(*columns, heights, *size)),
        Shape::Compound { parts } => {
            let parts = parts.iter().map(|part| {
                let (part_from_shape, shape) = self::shape(&part.shape)?;
                Ok((pose_in(part.pose * part_from_shape), shape))
            });
            (as_it_is, SharedShape::compound(parts.collect::<Result<_, String>>()?))
        }
    })
}

/// The solver's heights stand along y over x and z, with rows along z: turned so that y becomes our z, its z becomes
/// our −y, and our rows are read backwards.
fn height_field(columns: usize, heights: &[f32], size: Vec3) -> SharedShape {
    let rows = heights.len() / columns;
    let grid = Array2::from_fn(rows, columns, |row, column| heights[(rows - 1 - row) * columns + column]);
    SharedShape::heightfield(grid, Vec3::new(size.x, size.z, size.y))
}

/// The surface of the smallest convex shape around some points, as corners and triangles, to draw what the solver
/// collides with; `None` when the solver would refuse them.
pub fn hull_triangles(points: &[Vec3]) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    ConvexPolyhedron::from_convex_hull(points).map(|hull| hull.to_trimesh())
}
