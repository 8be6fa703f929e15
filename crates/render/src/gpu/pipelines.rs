//! The pipelines: made once, when the backend is.

use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BlendState,
    BufferBindingType, ColorTargetState, ColorWrites, CompareFunction, DepthBiasState, DepthStencilState,
    Device, Face, FragmentState, MultisampleState, PipelineLayoutDescriptor, PrimitiveState, RenderPipeline,
    RenderPipelineDescriptor, SamplerBindingType, ShaderModule, ShaderModuleDescriptor, ShaderSource,
    ShaderStages, StencilState, TextureFormat, TextureSampleType, TextureViewDimension, VertexBufferLayout,
    VertexState, VertexStepMode, vertex_attr_array,
};

use super::instances::{GpuInstance, GpuLine};
use super::labels::GpuGlyph;
use crate::mesh::Vertex;

pub(super) const LIGHT: TextureFormat = TextureFormat::Rgba16Float;
pub(super) const COLOUR: TextureFormat = TextureFormat::Rgba8UnormSrgb;
/// The same bytes, taken for what they are.
pub(super) const COLOUR_BYTES: TextureFormat = TextureFormat::Rgba8Unorm;
pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
pub(super) const SENSED_DEPTH: TextureFormat = TextureFormat::R32Float;
pub(super) const OBJECTS: TextureFormat = TextureFormat::R32Uint;
pub(super) const NORMALS: TextureFormat = TextureFormat::Rgba16Float;
/// Samples per pixel of the lit picture.
pub(super) const SAMPLES: u32 = 4;

pub(super) struct Layouts {
    pub(super) globals: BindGroupLayout,
    pub(super) shadow: BindGroupLayout,
    pub(super) develop: BindGroupLayout,
    pub(super) labels: BindGroupLayout,
}

pub(super) struct Pipelines {
    pub(super) layouts: Layouts,
    pub(super) shadow: RenderPipeline,
    pub(super) lit: RenderPipeline,
    pub(super) sky: RenderPipeline,
    pub(super) grid: RenderPipeline,
    pub(super) lines: RenderPipeline,
    pub(super) sensed: RenderPipeline,
    pub(super) develop: RenderPipeline,
    pub(super) labels: RenderPipeline,
}

impl Pipelines {
    pub(super) fn new(device: &Device) -> Self {
        let module = |label, source: &'static str| {
            device.create_shader_module(ShaderModuleDescriptor {
                label: Some(label),
                source: ShaderSource::Wgsl(source.into()),
            })
        };
        let scene = module("scene", include_str!("scene.wgsl"));
        let develop = module("develop", include_str!("develop.wgsl"));
        let labels = module("labels", include_str!("labels.wgsl"));
        let layouts = Layouts::new(device);
        let make = |plan: Plan<'_>| plan.make(device);
        let both = [&layouts.globals, &layouts.shadow];
        let base = Plan::new(&scene, &both);
        Self {
            shadow: make(Plan {
                label: "shadow",
                layouts: &[&layouts.globals],
                vertex: "shadow_vertex",
                buffers: Buffers::Mesh,
                depth: Some((CompareFunction::LessEqual, true)),
                bias: DepthBiasState { constant: 2, slope_scale: 1.5, clamp: 0.0 },
                cull: None,
                ..base
            }),
            lit: make(Plan {
                label: "lit",
                vertex: "surface_vertex",
                fragment: Some("lit_fragment"),
                buffers: Buffers::Mesh,
                targets: &[LIGHT],
                depth: Some((CompareFunction::Greater, true)),
                samples: SAMPLES,
                ..base
            }),
            sky: make(Plan {
                label: "sky",
                vertex: "whole_vertex",
                fragment: Some("sky_fragment"),
                targets: &[LIGHT],
                depth: Some((CompareFunction::GreaterEqual, false)),
                samples: SAMPLES,
                ..base
            }),
            grid: make(Plan {
                label: "grid",
                vertex: "whole_vertex",
                fragment: Some("grid_fragment"),
                targets: &[LIGHT],
                blend: true,
                depth: Some((CompareFunction::Greater, false)),
                samples: SAMPLES,
                ..base
            }),
            lines: make(Plan {
                label: "lines",
                vertex: "line_vertex",
                fragment: Some("line_fragment"),
                buffers: Buffers::Lines,
                targets: &[LIGHT],
                depth: Some((CompareFunction::GreaterEqual, true)),
                samples: SAMPLES,
                cull: None,
                ..base
            }),
            sensed: make(Plan {
                label: "sensed",
                layouts: &[&layouts.globals],
                vertex: "surface_vertex",
                fragment: Some("sensed_fragment"),
                buffers: Buffers::Mesh,
                targets: &[SENSED_DEPTH, OBJECTS, NORMALS],
                depth: Some((CompareFunction::Greater, true)),
                ..base
            }),
            develop: make(Plan {
                label: "develop",
                layouts: &[&layouts.develop],
                vertex: "whole_vertex",
                fragment: Some("develop_fragment"),
                targets: &[COLOUR],
                ..Plan::new(&develop, &[])
            }),
            labels: make(Plan {
                label: "labels",
                layouts: &[&layouts.labels],
                vertex: "glyph_vertex",
                fragment: Some("glyph_fragment"),
                buffers: Buffers::Glyphs,
                targets: &[COLOUR],
                blend: true,
                cull: None,
                ..Plan::new(&labels, &[])
            }),
            layouts,
        }
    }
}

/// What puts a finished picture into a window.
pub(super) struct Presenting {
    pub(super) layout: BindGroupLayout,
    pub(super) pipeline: RenderPipeline,
}

impl Presenting {
    pub(super) fn new(device: &Device, format: TextureFormat) -> Self {
        let module = device.create_shader_module(ShaderModuleDescriptor {
            label: Some("present"),
            source: ShaderSource::Wgsl(include_str!("present.wgsl").into()),
        });
        let layout = layout(
            device,
            "present",
            &[
                texture(TextureSampleType::Float { filterable: true }),
                BindingType::Sampler(SamplerBindingType::Filtering),
            ],
        );
        let pipeline = Plan {
            label: "present",
            layouts: &[&layout],
            vertex: "whole_vertex",
            fragment: Some("present_fragment"),
            targets: &[format],
            cull: None,
            ..Plan::new(&module, &[])
        }
        .make(device);
        Self { layout, pipeline }
    }
}

/// Which buffers a vertex shader reads.
#[derive(Clone, Copy)]
enum Buffers {
    None,
    Mesh,
    Lines,
    Glyphs,
}

/// A pipeline by what sets it apart from the others.
#[derive(Clone, Copy)]
struct Plan<'a> {
    label: &'static str,
    module: &'a ShaderModule,
    layouts: &'a [&'a BindGroupLayout],
    vertex: &'static str,
    fragment: Option<&'static str>,
    buffers: Buffers,
    targets: &'a [TextureFormat],
    blend: bool,
    depth: Option<(CompareFunction, bool)>,
    bias: DepthBiasState,
    samples: u32,
    cull: Option<Face>,
}

impl<'a> Plan<'a> {
    fn new(module: &'a ShaderModule, layouts: &'a [&'a BindGroupLayout]) -> Self {
        Self {
            label: "",
            module,
            layouts,
            vertex: "",
            fragment: None,
            buffers: Buffers::None,
            targets: &[],
            blend: false,
            depth: None,
            bias: DepthBiasState::default(),
            samples: 1,
            cull: Some(Face::Back),
        }
    }

    fn make(&self, device: &Device) -> RenderPipeline {
        let layouts: Vec<Option<&BindGroupLayout>> = self.layouts.iter().copied().map(Some).collect();
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some(self.label),
            bind_group_layouts: &layouts,
            ..PipelineLayoutDescriptor::default()
        });
        let corner = vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32];
        let thing = vertex_attr_array![
            3 => Float32x4, 4 => Float32x4, 5 => Float32x4, 6 => Float32x4, 7 => Float32x2, 8 => Uint32
        ];
        let stroke = vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Float32x4];
        let glyph = vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Float32x4, 3 => Float32x4];
        let buffer = |stride: usize, step_mode, attributes| {
            Some(VertexBufferLayout { array_stride: stride as u64, step_mode, attributes })
        };
        let buffers: Vec<Option<VertexBufferLayout<'_>>> = match self.buffers {
            Buffers::None => Vec::new(),
            Buffers::Mesh => vec![
                buffer(size_of::<Vertex>(), VertexStepMode::Vertex, &corner),
                buffer(size_of::<GpuInstance>(), VertexStepMode::Instance, &thing),
            ],
            Buffers::Lines => vec![buffer(size_of::<GpuLine>(), VertexStepMode::Instance, &stroke)],
            Buffers::Glyphs => vec![buffer(size_of::<GpuGlyph>(), VertexStepMode::Instance, &glyph)],
        };
        let blend = self.blend.then_some(BlendState::ALPHA_BLENDING);
        let target = |format: &TextureFormat| {
            Some(ColorTargetState { format: *format, blend, write_mask: ColorWrites::ALL })
        };
        let targets: Vec<Option<ColorTargetState>> = self.targets.iter().map(target).collect();
        device.create_render_pipeline(&RenderPipelineDescriptor {
            label: Some(self.label),
            layout: Some(&layout),
            vertex: VertexState {
                module: self.module,
                entry_point: Some(self.vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &buffers,
            },
            primitive: PrimitiveState { cull_mode: self.cull, ..PrimitiveState::default() },
            depth_stencil: self.depth.map(|(compare, write)| DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(write),
                depth_compare: Some(compare),
                stencil: StencilState::default(),
                bias: self.bias,
            }),
            multisample: MultisampleState { count: self.samples, ..MultisampleState::default() },
            fragment: self.fragment.map(|entry_point| FragmentState {
                module: self.module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

impl Layouts {
    fn new(device: &Device) -> Self {
        let layout = |label, entries: &[BindingType]| layout(device, label, entries);
        let uniform = BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        Self {
            globals: layout("globals", &[uniform]),
            shadow: layout(
                "shadow",
                &[texture(TextureSampleType::Depth), BindingType::Sampler(SamplerBindingType::Comparison)],
            ),
            develop: layout(
                "develop",
                &[
                    texture(TextureSampleType::Float { filterable: false }),
                    texture(TextureSampleType::Uint),
                    uniform,
                ],
            ),
            labels: layout("labels", &[texture(TextureSampleType::Float { filterable: false }); 2]),
        }
    }
}

fn layout(device: &Device, label: &str, entries: &[BindingType]) -> BindGroupLayout {
    let entries: Vec<BindGroupLayoutEntry> = (0..)
        .zip(entries)
        .map(|(binding, ty)| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::VERTEX_FRAGMENT,
            ty: *ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}

fn texture(sample_type: TextureSampleType) -> BindingType {
    BindingType::Texture { sample_type, view_dimension: TextureViewDimension::D2, multisampled: false }
}
