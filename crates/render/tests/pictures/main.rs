//! Pictures, drawn off screen by whatever graphics device there is: software Vulkan in continuous integration.
//!
//! What sensors see (depth, objects, normals) is compared with what geometry says about every pixel; what people see
//! is compared with pictures that somebody has looked at. Without a device the tests are skipped, except where `CI` is
//! true: there they fail.
#![cfg(all(feature = "gpu", not(any(downbeat_loom, downbeat_shuttle))))]

mod golden;
mod labels;
mod lost;
mod sensors;

#[path = "../booted/mod.rs"]
mod booted;
#[path = "../quiet/mod.rs"]
mod quiet;

use std::sync::Arc;

use downbeat_render::{Camera, Captured, FramePacket, GpuBackend, GpuError, Instance, Material, Pose, Shape};
use downbeat_threading::sync::Mutex;
use glam::Vec3;

/// A device, or `None` where the tests may be skipped.
fn device() -> Option<GpuBackend> {
    match GpuBackend::offscreen() {
        Ok(backend) => Some(backend),
        Err(error) => {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn capture(gpu: &mut GpuBackend, packet: &FramePacket, camera: &Camera) -> Captured {
    let picture = Arc::new(Mutex::new(None));
    let taken = Arc::clone(&picture);
    let drawn = gpu.capture(packet, camera, move |captured| *taken.lock() = Some(captured));
    drawn.expect("a picture of this size can be drawn");
    gpu.wait_for_pictures();
    let captured: Option<Result<Captured, GpuError>> = picture.lock().take();
    captured.expect("waited for it").expect("nobody lost the device")
}

fn instance(object: u32, shape: Shape, at: Vec3) -> Instance {
    Instance { world_from_object: Pose::at(at), shape, material: Material::default(), object }
}
