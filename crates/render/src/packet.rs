//! What a frame shows, as plain data: the only thing that reaches the renderer from outside.
//!
//! Whoever extracts a packet has already chosen where between two steps the picture is: poses are interpolated with
//! [`Pose::between`] on extraction. Nothing here knows a world.

use std::sync::Arc;

use glam::{Mat4, Quat, Vec2, Vec3};

use crate::label::Label;

/// A position and a rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Metres.
    pub translation: Vec3,
    /// A unit quaternion.
    pub rotation: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY }
    }
}

impl Pose {
    /// A pose without rotation.
    pub fn at(translation: Vec3) -> Self {
        Self { translation, ..Self::default() }
    }

    /// The pose at `alpha` from the one before (0) to the current one (1), the short way round.
    pub fn between(before: &Self, current: &Self, alpha: f32) -> Self {
        // Blended and normalised: for the small turn of one step as good as a slerp, and a third of its cost.
        let sign = if before.rotation.dot(current.rotation) < 0.0 { -1.0 } else { 1.0 };
        let rotation = before.rotation * (1.0 - alpha) + current.rotation * (alpha * sign);
        Self {
            translation: before.translation.lerp(current.translation, alpha),
            rotation: rotation.normalize(),
        }
    }

    /// The pose as a matrix.
    pub fn matrix(&self) -> Mat4 {
        Mat4::from_rotation_translation(self.rotation, self.translation)
    }
}

/// What an instance looks like from afar. Every shape is centred; long ones lie along their z axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A box.
    Box {
        /// Half its edges.
        half: Vec3,
    },
    /// A sphere.
    Sphere {
        /// Metres.
        radius: f32,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Metres.
        radius: f32,
        /// Half the length of the cylinder between the ends.
        half_length: f32,
    },
    /// A cylinder.
    Cylinder {
        /// Metres.
        radius: f32,
        /// Half its length.
        half_length: f32,
    },
    /// A flat rectangle that faces its z axis.
    Plane {
        /// Half its edges.
        half: Vec2,
    },
    /// A mesh that was added to the backend.
    Mesh {
        /// Which one.
        mesh: MeshId,
        /// By axis.
        scale: Vec3,
    },
}

/// Names a mesh that was added to a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeshId(pub(crate) u32);

/// How a surface reflects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Linear red, green and blue.
    pub base_colour: Vec3,
    /// 0 for plastic and paint, 1 for bare metal.
    pub metallic: f32,
    /// 0 is a mirror, 1 is chalk.
    pub roughness: f32,
}

impl Default for Material {
    fn default() -> Self {
        Self { base_colour: Vec3::splat(0.6), metallic: 0.0, roughness: 0.6 }
    }
}

/// One thing to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Where it is.
    pub world_from_object: Pose,
    /// What it looks like.
    pub shape: Shape,
    /// How it reflects.
    pub material: Material,
    /// What picking and segmentation call it; 0 is nothing.
    pub object: u32,
}

/// Light from far away, with the shadows it casts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// The way the light goes.
    pub direction: Vec3,
    /// Linear colour times strength.
    pub radiance: Vec3,
    /// Shadows are cast within this sphere.
    pub shadow_centre: Vec3,
    /// Its radius, in metres. Smaller is finer.
    pub shadow_radius: f32,
}

impl Default for Sun {
    fn default() -> Self {
        Self {
            direction: Vec3::new(0.45, 0.6, -1.0),
            radiance: Vec3::new(3.2, 3.0, 2.7),
            shadow_centre: Vec3::ZERO,
            shadow_radius: 12.0,
        }
    }
}

/// The light from all around, which is also the background.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sky {
    /// Straight up.
    pub zenith: Vec3,
    /// All around.
    pub horizon: Vec3,
    /// From below.
    pub ground: Vec3,
}

impl Default for Sky {
    fn default() -> Self {
        Self {
            zenith: Vec3::new(0.16, 0.28, 0.52),
            horizon: Vec3::new(0.66, 0.74, 0.82),
            ground: Vec3::new(0.24, 0.23, 0.22),
        }
    }
}

/// A line for debugging, as wide as it says at any distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Where it starts.
    pub from: Vec3,
    /// Where it ends.
    pub to: Vec3,
    /// Linear colour.
    pub colour: Vec3,
    /// Pixels.
    pub width: f32,
}

/// Everything one frame shows.
#[derive(Debug, Clone, Default)]
pub struct FramePacket {
    /// What is drawn, in any order.
    pub instances: Vec<Instance>,
    /// Lines for debugging.
    pub lines: Vec<Line>,
    /// Text for debugging. Later ones are drawn over earlier ones.
    pub labels: Vec<Label>,
    /// The light that casts shadows.
    pub sun: Sun,
    /// The light from all around.
    pub sky: Sky,
    /// Whether the ground shows a grid, which fades with distance.
    pub grid: bool,
    /// The object with an outline; 0 for none.
    pub selected: u32,
}

impl FramePacket {
    /// Empty again, its memory kept.
    pub fn clear(&mut self) {
        self.instances.clear();
        self.lines.clear();
        self.labels.clear();
        self.selected = 0;
    }

    /// An arrow for debugging.
    pub fn arrow(&mut self, from: Vec3, to: Vec3, colour: Vec3) {
        let along = to - from;
        let side = along.any_orthogonal_vector().normalize_or_zero() * along.length();
        let other = along.normalize_or_zero().cross(side);
        let neck = from + along * 0.8;
        self.line(from, to, colour);
        for wing in [side, -side, other, -other] {
            self.line(to, neck + wing * 0.08, colour);
        }
    }

    /// The axes of a frame: x red, y green, z blue.
    pub fn frame(&mut self, pose: &Pose, length: f32) {
        for (axis, colour) in [
            (Vec3::X, Vec3::new(0.9, 0.12, 0.1)),
            (Vec3::Y, Vec3::new(0.15, 0.7, 0.12)),
            (Vec3::Z, Vec3::new(0.1, 0.25, 0.95)),
        ] {
            self.line(pose.translation, pose.translation + pose.rotation * axis * length, colour);
        }
    }

    /// A contact: a cross in its plane and its normal.
    pub fn contact(&mut self, point: Vec3, normal: Vec3, size: f32) {
        let colour = Vec3::new(1.0, 0.35, 0.05);
        let side = normal.any_orthogonal_vector().normalize_or_zero() * size;
        let other = normal.normalize_or_zero().cross(side);
        self.line(point - side, point + side, colour);
        self.line(point - other, point + other, colour);
        self.line(point, point + normal.normalize_or_zero() * size * 2.0, colour);
    }

    /// A label for debugging, above its position; see [`Label`] for others.
    pub fn label(&mut self, position: Vec3, text: impl Into<Arc<str>>) {
        self.labels.push(Label::new(position, text));
    }

    fn line(&mut self, from: Vec3, to: Vec3, colour: Vec3) {
        self.lines.push(Line { from, to, colour, width: 2.0 });
    }
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_pose_between_two_takes_the_short_way() {
        let before = Pose { translation: Vec3::ZERO, rotation: Quat::IDENTITY };
        let turn = Quat::from_rotation_z(0.2);
        for rotation in [turn, -turn] {
            let current = Pose { translation: Vec3::X, rotation };
            let half = Pose::between(&before, &current, 0.5);
            assert!((half.translation - Vec3::X * 0.5).length() < 1e-6);
            assert!(half.rotation.angle_between(Quat::from_rotation_z(0.1)) < 1e-3);
            assert!(half.rotation.is_normalized());
        }
        assert_eq!(Pose::between(&before, &Pose::at(Vec3::X), 0.0).translation, Vec3::ZERO);
    }

    #[test]
    fn an_arrow_of_no_length_is_harmless() {
        let mut packet = FramePacket::default();
        packet.arrow(Vec3::ONE, Vec3::ONE, Vec3::X);
        assert!(packet.lines.iter().all(|line| line.from.is_finite() && line.to.is_finite()));
    }
}
