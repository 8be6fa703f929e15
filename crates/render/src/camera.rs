//! Cameras: where they are, and which pixel sees what.
//!
//! A camera looks along its +z axis, with +x to the right of the picture and +y down, as in robotics and computer
//! vision. The world is right-handed with +z up, in metres.
//!
//! # Pixels
//!
//! Pixel `(u, v)` covers the square from `(u, v)` to `(u + 1, v + 1)`, with `(0, 0)` in the upper left; its centre is at
//! `(u + ½, v + ½)`. Under a pinhole projection the point `(x, y, z)` in the camera's frame is seen at
//! `(fx · x / z + cx, fy · y / z + cy)`, and a depth image holds its `z`, in metres, not its distance.

use glam::{Mat4, Quat, Vec2, Vec3, Vec4};

use crate::packet::Pose;

/// How a camera maps space to its picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Focal lengths and principal point, in pixels of the picture.
    Pinhole {
        /// Focal lengths in x and y.
        focal: Vec2,
        /// Where the optical axis meets the picture.
        centre: Vec2,
    },
    /// Parallel rays; the picture shows so many metres from top to bottom.
    Orthographic {
        /// Metres.
        height: f32,
    },
}

/// A camera with the size of its picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it is and how it is turned.
    pub world_from_camera: Pose,
    /// How it maps space to its picture.
    pub projection: Projection,
    /// Pixels of the picture.
    pub width: u32,
    /// Pixels of the picture.
    pub height: u32,
    /// What is nearer along the optical axis is not seen, in metres.
    pub near: f32,
    /// What is farther is not seen.
    pub far: f32,
    /// Whether its colours show what is there for people alone: lines, labels, the grid and the outline. Depth, objects
    /// and normals never do.
    pub overlays: bool,
}

impl Camera {
    /// A pinhole camera with square pixels and a centred axis that sees `fov_y` radians from top to bottom.
    ///
    /// ```
    /// use downbeat_render::{Camera, Projection};
    /// use glam::{Vec2, Vec3};
    ///
    /// let camera = Camera::perspective(640, 480, std::f32::consts::FRAC_PI_2).looking_at(Vec3::Y * -5.0, Vec3::ZERO);
    /// let Projection::Pinhole { focal, centre } = camera.projection else { unreachable!() };
    /// assert!((focal.y - 240.0).abs() < 1e-3, "half the height at 45 degrees");
    /// assert_eq!(centre, Vec2::new(320.0, 240.0));
    /// assert!((camera.pixel_of(Vec3::ZERO).unwrap() - centre).length() < 1e-3);
    /// ```
    pub fn perspective(width: u32, height: u32, fov_y: f32) -> Self {
        let size = Vec2::new(width as f32, height as f32);
        let focal = Vec2::splat(0.5 * size.y / libm::tanf(0.5 * fov_y));
        Self {
            world_from_camera: Pose::default(),
            projection: Projection::Pinhole { focal, centre: 0.5 * size },
            width,
            height,
            near: 0.05,
            far: 500.0,
            overlays: true,
        }
    }

    /// The same camera as a sensor: it sees the world, and nothing that is there for people alone.
    #[must_use]
    pub fn as_sensor(mut self) -> Self {
        self.overlays = false;
        self
    }

    /// The same camera at `eye`, looking at `target`, with the world's up as up as it goes.
    #[must_use]
    pub fn looking_at(mut self, eye: Vec3, target: Vec3) -> Self {
        let forward = (target - eye).normalize_or(Vec3::Y);
        // Straight up or down there is no up: then the picture's top is north.
        let up = if forward.z.abs() > 0.9999 { Vec3::Y } else { Vec3::Z };
        let right = forward.cross(up).normalize();
        let down = forward.cross(right);
        let rotation = Quat::from_mat3(&glam::Mat3::from_cols(right, down, forward));
        self.world_from_camera = Pose { translation: eye, rotation };
        self
    }

    /// Where in the picture a point of the world is seen, in pixels; `None` behind a pinhole camera.
    pub fn pixel_of(&self, world: Vec3) -> Option<Vec2> {
        let clip = self.clip_from_world() * world.extend(1.0);
        if clip.w <= 0.0 {
            return None;
        }
        let ndc = clip.truncate() / clip.w;
        let size = Vec2::new(self.width as f32, self.height as f32);
        Some(Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y) * size)
    }

    /// Into the camera's frame.
    pub fn camera_from_world(&self) -> Mat4 {
        self.world_from_camera.matrix().inverse()
    }

    /// Into clip space, where depth runs from 1 at `near` to 0 at `far`: floats are finest near 0.
    pub fn clip_from_world(&self) -> Mat4 {
        self.clip_from_camera() * self.camera_from_world()
    }

    fn clip_from_camera(&self) -> Mat4 {
        let (width, height) = (self.width as f32, self.height as f32);
        let span = self.far - self.near;
        match self.projection {
            Projection::Pinhole { focal, centre } => Mat4::from_cols(
                Vec4::new(2.0 * focal.x / width, 0.0, 0.0, 0.0),
                Vec4::new(0.0, -2.0 * focal.y / height, 0.0, 0.0),
                Vec4::new(
                    2.0 * centre.x / width - 1.0,
                    1.0 - 2.0 * centre.y / height,
                    -self.near / span,
                    1.0,
                ),
                Vec4::new(0.0, 0.0, self.near * self.far / span, 0.0),
            ),
            Projection::Orthographic { height: metres } => Mat4::from_cols(
                Vec4::new(2.0 * height / (metres * width), 0.0, 0.0, 0.0),
                Vec4::new(0.0, -2.0 / metres, 0.0, 0.0),
                Vec4::new(0.0, 0.0, -1.0 / span, 0.0),
                Vec4::new(0.0, 0.0, self.far / span, 1.0),
            ),
        }
    }
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera {
            world_from_camera: Pose::default(),
            projection: Projection::Pinhole {
                focal: Vec2::new(500.0, 400.0),
                centre: Vec2::new(300.0, 200.0),
            },
            width: 640,
            height: 480,
            near: 0.1,
            far: 100.0,
            overlays: true,
        }
    }

    #[test]
    fn a_point_is_seen_where_the_pinhole_formula_says() {
        let camera = camera();
        for (x, y, z) in [(0.0, 0.0, 1.0), (0.3, -0.2, 2.0), (-1.0, 1.5, 7.0)] {
            let pixel = camera.pixel_of(Vec3::new(x, y, z)).unwrap();
            let expected = Vec2::new(500.0 * x / z + 300.0, 400.0 * y / z + 200.0);
            assert!((pixel - expected).length() < 1e-2, "{pixel} instead of {expected}");
        }
        assert_eq!(camera.pixel_of(Vec3::new(0.0, 0.0, -1.0)), None);
    }

    #[test]
    fn depth_runs_from_one_to_zero() {
        for projection in [camera().projection, Projection::Orthographic { height: 4.0 }] {
            let camera = Camera { projection, ..camera() };
            let depth = |z: f32| {
                let clip = camera.clip_from_world() * Vec4::new(0.0, 0.0, z, 1.0);
                clip.z / clip.w
            };
            assert!((depth(0.1) - 1.0).abs() < 1e-5 && depth(100.0).abs() < 1e-5);
            assert!(depth(1.0) > depth(2.0));
        }
    }

    #[test]
    fn looking_at_keeps_up_up() {
        let camera = Camera::perspective(200, 100, 1.0).looking_at(Vec3::new(3.0, 4.0, 2.0), Vec3::ZERO);
        let (centre, above) = (camera.pixel_of(Vec3::ZERO).unwrap(), camera.pixel_of(Vec3::Z * 0.5).unwrap());
        assert!((centre - Vec2::new(100.0, 50.0)).length() < 1e-3);
        assert!(above.y < centre.y && (above.x - centre.x).abs() < 1e-2, "{above}");
        let down = Camera::perspective(200, 100, 1.0).looking_at(Vec3::Z * 5.0, Vec3::ZERO);
        assert!(down.pixel_of(Vec3::Y).unwrap().y < 50.0, "north is at the top");
    }
}
