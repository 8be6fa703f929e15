//! What is drawn for an entity. It has no part in physics.

use std::path::PathBuf;

use glam::{Vec3, Vec4};
use serde::{Deserialize, Serialize};

use super::{Checked, Pose, Refusal, Shape, ensure, finite, positive};

/// What is drawn for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Its surface.
    pub surface: Surface,
    /// Where the surface is.
    #[serde(default)]
    pub offset: Pose,
    /// Linear red, green, blue and opacity.
    #[serde(default = "Mesh::default_colour")]
    pub colour: Vec4,
    /// 0 for paint and plastic, 1 for bare metal.
    #[serde(default)]
    pub metallic: f32,
    /// 0 for a mirror, 1 for chalk.
    #[serde(default = "Mesh::default_roughness")]
    pub roughness: f32,
}

/// Where a surface comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Surface {
    /// That of the entity's own collider.
    Collider,
    /// That of a shape.
    Shape(Shape),
    /// A glTF, OBJ or STL file, looked for from the scene's folder.
    File {
        /// Which one.
        path: PathBuf,
        /// What its size is multiplied with, along each axis.
        #[serde(default = "Surface::default_scale")]
        scale: Vec3,
    },
}

impl Mesh {
    /// A surface of this colour, with the usual finish.
    pub fn new(surface: Surface, colour: Vec4) -> Self {
        let (metallic, roughness) = (0.0, Self::default_roughness());
        Self { surface, offset: Pose::IDENTITY, colour, metallic, roughness }
    }

    fn default_colour() -> Vec4 {
        Vec4::new(0.6, 0.6, 0.62, 1.0)
    }

    const fn default_roughness() -> f32 {
        0.6
    }
}

impl Surface {
    const fn default_scale() -> Vec3 {
        Vec3::ONE
    }
}

impl Checked for Mesh {
    fn check(&self) -> Result<(), Refusal> {
        match &self.surface {
            Surface::Collider => {}
            Surface::Shape(shape) => shape.check()?,
            Surface::File { path, scale } => {
                ensure(!path.as_os_str().is_empty(), || "a mesh file needs a path".to_owned())?;
                scale.to_array().into_iter().try_for_each(|scale| positive("a mesh's scale", scale))?;
            }
        }
        self.offset.check()?;
        finite("a colour", self.colour.to_array())?;
        let finish = [self.metallic, self.roughness];
        ensure(finish.iter().all(|part| (0.0..=1.0).contains(part)), || {
            format!("metallic and roughness are from 0 to 1, not {} and {}", self.metallic, self.roughness)
        })
    }
}
