//! Shapes as the primitives that Foxglove draws.

use downbeat_physics::hull_triangles;
use downbeat_world::{Pose, Shape, Space};
use foxglove::messages::{
    Color, CubePrimitive, CylinderPrimitive, SceneEntity, SpherePrimitive, TriangleListPrimitive,
};
use glam::{Quat, Vec3};

use super::geometry;

/// How far a half-space is shown from its origin, in metres.
const HALF_SPACE_REACH: f32 = 10.0;
/// How thick a disc or a hull in a plane is shown, in metres.
const PLANE_THICKNESS: f32 = 0.02;
/// In a plane, what stands along z in space stands along y.
const Y_FROM_Z: Quat =
    Quat::from_xyzw(-std::f32::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2);

/// How a shape is drawn.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) frame_from_shape: Pose,
    pub(super) colour: Color,
    pub(super) space: Space,
}

/// Adds a shape to what is seen of an entity.
pub(super) fn draw(entity: &mut SceneEntity, shape: &Shape, look: &Look) {
    let upright = match look.space {
        Space::Solid => look.frame_from_shape,
        Space::Plane => look.frame_from_shape * Pose::turned(Y_FROM_Z),
    };
    let color = Some(look.colour);
    match shape {
        Shape::Box { half } => entity.cubes.push(cube(look.frame_from_shape, *half, look.colour)),
        Shape::Sphere { radius } if look.space == Space::Plane => {
            entity.cylinders.push(cylinder(look, look.frame_from_shape, *radius, PLANE_THICKNESS));
        }
        Shape::Sphere { radius } => entity.spheres.push(sphere(look.frame_from_shape, *radius, look.colour)),
        Shape::Capsule { half_length, radius } => {
            entity.cylinders.push(cylinder(look, upright, *radius, 2.0 * half_length));
            for end in [*half_length, -half_length] {
                let pose = upright * Pose::at(Vec3::new(0.0, 0.0, end));
                entity.spheres.push(sphere(pose, *radius, look.colour));
            }
        }
        Shape::Cylinder { half_length, radius } => {
            entity.cylinders.push(cylinder(look, upright, *radius, 2.0 * half_length));
        }
        Shape::Cone { half_length, radius } => {
            let whole = cylinder(look, upright, *radius, 2.0 * half_length);
            entity.cylinders.push(CylinderPrimitive { top_scale: 0.0, ..whole });
        }
        Shape::HalfSpace => {
            let far = HALF_SPACE_REACH;
            let corners = [(-far, -far), (far, -far), (far, far), (-far, far)];
            let points = corners.map(|(x, y)| Vec3::new(x, y, 0.0));
            entity.triangles.push(triangles(upright, &points, &[[0, 1, 2], [0, 2, 3]], color));
        }
        Shape::Hull { points } => draw_hull(entity, points, look),
        Shape::Triangles { vertices, indices } => {
            entity.triangles.push(triangles(look.frame_from_shape, vertices, indices, color));
        }
        Shape::Heights { columns, heights, size } => {
            let (points, indices) = height_field(*columns, heights, *size);
            entity.triangles.push(triangles(upright, &points, &indices, color));
        }
        Shape::Compound { parts } => {
            for part in parts {
                let look = Look { frame_from_shape: look.frame_from_shape * part.pose, ..*look };
                draw(entity, &part.shape, &look);
            }
        }
    }
}

/// The hull of points; when they make none, the box around them.
fn draw_hull(entity: &mut SceneEntity, points: &[Vec3], look: &Look) {
    let half = Vec3::new(0.0, 0.0, PLANE_THICKNESS / 2.0);
    let hull = match look.space {
        Space::Solid => hull_triangles(points),
        Space::Plane => {
            let flat = points.iter().map(|point| Vec3::new(point.x, point.y, 0.0));
            hull_triangles(&flat.flat_map(|point| [point - half, point + half]).collect::<Vec<_>>())
        }
    };
    if let Some((points, indices)) = hull {
        entity.triangles.push(triangles(look.frame_from_shape, &points, &indices, Some(look.colour)));
        return;
    }
    let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let pose = look.frame_from_shape * Pose::at((low + high) / 2.0);
    entity.cubes.push(cube(pose, (high - low) / 2.0, look.colour));
}

fn cube(pose: Pose, half: Vec3, colour: Color) -> CubePrimitive {
    CubePrimitive {
        pose: Some(geometry::pose(pose)),
        size: Some(geometry::vector(2.0 * half)),
        color: Some(colour),
    }
}

fn sphere(pose: Pose, radius: f32, colour: Color) -> SpherePrimitive {
    SpherePrimitive {
        pose: Some(geometry::pose(pose)),
        size: Some(geometry::vector(Vec3::splat(2.0 * radius))),
        color: Some(colour),
    }
}

fn cylinder(look: &Look, pose: Pose, radius: f32, length: f32) -> CylinderPrimitive {
    CylinderPrimitive {
        pose: Some(geometry::pose(pose)),
        size: Some(geometry::vector(Vec3::new(2.0 * radius, 2.0 * radius, length))),
        bottom_scale: 1.0,
        top_scale: 1.0,
        color: Some(look.colour),
    }
}

fn triangles(
    pose: Pose,
    points: &[Vec3],
    indices: &[[u32; 3]],
    color: Option<Color>,
) -> TriangleListPrimitive {
    TriangleListPrimitive {
        pose: Some(geometry::pose(pose)),
        points: points.iter().copied().map(geometry::point).collect(),
        color,
        colors: Vec::new(),
        indices: indices.as_flattened().to_vec(),
    }
}

/// Two triangles between every four neighbours. A single row, as it is in a plane, becomes a ribbon.
fn height_field(columns: usize, heights: &[f32], size: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let heights = if heights.len() <= columns { [heights, heights].concat() } else { heights.to_vec() };
    let rows = heights.len() / columns.max(1);
    let along = |at: usize, count: usize, size: f32| (at as f32 / (count.max(2) - 1) as f32 - 0.5) * size;
    let point = |(at, height): (usize, &f32)| {
        let (row, column) = (at / columns.max(1), at % columns.max(1));
        Vec3::new(along(column, columns, size.x), along(row, rows, size.y), height * size.z)
    };
    let points = heights.iter().enumerate().map(point).collect();
    let mut indices = Vec::new();
    for row in 1..rows {
        for column in 1..columns {
            // A shape has at most 2²⁰ heights.
            let corner = |row: usize, column: usize| (row * columns + column) as u32;
            let (low, right) = (corner(row - 1, column - 1), corner(row - 1, column));
            let (up, high) = (corner(row, column - 1), corner(row, column));
            indices.extend([[low, right, high], [low, high, up]]);
        }
    }
    (points, indices)
}

#[cfg(test)]
mod tests {
    use downbeat_world::{Part, Pose, Shape, Space};
    use foxglove::messages::{Color, SceneEntity};
    use glam::{Vec3, Vec4};

    use super::super::geometry;
    use super::{Look, draw};

    fn drawn(shape: &Shape, space: Space) -> SceneEntity {
        let mut entity = SceneEntity::default();
        let colour: Color = geometry::colour(Vec4::ONE);
        draw(&mut entity, shape, &Look { frame_from_shape: Pose::at(Vec3::X), colour, space });
        entity
    }

    #[test]
    fn a_capsule_is_a_cylinder_between_two_spheres() {
        let capsule = Shape::Capsule { half_length: 0.5, radius: 0.1 };
        let entity = drawn(&capsule, Space::Solid);
        assert_eq!((entity.cylinders.len(), entity.spheres.len()), (1, 2));
        let top = entity.spheres[0].pose.unwrap().position.unwrap();
        assert_eq!(top, geometry::vector(Vec3::new(1.0, 0.0, 0.5)));
        let top = drawn(&capsule, Space::Plane).spheres[0].pose.unwrap().position.unwrap();
        assert!((top.y - 0.5).abs() < 1e-6 && top.z.abs() < 1e-6, "it stands along y in a plane: {top:?}");
    }

    #[test]
    fn a_hull_is_closed_and_points_inside_are_not_part_of_it() {
        let corner = |at: usize| Vec3::new((at & 1) as f32, (at >> 1 & 1) as f32, (at >> 2) as f32);
        let mut points: Vec<_> = (0..8).map(corner).collect();
        points.push(Vec3::splat(0.5));
        let entity = drawn(&Shape::Hull { points }, Space::Solid);
        assert_eq!((entity.triangles[0].points.len(), entity.triangles[0].indices.len()), (8, 12 * 3));
        let line = Shape::Hull { points: [0.0, 1.0, 2.0].map(Vec3::splat).to_vec() };
        assert_eq!(drawn(&line, Space::Solid).cubes.len(), 1, "what makes no hull is shown as a box");
    }

    #[test]
    fn heights_fill_their_grid_and_a_compound_its_parts() {
        let heights = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let field = Shape::Heights { columns: 3, heights, size: Vec3::new(2.0, 4.0, 0.5) };
        let part = |shape| Part { pose: Pose::at(Vec3::Z), shape };
        let parts = vec![part(field), part(Shape::Cone { half_length: 1.0, radius: 1.0 })];
        let entity = drawn(&Shape::Compound { parts }, Space::Solid);
        let mesh = &entity.triangles[0];
        assert_eq!(mesh.indices.len(), 2 * 2 * 3);
        let corners = [Vec3::new(-1.0, -2.0, 0.0), Vec3::new(1.0, 2.0, 2.5)];
        assert_eq!([mesh.points[0], mesh.points[5]], corners.map(geometry::point));
        assert_eq!(mesh.pose, Some(geometry::pose(Pose::at(Vec3::X + Vec3::Z))));
        assert!(entity.cylinders[0].top_scale < entity.cylinders[0].bottom_scale, "a cone points up");
    }
}
