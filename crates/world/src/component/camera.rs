//! What can be seen from an entity, and how it shines. What is drawn, and how, is not known here.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{Checked, Refusal, ensure, finite, not_negative, positive};

/// The widest and highest picture.
const PIXELS_MAX: u32 = 8192;

/// What can be seen from it: along its z axis, with x to the right and y down.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Pixels to the right.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// How directions become pixels.
    pub lens: Lens,
    /// Nothing nearer than this is seen, in metres.
    #[serde(default = "Camera::default_near")]
    pub near: f32,
    /// Nothing farther than this is seen, in metres.
    #[serde(default = "Camera::default_far")]
    pub far: f32,
    /// Which pictures it takes.
    #[serde(default)]
    pub outputs: Outputs,
}

/// How directions become pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Lens {
    /// As an eye sees.
    Perspective {
        /// The angle between top and bottom, in degrees.
        fov_deg: f32,
    },
    /// A measured camera.
    Pinhole {
        /// Focal length in pixels along x.
        fx: f32,
        /// Focal length in pixels along y.
        fy: f32,
        /// The pixel column that the optical axis meets.
        cx: f32,
        /// The pixel row that the optical axis meets.
        cy: f32,
    },
    /// As a plan is drawn.
    Orthographic {
        /// Metres from top to bottom.
        height: f32,
    },
}

/// Which pictures a camera takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outputs {
    /// Colours.
    pub colour: bool,
    /// Distances along the axis, in metres.
    pub depth: bool,
    /// Which entity each pixel shows.
    pub entities: bool,
    /// Which way each surface looks.
    pub normals: bool,
}

/// How it shines. A sun shines along its own z axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Light {
    /// Linear red, green and blue.
    pub colour: Vec3,
    /// How bright it is; 1 is daylight.
    pub strength: f32,
    /// Whether it casts shadows.
    #[serde(default)]
    pub shadows: bool,
}

impl Camera {
    const fn default_near() -> f32 {
        0.01
    }

    const fn default_far() -> f32 {
        100.0
    }
}

impl Default for Outputs {
    fn default() -> Self {
        Self { colour: true, depth: false, entities: false, normals: false }
    }
}

impl Checked for Camera {
    fn check(&self) -> Result<(), Refusal> {
        let (width, height) = (self.width, self.height);
        ensure((1..=PIXELS_MAX).contains(&width) && (1..=PIXELS_MAX).contains(&height), || {
            format!("a picture has 1 to {PIXELS_MAX} pixels along each side, not {width} by {height}")
        })?;
        positive("the nearest distance", self.near)?;
        ensure(self.far.is_finite() && self.far > self.near, || {
            format!(
                "the farthest distance must be beyond the nearest, {} is not beyond {}",
                self.far, self.near
            )
        })?;
        match self.lens {
            Lens::Perspective { fov_deg } => ensure(fov_deg > 0.0 && fov_deg < 180.0, || {
                format!("a field of view is between 0 and 180 degrees, not {fov_deg}")
            }),
            Lens::Pinhole { fx, fy, cx, cy } => {
                positive("a focal length", fx)?;
                positive("a focal length", fy)?;
                finite("an optical axis", [cx, cy])
            }
            Lens::Orthographic { height } => positive("the height of a view", height),
        }
    }
}

impl Checked for Light {
    fn check(&self) -> Result<(), Refusal> {
        finite("a colour", self.colour.to_array())?;
        not_negative("a light's strength", self.strength)
    }
}
