//! The corners of a mesh file, for hulls: STL, both kinds, and OBJ. It knows no faces, no colours and no normals;
//! those are for whoever draws.

use std::path::Path;

use downbeat_world::{Shape, Surface};
use glam::Vec3;

use super::ImportError;
use super::limits::{MESH_LEN_MAX, MESH_POINTS_MAX};

/// What a mesh file looks like, if it is there and can be drawn.
pub(super) fn surface(path: &Path, scale: Vec3) -> Option<Surface> {
    let drawable = matches!(extension(path).as_str(), "stl" | "obj" | "gltf" | "glb")
        && path.is_file()
        && scale.min_element() > 0.0;
    drawable.then(|| Surface::File { path: path.to_owned(), scale })
}

/// The hull of a mesh file; `None` when corners of such a file cannot be read.
pub(super) fn hull(path: &Path, scale: Vec3) -> Result<Option<Shape>, ImportError> {
    if !matches!(extension(path).as_str(), "stl" | "obj") {
        return Ok(None);
    }
    let points = points(path)?.into_iter().map(|point| point * scale).collect();
    Ok(Some(Shape::Hull { points }))
}

/// The corners of a mesh, each once, in a fixed order.
fn points(path: &Path) -> Result<Vec<Vec3>, ImportError> {
    let read = |error| ImportError::Read { file: path.to_owned(), error };
    let length = std::fs::metadata(path).map_err(read)?.len();
    if length > MESH_LEN_MAX {
        let what = format!("it has {length} bytes; a mesh has at most {MESH_LEN_MAX}");
        return Err(ImportError::wrong(path, what));
    }
    let bytes = std::fs::read(path).map_err(read)?;
    let points = match extension(path).as_str() {
        "stl" => stl(&bytes),
        "obj" => lines(&bytes, "v"),
        other => Err(format!("`.{other}` meshes are not read; use STL or OBJ")),
    };
    points.and_then(distinct).map_err(|what| ImportError::wrong(path, what))
}

fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// A binary file says how many triangles it has, and its length is that of so many. Anything else is text: binary
/// files may begin with `solid` too.
fn stl(bytes: &[u8]) -> Result<Vec<Vec3>, String> {
    const HEAD: usize = 84;
    const TRIANGLE: usize = 50;
    let count = bytes.get(80..HEAD).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let binary = count.is_some_and(|count| bytes.len() as u64 == 84 + 50 * u64::from(count));
    if !binary {
        return lines(bytes, "vertex");
    }
    let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let corner = |bytes: &[u8]| Vec3::new(number(&bytes[..4]), number(&bytes[4..8]), number(&bytes[8..12]));
    // A normal of twelve bytes stands before the three corners, two bytes of no meaning after them.
    let triangles = bytes[HEAD..].chunks_exact(TRIANGLE);
    Ok(triangles
        .flat_map(|triangle| triangle[12..48].chunks_exact(12).map(corner).collect::<Vec<_>>())
        .collect())
}

/// The three numbers of every line that begins with this word.
fn lines(bytes: &[u8], word: &str) -> Result<Vec<Vec3>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not a text: {error}"))?;
    let mut points = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let mut words = text.split_ascii_whitespace();
        if words.next() != Some(word) {
            continue;
        }
        let mut number = || words.next().and_then(|word| word.parse::<f32>().ok());
        let (Some(x), Some(y), Some(z)) = (number(), number(), number()) else {
            return Err(format!("line {}: `{word}` needs three numbers", line + 1));
        };
        points.push(Vec3::new(x, y, z));
    }
    Ok(points)
}

fn distinct(mut points: Vec<Vec3>) -> Result<Vec<Vec3>, String> {
    if !points.iter().all(|point| point.is_finite()) {
        return Err("a corner is not a number".to_owned());
    }
    points.sort_unstable_by(|a, b| {
        let order = |axis: usize| a[axis].total_cmp(&b[axis]);
        order(0).then(order(1)).then(order(2))
    });
    points.dedup();
    match points.len() {
        0..=3 => Err("it has fewer than four corners".to_owned()),
        count if count > MESH_POINTS_MAX => Err(format!(
            "it has {count} corners; a collider has at most {MESH_POINTS_MAX}, use a simpler mesh"
        )),
        _ => Ok(points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];

    fn points_of(name: &str, bytes: &[u8]) -> Result<Vec<Vec3>, ImportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        points(&path)
    }

    fn binary_stl() -> Vec<u8> {
        let faces = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]];
        let mut bytes = b"solid, or so it says".to_vec();
        bytes.resize(80, b' ');
        bytes.extend(4_u32.to_le_bytes());
        for face in faces {
            bytes.extend([0; 12]);
            bytes.extend(face.iter().flat_map(|corner| CORNERS[*corner]).flat_map(f32::to_le_bytes));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn the_three_kinds_of_files_give_the_same_corners() {
        let wanted: Vec<_> = CORNERS.map(Vec3::from_array).into();
        let obj: String = CORNERS.iter().map(|[x, y, z]| format!("v {x} {y} {z}\nvn 9 9 9\n")).collect();
        let text: String = CORNERS.iter().map(|[x, y, z]| format!("  vertex {x} {y} {z}\n")).collect();
        assert_eq!(points_of("a.obj", obj.as_bytes()).unwrap(), wanted);
        assert_eq!(points_of("a.STL", format!("solid\n{text}endsolid").as_bytes()).unwrap(), wanted);
        assert_eq!(points_of("a.stl", &binary_stl()).unwrap(), wanted);
    }

    #[test]
    fn what_is_cut_or_no_number_is_refused_by_name() {
        let whole = binary_stl();
        for length in 0..whole.len() {
            assert!(points_of("a.stl", &whole[..length]).is_err(), "{length} bytes");
        }
        let mut odd = whole;
        odd[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
        let refusal = points_of("a.stl", &odd).unwrap_err().to_string();
        assert!(refusal.ends_with("a.stl: a corner is not a number"), "{refusal}");
        let refusal = points_of("a.obj", b"v 1 2 3\nv 1 x 3\n").unwrap_err().to_string();
        assert!(refusal.ends_with("line 2: `v` needs three numbers"), "{refusal}");
    }
}
