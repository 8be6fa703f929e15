//! What every shader knows of a picture: where the camera is, where the sun stands, what the sky looks like.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3};

use super::targets::SHADOW_SIDE;
use crate::camera::{Camera, Projection};
use crate::packet::FramePacket;

/// As `scene.wgsl` has it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Globals {
    clip_from_world: [[f32; 4]; 4],
    world_from_clip: [[f32; 4]; 4],
    shadow_from_world: [[f32; 4]; 4],
    depth_axis: [f32; 4],
    eye: [f32; 4],
    sun_direction: [f32; 4],
    sun_radiance: [f32; 4],
    zenith: [f32; 4],
    horizon: [f32; 4],
    ground: [f32; 4],
    picture: [f32; 4],
}

impl Globals {
    /// What a picture of this packet by this camera needs.
    pub(super) fn of(packet: &FramePacket, camera: &Camera) -> Self {
        let clip_from_world = camera.clip_from_world();
        let pose = &camera.world_from_camera;
        let forward = pose.rotation * Vec3::Z;
        let towards_sun = -packet.sun.direction.normalize_or(-Vec3::Z);
        let parallel = matches!(camera.projection, Projection::Orthographic { .. });
        let four = |vector: Vec3| vector.extend(0.0).into();
        Self {
            clip_from_world: clip_from_world.to_cols_array_2d(),
            world_from_clip: clip_from_world.inverse().to_cols_array_2d(),
            shadow_from_world: shadow_from_world(packet, towards_sun).to_cols_array_2d(),
            depth_axis: forward.extend(-forward.dot(pose.translation)).into(),
            eye: four(pose.translation),
            sun_direction: four(towards_sun),
            sun_radiance: four(packet.sun.radiance),
            zenith: four(packet.sky.zenith),
            horizon: four(packet.sky.horizon),
            ground: four(packet.sky.ground),
            picture: [
                camera.width as f32,
                camera.height as f32,
                2.0 * packet.sun.shadow_radius / SHADOW_SIDE as f32,
                f32::from(u8::from(parallel)),
            ],
        }
    }
}

/// Parallel rays of the sun through the sphere that casts shadows; depth runs from 0 near the sun to 1.
fn shadow_from_world(packet: &FramePacket, towards_sun: Vec3) -> Mat4 {
    let (centre, radius) = (packet.sun.shadow_centre, packet.sun.shadow_radius.max(1e-3));
    let right = towards_sun.any_orthonormal_vector();
    let up = towards_sun.cross(right);
    // Moved in whole texels, or edges would crawl when the sphere moves.
    let texel = 2.0 * radius / SHADOW_SIDE as f32;
    let snapped = |axis: Vec3| (axis.dot(centre) / texel).round() * texel;
    let row = |axis: Vec3, offset: f32| (axis / radius).extend(-offset / radius);
    let depth = (-towards_sun / (4.0 * radius)).extend(0.5 + towards_sun.dot(centre) / (4.0 * radius));
    Mat4::from_cols(row(right, snapped(right)), row(up, snapped(up)), depth, glam::Vec4::W).transpose()
}
