//! Pictures as the checks compare them: opaque, eight bits to a channel.
//! Knows nothing of windows.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter};

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::camino::Utf8Path;

/// Rows from the upper left.
pub(super) struct Picture {
    pub(super) size: [u16; 2],
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Picture {
    pub(super) fn read(path: &Utf8Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {path}"))?;
        let mut reader = png::Decoder::new(BufReader::new(file))
            .read_info()
            .with_context(|| format!("{path} is no PNG"))?;
        let mut bytes = vec![0; reader.output_buffer_size().context("the picture is too large")?];
        let info = reader.next_frame(&mut bytes).with_context(|| format!("cannot read {path}"))?;
        ensure!(
            (info.color_type, info.bit_depth) == (png::ColorType::Rgba, png::BitDepth::Eight),
            "{path} is not the RGBA picture that the example writes"
        );
        let pixels = bytes.as_chunks::<4>().0.iter().map(|[red, green, blue, _]| [*red, *green, *blue]);
        let size = [info.width.try_into()?, info.height.try_into()?];
        Ok(Self { size, pixels: pixels.collect() })
    }

    pub(super) fn write(&self, path: &Utf8Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("cannot write {path}"))?;
        let [width, height] = self.size.map(u32::from);
        let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(self.pixels.as_flattened())?;
        Ok(())
    }

    /// How many different colours it has.
    pub(super) fn colours(&self) -> usize {
        self.pixels.iter().collect::<BTreeSet<_>>().len()
    }

    /// The largest difference of any channel; the largest there is between pictures of different sizes.
    pub(super) fn difference(&self, other: &Self) -> u8 {
        if self.size != other.size {
            return u8::MAX;
        }
        let (ours, theirs) = (self.pixels.as_flattened(), other.pixels.as_flattened());
        ours.iter().zip(theirs).map(|(one, two)| one.abs_diff(*two)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_channel_decides() {
        let grey = Picture { size: [2, 1], pixels: vec![[7; 3]; 2] };
        let other = Picture { size: [2, 1], pixels: vec![[7, 8, 7], [7, 7, 2]] };
        assert_eq!(grey.difference(&other), 5);
        assert_eq!(grey.difference(&grey), 0);
        assert_eq!((grey.colours(), other.colours()), (1, 2));
        let turned = Picture { size: [1, 2], pixels: vec![[7; 3]; 2] };
        assert_eq!(grey.difference(&turned), u8::MAX);
    }
}
