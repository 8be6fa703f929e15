//! Labels as the GPU wants them: laid out in whole pixels of one picture, a quad to a glyph.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};
use wgpu::{
    BindGroupDescriptor, BindingResource, Device, Extent3d, RenderPass, TexelCopyBufferLayout, Texture,
    TextureView,
};

use super::atlas::{Atlas, AtlasFull, FontSize, SIDE, TEXEL_BYTES};
use super::device::Gpu;
use super::pipelines::Pipelines;
use super::{Growing, entry};
use crate::camera::Camera;
use crate::label::{Label, Occlusion};

/// Quads of a picture, two to a glyph; labels beyond are not drawn.
const QUADS_MAX: usize = 1 << 16;
/// How much of a halo is seen where it is thickest.
const HALO_OPACITY: f32 = 0.8;
/// What is left of a label that is [`Occlusion::Faded`].
const FADED: f32 = 0.3;

/// One quad in GPU memory.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GpuGlyph {
    rectangle: [f32; 4],
    colour: [f32; 4],
    anchor: [f32; 4],
    image: [f32; 4],
}

/// The labels of one picture, and the glyphs of all; its memory is kept from frame to frame.
pub(super) struct Labels {
    atlas: Atlas,
    texture: Texture,
    view: TextureView,
    layout: Layout,
    quads: Growing,
}

impl Labels {
    pub(super) fn new(device: &Device) -> Self {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("glyphs"),
            size: Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rg8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { atlas: Atlas::new(), texture, view, layout: Layout::default(), quads: Growing::new("labels") }
    }

    /// Lays out what the camera sees of the labels. Glyphs that are new go to the texture.
    pub(super) fn fill(&mut self, gpu: &Gpu, labels: &[Label], camera: &Camera) {
        if self.layout.fill(&mut self.atlas, labels, camera).is_err() {
            // Glyphs of earlier pictures made way for this one's. If those alone are too many, the rest is left out.
            self.atlas.clear();
            let _ = self.layout.fill(&mut self.atlas, labels, camera);
        }
        if let Some((rows, texels)) = self.atlas.take_changed() {
            let mut target = self.texture.as_image_copy();
            target.origin.y = rows.start;
            let layout = TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(SIDE * TEXEL_BYTES),
                rows_per_image: None,
            };
            let height = rows.end - rows.start;
            gpu.queue.write_texture(
                target,
                texels,
                layout,
                Extent3d { width: SIDE, height, depth_or_array_layers: 1 },
            );
        }
        self.quads.write(gpu, bytemuck::cast_slice(&self.layout.quads));
    }

    /// Draws them over the picture; `sensed_depth` says what is behind something.
    pub(super) fn draw(
        &self,
        pass: &mut RenderPass<'_>,
        device: &Device,
        pipelines: &Pipelines,
        sensed_depth: &TextureView,
    ) {
        if self.layout.quads.is_empty() {
            return;
        }
        let group = device.create_bind_group(&BindGroupDescriptor {
            label: Some("labels"),
            layout: &pipelines.layouts.labels,
            entries: &[
                entry(0, BindingResource::TextureView(&self.view)),
                entry(1, BindingResource::TextureView(sensed_depth)),
            ],
        });
        pass.set_pipeline(&pipelines.labels);
        pass.set_bind_group(0, &group, &[]);
        pass.set_vertex_buffer(0, self.quads.slice());
        pass.draw(0..6, 0..self.layout.quads.len() as u32);
    }
}

/// Quads in the order they are drawn: label by label, the halos of each before its glyphs.
#[derive(Default)]
struct Layout {
    quads: Vec<GpuGlyph>,
    /// Of the label that is being laid out.
    line_widths: Vec<f32>,
}

impl Layout {
    fn fill(&mut self, atlas: &mut Atlas, labels: &[Label], camera: &Camera) -> Result<(), AtlasFull> {
        self.quads.clear();
        let (clip_from_world, camera_from_world) = (camera.clip_from_world(), camera.camera_from_world());
        let picture = Vec2::new(camera.width as f32, camera.height as f32);
        for label in labels {
            let clip = clip_from_world * label.position.extend(1.0);
            // Also false for what is not a number.
            let in_range = clip.w > 0.0 && clip.z >= 0.0 && clip.z <= clip.w;
            if !in_range || !label.size.is_finite() || self.quads.len() >= QUADS_MAX {
                continue;
            }
            let pixel = Vec2::new(0.5 + 0.5 * clip.x / clip.w, 0.5 - 0.5 * clip.y / clip.w) * picture;
            let depth = camera_from_world.transform_point3(label.position).z;
            self.lay_out(atlas, label, pixel, depth, picture)?;
        }
        Ok(())
    }

    fn lay_out(
        &mut self,
        atlas: &mut Atlas,
        label: &Label,
        pixel: Vec2,
        depth: f32,
        picture: Vec2,
    ) -> Result<(), AtlasFull> {
        let size = FontSize::of(label.size.clamp(Label::SIZE_MIN, Label::SIZE_MAX));
        let metrics = atlas.metrics(size);
        self.measure(atlas, size, &label.text);
        let widest = self.line_widths.iter().copied().fold(0.0, f32::max);
        let extent = Vec2::new(widest, metrics.line * self.line_widths.len() as f32);
        let corner = pixel + label.offset - label.anchor * extent;
        let margin = size.pixels();
        let seen = (corner + extent).cmpgt(Vec2::splat(-margin)) & corner.cmplt(picture + margin);
        if !seen.all() {
            return Ok(());
        }
        let left_of = |width: f32| (corner.x + (widest - width) * label.anchor.x).round();
        let mut baseline = corner.y.round() + metrics.ascent;
        let first = self.quads.len();
        let mut line = 0;
        let mut pen = left_of(self.line_widths[0]);
        for character in shown(&label.text) {
            if character == '\n' {
                line += 1;
                pen = left_of(self.line_widths[line]);
                baseline += metrics.line;
                continue;
            }
            if let Some(image) = atlas.image(size, character, pen - pen.floor())? {
                let [width, height] = image.size.map(|side| side as f32);
                let at = [pen.floor() + image.bearing[0], baseline + image.bearing[1]];
                self.quads.push(GpuGlyph {
                    rectangle: [at[0], at[1], width, height],
                    colour: halo_of(label.colour).extend(HALO_OPACITY).into(),
                    anchor: [pixel.x, pixel.y, depth, left_when_behind(label.occlusion)],
                    image: [image.at[0] as f32, image.at[1] as f32, 1.0, 0.0],
                });
            }
            pen += atlas.advance(size, character);
        }
        // Over all of its halos, or each would darken the letter before.
        for at in first..self.quads.len() {
            let mut quad = self.quads[at];
            quad.colour = label.colour.extend(1.0).into();
            quad.image[2] = 0.0;
            self.quads.push(quad);
        }
        Ok(())
    }

    fn measure(&mut self, atlas: &Atlas, size: FontSize, text: &str) {
        self.line_widths.clear();
        let mut width = 0.0;
        for character in shown(text) {
            if character == '\n' {
                self.line_widths.push(width);
                width = 0.0;
            } else {
                width += atlas.advance(size, character);
            }
        }
        self.line_widths.push(width);
    }
}

/// The characters of a text that are drawn, and its newlines.
fn shown(text: &str) -> impl Iterator<Item = char> {
    let (text, rest) = match text.char_indices().nth(Label::CHARS_MAX) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let characters = text.chars().chain(rest.chars());
    characters
        .map(|character| if character == '\t' { ' ' } else { character })
        .filter(|character| *character == '\n' || !character.is_control())
}

/// Light around dark text, dark around all other.
fn halo_of(colour: Vec3) -> Vec3 {
    let luminance = colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
    if luminance < 0.1 { Vec3::splat(0.9) } else { Vec3::new(0.004, 0.005, 0.007) }
}

fn left_when_behind(occlusion: Occlusion) -> f32 {
    match occlusion {
        Occlusion::Ignored => 1.0,
        Occlusion::Faded => FADED,
        Occlusion::Hidden => 0.0,
    }
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera::perspective(200, 100, 1.0).looking_at(Vec3::Y * -5.0, Vec3::ZERO)
    }

    /// The glyphs of one label in the middle of the picture, without their halos.
    fn glyphs(label: &Label) -> Vec<GpuGlyph> {
        let mut layout = Layout::default();
        let filled = layout.fill(&mut Atlas::new(), std::slice::from_ref(label), &camera());
        filled.expect("an empty atlas has room for a label");
        let (halos, glyphs) = layout.quads.split_at(layout.quads.len() / 2);
        assert!(
            halos.iter().all(|quad| quad.image[2] > 0.5) && glyphs.iter().all(|quad| quad.image[2] < 0.5)
        );
        glyphs.to_vec()
    }

    fn text(text: &str) -> Vec<GpuGlyph> {
        glyphs(&Label::new(Vec3::ZERO, text))
    }

    #[test]
    fn lines_go_down_and_control_characters_take_no_room() {
        let one = text("ab");
        assert_eq!(one.len(), 2);
        assert_eq!(text("a\u{7}b\r"), one);
        assert_eq!(text("a\tb").len(), 2);
        let two = text("a\n\nb");
        assert!((two[1].rectangle[1] - two[0].rectangle[1]) > 2.0 * 14.0, "an empty line is a line");
        assert!(text("").is_empty() && text("\n \n").is_empty());
    }

    #[test]
    fn an_endless_text_is_cut() {
        let long = text(&"a\n".repeat(1_000_000));
        assert_eq!(long.len(), Label::CHARS_MAX / 2 + 1, "an ellipsis is the last");
    }

    #[test]
    fn a_label_lies_as_its_anchor_says_and_on_whole_pixels() {
        let at = |anchor: Vec2| {
            let label = Label { anchor, offset: Vec2::ZERO, ..Label::new(Vec3::ZERO, "wide\nI") };
            glyphs(&label)
        };
        let (left, right) = (at(Vec2::ZERO), at(Vec2::ONE));
        assert!(left.iter().all(|quad| quad.rectangle[0] > 95.0 && quad.rectangle[1] > 45.0));
        assert!(right.iter().all(|quad| {
            quad.rectangle[0] + quad.rectangle[2] < 105.0 && quad.rectangle[1] + quad.rectangle[3] < 55.0
        }));
        assert!((left[4].rectangle[0] - left[0].rectangle[0]).abs() < 5.0, "aligned left");
        assert!((right[4].rectangle[0] - right[3].rectangle[0]).abs() < 5.0, "aligned right");
        let whole = |value: &f32| value.fract().abs() < f32::EPSILON;
        assert!(left.iter().chain(&right).all(|quad| quad.rectangle.iter().all(whole)));
    }

    #[test]
    fn what_is_behind_out_of_range_or_no_number_is_not_drawn() {
        let none = |label: Label| assert!(glyphs(&label).is_empty(), "{label:?}");
        none(Label::new(Vec3::Y * -6.0, "behind"));
        none(Label::new(Vec3::Y * -4.99, "nearer than near"));
        none(Label::new(Vec3::Y * 600.0, "too far"));
        none(Label::new(Vec3::X * 50.0, "beside"));
        none(Label::new(Vec3::NAN, "nowhere"));
        none(Label { size: f32::NAN, ..Label::new(Vec3::ZERO, "of no size") });
        none(Label { offset: Vec2::NAN, ..Label::new(Vec3::ZERO, "nowhere") });
        for size in [-1.0, 0.0, 1e9] {
            assert_eq!(glyphs(&Label { size, ..Label::new(Vec3::ZERO, "ab") }).len(), 2);
        }
    }

    #[test]
    fn a_picture_has_room_for_so_many_glyphs() {
        let labels = vec![Label::new(Vec3::ZERO, "0123456789".repeat(60)); 200];
        let mut layout = Layout::default();
        layout.fill(&mut Atlas::new(), &labels, &camera()).unwrap();
        let quads = layout.quads.len();
        assert!((QUADS_MAX..QUADS_MAX + 2 * (Label::CHARS_MAX + 1)).contains(&quads), "{quads}");
    }

    #[test]
    fn dark_text_has_a_light_halo() {
        assert!(halo_of(Vec3::ZERO).x > 0.5 && halo_of(Vec3::ONE).x < 0.1);
        assert!(halo_of(Vec3::X).x < 0.1, "red is light enough");
    }

    #[test]
    fn laying_out_again_allocates_nothing() {
        let labels: Vec<Label> =
            ["gripper", "9.81 N\nΔ 0.02"].map(|text| Label::new(Vec3::ZERO, text)).into();
        let (mut atlas, mut layout) = (Atlas::new(), Layout::default());
        let mut frame = || layout.fill(&mut atlas, &labels, &camera()).unwrap();
        frame();
        assert_eq!(allocation_counter::measure(frame).count_total, 0);
    }
}
