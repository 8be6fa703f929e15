//! Models from files: glTF (`.gltf`, `.glb`), OBJ with its MTL, STL (binary and ASCII).
//!
//! A file is taken whole or refused with a [`ModelError`] that says what is wrong and what to do. Nothing here panics,
//! whatever the bytes are, and memory is bounded by [`ModelLimits`] and by a multiple of the bytes that were read. What
//! a file has beyond triangles and plain materials is left out: textures, vertex colours, skins, animations, morph
//! targets, cameras, lights, points and lines.

mod gltf;
mod lines;
mod obj;
mod part;
mod reading;
mod stl;

use std::io;
use std::path::Path;

use self::reading::Reading;
use crate::mesh::Mesh;
use crate::packet::Material;

/// What a file shows, in metres and z-up.
///
/// - **glTF** is y-up: it is turned so that its up is +z, its front (+z) is -y and its x stays. A model that was made
///   z-up in Blender comes back as it was. Node transforms are applied; the default
///   scene is read, else the first.
/// - **OBJ and STL** say neither unit nor up: coordinates are taken as they are. A file in millimetres is drawn with a
///   scale of 0.001.
/// - **Normals** are kept if every corner of a part has one. Otherwise they are computed flat, one for each triangle, as
///   the glTF standard asks; triangles without area have none and are left out. STL is always flat.
/// - **Materials** are the factors of glTF's metallic-roughness model, or `Kd`, `Pm` and `Pr` of an MTL file, taken as
///   linear and clamped to 0..1. A part without one has [`Material::default`].
///
/// ```
/// use downbeat_render::{Model, ModelLimits};
///
/// let obj = b"o wedge\nv 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nf 1 2 3 4\n";
/// let model = Model::from_bytes("wedge.obj", obj, &ModelLimits::default())?;
/// assert_eq!(model.parts[0].name, "wedge");
/// assert_eq!(model.parts[0].mesh.indices.len(), 2 * 3); // a quad is two triangles
/// assert_eq!(model.parts[0].mesh.vertices[0].normal, [0.0, 0.0, 1.0]);
///
/// let refused = Model::from_bytes("wedge.obj", b"v 0 0 0\nf 1 2 3\n", &ModelLimits::default());
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     "wedge.obj: line 2: there is no vertex 2, only 1 before this line; export it again"
/// );
/// # Ok::<(), downbeat_render::ModelError>(())
/// ```
///
/// To draw it, add the mesh of every part with `GpuBackend::add_mesh`, and show it as a [`Shape::Mesh`] of scale 1 in the
/// part's material.
///
/// [`Shape::Mesh`]: crate::Shape::Mesh
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// At least one, in the order of the file.
    pub parts: Vec<ModelPart>,
}

/// Triangles of one material.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPart {
    /// The name of the node, object, group or solid, else that of the file. Need not be unique.
    pub name: String,
    /// In the frame of the model: transforms are already applied.
    pub mesh: Mesh,
    /// How it reflects.
    pub material: Material,
}

/// How much a file may hold. One that holds more is refused before memory is spent on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelLimits {
    /// Bytes of the file and of all that it refers to.
    pub bytes_max: u64,
    /// Corners of all parts.
    pub vertices_max: u64,
    /// Triangles of all parts.
    pub triangles_max: u64,
    /// Parts: each is a draw call.
    pub parts_max: u64,
    /// Objects in the JSON of a glTF file: nodes, meshes, accessors and so on.
    pub objects_max: u64,
    /// Levels of nodes below each other in a glTF scene.
    pub levels_max: u64,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            bytes_max: 256 << 20,
            vertices_max: 6_000_000,
            triangles_max: 2_000_000,
            parts_max: 10_000,
            objects_max: 500_000,
            levels_max: 256,
        }
    }
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The system did not hand it over.
    #[error("{file} cannot be read: {source}; check that it exists and may be read")]
    Unreadable {
        /// The model, or what it refers to.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The name says no format.
    #[error("{file} is in no format that is read here; export it as .gltf, .glb, .obj or .stl")]
    UnknownFormat {
        /// The model.
        file: String,
    },
    /// More than [`ModelLimits`] allow.
    #[error("{file} has more than {max} {what}; simplify it, or raise `ModelLimits::{what}_max`")]
    OverLimit {
        /// The model.
        file: String,
        /// Of what: `bytes`, `vertices`, `triangles`, `parts`, `objects` or `levels`.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// Not what its format asks for: cut short, out of range, not a number.
    #[error("{file}: {what}; export it again")]
    Malformed {
        /// The model, or what it refers to.
        file: String,
        /// What is wrong, and where.
        what: String,
    },
    /// A part of its format that is not read here, and that it cannot be shown without.
    #[error("{file}: {what}, which is not supported; export it without")]
    Unsupported {
        /// The model.
        file: String,
        /// What it asks for.
        what: String,
    },
    /// It refers to a file that it may not reach.
    #[error("{file} refers to `{target}`, which is not a file in its folder; put it there, or embed it")]
    OutOfReach {
        /// The model.
        file: String,
        /// What it refers to.
        target: String,
    },
    /// Nothing to draw.
    #[error("{file} has no triangles; export it with its meshes")]
    Empty {
        /// The model.
        file: String,
    },
}

impl Model {
    /// Reads a file and what it refers to, within the default limits.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Self::load_within(path, &ModelLimits::default())
    }

    /// Reads a file and what it refers to. Buffers and materials must be in the file's folder or below; links that are
    /// there are followed.
    pub fn load_within(path: impl AsRef<Path>, limits: &ModelLimits) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut reading = Reading::new(path.display().to_string(), Some(folder), limits);
        // Looked at first, so that a wrong name is not answered with a wait for a large file.
        let read = reader_of(&reading, path)?;
        let bytes = reading.file(path)?;
        read(&mut reading, &bytes)?;
        reading.into_model()
    }

    /// Reads a file that is in memory. Its name says the format. What it needs must be embedded: it may refer to no file.
    pub fn from_bytes(name: &str, bytes: &[u8], limits: &ModelLimits) -> Result<Self, ModelError> {
        let mut reading = Reading::new(name.to_owned(), None, limits);
        let read = reader_of(&reading, Path::new(name))?;
        reading.count_bytes(bytes.len() as u64)?;
        read(&mut reading, bytes)?;
        reading.into_model()
    }
}

type Reader = fn(&mut Reading<'_>, &[u8]) -> Result<(), ModelError>;

fn reader_of(reading: &Reading<'_>, path: &Path) -> Result<Reader, ModelError> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("gltf" | "glb") => Ok(gltf::read),
        Some("obj") => Ok(obj::read),
        Some("stl") => Ok(stl::read),
        _ => Err(ModelError::UnknownFormat { file: reading.file_name().to_owned() }),
    }
}
