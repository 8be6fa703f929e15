//! The wgpu backend: draws packets, brings the pictures back, and shows the main view in a window if it has one.
//!
//! A picture goes through four passes: the shadow map, what sensors see (depth, objects, normals), light, and its
//! development into colours with the outline of what is selected and the labels. All of it runs on the thread that renders.

mod atlas;
mod capture;
mod device;
mod globals;
mod instances;
mod labels;
mod pipelines;
mod standing;
mod targets;
mod window;

use std::fmt;

use wgpu::util::{BufferInitDescriptor, DeviceExt as _};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferDescriptor, BufferUsages,
    Color, CommandEncoder, CommandEncoderDescriptor, LoadOp, Operations, PollType, RenderPass,
    RenderPassColorAttachment, RenderPassDepthStencilAttachment, RenderPassDescriptor, SamplerDescriptor,
    StoreOp, TextureView,
};

pub use self::capture::Captured;
use self::capture::Pictures;
use self::device::Gpu;
pub use self::device::GpuError;
use self::globals::Globals;
use self::instances::{GpuLine, Sorted};
use self::labels::Labels;
use self::pipelines::{DEPTH, Pipelines};
use self::targets::{SHADOW_SIDE, Target, Targets};
use self::window::Window;
pub use self::window::{Presented, WindowConfig};
use crate::backend::{Backend, BackendLost};
use crate::camera::Camera;
use crate::mesh::Mesh;
use crate::packet::{FramePacket, MeshId};

/// Sizes whose textures are kept.
const TARGETS_MAX: usize = 8;

/// Draws with wgpu.
pub struct GpuBackend {
    /// First, so that the surface goes before the device that draws on it.
    window: Option<Window>,
    gpu: Gpu,
    pipelines: Pipelines,
    meshes: Vec<GpuMesh>,
    shadow: Target,
    shadow_group: BindGroup,
    globals: Buffer,
    globals_group: BindGroup,
    selected: Buffer,
    instances: Growing,
    lines: Growing,
    sorted: Sorted,
    gpu_lines: Vec<GpuLine>,
    labels: Labels,
    /// By size, the one used last at the end.
    targets: Vec<Targets>,
    pictures: Pictures,
}

struct GpuMesh {
    vertices: Buffer,
    indices: Buffer,
    indices_len: u32,
}

impl GpuBackend {
    /// A backend without a window: a real graphics device if there is one, else software.
    pub fn offscreen() -> Result<Self, GpuError> {
        let instance = device::instance();
        Self::new(Gpu::find(&instance, None)?)
    }

    fn new(gpu: Gpu) -> Result<Self, GpuError> {
        let device = &gpu.device;
        let pipelines = Pipelines::new(device);
        let shadow = Target::new(device, "shadow", [SHADOW_SIDE; 2], DEPTH, 1);
        let sampler = device.create_sampler(&SamplerDescriptor {
            label: Some("shadow"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..SamplerDescriptor::default()
        });
        let shadow_group = device.create_bind_group(&BindGroupDescriptor {
            label: Some("shadow"),
            layout: &pipelines.layouts.shadow,
            entries: &[
                entry(0, BindingResource::TextureView(&shadow.view)),
                entry(1, BindingResource::Sampler(&sampler)),
            ],
        });
        let uniform = |label, size| {
            device.create_buffer(&BufferDescriptor {
                label: Some(label),
                size,
                usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let globals = uniform("globals", size_of::<Globals>() as u64);
        let selected = uniform("selected", 16);
        let globals_group = device.create_bind_group(&BindGroupDescriptor {
            label: Some("globals"),
            layout: &pipelines.layouts.globals,
            entries: &[entry(0, globals.as_entire_binding())],
        });
        let mut backend = Self {
            window: None,
            pipelines,
            meshes: Vec::new(),
            shadow,
            shadow_group,
            globals,
            globals_group,
            selected,
            instances: Growing::new("instances"),
            lines: Growing::new("lines"),
            sorted: Sorted::default(),
            gpu_lines: Vec::new(),
            labels: Labels::new(&gpu.device),
            targets: Vec::new(),
            pictures: Pictures::default(),
            gpu,
        };
        // In the order that `instances.rs` counts on.
        for mesh in [Mesh::cube(), Mesh::capsule(), Mesh::cylinder(), Mesh::plane()] {
            backend.upload(&mesh);
        }
        backend.gpu.check()?;
        Ok(backend)
    }

    /// The adapter in use, such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub fn adapter_name(&self) -> &str {
        &self.gpu.info.name
    }

    /// Makes a mesh known, to be drawn with [`Shape::Mesh`](crate::Shape::Mesh).
    pub fn add_mesh(&mut self, mesh: &Mesh) -> MeshId {
        self.upload(mesh);
        MeshId((self.meshes.len() - instances::BUILT_IN - 1) as u32)
    }

    /// Draws what the camera sees of the packet and hands the images to `deliver` when they have arrived, at the end
    /// of this frame or a later one. Any number of cameras may look at one packet.
    ///
    /// `deliver` is called once, in the order of the calls: with an error if the device is lost or the backend dropped
    /// meanwhile. It is not called when this itself returns an error. When as many pictures are on their way as may
    /// be, this waits for the oldest; [`GpuBackend::try_capture`] does not.
    pub fn capture(
        &mut self,
        packet: &FramePacket,
        camera: &Camera,
        deliver: impl FnOnce(Result<Captured, GpuError>) + Send + 'static,
    ) -> Result<(), GpuError> {
        self.gpu.check_size(camera.width, camera.height)?;
        self.pictures.make_room(&self.gpu);
        self.gpu.check()?;
        let targets = self.take_targets([camera.width, camera.height]);
        let mut encoder =
            self.gpu.device.create_command_encoder(&CommandEncoderDescriptor { label: Some("picture") });
        self.draw(&mut encoder, packet, camera, &targets);
        let buffer = self.pictures.copy(&self.gpu.device, &mut encoder, &targets);
        let submission = self.gpu.queue.submit([encoder.finish()]);
        let size = targets.size;
        self.targets.push(targets);
        // Before the buffer is read: after a mistake there is nothing in it, or an older picture.
        self.gpu.check()?;
        self.pictures.request(size, buffer, submission, Box::new(deliver));
        Ok(())
    }

    /// As [`GpuBackend::capture`], but refuses with [`GpuError::PicturesPending`] instead of waiting.
    pub fn try_capture(
        &mut self,
        packet: &FramePacket,
        camera: &Camera,
        deliver: impl FnOnce(Result<Captured, GpuError>) + Send + 'static,
    ) -> Result<(), GpuError> {
        self.pictures.check_room()?;
        self.capture(packet, camera, deliver)
    }

    /// Waits for every picture on its way and hands it over.
    pub fn wait_for_pictures(&mut self) {
        // An error means that the device is lost, which the end of the frame reports.
        let _ = self.gpu.device.poll(PollType::wait_indefinitely());
        self.pictures.hand_over(&self.gpu);
    }

    /// Destroys the graphics device, as a driver that is reset does: for tests of recovery.
    ///
    /// The frame ends with [`BackendLost`]. Pictures that do not come any more are delivered as [`GpuError::Lost`].
    pub fn lose_device(&self) {
        self.gpu.device.destroy();
        // The loss is announced once nothing is being drawn any more; a driver's is at once.
        let _ = self.gpu.device.poll(PollType::wait_indefinitely());
    }

    fn upload(&mut self, mesh: &Mesh) {
        let buffer = |contents: &[u8], usage| {
            self.gpu.device.create_buffer_init(&BufferInitDescriptor { label: Some("mesh"), contents, usage })
        };
        self.meshes.push(GpuMesh {
            vertices: buffer(bytemuck::cast_slice(&mesh.vertices), BufferUsages::VERTEX),
            indices: buffer(bytemuck::cast_slice(&mesh.indices), BufferUsages::INDEX),
            indices_len: mesh.indices.len() as u32,
        });
    }

    /// The textures of a size, made if need be. The ones used least go when there are too many.
    fn take_targets(&mut self, size: [u32; 2]) -> Targets {
        if let Some(at) = self.targets.iter().position(|targets| targets.size == size) {
            return self.targets.remove(at);
        }
        if self.targets.len() >= TARGETS_MAX {
            self.targets.remove(0);
        }
        Targets::new(&self.gpu.device, size)
    }

    /// The passes of one picture, in order.
    fn draw(
        &mut self,
        encoder: &mut CommandEncoder,
        packet: &FramePacket,
        camera: &Camera,
        targets: &Targets,
    ) {
        self.fill_buffers(packet, camera);
        let develop_group = self.gpu.device.create_bind_group(&BindGroupDescriptor {
            label: Some("develop"),
            layout: &self.pipelines.layouts.develop,
            entries: &[
                entry(0, BindingResource::TextureView(&targets.light.view)),
                entry(1, BindingResource::TextureView(&targets.objects.view)),
                entry(2, self.selected.as_entire_binding()),
            ],
        });

        let mut shadow = pass(encoder, "shadow", &[], Some((&self.shadow.view, 1.0)));
        shadow.set_pipeline(&self.pipelines.shadow);
        shadow.set_bind_group(0, &self.globals_group, &[]);
        self.draw_instances(&mut shadow);
        drop(shadow);

        let seen = [
            (&targets.sensed_depth.view, None, f64::INFINITY),
            (&targets.objects.view, None, 0.0),
            (&targets.normals.view, None, 0.0),
        ];
        let mut sensed = pass(encoder, "sensed", &seen, Some((&targets.depth.view, 0.0)));
        sensed.set_pipeline(&self.pipelines.sensed);
        sensed.set_bind_group(0, &self.globals_group, &[]);
        self.draw_instances(&mut sensed);
        drop(sensed);

        let light = [(&targets.light_samples.view, Some(&targets.light.view), 0.0)];
        let mut lit = pass(encoder, "light", &light, Some((&targets.light_depth.view, 0.0)));
        lit.set_bind_group(0, &self.globals_group, &[]);
        lit.set_bind_group(1, &self.shadow_group, &[]);
        lit.set_pipeline(&self.pipelines.lit);
        self.draw_instances(&mut lit);
        lit.set_pipeline(&self.pipelines.sky);
        lit.draw(0..3, 0..1);
        if packet.grid && camera.overlays {
            lit.set_pipeline(&self.pipelines.grid);
            lit.draw(0..3, 0..1);
        }
        if !self.gpu_lines.is_empty() {
            lit.set_pipeline(&self.pipelines.lines);
            lit.set_vertex_buffer(0, self.lines.slice());
            lit.draw(0..6, 0..self.gpu_lines.len() as u32);
        }
        drop(lit);

        let mut develop = pass(encoder, "develop", &[(&targets.colour.view, None, 0.0)], None);
        develop.set_pipeline(&self.pipelines.develop);
        develop.set_bind_group(0, &develop_group, &[]);
        develop.draw(0..3, 0..1);
        // Behind the development: a label's colour is a colour, not light.
        self.labels.draw(&mut develop, &self.gpu.device, &self.pipelines, &targets.sensed_depth.view);
    }

    fn fill_buffers(&mut self, packet: &FramePacket, camera: &Camera) {
        self.sorted.fill(packet, self.meshes.len());
        self.gpu_lines.clear();
        // Sensors see the world, not what is there for people alone.
        let (lines, labels, selected) = if camera.overlays {
            (&*packet.lines, &*packet.labels, packet.selected)
        } else {
            (&[][..], &[][..], 0)
        };
        self.gpu_lines.extend(lines.iter().map(GpuLine::from));
        self.labels.fill(&self.gpu, labels, camera);
        self.instances.write(&self.gpu, bytemuck::cast_slice(&self.sorted.instances));
        self.lines.write(&self.gpu, bytemuck::cast_slice(&self.gpu_lines));
        self.gpu.queue.write_buffer(&self.globals, 0, bytemuck::bytes_of(&Globals::of(packet, camera)));
        self.gpu.queue.write_buffer(&self.selected, 0, bytemuck::bytes_of(&[selected, 0, 0, 0]));
    }

    fn draw_instances(&self, pass: &mut RenderPass<'_>) {
        if self.sorted.instances.is_empty() {
            return;
        }
        pass.set_vertex_buffer(1, self.instances.slice());
        for (mesh, run) in self.sorted.runs() {
            let mesh = &self.meshes[mesh];
            pass.set_vertex_buffer(0, mesh.vertices.slice(..));
            pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..mesh.indices_len, 0, run);
        }
    }
}

impl Backend for GpuBackend {
    fn begin_frame(&mut self, _number: u64) {}

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        let shown = self.window.as_mut().map_or(Ok(()), |window| window.show(&self.gpu));
        // Does not wait: pictures that are still being drawn come with a later frame.
        let _ = self.gpu.device.poll(PollType::Poll);
        self.pictures.hand_over(&self.gpu);
        // A lost device is also the reason for whatever became of the window.
        self.gpu.lost().map_or(shown, Err)
    }
}

impl fmt::Debug for GpuBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuBackend")
            .field("adapter", &self.adapter_name())
            .field("pending", &self.pictures.len())
            .finish_non_exhaustive()
    }
}

/// A vertex buffer that grows with what it holds.
struct Growing {
    label: &'static str,
    buffer: Option<Buffer>,
    len: u64,
}

impl Growing {
    fn new(label: &'static str) -> Self {
        Self { label, buffer: None, len: 0 }
    }

    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) {
        self.len = bytes.len() as u64;
        if bytes.is_empty() {
            return;
        }
        let buffer = match self.buffer.take() {
            Some(buffer) if buffer.size() >= self.len => buffer,
            _ => gpu.device.create_buffer(&BufferDescriptor {
                label: Some(self.label),
                size: self.len.next_power_of_two(),
                usage: BufferUsages::VERTEX | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        };
        gpu.queue.write_buffer(&buffer, 0, bytes);
        self.buffer = Some(buffer);
    }

    fn slice(&self) -> wgpu::BufferSlice<'_> {
        let buffer = self.buffer.as_ref().expect("written before it is drawn");
        buffer.slice(..self.len)
    }
}

fn entry(binding: u32, resource: BindingResource<'_>) -> BindGroupEntry<'_> {
    BindGroupEntry { binding, resource }
}

/// A colour attachment: where to, where its samples are resolved to, and what it starts as.
type Attached<'a> = (&'a TextureView, Option<&'a TextureView>, f64);

fn pass<'a>(
    encoder: &'a mut CommandEncoder,
    label: &str,
    colours: &[Attached<'_>],
    depth: Option<(&TextureView, f32)>,
) -> RenderPass<'a> {
    let attachments: Vec<_> = colours.iter().map(attachment).collect();
    encoder.begin_render_pass(&RenderPassDescriptor {
        label: Some(label),
        color_attachments: &attachments,
        depth_stencil_attachment: depth.map(|(view, start)| RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(Operations { load: LoadOp::Clear(start), store: StoreOp::Store }),
            stencil_ops: None,
        }),
        ..RenderPassDescriptor::default()
    })
}

fn attachment<'a>(&(view, resolve_target, start): &Attached<'a>) -> Option<RenderPassColorAttachment<'a>> {
    let clear = Color { r: start, g: start, b: start, a: start };
    let ops = Operations { load: LoadOp::Clear(clear), store: StoreOp::Store };
    Some(RenderPassColorAttachment { view, depth_slice: None, resolve_target, ops })
}
