//! A picture without any display: a small scene drawn off screen and written as a PNG.
//!
//! `cargo run --release -p downbeat-examples --example picture [FILE.png]`. The render thread draws while main goes on;
//! the picture comes back when it is done.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use downbeat_render::{
    Camera, Captured, FramePacket, GpuBackend, GpuError, Instance, Material, Pose, RenderConfig,
    RenderThread, Shape, ThreadingPolicy,
};
use downbeat_threading::sync::Mutex;
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
use glam::{Quat, Vec2, Vec3};

fn main() -> Result<(), Box<dyn Error>> {
    let default = std::env::temp_dir().join("downbeat-picture.png");
    let path = std::env::args_os().nth(1).map_or(default, PathBuf::from);
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let backend = match GpuBackend::offscreen() {
        Ok(backend) => backend,
        Err(error @ GpuError::NoAdapter { .. }) => {
            println!("nothing to draw with here: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    println!("drawing with {}", backend.adapter_name());

    let config = RenderConfig { policy: ThreadingPolicy::MultiThreaded, ..RenderConfig::default() };
    let mut render = RenderThread::start(&dispatcher, backend, config)?;
    let camera =
        Camera::perspective(1280, 720, 0.7).looking_at(Vec3::new(4.6, -6.4, 3.4), Vec3::new(0.0, 0.0, 0.8));
    let packet = scene();
    let picture = Arc::new(Mutex::new(None));
    let taken = Arc::clone(&picture);
    render.renderer().submit(move |gpu| {
        let drawn = gpu.capture(&packet, &camera, move |captured| *taken.lock() = Some(captured));
        drawn.expect("a picture of this size can be drawn");
        gpu.wait_for_pictures();
    });
    render.pump(&dispatcher)?;
    drop(render.shut_down(&dispatcher)?);
    let picture = picture.lock().take().ok_or("the picture did not come back")??;
    write(&path, &picture)?;
    println!("{} × {} pixels in {}", picture.width, picture.height, path.display());
    Ok(())
}

/// Every shape and a range of materials on a floor.
fn scene() -> FramePacket {
    let mut packet = FramePacket { grid: true, selected: 4, ..FramePacket::default() };
    let mut put = |shape, at: [f32; 3], colour: [f32; 3], metallic, roughness| {
        packet.instances.push(Instance {
            world_from_object: Pose::at(at.into()),
            shape,
            material: Material { base_colour: colour.into(), metallic, roughness },
            object: 0,
        });
    };
    put(Shape::Plane { half: Vec2::splat(40.0) }, [0.0, 0.0, -0.002], [0.42, 0.43, 0.45], 0.0, 0.9);
    put(Shape::Box { half: Vec3::splat(0.5) }, [-2.4, 0.3, 0.5], [0.85, 0.3, 0.16], 0.0, 0.5);
    put(Shape::Sphere { radius: 0.6 }, [-0.9, -0.5, 0.6], [0.95, 0.78, 0.42], 1.0, 0.25);
    put(Shape::Cylinder { radius: 0.4, half_length: 0.7 }, [0.6, 0.9, 0.7], [0.16, 0.42, 0.75], 0.0, 0.35);
    put(Shape::Capsule { radius: 0.32, half_length: 0.55 }, [1.2, -0.9, 0.87], [0.2, 0.6, 0.32], 0.0, 0.3);
    put(Shape::Sphere { radius: 0.35 }, [2.6, 0.4, 0.35], [0.9, 0.9, 0.92], 1.0, 0.08);
    for step in 0..7_u8 {
        let at = [-2.7 + 0.9 * f32::from(step), 2.6, 0.32];
        put(Shape::Sphere { radius: 0.32 }, at, [0.8, 0.12, 0.14], 0.0, 0.06 + 0.15 * f32::from(step));
    }
    for (object, instance) in (0..).zip(&mut packet.instances) {
        instance.object = object;
    }
    packet.instances[1].world_from_object.rotation = Quat::from_rotation_z(0.5);
    packet.instances[4].world_from_object.rotation = Quat::from_rotation_y(0.35);
    packet.frame(&Pose::at(Vec3::new(0.0, -1.9, 0.02)), 0.7);
    packet.arrow(Vec3::new(2.6, 0.4, 1.9), Vec3::new(2.6, 0.4, 0.85), Vec3::new(0.95, 0.2, 0.6));
    packet
}

fn write(path: &Path, picture: &Captured) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(picture.colour.as_flattened())?;
    Ok(())
}
