//! Pictures on their way back from the GPU: copied behind the frame, handed out when they have arrived.
//!
//! Nobody waits for them: a frame that ends asks which have come.

use std::sync::Arc;

use downbeat_threading::sync::atomic::{AtomicU8, Ordering};
use half::f16;
use wgpu::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoder, Device, Extent3d, MapMode, TexelCopyBufferInfo,
    TexelCopyBufferLayout,
};

use super::targets::{Target, Targets};

/// What a camera saw, row by row from the upper left.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue and opacity as on a screen.
    pub colour: Vec<[u8; 4]>,
    /// Metres along the optical axis; infinite where there is nothing.
    pub depth: Vec<f32>,
    /// The object seen; 0 where there is none.
    pub objects: Vec<u32>,
    /// The surface's normal in the world; zero where there is none.
    pub normals: Vec<[f32; 3]>,
}

type Deliver = Box<dyn FnOnce(Captured) + Send>;

const COMING: u8 = 0;
const ARRIVED: u8 = 1;
const FAILED: u8 = 2;

/// The four images of a picture, in one buffer each.
pub(super) struct Pending {
    size: [u32; 2],
    buffers: [Buffer; 4],
    /// Of each image: whether it is coming, has arrived or has failed.
    states: Arc<[AtomicU8; 4]>,
    deliver: Deliver,
}

/// Rows in a buffer start at multiples of this.
const ROW_ALIGNMENT: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

impl Pending {
    /// Copies the images behind what was drawn.
    pub(super) fn copy(
        device: &Device,
        encoder: &mut CommandEncoder,
        targets: &Targets,
        deliver: Deliver,
    ) -> Self {
        let size = targets.size;
        let copy = |encoder: &mut CommandEncoder, target: &Target, pixel_bytes: u32| {
            let bytes_per_row = row_bytes(size[0], pixel_bytes);
            let buffer = device.create_buffer(&BufferDescriptor {
                label: Some("capture"),
                size: u64::from(bytes_per_row) * u64::from(size[1]),
                usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            let layout =
                TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(bytes_per_row), rows_per_image: None };
            encoder.copy_texture_to_buffer(
                target.texture.as_image_copy(),
                TexelCopyBufferInfo { buffer: &buffer, layout },
                Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            );
            buffer
        };
        let buffers = [
            copy(encoder, &targets.colour, 4),
            copy(encoder, &targets.sensed_depth, 4),
            copy(encoder, &targets.objects, 4),
            copy(encoder, &targets.normals, 8),
        ];
        let states = Arc::new([const { AtomicU8::new(COMING) }; 4]);
        Self { size, buffers, states, deliver }
    }

    /// Asks for the images, once what fills them is submitted.
    pub(super) fn request(&self) {
        for (at, buffer) in self.buffers.iter().enumerate() {
            let states = Arc::clone(&self.states);
            buffer.map_async(MapMode::Read, .., move |mapped| {
                states[at].store(if mapped.is_ok() { ARRIVED } else { FAILED }, Ordering::Release);
            });
        }
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.states.iter().all(|state| state.load(Ordering::Acquire) == ARRIVED)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.states.iter().any(|state| state.load(Ordering::Acquire) == FAILED)
    }

    /// Reads the images out of the buffers and hands them over.
    pub(super) fn deliver(self) {
        let [width, height] = self.size;
        let pixels = width as usize * height as usize;
        let mut captured = Captured {
            width,
            height,
            colour: Vec::with_capacity(pixels),
            depth: Vec::with_capacity(pixels),
            objects: Vec::with_capacity(pixels),
            normals: Vec::with_capacity(pixels),
        };
        let [colour, depth, objects, normals] = &self.buffers;
        each_row(colour, self.size, 4, |row| captured.colour.extend_from_slice(bytemuck::cast_slice(row)));
        each_row(depth, self.size, 4, |row| captured.depth.extend_from_slice(bytemuck::cast_slice(row)));
        each_row(objects, self.size, 4, |row| captured.objects.extend_from_slice(bytemuck::cast_slice(row)));
        each_row(normals, self.size, 8, |row| {
            let halves: &[[f16; 4]] = bytemuck::cast_slice(row);
            captured.normals.extend(halves.iter().map(|[x, y, z, _]| [*x, *y, *z].map(f16::to_f32)));
        });
        (self.deliver)(captured);
    }
}

fn row_bytes(width: u32, pixel_bytes: u32) -> u32 {
    (width * pixel_bytes).next_multiple_of(ROW_ALIGNMENT)
}

fn each_row(buffer: &Buffer, size: [u32; 2], pixel_bytes: u32, mut take: impl FnMut(&[u8])) {
    let mapped = buffer.get_mapped_range(..);
    let Ok(mapped) = mapped else { return };
    for row in mapped.chunks(row_bytes(size[0], pixel_bytes) as usize) {
        take(&row[..(size[0] * pixel_bytes) as usize]);
    }
}
