//! Whether the established readers see the same triangles. They are compared on files that they take.

use downbeat_render::Mesh;
use proptest::prelude::*;

use crate::files::{cube_ascii_stl, cube_obj, cube_stl};
use crate::read;

/// Positions, three to a triangle.
fn corners(mesh: &Mesh) -> Vec<[f32; 3]> {
    mesh.indices.iter().map(|index| mesh.vertices[*index as usize].position).collect()
}

fn ours(name: &str, bytes: &[u8]) -> Vec<[f32; 3]> {
    read(name, bytes).map_or_else(
        |_| Vec::new(),
        |model| model.parts.iter().flat_map(|part| corners(&part.mesh)).collect(),
    )
}

fn as_tobj_sees_it(bytes: &[u8]) -> Vec<[f32; 3]> {
    let options = tobj::LoadOptions { triangulate: true, single_index: true, ..tobj::LoadOptions::default() };
    let (models, _) = tobj::load_obj_buf(&mut &bytes[..], &options, |_| Err(tobj::LoadError::OpenFileFailed))
        .expect("a file it takes");
    let corner =
        |mesh: &tobj::Mesh, index: u32| [0, 1, 2].map(|axis| mesh.positions[3 * index as usize + axis]);
    models
        .iter()
        .flat_map(|model| model.mesh.indices.iter().map(|index| corner(&model.mesh, *index)))
        .collect()
}

fn as_stl_io_sees_it(bytes: &[u8]) -> Vec<[f32; 3]> {
    let mut cursor = std::io::Cursor::new(bytes);
    let triangles = stl_io::create_stl_reader(&mut cursor).expect("a file it takes");
    triangles.flat_map(|triangle| triangle.expect("a whole file").vertices.map(|vertex| vertex.0)).collect()
}

#[test]
fn the_cube_is_seen_alike() {
    assert_eq!(ours("cube.obj", cube_obj().as_bytes()), as_tobj_sees_it(cube_obj().as_bytes()));
    assert_eq!(ours("cube.stl", &cube_stl()), as_stl_io_sees_it(&cube_stl()));
    assert_eq!(ours("cube.stl", cube_ascii_stl().as_bytes()), as_stl_io_sees_it(cube_ascii_stl().as_bytes()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn faces_of_any_size_with_indices_from_either_end_are_seen_alike(
        vertices in prop::collection::vec(prop::array::uniform3(-1e3_f32..1e3), 3..20),
        faces in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 3..7), any::<bool>()), 1..20),
    ) {
        let mut obj = String::from("vn 0 0 1\n");
        for [x, y, z] in &vertices {
            obj += &format!("v {x} {y} {z}\n");
        }
        for (face, (corners, backwards)) in faces.iter().enumerate() {
            let named = |corner: &prop::sample::Index| {
                let index = corner.index(vertices.len()) as i64;
                format!("{}//-1", if *backwards { index - vertices.len() as i64 } else { index + 1 })
            };
            let corners: Vec<_> = corners.iter().map(named).collect();
            obj += &format!("g part {}\nf {}\n", face / 3, corners.join(" "));
        }
        prop_assert_eq!(ours("any.obj", obj.as_bytes()), as_tobj_sees_it(obj.as_bytes()));
    }

    #[test]
    fn any_binary_stl_is_seen_alike(corners in prop::collection::vec(prop::array::uniform3(-1e3_f32..1e3), 3..60)) {
        let triangles = corners.len() as u32 / 3;
        let mut stl = vec![b'x'; 80];
        stl.extend(triangles.to_le_bytes());
        for triangle in corners.chunks_exact(3) {
            stl.extend([0; 12]);
            stl.extend(triangle.iter().flatten().flat_map(|number| number.to_le_bytes()));
            stl.extend([0; 2]);
        }
        prop_assert_eq!(ours("any.stl", &stl), as_stl_io_sees_it(&stl));
    }
}
