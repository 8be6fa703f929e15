//! The textures that a picture of one size is drawn into.

use wgpu::{
    Device, Extent3d, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages, TextureView,
};

use super::pipelines::{COLOUR, COLOUR_BYTES, DEPTH, LIGHT, NORMALS, OBJECTS, SAMPLES, SENSED_DEPTH};

/// Edge of the shadow map.
pub(super) const SHADOW_SIDE: u32 = 2048;

/// A texture and the view of all of it.
pub(super) struct Target {
    pub(super) texture: Texture,
    pub(super) view: TextureView,
}

impl Target {
    pub(super) fn new(
        device: &Device,
        label: &str,
        size: [u32; 2],
        format: TextureFormat,
        samples: u32,
    ) -> Self {
        let mut usage = TextureUsages::RENDER_ATTACHMENT;
        if samples == 1 {
            usage |= TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC;
        }
        let texture = device.create_texture(&TextureDescriptor {
            label: Some(label),
            size: Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: samples,
            dimension: TextureDimension::D2,
            format,
            usage,
            // A window may want the bytes of a picture as they are.
            view_formats: if format == COLOUR { &[COLOUR_BYTES] } else { &[] },
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { texture, view }
    }
}

/// Everything a picture goes through.
pub(super) struct Targets {
    pub(super) size: [u32; 2],
    /// Light, several samples to a pixel, and its depth.
    pub(super) light_samples: Target,
    pub(super) light_depth: Target,
    /// Light, one value to a pixel.
    pub(super) light: Target,
    pub(super) colour: Target,
    /// What sensors see; its own depth, because it has one sample to a pixel.
    pub(super) sensed_depth: Target,
    pub(super) objects: Target,
    pub(super) normals: Target,
    pub(super) depth: Target,
}

impl Targets {
    pub(super) fn new(device: &Device, size: [u32; 2]) -> Self {
        let target = |label, format, samples| Target::new(device, label, size, format, samples);
        Self {
            size,
            light_samples: target("light, samples", LIGHT, SAMPLES),
            light_depth: target("light, depth", DEPTH, SAMPLES),
            light: target("light", LIGHT, 1),
            colour: target("colour", COLOUR, 1),
            sensed_depth: target("sensed depth", SENSED_DEPTH, 1),
            objects: target("objects", OBJECTS, 1),
            normals: target("normals", NORMALS, 1),
            depth: target("depth", DEPTH, 1),
        }
    }
}
