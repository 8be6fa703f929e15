//! What people see, against pictures that somebody has looked at.
//!
//! `UPDATE_GOLDEN=1 cargo test -p downbeat-render --test pictures` draws them anew: look at each before committing it.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use downbeat_render::{Camera, Captured, FramePacket, Instance, Material, Pose, Shape, Sun};
use glam::{Quat, Vec2, Vec3};

use crate::{capture, device, instance};

/// Another rasteriser draws edges a little differently: so many pixels may be so far off.
const FAR_OFF: u8 = 24;
const FAR_OFF_SHARE_MAX: f32 = 0.005;
const MEAN_DIFFERENCE_MAX: f32 = 1.5;

pub(crate) fn check(name: &str, width: u32, height: u32, rgb: &[u8]) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures/golden").join(format!("{name}.png"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return write(&path, width, height, rgb);
    }
    let (golden_width, golden_height, golden) = read(&path);
    assert_eq!((width, height), (golden_width, golden_height), "{name}");
    let differences: Vec<u8> = rgb.iter().zip(&golden).map(|(ours, theirs)| ours.abs_diff(*theirs)).collect();
    let mean =
        differences.iter().map(|difference| f32::from(*difference)).sum::<f32>() / differences.len() as f32;
    let far_off =
        differences.chunks(3).filter(|pixel| pixel.iter().any(|difference| *difference > FAR_OFF)).count();
    let share = far_off as f32 / (width * height) as f32;
    if mean > MEAN_DIFFERENCE_MAX || share > FAR_OFF_SHARE_MAX {
        let seen: PathBuf = std::env::temp_dir().join(format!("downbeat-{name}.png"));
        write(&seen, width, height, rgb);
        panic!(
            "{name} differs from {}: {mean} on average, {share} of its pixels far off; what was drawn is in {}",
            path.display(),
            seen.display()
        );
    }
}

fn write(path: &Path, width: u32, height: u32, rgb: &[u8]) {
    let file = File::create(path).expect("the folder can be written to");
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(rgb));
    written.expect("three bytes to a pixel");
}

fn read(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = File::open(path).expect("a golden picture; UPDATE_GOLDEN=1 draws it");
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut pixels).expect("a whole PNG");
    (info.width, info.height, pixels)
}

pub(crate) fn colours(captured: &Captured) -> Vec<u8> {
    captured.colour.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect()
}

fn view() -> Camera {
    Camera::perspective(320, 200, 0.7).looking_at(Vec3::new(2.6, -4.2, 2.3), Vec3::new(0.0, 0.0, 0.5))
}

pub(crate) fn on_a_floor(things: Vec<Instance>) -> FramePacket {
    let floor = Material { base_colour: Vec3::splat(0.35), metallic: 0.0, roughness: 0.9 };
    let mut packet = FramePacket { instances: things, ..FramePacket::default() };
    packet.sun.shadow_radius = 5.0;
    packet.instances.push(Instance {
        material: floor,
        ..instance(99, Shape::Plane { half: Vec2::splat(30.0) }, Vec3::ZERO)
    });
    packet
}

pub(crate) fn painted(mut instance: Instance, colour: [f32; 3], metallic: f32, roughness: f32) -> Instance {
    instance.material = Material { base_colour: colour.into(), metallic, roughness };
    instance
}

#[test]
fn shapes_materials_and_shadows_look_as_they_did() {
    let Some(mut gpu) = device() else { return };
    let shapes = [
        ("box", Shape::Box { half: Vec3::new(0.6, 0.4, 0.5) }, 0.5),
        ("sphere", Shape::Sphere { radius: 0.6 }, 0.6),
        ("capsule", Shape::Capsule { radius: 0.35, half_length: 0.5 }, 0.85),
        ("cylinder", Shape::Cylinder { radius: 0.5, half_length: 0.6 }, 0.6),
        ("plane", Shape::Plane { half: Vec2::new(0.9, 0.6) }, 0.6),
    ];
    for (name, shape, height) in shapes {
        let mut thing = painted(instance(1, shape, Vec3::Z * height), [0.8, 0.3, 0.14], 0.0, 0.45);
        thing.world_from_object.rotation = Quat::from_rotation_z(0.6);
        let captured = capture(&mut gpu, &on_a_floor(vec![thing]), &view());
        check(name, captured.width, captured.height, &colours(&captured));
    }
    let balls = (0..5_u8).flat_map(|step| {
        let (x, roughness) = (-1.6 + 0.8 * f32::from(step), 0.05 + 0.23 * f32::from(step));
        let ball = |y: f32| instance(1, Shape::Sphere { radius: 0.34 }, Vec3::new(x, y, 0.34));
        [
            painted(ball(-0.5), [0.9, 0.65, 0.3], 1.0, roughness),
            painted(ball(0.5), [0.12, 0.35, 0.7], 0.0, roughness),
        ]
    });
    let captured = capture(&mut gpu, &on_a_floor(balls.collect()), &view());
    check("materials", captured.width, captured.height, &colours(&captured));
}

#[test]
fn grid_lines_and_the_outline_look_as_they_did() {
    let Some(mut gpu) = device() else { return };
    let mut packet = FramePacket { grid: true, selected: 2, ..FramePacket::default() };
    packet.instances.push(instance(1, Shape::Box { half: Vec3::splat(0.4) }, Vec3::new(-0.9, 0.0, 0.4)));
    packet.instances.push(instance(2, Shape::Sphere { radius: 0.5 }, Vec3::new(0.4, 0.2, 0.5)));
    packet.frame(&Pose::at(Vec3::new(-0.2, -1.2, 0.1)), 0.6);
    packet.arrow(Vec3::new(1.4, 0.0, 1.6), Vec3::new(1.4, 0.0, 0.4), Vec3::new(0.9, 0.1, 0.6));
    packet.contact(Vec3::new(0.4, 0.2, 1.0), Vec3::Z, 0.15);
    let captured = capture(&mut gpu, &packet, &view());
    check("debug", captured.width, captured.height, &colours(&captured));
}

#[test]
fn depth_and_objects_look_as_they_did() {
    let Some(mut gpu) = device() else { return };
    let packet = on_a_floor(vec![
        instance(1, Shape::Box { half: Vec3::splat(0.4) }, Vec3::new(-0.8, 0.0, 0.4)),
        instance(2, Shape::Capsule { radius: 0.3, half_length: 0.4 }, Vec3::new(0.5, 0.3, 0.7)),
    ]);
    let captured = capture(&mut gpu, &packet, &view());
    let depth: Vec<u8> =
        captured.depth.iter().flat_map(|depth| [(255.0 - depth * 25.0).clamp(0.0, 255.0) as u8; 3]).collect();
    check("depth", captured.width, captured.height, &depth);
    let palette = |object: u32| match object {
        0 => [0, 0, 0],
        1 => [230, 120, 40],
        2 => [60, 140, 230],
        _ => [90, 90, 90],
    };
    let objects: Vec<u8> = captured.objects.iter().flat_map(|object| palette(*object)).collect();
    check("objects", captured.width, captured.height, &objects);
}

/// What a file shows, turned about z.
#[cfg(feature = "models")]
fn placed(gpu: &mut downbeat_render::GpuBackend, file: &str, at: Vec3, turn: f32) -> Vec<Instance> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures/models").join(file);
    let model = downbeat_render::Model::load(path).expect("a good file");
    let world_from_object = Pose { translation: at, rotation: Quat::from_rotation_z(turn) };
    let part = |part: downbeat_render::ModelPart| Instance {
        world_from_object,
        shape: Shape::Mesh { mesh: gpu.add_mesh(&part.mesh), scale: Vec3::ONE },
        material: part.material,
        object: 1,
    };
    model.parts.into_iter().map(part).collect()
}

#[cfg(feature = "models")]
#[test]
fn models_from_files_stand_upright_in_their_colours() {
    let Some(mut gpu) = device() else { return };
    let mut things = placed(&mut gpu, "house.obj", Vec3::new(-1.1, 0.7, 0.0), 0.5);
    things.extend(placed(&mut gpu, "table.gltf", Vec3::new(0.75, 0.3, 0.0), 0.25));
    for mut gem in placed(&mut gpu, "gem.stl", Vec3::new(-0.55, -0.75, 0.0), 0.2) {
        // STL has no materials.
        gem.material = Material { base_colour: Vec3::new(0.1, 0.5, 0.25), metallic: 0.0, roughness: 0.2 };
        things.push(gem);
    }
    let camera = Camera { projection: Camera::perspective(320, 200, 0.42).projection, ..view() };
    let captured = capture(&mut gpu, &on_a_floor(things), &camera);
    check("loaded_meshes", captured.width, captured.height, &colours(&captured));
}

#[test]
fn a_shadow_is_darker_than_the_light_beside_it() {
    let Some(mut gpu) = device() else { return };
    let mut packet = on_a_floor(vec![instance(1, Shape::Sphere { radius: 0.4 }, Vec3::Z * 2.0)]);
    packet.sun = Sun { direction: -Vec3::Z, shadow_radius: 5.0, ..Sun::default() };
    let camera = view();
    let captured = capture(&mut gpu, &packet, &camera);
    let brightness = |at: Vec3| {
        let pixel = camera.pixel_of(at).unwrap();
        let [red, green, blue, _] = captured.colour[pixel.y as usize * 320 + pixel.x as usize];
        u32::from(red) + u32::from(green) + u32::from(blue)
    };
    let (inside, edge, outside) =
        (brightness(Vec3::ZERO), brightness(Vec3::X * 0.4), brightness(Vec3::X * 0.8));
    assert!(inside * 2 < outside, "{inside} under the sphere, {outside} beside it");
    assert!(inside < edge && edge < outside, "{inside}, {edge}, {outside}: the edge is soft");
}
