//! Glyphs as pixels, side by side in one texture of fixed size. Knows no labels and no device.

use std::collections::BTreeMap;
use std::ops::Range;

use ab_glyph::{Font as _, FontRef, GlyphId, PxScale, ScaleFont as _, point};

/// Edge of the texture.
pub(super) const SIDE: u32 = 1024;
/// Bytes of a pixel: the glyph, and its halo.
pub(super) const TEXEL_BYTES: u32 = 2;
/// A glyph is drawn at so many places within a pixel: letters keep their distances without being blurred.
const SHIFTS: f32 = 4.0;

/// A size of the font, in half pixels: there are only so many, and nobody sees more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FontSize(u16);

impl FontSize {
    pub(super) fn of(pixels: f32) -> Self {
        Self((pixels * 2.0).round() as u16)
    }

    pub(super) fn pixels(self) -> f32 {
        f32::from(self.0) * 0.5
    }

    /// How far a halo reaches.
    fn halo(self) -> f32 {
        1.5 + self.pixels() * 0.06
    }
}

/// Where the lines of a text lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Metrics {
    /// From the top of a line to its baseline.
    pub(super) ascent: f32,
    /// From the top of a line to the top of the next.
    pub(super) line: f32,
}

/// A glyph in the texture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Image {
    /// Its upper left in the texture.
    pub(super) at: [u32; 2],
    pub(super) size: [u32; 2],
    /// From the pen, a whole pixel on the baseline, to the upper left.
    pub(super) bearing: [f32; 2],
}

/// There is no room left: clear the atlas and begin again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AtlasFull;

/// The glyphs that were asked for since it was last cleared.
pub(super) struct Atlas {
    font: FontRef<'static>,
    /// By size, character and place within a pixel; `None` for those without ink.
    images: BTreeMap<(FontSize, char, u8), Option<Image>>,
    texels: Vec<u8>,
    /// Rows that have changed since they were last taken.
    changed: Range<u32>,
    /// The row of glyphs that is being filled: where its next one goes, and how high the row is.
    next: [u32; 2],
    row_height: u32,
}

impl Atlas {
    pub(super) fn new() -> Self {
        let font = FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR);
        Self {
            font: font.expect("a font that its crate's own tests read"),
            images: BTreeMap::new(),
            texels: vec![0; (SIDE * SIDE * TEXEL_BYTES) as usize],
            changed: 0..0,
            next: [0, 0],
            row_height: 0,
        }
    }

    /// Forgets all glyphs.
    pub(super) fn clear(&mut self) {
        self.images.clear();
        (self.next, self.row_height) = ([0, 0], 0);
    }

    pub(super) fn metrics(&self, size: FontSize) -> Metrics {
        let font = self.font.as_scaled(self.scale(size));
        Metrics { ascent: font.ascent().round(), line: (font.height() + font.line_gap()).round() }
    }

    /// How far the pen goes on after a character.
    pub(super) fn advance(&self, size: FontSize, character: char) -> f32 {
        self.font.as_scaled(self.scale(size)).h_advance(self.font.glyph_id(character))
    }

    /// The image of a character whose pen is so far right of a whole pixel, 0 to 1; drawn if need be.
    pub(super) fn image(
        &mut self,
        size: FontSize,
        character: char,
        shift: f32,
    ) -> Result<Option<Image>, AtlasFull> {
        let shift = (shift * SHIFTS) as u8;
        let key = (size, character, shift);
        if let Some(image) = self.images.get(&key) {
            return Ok(*image);
        }
        let image = self.draw(size, self.font.glyph_id(character), f32::from(shift) / SHIFTS)?;
        self.images.insert(key, image);
        Ok(image)
    }

    /// The rows that have changed since this was last asked, and their texels.
    pub(super) fn take_changed(&mut self) -> Option<(Range<u32>, &[u8])> {
        let rows = std::mem::replace(&mut self.changed, 0..0);
        let at = |row: u32| (row * SIDE * TEXEL_BYTES) as usize;
        (!rows.is_empty()).then(|| (rows.clone(), &self.texels[at(rows.start)..at(rows.end)]))
    }

    /// The library measures a font from its ascent to its descent; people measure it in ems.
    fn scale(&self, size: FontSize) -> PxScale {
        let em = self.font.units_per_em().unwrap_or(1000.0);
        PxScale::from(size.pixels() * self.font.height_unscaled() / em)
    }

    fn draw(&mut self, size: FontSize, glyph: GlyphId, shift: f32) -> Result<Option<Image>, AtlasFull> {
        let placed = glyph.with_scale_and_position(self.scale(size), point(shift, 0.0));
        let Some(outline) = self.font.outline_glyph(placed) else { return Ok(None) };
        let bounds = outline.px_bounds();
        let margin = size.halo().ceil();
        let [width, height] = [bounds.width(), bounds.height()].map(|side| (side + 2.0 * margin) as u32);
        let at = self.room_for(width, height)?;
        let mut coverage = vec![0.0_f32; (width * height) as usize];
        outline.draw(|x, y, part| {
            coverage[((y + margin as u32) * width + x + margin as u32) as usize] = part.min(1.0);
        });
        let halo = spread(&coverage, width as usize, size.halo());
        for (from, (glyph, halo)) in coverage.iter().zip(&halo).enumerate() {
            let (x, y) = (at[0] + from as u32 % width, at[1] + from as u32 / width);
            let texel = ((y * SIDE + x) * TEXEL_BYTES) as usize;
            self.texels[texel] = (glyph * 255.0).round() as u8;
            self.texels[texel + 1] = (halo * 255.0).round() as u8;
        }
        let bearing = [bounds.min.x - margin, bounds.min.y - margin];
        Ok(Some(Image { at, size: [width, height], bearing }))
    }

    /// Fills rows of glyphs from the top down; each is as high as its highest.
    fn room_for(&mut self, width: u32, height: u32) -> Result<[u32; 2], AtlasFull> {
        if self.next[0] + width > SIDE {
            (self.next, self.row_height) = ([0, self.next[1] + self.row_height], 0);
        }
        let at = self.next;
        let end = at[1] + height;
        if width > SIDE || end > SIDE {
            return Err(AtlasFull);
        }
        self.next[0] += width;
        self.row_height = self.row_height.max(height);
        let changed = &self.changed;
        self.changed =
            if changed.is_empty() { at[1]..end } else { changed.start.min(at[1])..changed.end.max(end) };
        Ok(at)
    }
}

/// The shape, grown by so many pixels with a soft edge.
fn spread(coverage: &[f32], width: usize, radius: f32) -> Vec<f32> {
    let height = coverage.len() / width;
    let reach = radius.ceil() as usize;
    let mut spread = vec![0.0_f32; coverage.len()];
    for (at, part) in coverage.iter().enumerate().filter(|(_, part)| **part > 0.0) {
        let (x, y) = (at % width, at / width);
        for to_y in y.saturating_sub(reach)..(y + reach + 1).min(height) {
            for to_x in x.saturating_sub(reach)..(x + reach + 1).min(width) {
                let (across, down) = (to_x.abs_diff(x) as f32, to_y.abs_diff(y) as f32);
                let near = (1.0 - (across * across + down * down).sqrt() / (radius + 0.5)).max(0.0);
                let soft = part * near * (2.0 - near);
                let to = &mut spread[to_y * width + to_x];
                *to = to.max(soft);
            }
        }
    }
    spread
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    const SIZE: FontSize = FontSize(28);

    #[test]
    fn the_font_has_latin_greek_and_cyrillic_and_a_box_for_the_rest() {
        let mut atlas = Atlas::new();
        let missing = atlas.font.glyph_id('\u{1F980}');
        for character in "Azéß°µαΩДяЖ→±²".chars() {
            assert_ne!(atlas.font.glyph_id(character), missing, "{character}");
            assert!(atlas.image(SIZE, character, 0.0).unwrap().is_some(), "{character}");
        }
        let boxed = atlas.image(SIZE, '\u{1F980}', 0.0).unwrap().expect("a box");
        assert!(boxed.size[0] > 8 && boxed.size[1] > 12, "{boxed:?}");
        assert_eq!(atlas.image(SIZE, ' ', 0.0), Ok(None), "a space has no ink");
    }

    #[test]
    fn a_glyph_is_drawn_once_and_moves_in_quarters_of_a_pixel() {
        let mut atlas = Atlas::new();
        let first = atlas.image(SIZE, 'A', 0.0).unwrap();
        assert!(atlas.take_changed().is_some());
        assert_eq!(atlas.image(SIZE, 'A', 0.2), Ok(first), "the same quarter");
        assert!(atlas.take_changed().is_none());
        assert_ne!(atlas.image(SIZE, 'A', 0.3), Ok(first));
        assert!(atlas.take_changed().is_some());
    }

    #[test]
    fn glyphs_do_not_overlap_and_a_full_atlas_says_so_until_it_is_cleared() {
        let mut atlas = Atlas::new();
        let mut images: Vec<Image> = Vec::new();
        let mut characters = ('!'..='~').chain('А'..='я').chain('Α'..='ω');
        let large = FontSize::of(96.0);
        let full = loop {
            let character = characters.next().expect("more than fit");
            match atlas.image(large, character, 0.0) {
                Ok(image) => images.extend(image),
                Err(full) => break full,
            }
        };
        assert_eq!(full, AtlasFull);
        assert!(images.len() > 50, "{}", images.len());
        let apart = |a: &Image, b: &Image, axis: usize| {
            a.at[axis] + a.size[axis] <= b.at[axis] || b.at[axis] + b.size[axis] <= a.at[axis]
        };
        for (index, a) in images.iter().enumerate() {
            assert!(a.at[0] + a.size[0] <= SIDE && a.at[1] + a.size[1] <= SIDE);
            assert!(images[..index].iter().all(|b| apart(a, b, 0) || apart(a, b, 1)), "{a:?}");
        }
        atlas.clear();
        assert_eq!(atlas.image(large, '!', 0.0).unwrap().unwrap().at, [0, 0]);
    }

    #[test]
    fn a_halo_surrounds_its_glyph() {
        let mut atlas = Atlas::new();
        let image = atlas.image(SIZE, 'I', 0.0).unwrap().unwrap();
        let texel = |x: u32, y: u32, channel: u32| {
            atlas.texels[(((image.at[1] + y) * SIDE + image.at[0] + x) * TEXEL_BYTES + channel) as usize]
        };
        let mut around = 0;
        for y in 0..image.size[1] {
            for x in 0..image.size[0] {
                assert!(texel(x, y, 1) >= texel(x, y, 0), "the halo lies under all of the glyph");
                around += u32::from(texel(x, y, 0) == 0 && texel(x, y, 1) > 0);
            }
        }
        assert!(around > 50, "{around}");
    }
}
