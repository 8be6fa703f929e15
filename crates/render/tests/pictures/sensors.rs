//! Depth, objects and normals against geometry, pixel by pixel.

use downbeat_render::{Camera, Captured, FramePacket, GpuError, Pose, Projection, Shape};
use glam::{Quat, Vec2, Vec3};

use crate::{capture, device, instance};

/// The ray through a pixel's centre in the world, scaled so that its length along the optical axis is 1.
fn ray(camera: &Camera, u: u32, v: u32) -> (Vec3, Vec3) {
    let centre_of = Vec2::new(u as f32 + 0.5, v as f32 + 0.5);
    let pose = camera.world_from_camera;
    match camera.projection {
        Projection::Pinhole { focal, centre } => {
            let at = (centre_of - centre) / focal;
            (pose.translation, pose.rotation * at.extend(1.0))
        }
        Projection::Orthographic { height } => {
            let metres = height / camera.height as f32;
            let at = (centre_of - 0.5 * Vec2::new(camera.width as f32, camera.height as f32)) * metres;
            (pose.translation + pose.rotation * at.extend(0.0), pose.rotation * Vec3::Z)
        }
    }
}

/// Compares every pixel with what `expected` says of its ray: depth, object and normal, or `None` for nothing.
///
/// A pixel whose neighbourhood is not all of one object is left out: there, an edge passes.
fn compare(
    captured: &Captured,
    camera: &Camera,
    tolerance: f32,
    expected: impl Fn(Vec3, Vec3) -> Option<(f32, u32, Vec3)>,
) {
    let object_at =
        |u: u32, v: u32| expected(ray(camera, u, v).0, ray(camera, u, v).1).map_or(0, |seen| seen.1);
    let mut compared = 0;
    for v in 1..camera.height - 1 {
        for u in 1..camera.width - 1 {
            let object = object_at(u, v);
            if [(u - 1, v), (u + 1, v), (u, v - 1), (u, v + 1)]
                .iter()
                .any(|&(u, v)| object_at(u, v) != object)
            {
                continue;
            }
            compared += 1;
            let pixel = (v * camera.width + u) as usize;
            assert_eq!(captured.objects[pixel], object, "object at ({u}, {v})");
            let (origin, direction) = ray(camera, u, v);
            match expected(origin, direction) {
                None => {
                    assert!(captured.depth[pixel].is_infinite(), "depth at ({u}, {v})");
                    assert_eq!(Vec3::from(captured.normals[pixel]), Vec3::ZERO);
                }
                Some((depth, _, normal)) => {
                    let seen = captured.depth[pixel];
                    // A surface that lies a little lower is met a good deal later where the ray grazes it.
                    let cosine = -normal.dot(direction.normalize());
                    assert!(
                        (seen - depth).abs() <= tolerance / cosine,
                        "({u}, {v}): {seen} instead of {depth} m"
                    );
                    let turned = Vec3::from(captured.normals[pixel]).dot(normal);
                    assert!(turned > 0.995, "normal at ({u}, {v}): cosine {turned}");
                }
            }
        }
    }
    assert!(compared > camera.width * camera.height / 2, "only {compared} pixels were comparable");
}

/// Where a ray meets a sphere: the way along it.
fn sphere(origin: Vec3, direction: Vec3, centre: Vec3, radius: f32) -> Option<f32> {
    let to = origin - centre;
    let (a, b, c) = (direction.dot(direction), to.dot(direction), to.dot(to) - radius * radius);
    let root = b * b - a * c;
    (root > 0.0).then(|| (-b - root.sqrt()) / a).filter(|way| *way > 0.0)
}

#[test]
fn depth_objects_and_normals_are_what_geometry_says() {
    let Some(mut gpu) = device() else { return };
    let (centre, radius) = (Vec3::new(0.3, 0.2, 0.7), 1.1);
    let floor_normal = Quat::from_rotation_x(0.2) * Vec3::Z;
    let mut packet = FramePacket::default();
    packet.instances.push(instance(7, Shape::Sphere { radius }, centre));
    packet.instances.push(instance(4_000_000_000, Shape::Plane { half: Vec2::splat(400.0) }, Vec3::ZERO));
    packet.instances[1].world_from_object.rotation = Quat::from_rotation_x(0.2);
    let expected = |origin: Vec3, direction: Vec3| {
        let floor = Some(-floor_normal.dot(origin) / floor_normal.dot(direction))
            .filter(|way| *way > 0.0 && *way < 60.0);
        match (sphere(origin, direction, centre, radius), floor) {
            (Some(way), floor) if floor.is_none_or(|floor| way < floor) => {
                Some((way, 7, (origin + direction * way - centre) / radius))
            }
            (_, Some(way)) => Some((way, 4_000_000_000, floor_normal)),
            _ => None,
        }
    };
    // The whole pinhole model: unlike focal lengths, and an axis off the centre.
    let pinhole = Projection::Pinhole { focal: Vec2::new(210.0, 180.0), centre: Vec2::new(150.0, 88.0) };
    let views = [pinhole, Projection::Orthographic { height: 5.0 }];
    for projection in views {
        let camera = Camera { projection, far: 60.0, ..Camera::perspective(320, 200, 1.0) }
            .looking_at(Vec3::new(3.0, -5.0, 2.4), Vec3::new(0.0, 0.0, 0.5));
        let captured = capture(&mut gpu, &packet, &camera);
        // A sphere of flat triangles lies inside the round one.
        compare(&captured, &camera, 0.006, expected);
    }
}

#[test]
fn a_picture_of_any_size_and_several_at_once() {
    let Some(mut gpu) = device() else { return };
    let mut packet = FramePacket::default();
    packet.instances.push(instance(1, Shape::Box { half: Vec3::splat(0.5) }, Vec3::ZERO));
    for (width, height) in [(1, 1), (3, 5), (65, 33), (640, 480)] {
        let camera = Camera::perspective(width, height, 0.3).looking_at(Vec3::Y * -4.0, Vec3::ZERO);
        let captured = capture(&mut gpu, &packet, &camera);
        let pixels = (width * height) as usize;
        assert_eq!((captured.width, captured.height), (width, height));
        assert_eq!(
            [captured.colour.len(), captured.depth.len(), captured.objects.len(), captured.normals.len()],
            [pixels; 4]
        );
        let middle = (height / 2 * width + width / 2) as usize;
        assert!((captured.depth[middle] - 3.5).abs() < 1e-4, "{}", captured.depth[middle]);
    }
    for (width, height) in [(0, 10), (10, 0), (1 << 20, 10)] {
        let camera = Camera { width, height, ..Camera::perspective(10, 10, 1.0) };
        let refused = gpu.capture(&packet, &camera, |_| ());
        assert!(matches!(refused, Err(GpuError::Size { .. })), "{refused:?}");
    }
}

#[test]
fn scaled_and_turned_shapes_keep_their_size() {
    let Some(mut gpu) = device() else { return };
    let looking_down =
        Camera { projection: Projection::Orthographic { height: 4.0 }, ..Camera::perspective(200, 200, 1.0) }
            .looking_at(Vec3::Z * 10.0, Vec3::ZERO);
    let along_x = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    // Seen from above: how far down the top is, and how many of the 50 × 50 pixels to a square metre it covers.
    let cases = [
        (Shape::Box { half: Vec3::new(0.5, 1.0, 0.25) }, Quat::IDENTITY, 9.75, 2.0),
        (Shape::Cylinder { radius: 0.5, half_length: 1.0 }, Quat::IDENTITY, 9.0, 0.785),
        (Shape::Cylinder { radius: 0.5, half_length: 1.0 }, along_x, 9.5, 2.0),
        (Shape::Capsule { radius: 0.5, half_length: 1.0 }, Quat::IDENTITY, 8.5, 0.785),
        (Shape::Capsule { radius: 0.5, half_length: 1.0 }, along_x, 9.5, 2.785),
        (Shape::Plane { half: Vec2::new(1.5, 0.5) }, Quat::IDENTITY, 10.0, 3.0),
    ];
    for (shape, rotation, depth, square_metres) in cases {
        let mut packet = FramePacket::default();
        packet.instances.push(instance(1, shape, Vec3::ZERO));
        packet.instances[0].world_from_object = Pose { translation: Vec3::ZERO, rotation };
        let captured = capture(&mut gpu, &packet, &looking_down);
        let middle = captured.depth[100 * 200 + 100];
        assert!((middle - depth).abs() < 2e-3, "{shape:?}: {middle} instead of {depth} m");
        let covered = captured.objects.iter().filter(|object| **object == 1).count() as f32 / 2500.0;
        assert!((covered - square_metres).abs() < 0.05, "{shape:?}: {covered} m² instead of {square_metres}");
    }
}
