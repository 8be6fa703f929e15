//! Pictures on their way back from the GPU: copied behind the frame, handed out when they have arrived.
//!
//! Nobody waits for them: a frame that ends asks which have come. Whoever asked for one hears of it in any case, also
//! when the device is lost.

use std::collections::VecDeque;
use std::sync::Arc;

use downbeat_threading::caught;
use downbeat_threading::sync::atomic::{AtomicU8, Ordering};
use half::f16;
use wgpu::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoder, Device, Extent3d, MapMode, PollType,
    SubmissionIndex, TexelCopyBufferInfo, TexelCopyBufferLayout,
};

use super::device::{Gpu, GpuError};
use super::targets::Targets;
use crate::backend::BackendLost;

/// Pictures that may be on their way at once.
const PENDING_MAX: usize = 32;
/// Buffers that are kept for pictures to come.
const SPARE_MAX: usize = 16;

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

pub(super) type Deliver = Box<dyn FnOnce(Result<Captured, GpuError>) + Send>;

const COMING: u8 = 0;
const ARRIVED: u8 = 1;
const FAILED: u8 = 2;

/// The pictures on their way, and buffers for those to come.
#[derive(Default)]
pub(super) struct Pictures {
    /// In the order they were asked for.
    pending: VecDeque<Pending>,
    /// The one used last at the end.
    spare: Vec<Buffer>,
}

struct Pending {
    size: [u32; 2],
    /// The four images, one behind the other.
    buffer: Buffer,
    /// Whether it is coming, has arrived or has failed.
    state: Arc<AtomicU8>,
    submission: SubmissionIndex,
    deliver: Deliver,
}

impl Pictures {
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn check_room(&self) -> Result<(), GpuError> {
        if self.pending.len() < PENDING_MAX {
            return Ok(());
        }
        Err(GpuError::PicturesPending { pictures_max: PENDING_MAX })
    }

    /// Waits until one more can be on its way.
    pub(super) fn make_room(&mut self, gpu: &Gpu) {
        if self.check_room().is_ok() {
            return;
        }
        let submission_index = self.pending.front().map(|oldest| oldest.submission.clone());
        // An error means that the device is lost, and then none of them will come.
        let _ = gpu.device.poll(PollType::Wait { submission_index, timeout: None });
        self.hand_over(gpu);
    }

    /// Copies the images behind what was drawn, into a buffer that [`Pictures::request`] reads.
    pub(super) fn copy(
        &mut self,
        device: &Device,
        encoder: &mut CommandEncoder,
        targets: &Targets,
    ) -> Buffer {
        let size = targets.size;
        let bytes = Images::of(size).bytes;
        let buffer = match self.spare.iter().rposition(|spare| spare.size() == bytes) {
            Some(at) => self.spare.remove(at),
            None => device.create_buffer(&BufferDescriptor {
                label: Some("capture"),
                size: bytes,
                usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
                mapped_at_creation: false,
            }),
        };
        let images = [&targets.colour, &targets.sensed_depth, &targets.objects, &targets.normals];
        for (at, target) in images.into_iter().enumerate() {
            let (offset, row_bytes) = Images::of(size).place(at);
            encoder.copy_texture_to_buffer(
                target.texture.as_image_copy(),
                TexelCopyBufferInfo {
                    buffer: &buffer,
                    layout: TexelCopyBufferLayout {
                        offset,
                        bytes_per_row: Some(row_bytes),
                        rows_per_image: None,
                    },
                },
                Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            );
        }
        buffer
    }

    /// Asks for the images, once what fills them is submitted.
    pub(super) fn request(
        &mut self,
        size: [u32; 2],
        buffer: Buffer,
        submission: SubmissionIndex,
        deliver: Deliver,
    ) {
        let state = Arc::new(AtomicU8::new(COMING));
        let noted = Arc::clone(&state);
        buffer.map_async(MapMode::Read, .., move |mapped| {
            noted.store(if mapped.is_ok() { ARRIVED } else { FAILED }, Ordering::Release);
        });
        self.pending.push_back(Pending { size, buffer, state, submission, deliver });
    }

    /// Hands over what has arrived, in the order it was asked for. On a lost device, nothing more will arrive.
    pub(super) fn hand_over(&mut self, gpu: &Gpu) {
        while let Some(next) = self.pending.front() {
            let (state, lost) = (next.state.load(Ordering::Acquire), gpu.lost());
            if state == COMING && lost.is_none() {
                return;
            }
            let Some(pending) = self.pending.pop_front() else { return };
            let captured = if state == ARRIVED { read(&pending.buffer, pending.size) } else { None };
            if captured.is_some() {
                self.keep(pending.buffer);
            }
            let unreadable = || BackendLost { reason: "a picture could not be read back".to_owned() };
            (pending.deliver)(captured.ok_or_else(|| lost.unwrap_or_else(unreadable).into()));
        }
    }

    fn keep(&mut self, buffer: Buffer) {
        buffer.unmap();
        if self.spare.len() >= SPARE_MAX {
            self.spare.remove(0);
        }
        self.spare.push(buffer);
    }
}

impl Drop for Pictures {
    fn drop(&mut self) {
        for pending in self.pending.drain(..) {
            // One that panics keeps nobody else from being told, and there is nobody to report it to.
            let _ = caught(|| (pending.deliver)(Err(GpuError::Dropped)));
        }
    }
}

/// Bytes that a picture takes on its way.
pub(super) fn picture_bytes(size: [u32; 2]) -> u64 {
    Images::of(size).bytes
}

/// Where the images lie in their buffer: colour, depth, objects, normals.
struct Images {
    rows: [u64; 4],
    height: u64,
    bytes: u64,
}

impl Images {
    const PIXEL_BYTES: [u64; 4] = [4, 4, 4, 8];

    fn of([width, height]: [u32; 2]) -> Self {
        let alignment = u64::from(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let rows = Self::PIXEL_BYTES.map(|bytes| (u64::from(width) * bytes).next_multiple_of(alignment));
        let height = u64::from(height);
        Self { rows, height, bytes: rows.iter().sum::<u64>() * height }
    }

    /// Where an image begins, and the bytes from one row to the next.
    fn place(&self, image: usize) -> (u64, u32) {
        (self.rows[..image].iter().sum::<u64>() * self.height, self.rows[image] as u32)
    }
}

/// Reads the images out of a buffer; `None` if it is not there to be read.
fn read(buffer: &Buffer, size: [u32; 2]) -> Option<Captured> {
    let [width, height] = size;
    let pixels = width as usize * height as usize;
    let mut captured = Captured {
        width,
        height,
        colour: Vec::with_capacity(pixels),
        depth: Vec::with_capacity(pixels),
        objects: Vec::with_capacity(pixels),
        normals: Vec::with_capacity(pixels),
    };
    let mapped = buffer.get_mapped_range(..).ok()?;
    let images = Images::of(size);
    let rows = |image: usize| {
        let (begin, row_bytes) = images.place(image);
        let end = begin + u64::from(row_bytes) * images.height;
        let used = width as usize * Images::PIXEL_BYTES[image] as usize;
        mapped[begin as usize..end as usize].chunks(row_bytes as usize).map(move |row| &row[..used])
    };
    rows(0).for_each(|row| captured.colour.extend_from_slice(bytemuck::cast_slice(row)));
    rows(1).for_each(|row| captured.depth.extend_from_slice(bytemuck::cast_slice(row)));
    rows(2).for_each(|row| captured.objects.extend_from_slice(bytemuck::cast_slice(row)));
    rows(3).for_each(|row| {
        let halves: &[[f16; 4]] = bytemuck::cast_slice(row);
        captured.normals.extend(halves.iter().map(|[x, y, z, _]| [*x, *y, *z].map(f16::to_f32)));
    });
    Some(captured)
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;
    use crate::backend::Backend as _;
    use crate::camera::Camera;
    use crate::gpu::device::tests::offscreen;
    use crate::packet::FramePacket;

    #[test]
    fn buffers_are_used_again_and_only_so_many_are_kept() {
        let Some(mut backend) = offscreen() else { return };
        let packet = FramePacket::default();
        let mut frame = |side: u32| {
            let camera = Camera::perspective(side, 3, 1.0);
            backend.capture(&packet, &camera, |picture| drop(picture.unwrap())).unwrap();
            backend.wait_for_pictures();
            backend.end_frame().unwrap();
            backend.pictures.spare.clone()
        };
        let first = frame(5);
        assert_eq!(first.len(), 1);
        for _ in 0..100 {
            assert_eq!(frame(5), first);
        }
        // Each of another size, so that none can be used again.
        for side in 0..100 {
            assert!(frame(64 * side + 70).len() <= SPARE_MAX);
        }
    }

    #[test]
    fn images_lie_behind_one_another_on_aligned_rows() {
        let images = Images::of([65, 3]);
        let places = [0, 1, 2, 3].map(|image| images.place(image));
        assert_eq!(places, [(0, 512), (1536, 512), (3072, 512), (4608, 768)]);
        assert_eq!(images.bytes, 4608 + 3 * 768);
        assert_eq!(picture_bytes([1 << 20; 2]), 20 << 40, "more than 32 bits can count");
    }
}
