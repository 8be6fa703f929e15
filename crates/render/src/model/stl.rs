//! STL, binary and ASCII. The normals of facets are not read: many writers leave them zero, and the order of the corners
//! says the same. Neither are colours, for which there is no standard.

use glam::Vec3;

use super::ModelError;
use super::lines::lines;
use super::part::RawPart;
use super::reading::Reading;

/// A binary file: 80 bytes of anything, the number of triangles, then 50 bytes for each.
const HEADER_LEN: usize = 84;
const TRIANGLE_LEN: usize = 50;

/// What the lines of a facet begin with.
const FACET: [&str; 7] = ["facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet"];

pub(super) fn read(reading: &mut Reading<'_>, bytes: &[u8]) -> Result<(), ModelError> {
    let declared = bytes.first_chunk::<HEADER_LEN>().map(|header| le_u32(&header[80..]) as u64);
    let len_of = |triangles: u64| HEADER_LEN as u64 + triangles * TRIANGLE_LEN as u64;
    match declared {
        // The length decides first: many binary files begin with `solid` as if they were text.
        Some(triangles) if len_of(triangles) == bytes.len() as u64 => {
            read_binary(reading, &bytes[HEADER_LEN..])
        }
        _ if bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) => {
            read_ascii(reading, bytes)
        }
        Some(triangles) => Err(reading.malformed(format!(
            "its {triangles} triangles would take {} bytes, but it has {}",
            len_of(triangles),
            bytes.len()
        ))),
        None => Err(reading.malformed(format!("{} bytes are too few for an STL file", bytes.len()))),
    }
}

fn read_binary(reading: &mut Reading<'_>, triangles: &[u8]) -> Result<(), ModelError> {
    reading.check_triangles(triangles.len() / TRIANGLE_LEN)?;
    let mut part = RawPart { name: reading.default_name(), ..RawPart::default() };
    for triangle in triangles.chunks_exact(TRIANGLE_LEN) {
        // A normal, three corners, two bytes of attributes.
        for corner in triangle[12..48].chunks_exact(12) {
            let [x, y, z] = [0, 4, 8].map(|at| f32::from_bits(le_u32(&corner[at..])));
            push(&mut part, Vec3::new(x, y, z));
        }
    }
    reading.add(part)
}

fn read_ascii(reading: &mut Reading<'_>, bytes: &[u8]) -> Result<(), ModelError> {
    let file = reading.file_name().to_owned();
    let mut solid: Option<RawPart> = None;
    // How many lines of a facet have been read.
    let mut step = 0;
    for line in lines(&file, bytes) {
        let keyword = line.keyword().to_ascii_lowercase();
        match &mut solid {
            None if keyword == "solid" => {
                let name =
                    if line.rest().is_empty() { reading.default_name() } else { line.rest().to_owned() };
                solid = Some(RawPart { name, ..RawPart::default() });
            }
            Some(_) if keyword == "endsolid" && step == 0 => reading.add(solid.take().unwrap_or_default())?,
            Some(part) if keyword == FACET[step] => {
                if keyword == "vertex" {
                    push(part, line.vector()?);
                    reading.check_triangles(part.indices.len() / 3)?;
                }
                step = (step + 1) % FACET.len();
            }
            part => {
                let expected = if part.is_some() { FACET[step] } else { "solid" };
                return Err(line.malformed(format!("expected `{expected}`, found `{}`", line.shown())));
            }
        }
    }
    match solid {
        Some(part) => Err(reading.malformed(format!("it ends before `endsolid {}`", part.name))),
        None => Ok(()),
    }
}

fn push(part: &mut RawPart, corner: Vec3) {
    part.indices.push(part.positions.len() as u32);
    part.positions.push(corner);
}

/// The first four bytes as a number.
fn le_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
