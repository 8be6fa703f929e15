//! The built-in cube as a file of every format, and triangles in a form that can be compared.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use downbeat_render::{Mesh, Model};

/// Every format with its name.
pub(crate) fn cubes() -> [(&'static str, Vec<u8>); 6] {
    [
        ("cube.gltf", cube_gltf().into_bytes()),
        ("cube.glb", cube_glb()),
        ("cube.obj", cube_obj().into_bytes()),
        ("flat.obj", cube_obj().lines().map(without_normals).collect::<String>().into_bytes()),
        ("cube.stl", cube_stl()),
        ("text.stl", cube_ascii_stl().into_bytes()),
    ]
}

fn without_normals(line: &str) -> String {
    match line.split_once(' ') {
        Some(("vn", _)) => String::new(),
        Some(("f", corners)) => {
            let corners = corners.split(' ').filter_map(|corner| corner.split('/').next());
            format!("f {}\n", corners.collect::<Vec<_>>().join(" "))
        }
        _ => format!("{line}\n"),
    }
}

pub(crate) fn cube_obj() -> String {
    let cube = Mesh::cube();
    let mut text = String::from("# A cube.\no cube\n");
    for vertex in &cube.vertices {
        let ([x, y, z], [nx, ny, nz]) = (vertex.position, vertex.normal);
        writeln!(text, "v {x} {y} {z}\nvn {nx} {ny} {nz}").expect("a string takes all");
    }
    for triangle in cube.indices.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| triangle[at] + 1);
        writeln!(text, "f {a}//{a} {b}//{b} {c}//{c}").expect("a string takes all");
    }
    text
}

pub(crate) fn cube_stl() -> Vec<u8> {
    let cube = Mesh::cube();
    let mut bytes = vec![0; 80];
    bytes.extend(12_u32.to_le_bytes());
    for triangle in cube.indices.chunks(3) {
        bytes.extend([0; 12]);
        for index in triangle {
            bytes.extend(
                cube.vertices[*index as usize].position.iter().flat_map(|number| number.to_le_bytes()),
            );
        }
        bytes.extend([0; 2]);
    }
    bytes
}

pub(crate) fn cube_ascii_stl() -> String {
    let cube = Mesh::cube();
    let mut text = String::from("solid cube\n");
    for triangle in cube.indices.chunks(3) {
        text.push_str("facet normal 0 0 0\n  outer loop\n");
        for index in triangle {
            let [x, y, z] = cube.vertices[*index as usize].position;
            writeln!(text, "    vertex {x:e} {y:e} {z:e}").expect("a string takes all");
        }
        text.push_str("  endloop\nendfacet\n");
    }
    text + "endsolid cube\n"
}

/// Positions, normals and indices, y-up.
pub(crate) fn cube_buffer() -> Vec<u8> {
    let cube = Mesh::cube();
    let y_up = |[x, y, z]: [f32; 3]| [x, z, -y];
    let positions = cube.vertices.iter().flat_map(|vertex| y_up(vertex.position));
    let normals = cube.vertices.iter().flat_map(|vertex| y_up(vertex.normal));
    let mut bytes: Vec<u8> = positions.chain(normals).flat_map(f32::to_le_bytes).collect();
    bytes.extend(cube.indices.iter().flat_map(|index| (*index as u16).to_le_bytes()));
    bytes
}

/// With the buffer in a data URI.
pub(crate) fn cube_gltf() -> String {
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(cube_buffer()));
    document(&format!(r#","uri":"{uri}""#))
}

/// With the buffer in a binary chunk.
pub(crate) fn cube_glb() -> Vec<u8> {
    let mut json = document("").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let buffer = cube_buffer();
    let mut bytes = Vec::from(*b"glTF\x02\0\0\0");
    bytes.extend((12 + 8 + json.len() as u32 + 8 + buffer.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", buffer)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

fn document(uri: &str) -> String {
    r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"name":"cube","mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0,"NORMAL":1},"indices":2,"material":0}]}],
"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[0.8,0.4,0.2,1],"metallicFactor":0.25,"roughnessFactor":0.5}}],
"accessors":[
{"bufferView":0,"componentType":5126,"count":24,"type":"VEC3","min":[-1,-1,-1],"max":[1,1,1]},
{"bufferView":1,"componentType":5126,"count":24,"type":"VEC3"},
{"bufferView":2,"componentType":5123,"count":36,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteLength":288},
{"buffer":0,"byteOffset":288,"byteLength":288},
{"buffer":0,"byteOffset":576,"byteLength":72}],
"buffers":[{"byteLength":648URI}]}"#
        .replace("URI", uri)
}

/// Position and normal of a corner, in steps of a tenth of a millimetre.
type Corner = [i64; 6];

/// The triangles of a mesh in an order that depends on where they are alone; their corners go round the same way.
pub(crate) fn triangles(mesh: &Mesh) -> Vec<[Corner; 3]> {
    let corner = |index: u32| -> Corner {
        let vertex = mesh.vertices[index as usize];
        let ([x, y, z], [nx, ny, nz]) = (vertex.position, vertex.normal);
        [x, y, z, nx, ny, nz].map(|number| (f64::from(number) * 1e4).round() as i64)
    };
    let mut triangles: Vec<_> =
        mesh.indices.chunks(3).map(|of| [corner(of[0]), corner(of[1]), corner(of[2])]).collect();
    for triangle in &mut triangles {
        let first = (0..3).min_by_key(|at| triangle[*at]).expect("three corners");
        triangle.rotate_left(first);
    }
    triangles.sort_unstable();
    triangles
}

/// The only part of a model.
pub(crate) fn only(model: &Model) -> &Mesh {
    assert_eq!(model.parts.len(), 1);
    &model.parts[0].mesh
}
