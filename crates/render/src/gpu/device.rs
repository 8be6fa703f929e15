//! Finding a graphics device, and hearing of its errors and its loss.

use std::sync::Arc;

use downbeat_threading::sync::Mutex;
use wgpu::{
    Adapter, AdapterInfo, Device, DeviceDescriptor, Instance, InstanceDescriptor, Limits, PowerPreference,
    Queue, RequestAdapterOptions, Surface,
};

use crate::backend::BackendLost;

/// Why there is no device.
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
    /// The device reported a mistake in how it was used.
    #[error("the graphics device reports: {0}")]
    Validation(String),
}

/// A device and what it has reported.
pub(crate) struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) info: AdapterInfo,
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
        let limits = Limits::default().using_resolution(adapter.limits());
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
        Ok(Self { device, queue, info, reports })
    }

    pub(crate) fn lost(&self) -> Option<BackendLost> {
        self.reports.lost.lock().clone()
    }

    /// The first error since it was last asked for.
    pub(crate) fn take_error(&self) -> Option<GpuError> {
        self.reports.error.lock().take().map(GpuError::Validation)
    }

    pub(crate) fn check_size(&self, width: u32, height: u32) -> Result<(), GpuError> {
        let side_max = self.device.limits().max_texture_dimension_2d;
        if (1..=side_max).contains(&width) && (1..=side_max).contains(&height) {
            return Ok(());
        }
        Err(GpuError::Size { width, height, side_max })
    }
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
    ask(false).or_else(|_| ask(true)).map_err(|error| GpuError::NoAdapter { reason: error.to_string() })
}
