//! The bytes behind a glTF document, and the numbers that accessors find in them. Every offset is checked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glam::Vec3;
use gltf::accessor::{DataType, Dimensions};
use gltf::{Accessor, Document, buffer};
use percent_encoding::percent_decode_str;

use crate::model::ModelError;
use crate::model::reading::{Reading, shortened};

pub(super) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// The binary chunk, data URIs, and files beside the model.
    pub(super) fn read(
        reading: &mut Reading<'_>,
        document: &Document,
        mut blob: Option<Vec<u8>>,
    ) -> Result<Self, ModelError> {
        let mut buffers = Vec::new();
        for buffer in document.buffers() {
            let index = buffer.index();
            let bytes = match buffer.source() {
                buffer::Source::Bin => blob.take().ok_or_else(|| {
                    reading.malformed(format!("buffer {index} has neither a URI nor a binary chunk"))
                })?,
                buffer::Source::Uri(uri) => fetch(reading, uri)?,
            };
            if bytes.len() < buffer.length() {
                let (expected, found) = (buffer.length(), bytes.len());
                return Err(reading
                    .malformed(format!("buffer {index} should have {expected} bytes, but has {found}")));
            }
            buffers.push(bytes);
        }
        Ok(Self(buffers))
    }

    /// Positions or normals.
    pub(super) fn vectors(
        &self,
        reading: &Reading<'_>,
        accessor: &Accessor<'_>,
    ) -> Result<Vec<Vec3>, ModelError> {
        if (accessor.data_type(), accessor.dimensions()) != (DataType::F32, Dimensions::Vec3) {
            let what =
                format!("accessor {} has positions or normals that are not 32-bit floats", accessor.index());
            return Err(reading.unsupported(what));
        }
        reading.within("vertices", accessor.count() as u64, reading.limits().vertices_max)?;
        let number = |at: &[u8]| f32::from_le_bytes([at[0], at[1], at[2], at[3]]);
        let vector = |at: &[u8]| Vec3::new(number(at), number(&at[4..]), number(&at[8..]));
        Ok(self.elements(reading, accessor)?.map(vector).collect())
    }

    /// The corners of triangles.
    pub(super) fn indices(
        &self,
        reading: &Reading<'_>,
        accessor: &Accessor<'_>,
    ) -> Result<Vec<u32>, ModelError> {
        let index: fn(&[u8]) -> u32 = match (accessor.data_type(), accessor.dimensions()) {
            (DataType::U8, Dimensions::Scalar) => |at| u32::from(at[0]),
            (DataType::U16, Dimensions::Scalar) => |at| u32::from(u16::from_le_bytes([at[0], at[1]])),
            (DataType::U32, Dimensions::Scalar) => |at| u32::from_le_bytes([at[0], at[1], at[2], at[3]]),
            _ => {
                return Err(reading
                    .malformed(format!("accessor {} has no numbers that can be indices", accessor.index())));
            }
        };
        // A strip has nearly as many triangles as corners.
        reading.within("triangles", accessor.count() as u64 / 3, reading.limits().triangles_max)?;
        Ok(self.elements(reading, accessor)?.map(index).collect())
    }

    /// The bytes of every element, each at least as long as the accessor's type.
    fn elements(
        &self,
        reading: &Reading<'_>,
        accessor: &Accessor<'_>,
    ) -> Result<impl Iterator<Item = &[u8]>, ModelError> {
        let index = accessor.index();
        let (Some(view), None) = (accessor.view(), accessor.sparse()) else {
            return Err(reading.unsupported(format!("accessor {index} is sparse")));
        };
        let size = accessor.size();
        let stride = view.stride().unwrap_or(size);
        if stride < size {
            return Err(reading.malformed(format!("the elements of accessor {index} overlap")));
        }
        // The last element need not be followed by a gap.
        let len = match accessor.count() {
            0 => Some(0),
            count => (count - 1).checked_mul(stride).and_then(|before| before.checked_add(size)),
        };
        let bytes = section(&self.0[view.buffer().index()], view.offset(), Some(view.length()))
            .and_then(|bytes| section(bytes, accessor.offset(), len))
            .ok_or_else(|| reading.malformed(format!("accessor {index} reaches beyond its buffer")))?;
        Ok(bytes.chunks(stride))
    }
}

/// So many bytes from there on, if there are.
fn section(bytes: &[u8], start: usize, len: Option<usize>) -> Option<&[u8]> {
    bytes.get(start..start.checked_add(len?)?)
}

fn fetch(reading: &mut Reading<'_>, uri: &str) -> Result<Vec<u8>, ModelError> {
    if let Some(data) = uri.strip_prefix("data:") {
        let encoded = data.split_once(";base64,").map(|(_, encoded)| encoded);
        let decoded = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
        return decoded.ok_or_else(|| reading.malformed("a buffer's data URI is not base64"));
    }
    // A colon means another scheme, such as `https:` or a drive.
    let path = percent_decode_str(uri).decode_utf8().ok().filter(|path| !path.contains(':'));
    match path {
        Some(path) => Ok(reading.file_beside(&path)?.1),
        None => Err(ModelError::OutOfReach { file: reading.file_name().to_owned(), target: shortened(uri) }),
    }
}
