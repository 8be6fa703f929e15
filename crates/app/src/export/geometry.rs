//! Numbers of the world as Foxglove's messages have them.

use downbeat_world::Pose as WorldPose;
use foxglove::messages::{Color, Point3, Pose, Quaternion, Vector3};
use glam::{Quat, Vec3, Vec4};

pub(super) fn vector(vector: Vec3) -> Vector3 {
    let [x, y, z] = vector.to_array().map(f64::from);
    Vector3 { x, y, z }
}

pub(super) fn point(point: Vec3) -> Point3 {
    let [x, y, z] = point.to_array().map(f64::from);
    Point3 { x, y, z }
}

pub(super) fn quaternion(rotation: Quat) -> Quaternion {
    let [x, y, z, w] = rotation.to_array().map(f64::from);
    Quaternion { x, y, z, w }
}

pub(super) fn pose(pose: WorldPose) -> Pose {
    Pose { position: Some(vector(pose.position)), orientation: Some(quaternion(pose.rotation)) }
}

/// A linear colour as screens have it, which is how Foxglove reads it.
pub(super) fn colour(linear: Vec4) -> Color {
    let [r, g, b, a] = linear.to_array();
    Color { r: curve(r), g: curve(g), b: curve(b), a: f64::from(a.clamp(0.0, 1.0)) }
}

/// The curve of sRGB.
fn curve(linear: f32) -> f64 {
    let linear = f64::from(linear.clamp(0.0, 1.0));
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use glam::Vec4;

    use super::colour;

    #[test]
    fn colours_are_those_of_a_screen() {
        let shown = colour(Vec4::new(0.0, 0.214_041, 1.0, 2.0));
        let off = [shown.r, shown.g - 0.5, shown.b - 1.0, shown.a - 1.0];
        assert!(off.iter().all(|off| off.abs() < 1e-5), "{shown:?}");
    }
}
