//! Parts of compounds. A part is no compound again, and reading one ends there: shapes inside shapes without end would
//! overflow the stack of whoever reads them, before anybody could check them.

use glam::Vec3;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Shape;
use crate::component::Pose;

/// Why a compound in a compound is refused, wherever it comes from.
pub(super) const NESTED: &str = "a part of a compound may not be a compound; list its parts";

/// A part of a compound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Where it is in the compound.
    #[serde(default)]
    pub pose: Pose,
    /// What it is; not a compound again.
    #[serde(deserialize_with = "Plain::deserialize")]
    pub shape: Shape,
}

/// [`Shape`] as a part may have it. The compiler holds the two together; what is read and written is the same.
#[derive(Deserialize)]
#[serde(remote = "Shape", rename_all = "snake_case", deny_unknown_fields)]
enum Plain {
    Box {
        half: Vec3,
    },
    Sphere {
        radius: f32,
    },
    Capsule {
        half_length: f32,
        radius: f32,
    },
    Cylinder {
        half_length: f32,
        radius: f32,
    },
    Cone {
        half_length: f32,
        radius: f32,
    },
    HalfSpace,
    Hull {
        points: Vec<Vec3>,
    },
    Triangles {
        vertices: Vec<Vec3>,
        indices: Vec<[u32; 3]>,
    },
    Heights {
        columns: usize,
        heights: Vec<f32>,
        size: Vec3,
    },
    Compound {
        #[serde(deserialize_with = "refused")]
        parts: Vec<Part>,
    },
}

fn refused<'de, D: Deserializer<'de>>(_: D) -> Result<Vec<Part>, D::Error> {
    Err(D::Error::custom(NESTED))
}
