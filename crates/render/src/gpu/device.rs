//! Finding a graphics device, and hearing of its errors and its loss.

use std::sync::Arc;

use downbeat_threading::sync::Mutex;
use wgpu::{
    Adapter, AdapterInfo, Device, DeviceDescriptor, Instance, InstanceDescriptor, Limits, PowerPreference,
    Queue, RequestAdapterOptions, Surface,
};

use super::capture::picture_bytes;
use crate::backend::BackendLost;

/// Why there is no device, or no picture.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// Nothing on this machine can draw.
    #[error(
        "no graphics adapter: {reason}; install a driver, or software Vulkan \
         (`sudo apt-get install mesa-vulkan-drivers`), or render with the null backend"
    )]
    NoAdapter {
        /// What was tried.
        reason: String,
    },
    /// Nothing can be shown in the window.
    #[error(
        "nothing can draw on this window: {reason}; check that its display is still there, \
         or draw without a window"
    )]
    NoSurface {
        /// What was said.
        reason: String,
    },
    /// A picture was to be shown, and there is nowhere to.
    #[error("this backend has no window; make it with `GpuBackend::for_window`, or capture the picture")]
    NoWindow,
    /// There is one, and it refuses.
    #[error("the graphics adapter `{adapter}` gives no device: {reason}")]
    NoDevice {
        /// Its name.
        adapter: String,
        /// What it said.
        reason: String,
    },
    /// The picture is larger than the device can draw, or has no pixels.
    #[error("a picture of {width} × {height} pixels cannot be drawn; each side must be 1 to {side_max}")]
    Size {
        /// Asked for.
        width: u32,
        /// Asked for.
        height: u32,
        /// The device's limit.
        side_max: u32,
    },
    /// The picture takes more memory than the device gives out at once.
    #[error(
        "a picture of {width} × {height} pixels cannot be brought back: it takes {bytes} bytes, and the device gives \
         {bytes_max} at once; capture it in parts"
    )]
    Memory {
        /// Asked for.
        width: u32,
        /// Asked for.
        height: u32,
        /// What it takes.
        bytes: u64,
        /// The device's limit.
        bytes_max: u64,
    },
    /// As many pictures are on their way as may be.
    #[error(
        "{pictures_max} pictures are on their way already; try again after the next frame, or wait for them with \
         `wait_for_pictures`"
    )]
    PicturesPending {
        /// The limit.
        pictures_max: usize,
    },
    /// The device was lost, and the picture with it.
    #[error(transparent)]
    Lost(#[from] BackendLost),
    /// The backend went while the picture was on its way.
    #[error("the backend was dropped before the picture had come; call `wait_for_pictures` before")]
    Dropped,
    /// The device reported a mistake in how it was used.
    #[error("the graphics device reports: {0}")]
    Validation(String),
}

/// A device and what it has reported.
pub(crate) struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) info: AdapterInfo,
    pub(crate) adapter: Adapter,
    reports: Arc<Reports>,
}

#[derive(Default)]
struct Reports {
    lost: Mutex<Option<BackendLost>>,
    error: Mutex<Option<String>>,
}

pub(crate) fn instance() -> Instance {
    Instance::new(InstanceDescriptor::new_without_display_handle_from_env())
}

impl Gpu {
    /// A device that can draw on the surface, if there is one.
    pub(crate) fn find(instance: &Instance, surface: Option<&Surface<'static>>) -> Result<Self, GpuError> {
        let adapter = adapter(instance, surface)?;
        let info = adapter.get_info();
        let mut limits = Limits::default().using_resolution(adapter.limits());
        // A picture comes back in one buffer; a large one takes more than the usual 256 MiB.
        limits.max_buffer_size = adapter.limits().max_buffer_size;
        let descriptor = DeviceDescriptor { required_limits: limits, ..DeviceDescriptor::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::NoDevice { adapter: info.name.clone(), reason: error.to_string() })?;
        let reports = Arc::new(Reports::default());
        let noted = Arc::clone(&reports);
        // Without this wgpu panics.
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            noted.error.lock().get_or_insert(error.to_string());
        }));
        let noted = Arc::clone(&reports);
        device.set_device_lost_callback(move |reason, message| {
            noted.lost.lock().get_or_insert(BackendLost { reason: format!("{reason:?}: {message}") });
        });
        Ok(Self { device, queue, info, adapter, reports })
    }

    pub(crate) fn lost(&self) -> Option<BackendLost> {
        self.reports.lost.lock().clone()
    }

    /// Whether the device is there and content. A mistake is reported once, and only the first since the last time.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        self.lost().map_or(Ok(()), Err)?;
        self.reports.error.lock().take().map_or(Ok(()), |error| Err(GpuError::Validation(error)))
    }

    /// What `work` returns, and the first error that it caused. One from before it stays for whoever asks.
    pub(crate) fn watched<T>(&self, work: impl FnOnce() -> T) -> (T, Option<GpuError>) {
        let earlier = self.reports.error.lock().take();
        let done = work();
        let caused = std::mem::replace(&mut *self.reports.error.lock(), earlier);
        (done, caused.map(GpuError::Validation))
    }

    pub(crate) fn check_size(&self, width: u32, height: u32) -> Result<(), GpuError> {
        check_size(&self.device.limits(), width, height)
    }
}

fn check_size(limits: &Limits, width: u32, height: u32) -> Result<(), GpuError> {
    let side_max = limits.max_texture_dimension_2d;
    if !(1..=side_max).contains(&width) || !(1..=side_max).contains(&height) {
        return Err(GpuError::Size { width, height, side_max });
    }
    let (bytes, bytes_max) = (picture_bytes([width, height]), limits.max_buffer_size);
    if bytes > bytes_max {
        return Err(GpuError::Memory { width, height, bytes, bytes_max });
    }
    Ok(())
}

/// A real one if there is one, else software.
fn adapter(instance: &Instance, surface: Option<&Surface<'static>>) -> Result<Adapter, GpuError> {
    let ask = |force_fallback_adapter| {
        pollster::block_on(instance.request_adapter(&RequestAdapterOptions {
            power_preference: PowerPreference::HighPerformance,
            force_fallback_adapter,
            compatible_surface: surface,
            ..RequestAdapterOptions::default()
        }))
    };
    let none = |error: wgpu::RequestAdapterError| {
        let place = if surface.is_some() { "none can draw on this window: " } else { "" };
        GpuError::NoAdapter { reason: format!("{place}{error}") }
    };
    ask(false).or_else(|_| ask(true)).map_err(none)
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
pub(super) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::camera::Camera;
    use crate::gpu::GpuBackend;
    use crate::packet::FramePacket;

    /// A device, or `None` where the tests may be skipped.
    pub(in crate::gpu) fn offscreen() -> Option<GpuBackend> {
        match GpuBackend::offscreen() {
            Ok(backend) => Some(backend),
            Err(error) => {
                assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{error}");
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn a_picture_is_as_large_as_the_device_allows() {
        let limits =
            Limits { max_texture_dimension_2d: 1000, max_buffer_size: 2_000_000, ..Limits::default() };
        check_size(&limits, 1, 1).unwrap();
        check_size(&limits, 1000, 64).unwrap();
        for (width, height) in [(0, 1), (1, 0), (1001, 1), (1, 1001), (u32::MAX, u32::MAX)] {
            let refused = check_size(&limits, width, height).unwrap_err();
            assert!(refused.to_string().contains("each side must be 1 to 1000"), "{refused}");
        }
        let refused = check_size(&limits, 1000, 1000).unwrap_err();
        assert!(matches!(refused, GpuError::Memory { bytes_max: 2_000_000, .. }), "{refused}");
        assert!(refused.to_string().contains("1000 × 1000 pixels cannot be brought back"), "{refused}");
    }

    #[test]
    fn a_mistake_is_an_error_of_the_next_picture_and_not_a_panic() {
        let Some(mut backend) = offscreen() else { return };
        let _mistake = backend.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("mistake"),
            size: 16,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE,
            mapped_at_creation: false,
        });
        let delivered = Arc::new(AtomicUsize::new(0));
        let (packet, camera) = (FramePacket::default(), Camera::perspective(4, 4, 1.0));
        let mut capture = || {
            let delivered = Arc::clone(&delivered);
            backend.capture(&packet, &camera, move |picture| {
                picture.unwrap();
                delivered.fetch_add(1, Ordering::Relaxed);
            })
        };
        let error = capture().unwrap_err();
        assert!(matches!(&error, GpuError::Validation(text) if text.contains("mistake")), "{error}");
        capture().expect("it is reported once");
        backend.wait_for_pictures();
        assert_eq!(delivered.load(Ordering::Relaxed), 1, "the picture with the mistake is not delivered");

        backend.globals.destroy();
        let undelivered = |_| panic!("what was not drawn is not delivered");
        let error = backend.capture(&packet, &camera, undelivered).unwrap_err();
        assert!(matches!(&error, GpuError::Validation(_)), "{error}");
        backend.wait_for_pictures();
    }

    #[test]
    fn pictures_still_coming_when_the_device_goes_are_answered() {
        let Some(mut backend) = offscreen() else { return };
        let answer = Arc::new(Mutex::new(None));
        let answered = Arc::clone(&answer);
        let (packet, camera) = (FramePacket::default(), Camera::perspective(4, 4, 1.0));
        backend.capture(&packet, &camera, move |picture| *answered.lock() = Some(picture)).unwrap();
        // As when the driver says so. Without a poll, no picture has arrived by then.
        *backend.gpu.reports.lost.lock() = Some(BackendLost { reason: "reset".to_owned() });
        backend.pictures.hand_over(&backend.gpu);
        let answer = answer.lock().take().expect("answered");
        assert!(matches!(&answer, Err(GpuError::Lost(lost)) if lost.reason == "reset"), "{answer:?}");
    }
}
