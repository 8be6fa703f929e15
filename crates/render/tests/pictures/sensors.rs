//! Depth, objects and normals against geometry, pixel by pixel.

use std::sync::Arc;

use downbeat_render::{
    Backend as _, Camera, Captured, FramePacket, GpuBackend, GpuError, Material, Pose, Presented, Projection,
    Shape, Sky, Sun,
};
use downbeat_threading::sync::Mutex;
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

/// Depth, object and normal.
type Seen = (f32, u32, Vec3);

/// Compares every pixel with what `expected` says of its ray: depth, object and normal, or `None` for nothing.
///
/// A pixel whose neighbourhood is not all of one object is left out: there, an edge passes.
fn compare(
    captured: &Captured,
    camera: &Camera,
    tolerance: f32,
    expected: impl Fn(Vec3, Vec3) -> Option<Seen>,
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

const BALL: u32 = 7;
const FLOOR: u32 = 4_000_000_000;

/// A ball on a tilted floor, and what geometry says of a ray.
fn scene() -> (FramePacket, impl Fn(Vec3, Vec3) -> Option<Seen>) {
    let (centre, radius) = (Vec3::new(0.3, 0.2, 0.7), 1.1);
    let floor_normal = Quat::from_rotation_x(0.2) * Vec3::Z;
    let mut packet = FramePacket::default();
    packet.instances.push(instance(BALL, Shape::Sphere { radius }, centre));
    packet.instances.push(instance(FLOOR, Shape::Plane { half: Vec2::splat(400.0) }, Vec3::ZERO));
    packet.instances[1].world_from_object.rotation = Quat::from_rotation_x(0.2);
    let expected = move |origin: Vec3, direction: Vec3| {
        let floor = Some(-floor_normal.dot(origin) / floor_normal.dot(direction))
            .filter(|way| *way > 0.0 && *way < 60.0);
        match (sphere(origin, direction, centre, radius), floor) {
            (Some(way), floor) if floor.is_none_or(|floor| way < floor) => {
                Some((way, BALL, (origin + direction * way - centre) / radius))
            }
            (_, Some(way)) => Some((way, FLOOR, floor_normal)),
            _ => None,
        }
    };
    (packet, expected)
}

#[test]
fn depth_objects_and_normals_are_what_geometry_says() {
    let Some(mut gpu) = device() else { return };
    let (packet, expected) = scene();
    // The whole pinhole model: unlike focal lengths, and an axis off the centre.
    let pinhole = Projection::Pinhole { focal: Vec2::new(210.0, 180.0), centre: Vec2::new(150.0, 88.0) };
    let views = [pinhole, Projection::Orthographic { height: 5.0 }];
    for projection in views {
        let camera = Camera { projection, far: 60.0, ..Camera::perspective(320, 200, 1.0) }
            .looking_at(Vec3::new(3.0, -5.0, 2.4), Vec3::new(0.0, 0.0, 0.5));
        let captured = capture(&mut gpu, &packet, &camera);
        // A sphere of flat triangles lies inside the round one.
        compare(&captured, &camera, 0.006, &expected);
    }
}

/// Three unlike sensors: sizes whose rows need padding, unlike projections, and ranges.
fn three_sensors() -> [Camera; 3] {
    let pinhole = Projection::Pinhole { focal: Vec2::new(210.0, 180.0), centre: Vec2::new(150.0, 88.0) };
    let parallel = Projection::Orthographic { height: 5.0 };
    let camera = |width, height| Camera { far: 60.0, ..Camera::perspective(width, height, 0.9) }.as_sensor();
    let target = Vec3::new(0.0, 0.0, 0.5);
    [
        Camera { projection: pinhole, ..camera(321, 201) }.looking_at(Vec3::new(3.0, -5.0, 2.4), target),
        Camera { projection: parallel, ..camera(127, 95) }.looking_at(Vec3::new(-4.0, -3.0, 3.0), target),
        Camera { near: 1.0, ..camera(63, 130) }.looking_at(Vec3::new(0.5, 4.0, 3.5), target),
    ]
}

/// Light from all around and alike, and surfaces so rough that they look the same from everywhere: then the colour
/// of an object is one number.
fn flat_light(packet: &mut FramePacket) {
    packet.sun = Sun { radiance: Vec3::ZERO, ..Sun::default() };
    packet.sky = Sky { zenith: Vec3::ONE, horizon: Vec3::ONE, ground: Vec3::ONE };
    for (instance, grey) in packet.instances.iter_mut().zip([0.2, 0.7]) {
        instance.material = Material { base_colour: Vec3::splat(grey), metallic: 0.0, roughness: 1.0 };
    }
}

/// What develops from light of one, reflected by half of it or seen itself.
fn flat_colour(object: u32) -> u8 {
    let light = match object {
        BALL => 0.2 * 0.5 + 0.02,
        FLOOR => 0.7 * 0.5 + 0.02,
        _ => 1.0_f32,
    };
    let x = light * 0.55;
    let toned = (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14);
    ((1.055 * libm::powf(toned, 1.0 / 2.4) - 0.055) * 255.0).round() as u8
}

/// Asks for a picture without waiting for it.
fn ask(gpu: &mut GpuBackend, packet: &FramePacket, camera: &Camera, pictures: &Arc<Mutex<Vec<Captured>>>) {
    let taken = Arc::clone(pictures);
    let deliver = move |picture: Result<Captured, GpuError>| taken.lock().push(picture.expect("no loss"));
    gpu.capture(packet, camera, deliver).expect("a picture of this size can be drawn");
}

#[test]
fn three_cameras_in_a_frame_each_see_their_own_picture() {
    let Some(mut gpu) = device() else { return };
    let (mut packet, expected) = scene();
    flat_light(&mut packet);
    let pictures = Arc::default();
    gpu.begin_frame(1);
    for camera in &three_sensors() {
        ask(&mut gpu, &packet, camera, &pictures);
    }
    gpu.wait_for_pictures();
    gpu.end_frame().unwrap();
    let pictures = std::mem::take(&mut *pictures.lock());
    assert_eq!(pictures.len(), 3);
    for (camera, captured) in three_sensors().iter().zip(&pictures) {
        compare(captured, camera, 0.006, &expected);
        let mut seen = [0; 3];
        for (pixel, object) in captured.objects.iter().enumerate() {
            seen[[0, BALL, FLOOR].iter().position(|known| known == object).expect("no other object")] += 1;
            // Where an edge passes, the colour is a mixture.
            let (u, v) = (pixel as u32 % camera.width, pixel as u32 / camera.width);
            let inside = (1..camera.width - 1).contains(&u) && (1..camera.height - 1).contains(&v);
            let width = camera.width as usize;
            let around = |by: usize| {
                captured.objects[pixel - by] == *object && captured.objects[pixel + by] == *object
            };
            if inside && around(1) && around(width) && around(width + 1) && around(width - 1) {
                let [red, green, blue, opacity] = captured.colour[pixel];
                let flat = flat_colour(*object);
                assert!(red.abs_diff(flat) <= 2 && red == green && green == blue, "{red} instead of {flat}");
                assert_eq!(opacity, 255);
            }
        }
        assert!(seen[1] > 300 && seen[2] > 300, "{seen:?}");
    }
}

#[test]
fn cameras_do_not_disturb_one_another_over_many_frames() {
    let Some(mut gpu) = device() else { return };
    let (packet, _) = scene();
    let alone = three_sensors().map(|camera| capture(&mut gpu, &packet, &camera));
    let pictures = Arc::default();
    for frame in 0..60 {
        gpu.begin_frame(frame);
        for camera in &three_sensors() {
            ask(&mut gpu, &packet, camera, &pictures);
        }
        gpu.end_frame().unwrap();
    }
    gpu.wait_for_pictures();
    let pictures = std::mem::take(&mut *pictures.lock());
    assert_eq!(pictures.len(), 180);
    for (picture, alone) in pictures.iter().zip(alone.iter().cycle()) {
        assert!(picture == alone, "a picture of {} × {} differs", picture.width, picture.height);
    }
}

#[test]
fn one_picture_too_many_is_refused_or_waits_for_the_oldest() {
    let Some(mut gpu) = device() else { return };
    let packet = FramePacket::default();
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let deliver = |number: u32| {
        let arrived = Arc::clone(&arrived);
        move |picture: Result<Captured, GpuError>| arrived.lock().push((number, picture.unwrap().width))
    };
    let camera = |width| Camera::perspective(width, 1, 1.0);
    let mut asked = 0;
    let refused = loop {
        match gpu.try_capture(&packet, &camera(asked + 1), deliver(asked)) {
            Ok(()) => asked += 1,
            Err(refused) => break refused,
        }
        assert!(asked <= 1000, "there is a limit");
    };
    assert!(matches!(refused, GpuError::PicturesPending { pictures_max } if pictures_max == asked as usize));
    assert!(refused.to_string().contains("try again after the next frame"), "{refused}");
    assert!(arrived.lock().is_empty(), "nobody has asked what has come");
    gpu.capture(&packet, &camera(asked + 1), deliver(asked)).unwrap();
    assert!(!arrived.lock().is_empty(), "the oldest made way");
    gpu.try_capture(&packet, &camera(asked + 2), deliver(asked + 1)).unwrap();
    gpu.wait_for_pictures();
    let expected: Vec<(u32, u32)> = (0..asked + 2).map(|number| (number, number + 1)).collect();
    assert_eq!(*arrived.lock(), expected, "all of them, in order");
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

#[test]
fn without_a_window_nothing_is_presented_and_pictures_are_still_taken() {
    let Some(mut gpu) = device() else { return };
    let (packet, camera) = (FramePacket::default(), Camera::perspective(32, 16, 1.0));
    let refused = gpu.present(&packet, &camera);
    assert!(matches!(refused, Err(GpuError::NoWindow)), "{refused:?}");
    gpu.resize([64, 64]);
    gpu.end_frame().expect("the device is there");
    assert_eq!(gpu.presented(), Presented::default());
    assert_eq!(capture(&mut gpu, &packet, &camera).colour.len(), 32 * 16);
}
