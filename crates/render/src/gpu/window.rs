//! The window: how a picture gets onto its surface, and what happens when it cannot.
//!
//! Everything here runs on the thread that renders, except for [`GpuBackend::for_window`]. Does not make windows, and
//! does not hear of their events: a new size is a command.

use wgpu::{
    BindGroupDescriptor, BindingResource, CommandEncoderDescriptor, CompositeAlphaMode,
    CurrentSurfaceTexture, Device, PresentMode, Sampler, SamplerDescriptor, Surface, SurfaceColorSpace,
    SurfaceConfiguration, SurfaceTarget, SurfaceTexture, TextureFormat, TextureUsages, TextureView,
    TextureViewDescriptor,
};

use super::device::{self, Gpu, GpuError};
use super::pipelines::{COLOUR, COLOUR_BYTES, Presenting};
use super::standing::{Attempt, Standing, Verdict};
use super::targets::Targets;
use super::{GpuBackend, entry, pass};
use crate::backend::BackendLost;
use crate::camera::Camera;
use crate::packet::FramePacket;

/// Formats whose bytes are those of a capture, the usual one first.
const FORMATS: [TextureFormat; 4] = [
    TextureFormat::Bgra8Unorm,
    TextureFormat::Rgba8Unorm,
    TextureFormat::Bgra8UnormSrgb,
    TextureFormat::Rgba8UnormSrgb,
];

/// How a window starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowConfig {
    /// Pixels, not points. Zero while it is minimised.
    pub size: [u32; 2],
    /// Whether a frame waits for the screen. Without it pictures may tear.
    pub vsync: bool,
}

impl Default for WindowConfig {
    fn default() -> Self {
        Self { size: [1280, 720], vsync: true }
    }
}

/// What has become of the frames for a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Presented {
    /// Frames that were shown.
    pub shown: u64,
    /// Frames that were not: the window was minimised or hidden, or its surface was about to change.
    pub skipped: u64,
    /// How often the surface was configured: once at first, and after each change.
    pub configured: u64,
    /// The window's pixels, as last told.
    pub size: [u32; 2],
}

/// # Windows
impl GpuBackend {
    /// A backend that shows its main view in a window, such as an `Arc` of winit's.
    ///
    /// To be called on main, and the backend must be dropped there: it holds the surface, which holds the window, and
    /// both belong to main on most platforms. In between it may live on the render thread, which never drops it:
    /// [`RenderThread::shut_down`](crate::RenderThread::shut_down) gives it back, and a rebuild brings the old one home.
    ///
    /// ```no_run
    /// # use downbeat_render::{Camera, FramePacket, GpuBackend, RenderConfig, RenderThread, WindowConfig};
    /// # fn show(
    /// #     window: impl Into<wgpu::SurfaceTarget<'static>>,
    /// #     dispatcher: &downbeat_threading::MainThreadDispatcher,
    /// #     packet: FramePacket,
    /// # ) -> Result<(), downbeat_threading::BoxError> {
    /// let config = WindowConfig { size: [800, 600], ..WindowConfig::default() };
    /// let backend = GpuBackend::for_window(window, config)?;
    /// let mut render = RenderThread::start(dispatcher, backend, RenderConfig::default())?;
    /// let renderer = render.renderer();
    /// renderer.submit(|gpu| gpu.resize([1024, 768])); // as the window's event says
    /// renderer.submit(move |gpu| {
    ///     let camera = Camera::perspective(1024, 768, 0.8);
    ///     gpu.present(&packet, &camera).expect("a picture of this size can be drawn");
    /// });
    /// render.kick(dispatcher)?; // the end of the frame: it is shown
    /// drop(render.shut_down(dispatcher)?); // the surface, on main
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_window(
        window: impl Into<SurfaceTarget<'static>>,
        config: WindowConfig,
    ) -> Result<Self, GpuError> {
        let instance = device::instance();
        let surface = instance
            .create_surface(window)
            .map_err(|error| GpuError::NoSurface { reason: error.to_string() })?;
        let gpu = Gpu::find(&instance, Some(&surface))?;
        let window = Window::new(&gpu, surface, config)?;
        let mut backend = Self::new(gpu)?;
        backend.window = Some(window);
        Ok(backend)
    }

    /// Draws the main view: at the end of this frame the window shows it. Of several in one frame it shows the last;
    /// after a frame without one it shows what it did before. Captures do not touch it.
    ///
    /// A picture of another size than the window's is scaled to fit, between bars. While the window has no pixels
    /// nothing is drawn, and that is no error.
    pub fn present(&mut self, packet: &FramePacket, camera: &Camera) -> Result<(), GpuError> {
        let size = [camera.width, camera.height];
        let window = self.window.as_mut().ok_or(GpuError::NoWindow)?;
        if window.is_minimised() {
            window.presented.skipped += 1;
            return Ok(());
        }
        self.gpu.check_size(camera.width, camera.height)?;
        let targets = window.take_targets(&self.gpu.device, size);
        let mut encoder =
            self.gpu.device.create_command_encoder(&CommandEncoderDescriptor { label: Some("main view") });
        self.draw(&mut encoder, packet, camera, &targets);
        self.gpu.queue.submit([encoder.finish()]);
        if let Some(window) = &mut self.window {
            window.put_back(targets);
        }
        self.gpu.check()
    }

    /// Tells the window's new size in pixels, before the first frame of that size; zero while it is minimised.
    ///
    /// More than the device can draw is cut to what it can. Without a window this does nothing.
    pub fn resize(&mut self, size: [u32; 2]) {
        let side_max = self.gpu.device.limits().max_texture_dimension_2d;
        if let Some(window) = &mut self.window {
            window.resize(size.map(|side| side.min(side_max)));
        }
    }

    /// What has become of the frames for the window; all zero without one.
    pub fn presented(&self) -> Presented {
        self.window.as_ref().map_or_else(Presented::default, |window| window.presented)
    }
}

/// A surface and the picture that goes there.
pub(super) struct Window {
    surface: Surface<'static>,
    config: SurfaceConfiguration,
    pipeline: Presenting,
    sampler: Sampler,
    /// Its own, because a capture of the same size must not draw over the picture.
    targets: Option<Targets>,
    /// Whether a picture waits to be shown.
    drawn: bool,
    standing: Standing,
    presented: Presented,
}

impl Window {
    fn new(gpu: &Gpu, surface: Surface<'static>, config: WindowConfig) -> Result<Self, GpuError> {
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        let format = best_format(&formats).ok_or_else(|| GpuError::NoSurface {
            reason: format!("`{}` has no format for it", gpu.info.name),
        })?;
        let side_max = gpu.device.limits().max_texture_dimension_2d;
        let mut window = Self {
            pipeline: Presenting::new(&gpu.device, format),
            sampler: gpu.device.create_sampler(&SamplerDescriptor {
                label: Some("present"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..SamplerDescriptor::default()
            }),
            config: SurfaceConfiguration {
                usage: TextureUsages::RENDER_ATTACHMENT,
                format,
                color_space: SurfaceColorSpace::Auto,
                width: 0,
                height: 0,
                present_mode: if config.vsync { PresentMode::AutoVsync } else { PresentMode::AutoNoVsync },
                desired_maximum_frame_latency: 2,
                alpha_mode: CompositeAlphaMode::Auto,
                view_formats: Vec::new(),
            },
            surface,
            targets: None,
            drawn: false,
            standing: Standing::default(),
            presented: Presented::default(),
        };
        window.resize(config.size.map(|side| side.min(side_max)));
        Ok(window)
    }

    fn resize(&mut self, size: [u32; 2]) {
        if size != self.presented.size {
            self.presented.size = size;
            [self.config.width, self.config.height] = size;
            self.standing.stale = true;
        }
    }

    fn is_minimised(&self) -> bool {
        self.presented.size.contains(&0)
    }

    fn take_targets(&mut self, device: &Device, size: [u32; 2]) -> Targets {
        let kept = self.targets.take().filter(|targets| targets.size == size);
        kept.unwrap_or_else(|| Targets::new(device, size))
    }

    fn put_back(&mut self, targets: Targets) {
        // The picture before it, if it was drawn in this frame, was never shown.
        self.presented.skipped += u64::from(self.drawn);
        self.targets = Some(targets);
        self.drawn = true;
    }

    /// The end of a frame: shows the picture if there is a new one. Trouble that may pass costs the frame only.
    pub(super) fn show(&mut self, gpu: &Gpu) -> Result<(), BackendLost> {
        if !std::mem::take(&mut self.drawn) {
            return Ok(());
        }
        if self.is_minimised() {
            self.presented.skipped += 1;
            return Ok(());
        }
        loop {
            let (attempt, error) = self.attempt(gpu);
            match self.standing.judge(attempt) {
                Verdict::Shown => self.presented.shown += 1,
                Verdict::Skip => self.presented.skipped += 1,
                Verdict::Again => continue,
                Verdict::GiveUp => {
                    let error = error.map_or_else(String::new, |error| format!(": {error}"));
                    return Err(BackendLost { reason: format!("the window's surface is gone{error}") });
                }
            }
            return Ok(());
        }
    }

    /// Tries to show the picture, after a new configuration where one is due.
    fn attempt(&mut self, gpu: &Gpu) -> (Attempt, Option<GpuError>) {
        if self.standing.stale {
            let ((), error) = gpu.watched(|| self.surface.configure(&gpu.device, &self.config));
            // One that was never configured must not be asked for an image: wgpu panics.
            if error.is_some() {
                return (Attempt::Failed, error);
            }
            self.presented.configured += 1;
            self.standing.configured();
        }
        let (attempt, error) = gpu.watched(|| match self.surface.get_current_texture() {
            CurrentSurfaceTexture::Success(texture) => self.put(gpu, texture, Attempt::Good),
            CurrentSurfaceTexture::Suboptimal(texture) => self.put(gpu, texture, Attempt::Suboptimal),
            CurrentSurfaceTexture::Timeout | CurrentSurfaceTexture::Occluded => Attempt::Hidden,
            CurrentSurfaceTexture::Outdated => Attempt::Outdated,
            CurrentSurfaceTexture::Lost | CurrentSurfaceTexture::Validation => Attempt::Failed,
        });
        (if error.is_some() { Attempt::Failed } else { attempt }, error)
    }

    /// Puts the picture into the surface's image and hands that to the screen.
    fn put(&self, gpu: &Gpu, image: SurfaceTexture, attempt: Attempt) -> Attempt {
        let Some(targets) = &self.targets else { return attempt };
        let picture = self.view_of(targets);
        let group = gpu.device.create_bind_group(&BindGroupDescriptor {
            label: Some("present"),
            layout: &self.pipeline.layout,
            entries: &[
                entry(0, BindingResource::TextureView(&picture)),
                entry(1, BindingResource::Sampler(&self.sampler)),
            ],
        });
        let view = image.texture.create_view(&TextureViewDescriptor::default());
        let mut encoder =
            gpu.device.create_command_encoder(&CommandEncoderDescriptor { label: Some("present") });
        let mut present = pass(&mut encoder, "present", &[(&view, None, 0.0)], None);
        let [x, y, width, height] =
            fitted(targets.size, [self.config.width, self.config.height]).map(|pixels| pixels as f32);
        present.set_viewport(x, y, width, height, 0.0, 1.0);
        present.set_pipeline(&self.pipeline.pipeline);
        present.set_bind_group(0, &group, &[]);
        present.draw(0..3, 0..1);
        drop(present);
        gpu.queue.submit([encoder.finish()]);
        gpu.queue.present(image);
        attempt
    }

    /// The picture as the surface's format wants it: as it is stored, or decoded where writing encodes it again.
    fn view_of(&self, targets: &Targets) -> TextureView {
        let format = if takes_linear(self.config.format) { COLOUR } else { COLOUR_BYTES };
        let descriptor = TextureViewDescriptor { format: Some(format), ..TextureViewDescriptor::default() };
        targets.colour.texture.create_view(&descriptor)
    }
}

/// Whether values written to a surface of this format are light, not what a screen makes light of.
fn takes_linear(format: TextureFormat) -> bool {
    format.is_srgb() || format == TextureFormat::Rgba16Float
}

fn best_format(offered: &[TextureFormat]) -> Option<TextureFormat> {
    FORMATS.into_iter().find(|format| offered.contains(format)).or_else(|| offered.first().copied())
}

/// Where a picture goes in a window, as large as fits and undistorted: corner and size, in whole pixels.
fn fitted(picture: [u32; 2], window: [u32; 2]) -> [u32; 4] {
    let [across, down] = picture.map(u64::from);
    let [width, height] = window.map(u64::from);
    let rounded = |share: u64, of: u64| ((share + of / 2) / of).max(1) as u32;
    let size = if width * down <= height * across {
        [window[0], rounded(down * width, across)]
    } else {
        [rounded(across * height, down), window[1]]
    };
    [(window[0] - size[0]) / 2, (window[1] - size[1]) / 2, size[0], size[1]]
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_picture_fits_between_bars_undistorted() {
        assert_eq!(fitted([640, 400], [640, 400]), [0, 0, 640, 400]);
        assert_eq!(fitted([100, 100], [400, 200]), [100, 0, 200, 200]);
        assert_eq!(fitted([640, 480], [320, 480]), [0, 120, 320, 240]);
        assert_eq!(fitted([4000, 1], [3, 3]), [0, 1, 3, 1], "a hair's breadth is still a pixel");
    }

    #[test]
    fn a_format_that_needs_no_encoding_is_preferred() {
        use TextureFormat::{Bgra8Unorm, Bgra8UnormSrgb, Rgb10a2Unorm, Rgba8UnormSrgb, Rgba16Float};
        assert_eq!(best_format(&[Bgra8UnormSrgb, Bgra8Unorm]), Some(Bgra8Unorm));
        assert_eq!(best_format(&[Rgba16Float, Rgba8UnormSrgb]), Some(Rgba8UnormSrgb));
        assert_eq!(best_format(&[Rgb10a2Unorm]), Some(Rgb10a2Unorm));
        assert_eq!(best_format(&[]), None);
        assert!(takes_linear(Rgba8UnormSrgb) && takes_linear(Rgba16Float));
        assert!(!takes_linear(Bgra8Unorm) && !takes_linear(Rgb10a2Unorm));
    }
}
