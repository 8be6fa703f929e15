//! Shapes to collide with. Cylinders, capsules and cones stand along z; everything is centred on its origin.

mod part;

use glam::Vec3;
use serde::{Deserialize, Serialize};

pub use part::Part;

use super::{Checked as _, Refusal, ensure, finite, positive};

/// How many points, triangles or heights one shape may have.
const POINTS_MAX: usize = 1 << 20;
/// How many parts a compound may have.
const PARTS_MAX: usize = 4096;

/// A shape to collide with.
///
/// In a plane ([`crate::Space::Plane`]) a box is a rectangle, a sphere a disc, a capsule stands along y, a hull is
/// that of the points' x and y, a height field is a line of heights, and half-space means everything below y = 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A box.
    Box {
        /// Half its size along each axis.
        half: Vec3,
    },
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f32,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Half the distance between the centres of its ends.
        half_length: f32,
        /// Its radius.
        radius: f32,
    },
    /// A cylinder.
    Cylinder {
        /// Half its length.
        half_length: f32,
        /// Its radius.
        radius: f32,
    },
    /// A cone that points up.
    Cone {
        /// Half its height.
        half_length: f32,
        /// The radius of its base.
        radius: f32,
    },
    /// Everything below its own x-y plane. Only for bodies that do not move.
    HalfSpace,
    /// The smallest convex shape around some points.
    Hull {
        /// At least four of them, not all in a plane.
        points: Vec<Vec3>,
    },
    /// A surface of triangles, best for bodies that do not move.
    Triangles {
        /// Corners.
        vertices: Vec<Vec3>,
        /// Three corners for each triangle.
        indices: Vec<[u32; 3]>,
    },
    /// Heights over a grid in x and y, centred on its origin.
    Heights {
        /// How many heights there are along x.
        columns: usize,
        /// Row by row along y, each from low to high x.
        heights: Vec<f32>,
        /// Its size along x and y, and a factor for its heights.
        size: Vec3,
    },
    /// Several shapes as one.
    Compound {
        /// Each with its place.
        parts: Vec<Part>,
    },
}

impl Shape {
    /// Whether it could be simulated.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Box { half } => {
                half.to_array().into_iter().try_for_each(|half| positive("half of a box", half))
            }
            Self::Sphere { radius } => positive("a radius", *radius),
            Self::Capsule { half_length, radius }
            | Self::Cylinder { half_length, radius }
            | Self::Cone { half_length, radius } => {
                positive("a half length", *half_length)?;
                positive("a radius", *radius)
            }
            Self::HalfSpace => Ok(()),
            Self::Hull { points } => {
                count("points", points.len(), 3)?;
                finite("a point", points.iter().flat_map(Vec3::to_array))
            }
            Self::Triangles { vertices, indices } => check_triangles(vertices, indices),
            Self::Heights { columns, heights, size } => {
                count("heights", heights.len(), 2)?;
                let whole = *columns >= 2 && heights.len().is_multiple_of(*columns);
                ensure(whole, || {
                    format!("{} heights do not fill rows of {columns} columns, at least 2", heights.len())
                })?;
                finite("a height", heights.iter().copied())?;
                size.to_array().into_iter().try_for_each(|size| positive("the size of a height field", size))
            }
            Self::Compound { parts } => {
                ensure((1..=PARTS_MAX).contains(&parts.len()), || {
                    format!("a compound has 1 to {PARTS_MAX} parts, not {}", parts.len())
                })?;
                parts.iter().try_for_each(|part| {
                    let nested = matches!(part.shape, Self::Compound { .. });
                    ensure(!nested, || part::NESTED.to_owned())?;
                    part.pose.check()?;
                    part.shape.check()
                })
            }
        }
    }

    /// Its extent: the lowest and the highest corner of a box around it.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        match self {
            Self::Box { half } => (-*half, *half),
            Self::Sphere { radius } => (Vec3::splat(-radius), Vec3::splat(*radius)),
            Self::Capsule { half_length, radius } => around(*radius, half_length + radius),
            Self::Cylinder { half_length, radius } | Self::Cone { half_length, radius } => {
                around(*radius, *half_length)
            }
            Self::HalfSpace => (Vec3::new(-1e6, -1e6, -1e6), Vec3::new(1e6, 1e6, 0.0)),
            Self::Hull { points } | Self::Triangles { vertices: points, .. } => {
                around_points(points.iter().copied())
            }
            Self::Heights { heights, size, .. } => {
                let heights = heights.iter().map(|height| height * size.z);
                let (low, high) =
                    heights.fold((0.0_f32, 0.0_f32), |(low, high), z| (low.min(z), high.max(z)));
                (Vec3::new(-size.x / 2.0, -size.y / 2.0, low), Vec3::new(size.x / 2.0, size.y / 2.0, high))
            }
            Self::Compound { parts } => around_points(parts.iter().flat_map(|part| {
                let (low, high) = part.shape.bounds();
                corners(low, high).map(|corner| part.pose.transform_point(corner))
            })),
        }
    }
}

/// The eight corners of a box.
pub(crate) fn corners(low: Vec3, high: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|corner| {
        let pick = |bit: usize, low: f32, high: f32| if corner & bit == 0 { low } else { high };
        Vec3::new(pick(1, low.x, high.x), pick(2, low.y, high.y), pick(4, low.z, high.z))
    })
}

/// The box around some points.
pub(crate) fn around_points(points: impl IntoIterator<Item = Vec3>) -> (Vec3, Vec3) {
    let mut points = points.into_iter();
    let first = points.next().unwrap_or_default();
    points.fold((first, first), |(low, high), point| (low.min(point), high.max(point)))
}

fn around(radius: f32, half_height: f32) -> (Vec3, Vec3) {
    let high = Vec3::new(radius, radius, half_height);
    (-high, high)
}

fn check_triangles(vertices: &[Vec3], indices: &[[u32; 3]]) -> Result<(), Refusal> {
    count("vertices", vertices.len(), 3)?;
    count("triangles", indices.len(), 1)?;
    finite("a vertex", vertices.iter().flat_map(Vec3::to_array))?;
    let beyond = indices.iter().flatten().find(|index| **index as usize >= vertices.len());
    ensure(beyond.is_none(), || {
        format!(
            "a triangle names vertex {}, but there are {}",
            beyond.copied().unwrap_or_default(),
            vertices.len()
        )
    })
}

fn count(what: &str, count: usize, least: usize) -> Result<(), Refusal> {
    ensure((least..=POINTS_MAX).contains(&count), || {
        format!("a shape has {least} to {POINTS_MAX} {what}, not {count}")
    })
}
