//! glTF 2.0, as text or binary: the triangles of one scene, each node where it stands. Sparse accessors and quantised or
//! compressed meshes are refused; textures, skins, animations and morph targets are not looked at.
//!
//! The crate `gltf` parses and validates the document. Bytes are not left to it: it subtracts and multiplies what a file
//! says without a check.

mod buffers;

use std::borrow::Cow;

use glam::{Mat3, Mat4, Vec3, Vec4};
use gltf::json::validation::{Checked, Error as Invalid};
use gltf::json::{Index, Root};
use gltf::mesh::Mode;
use gltf::{Document, Glb, Node, Primitive, Semantic};

use self::buffers::Buffers;
use super::ModelError;
use super::part::RawPart;
use super::reading::{Reading, shortened};
use crate::packet::Material;

/// From y-up to z-up: a quarter turn about x.
const WORLD_FROM_GLTF: Mat4 = Mat4::from_cols(Vec4::X, Vec4::Z, Vec4::new(0.0, -1.0, 0.0, 0.0), Vec4::W);

pub(super) fn read(reading: &mut Reading<'_>, bytes: &[u8]) -> Result<(), ModelError> {
    let (document, blob) = parse(reading, bytes)?;
    let Some(scene) = document.default_scene().or_else(|| document.scenes().next()) else {
        return Ok(());
    };
    let buffers = Buffers::read(reading, &document, blob)?;
    let mut walk = Walk { seen: vec![false; document.nodes().len()], waiting: Vec::new() };
    walk.enter(reading, scene.nodes(), WORLD_FROM_GLTF, 1)?;
    while let Some((node, world_from_parent, level)) = walk.waiting.pop() {
        let world_from_node = world_from_parent * Mat4::from_cols_array_2d(&node.transform().matrix());
        read_node(reading, &buffers, &node, &world_from_node)?;
        walk.enter(reading, node.children(), world_from_node, level + 1)?;
    }
    Ok(())
}

/// Nodes that are to be read, the next one last: a stack of our own, so that a deep file cannot overflow the thread's.
struct Walk<'d> {
    seen: Vec<bool>,
    /// Each with the frame and the level it is in.
    waiting: Vec<(Node<'d>, Mat4, u64)>,
}

impl<'d> Walk<'d> {
    fn enter(
        &mut self,
        reading: &Reading<'_>,
        nodes: impl Iterator<Item = Node<'d>>,
        world_from_parent: Mat4,
        level: u64,
    ) -> Result<(), ModelError> {
        let first = self.waiting.len();
        for node in nodes {
            reading.within("levels", level, reading.limits().levels_max)?;
            if std::mem::replace(&mut self.seen[node.index()], true) {
                let what = format!("node {} has two parents, or is its own", node.index());
                return Err(reading.malformed(what));
            }
            self.waiting.push((node, world_from_parent, level));
        }
        self.waiting[first..].reverse();
        Ok(())
    }
}

/// The text of a file, and the buffer that a binary one carries.
type Chunks<'b> = (Cow<'b, [u8]>, Option<Vec<u8>>);

/// The document, validated, and the buffer that a binary file carries.
fn parse(reading: &Reading<'_>, bytes: &[u8]) -> Result<(Document, Option<Vec<u8>>), ModelError> {
    let (text, blob) = if bytes.starts_with(b"glTF") { split(reading, bytes)? } else { (bytes.into(), None) };
    // Each becomes a structure that is a hundred times as large as the `{},` that it takes to write it.
    let objects = text.iter().filter(|byte| **byte == b'{').count() as u64;
    reading.within("objects", objects, reading.limits().objects_max)?;
    let root: Root = gltf::json::deserialize::from_slice(&text)
        .map_err(|error| reading.malformed(shortened(&error.to_string())))?;
    // The validation looks these accessors up before it has checked them, and would panic.
    let primitives = root.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let positions =
        primitives.filter_map(|primitive| primitive.attributes.get(&Checked::Valid(Semantic::Positions)));
    if let Some(missing) = positions.map(Index::value).find(|index| *index >= root.accessors.len()) {
        return Err(
            reading.malformed(format!("there is no accessor {missing}, in which a mesh has its positions"))
        );
    }
    match Document::from_json(root) {
        Ok(document) => Ok((document, blob)),
        Err(gltf::Error::Validation(errors)) => Err(invalid(reading, &errors)),
        Err(other) => Err(reading.malformed(shortened(&other.to_string()))),
    }
}

/// The two chunks of a binary file.
fn split<'b>(reading: &Reading<'_>, bytes: &'b [u8]) -> Result<Chunks<'b>, ModelError> {
    // The parser takes the length of the header off this number without a look.
    let declared = bytes.get(8..12).map(|len| u32::from_le_bytes([len[0], len[1], len[2], len[3]]));
    match declared {
        Some(declared) if declared as usize == bytes.len() => {
            let glb = Glb::from_slice(bytes).map_err(|error| reading.malformed(error.to_string()))?;
            Ok((glb.json, glb.bin.map(Cow::into_owned)))
        }
        Some(declared) => {
            Err(reading.malformed(format!("its header says {declared} bytes, but it has {}", bytes.len())))
        }
        None => Err(reading.malformed("it ends within its header")),
    }
}

/// What the validation finds first, and where.
fn invalid(reading: &Reading<'_>, errors: &[(gltf::json::Path, Invalid)]) -> ModelError {
    match errors.first() {
        Some((path, Invalid::Unsupported)) => {
            reading.unsupported(format!("it asks for {}", shortened(path.as_str())))
        }
        Some((path, error)) => {
            let error = error.to_string().to_lowercase();
            reading.malformed(format!("{}: {error}", shortened(path.as_str())))
        }
        None => reading.malformed("it is no valid glTF"),
    }
}

fn read_node(
    reading: &mut Reading<'_>,
    buffers: &Buffers,
    node: &Node<'_>,
    world_from_node: &Mat4,
) -> Result<(), ModelError> {
    let Some(mesh) = node.mesh() else { return Ok(()) };
    for primitive in mesh.primitives() {
        let name =
            node.name().or(mesh.name()).map_or_else(|| format!("node {}", node.index()), str::to_owned);
        let part = read_primitive(reading, buffers, &primitive, name)?;
        reading.add(placed(part, world_from_node))?;
    }
    Ok(())
}

/// The part in the frame of its node. Nothing if it has no triangles.
fn read_primitive(
    reading: &Reading<'_>,
    buffers: &Buffers,
    primitive: &Primitive<'_>,
    name: String,
) -> Result<RawPart, ModelError> {
    let Some(positions) = primitive.get(&Semantic::Positions) else { return Ok(RawPart::default()) };
    let positions = buffers.vectors(reading, &positions)?;
    let normals = match primitive.get(&Semantic::Normals) {
        Some(normals) => buffers.vectors(reading, &normals)?,
        None => Vec::new(),
    };
    if !normals.is_empty() && normals.len() != positions.len() {
        let (normals, positions) = (normals.len(), positions.len());
        return Err(reading.malformed(format!("`{name}` has {positions} positions, but {normals} normals")));
    }
    let corners = match primitive.indices() {
        Some(indices) => buffers.indices(reading, &indices)?,
        None => (0..positions.len() as u32).collect(),
    };
    let indices = triangles(primitive.mode(), corners);
    Ok(RawPart { name, material: material(primitive), positions, normals, indices })
}

/// Three corners to a triangle.
fn triangles(mode: Mode, corners: Vec<u32>) -> Vec<u32> {
    match mode {
        Mode::Triangles => corners,
        Mode::TriangleStrip => {
            let turned = |(at, strip): (usize, &[u32])| match at % 2 {
                0 => [strip[0], strip[1], strip[2]],
                _ => [strip[1], strip[0], strip[2]],
            };
            corners.windows(3).enumerate().flat_map(turned).collect()
        }
        Mode::TriangleFan => {
            let sides = corners.get(1..).unwrap_or_default().windows(2);
            sides.flat_map(|side| [corners[0], side[0], side[1]]).collect()
        }
        Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => Vec::new(),
    }
}

fn material(primitive: &Primitive<'_>) -> Material {
    let material = primitive.material();
    if material.index().is_none() {
        return Material::default();
    }
    let factors = material.pbr_metallic_roughness();
    let [red, green, blue, _] = factors.base_color_factor();
    Material {
        base_colour: Vec3::new(red, green, blue).clamp(Vec3::ZERO, Vec3::ONE),
        metallic: factors.metallic_factor().clamp(0.0, 1.0),
        roughness: factors.roughness_factor().clamp(0.0, 1.0),
    }
}

/// The part in the frame of the world.
fn placed(mut part: RawPart, world_from_node: &Mat4) -> RawPart {
    for position in &mut part.positions {
        *position = world_from_node.transform_point3(*position);
    }
    // Only directions matter here; at a size of one no product overflows or vanishes.
    let columns =
        [world_from_node.x_axis, world_from_node.y_axis, world_from_node.z_axis].map(Vec4::truncate);
    let size = columns.iter().map(|column| column.abs().max_element()).fold(f32::MIN_POSITIVE, f32::max);
    let [x, y, z] = columns.map(|column| column / size);
    let mirrored = x.cross(y).dot(z) < 0.0;
    let side = if mirrored { -1.0 } else { 1.0 };
    // Normals go with the planes they stand on: the cofactors do that for any scale, also one that is zero.
    let cofactors = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * side;
    for normal in &mut part.normals {
        *normal = cofactors * *normal;
    }
    if mirrored {
        part.indices.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
    }
    part
}
