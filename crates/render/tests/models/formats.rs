//! What good files become.

use downbeat_render::{Material, Mesh, Model};
use glam::Vec3;

use crate::files::{cube_ascii_stl, cube_buffer, cube_gltf, cube_obj, cube_stl, cubes, only, triangles};
use crate::read;

/// The corners of a model from the lowest to the highest, by axis.
fn bounds(model: &Model) -> (Vec3, Vec3) {
    let corners =
        model.parts.iter().flat_map(|part| &part.mesh.vertices).map(|vertex| Vec3::from(vertex.position));
    corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
}

/// Every triangle and every normal turns its back to a point inside.
fn assert_faces_away_from(inside: Vec3, mesh: &Mesh) {
    for triangle in mesh.indices.chunks(3) {
        let corners = [0, 1, 2].map(|at| mesh.vertices[triangle[at] as usize]);
        let [a, b, c] = corners.map(|corner| Vec3::from(corner.position));
        let facing = (b - a).cross(c - a);
        assert!(facing.dot(a - inside) > 0.0, "{triangle:?}");
        assert!(corners.iter().all(|corner| facing.dot(corner.normal.into()) > 0.99 * facing.length()));
    }
}

#[test]
fn a_cube_is_the_same_cube_in_every_format() {
    for (name, bytes) in cubes() {
        let model = read(name, bytes).unwrap();
        assert_eq!(triangles(only(&model)), triangles(&Mesh::cube()), "{name}");
    }
}

#[test]
fn corners_are_shared_where_position_and_normal_are() {
    for (name, bytes) in cubes() {
        let corners = only(&read(name, bytes).unwrap()).vertices.len();
        let flat = name == "flat.obj" || name.ends_with(".stl");
        assert_eq!(corners, if flat { 36 } else { 24 }, "{name}");
    }
}

#[test]
fn gltf_is_turned_from_y_up_to_z_up() {
    // Two metres up and one to the front, as glTF has them.
    let moved = cube_gltf().replace(r#""name":"cube","#, r#""name":"cube","translation":[3,2,1],"#);
    let (low, high) = bounds(&read("cube.gltf", moved).unwrap());
    assert_eq!((low + high) / 2.0, Vec3::new(3.0, -1.0, 2.0));
}

#[test]
fn transforms_of_nodes_are_applied_from_the_root_down() {
    // Moved by two along x, then turned by a quarter about y (up), then scaled by ten.
    let nodes = r#""nodes":[
        {"scale":[10,10,10],"children":[1]},
        {"rotation":[0,0.70710678,0,0.70710678],"children":[2]},
        {"name":"deep","mesh":0,"matrix":[1,0,0,0, 0,1,0,0, 0,0,1,0, 2,0,0,1]}]"#;
    let model =
        read("cube.gltf", cube_gltf().replace(r#""nodes":[{"name":"cube","mesh":0}]"#, nodes)).unwrap();
    assert_eq!(model.parts[0].name, "deep");
    let (low, high) = bounds(&model);
    assert!(((low + high) / 2.0).abs_diff_eq(Vec3::new(0.0, 20.0, 0.0), 1e-4), "{low} {high}");
    assert!((high - low).abs_diff_eq(Vec3::splat(20.0), 1e-4), "{low} {high}");
    assert_faces_away_from(Vec3::Y * 20.0, only(&model));
}

#[test]
fn a_mirrored_node_faces_outwards_and_normals_stand_on_what_was_stretched_or_sheared() {
    let scaled = cube_gltf().replace(r#""name":"cube","#, r#""scale":[-1,2,0.5],"#);
    let model = read("cube.gltf", scaled).unwrap();
    assert_faces_away_from(Vec3::ZERO, only(&model));
    assert!(
        only(&model).vertices.iter().all(|vertex| (Vec3::from(vertex.normal).length() - 1.0).abs() < 1e-6)
    );
    // Sheared: what was upright leans, and its normals with it.
    let sheared =
        cube_gltf().replace(r#""name":"cube","#, r#""matrix":[1,2,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1],"#);
    assert_faces_away_from(Vec3::ZERO, only(&read("cube.gltf", sheared).unwrap()));
}

#[test]
fn normals_do_not_depend_on_the_size_of_a_node() {
    let normals = |size: &str| {
        let scaled =
            cube_gltf().replace(r#""name":"cube","#, &format!(r#""scale":[-{size},{size},{size}],"#));
        let mesh = only(&read("cube.gltf", scaled).unwrap()).clone();
        (mesh.indices, mesh.vertices.iter().map(|vertex| Vec3::from(vertex.normal)).collect::<Vec<_>>())
    };
    assert_eq!(normals("1e20"), normals("1"));
    assert_eq!(normals("1e-20"), normals("1"));
}

#[test]
fn a_node_that_is_flattened_to_nothing_is_left_out() {
    let nodes = r#""nodes":[{"children":[1,2]},{"mesh":0,"scale":[1,0,0]},{"name":"whole","mesh":0}]"#;
    let model =
        read("cube.gltf", cube_gltf().replace(r#""nodes":[{"name":"cube","mesh":0}]"#, nodes)).unwrap();
    assert_eq!(only(&model).indices.len(), 36);
    assert_eq!(model.parts[0].name, "whole");
}

#[test]
fn strips_and_fans_become_triangles_that_face_the_same_way() {
    // The corners of the first side of the cube, around it.
    for (mode, corners) in [(5, "0 1 3 2"), (6, "0 1 2 3")] {
        let order: Vec<u16> = corners.split(' ').map(|corner| corner.parse().unwrap()).collect();
        let mut buffer = cube_buffer();
        buffer[576..584]
            .copy_from_slice(&order.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<_>>());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a side.bin"), buffer).unwrap();
        let text = cube_gltf().replace(r#""count":36"#, r#""count":4"#);
        let text = text.replace(r#""indices":2"#, &format!(r#""indices":2,"mode":{mode}"#));
        let (before, _) = text.split_once("data:").unwrap();
        let path = folder.path().join("side.gltf");
        std::fs::write(&path, format!(r#"{before}a%20side.bin"}}]}}"#)).unwrap();
        let model = Model::load(&path).unwrap();
        assert_eq!(only(&model).indices.len(), 6, "{mode}");
        assert_faces_away_from(Vec3::ZERO, only(&model));
    }
}

#[test]
fn gltf_without_normals_is_flat_and_without_indices_goes_corner_by_corner() {
    let flat = cube_gltf().replace(r#","NORMAL":1"#, "");
    assert_eq!(triangles(only(&read("cube.gltf", flat).unwrap())), triangles(&Mesh::cube()));
    let unindexed = cube_gltf().replace(r#""indices":2,"#, "");
    assert_eq!(only(&read("cube.gltf", unindexed).unwrap()).indices, (0..24).collect::<Vec<_>>());
}

#[test]
fn materials_are_the_factors_of_the_file() {
    let model = read("cube.gltf", cube_gltf()).unwrap();
    let expected = Material { base_colour: Vec3::new(0.8, 0.4, 0.2), metallic: 0.25, roughness: 0.5 };
    assert_eq!(model.parts[0].material, expected);
    let plain = cube_gltf().replace(r#","material":0"#, "");
    assert_eq!(read("cube.gltf", plain).unwrap().parts[0].material, Material::default());
}

#[test]
fn an_obj_is_cut_where_object_group_or_material_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("things.obj");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let mtl = "newmtl my red\nKd 0.9 0.1 7\nPr 0.2\nPm 1\nmap_Kd red.png\nnewmtl plain\n";
    std::fs::write(folder.path().join("sub/things.mtl"), mtl).unwrap();
    let obj = "mtllib sub\\things.mtl\r\nv 0 0 0 1\r\nv 1 0 0\r\nv 1 1 0 0.5 0.5 0.5\r\nv 0 1 0\r\n\
        f 1 2 3\r\no square\r\nusemtl my red\r\nf -4/1 -3/2 -2/3 -1/4\r\nusemtl plain\r\nf 1 2 3\r\ng\r\nl 1 2\r\n";
    std::fs::write(&path, obj).unwrap();
    let parts = Model::load(&path).unwrap().parts;
    let seen: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.mesh.indices.len())).collect();
    assert_eq!(seen, [("things", 3), ("square", 6), ("square", 3)]);
    assert_eq!(parts[0].material, Material::default());
    let red = Material { base_colour: Vec3::new(0.9, 0.1, 1.0), metallic: 1.0, roughness: 0.2 };
    assert_eq!(parts[1].material, red);
    assert_eq!(parts[2].material, Material::default());
}

#[test]
fn normals_that_one_corner_lacks_are_computed_for_the_whole_part() {
    let some = cube_obj().replacen("f 1//1 ", "f 1 ", 1);
    assert_eq!(triangles(only(&read("cube.obj", some).unwrap())), triangles(&Mesh::cube()));
    let zero = cube_obj().replacen("vn 1 0 0", "vn 0 0 0", 1);
    assert_eq!(triangles(only(&read("cube.obj", zero).unwrap())), triangles(&Mesh::cube()));
}

#[test]
fn normals_are_right_for_the_largest_and_the_smallest_triangles() {
    for size in ["3e38", "1e-38"] {
        let obj = format!("v -{size} 0 0\nv {size} 0 0\nv 0 {size} 0\nf 1 2 3\n");
        let model = read("triangle.obj", obj).unwrap();
        assert_eq!(Vec3::from(only(&model).vertices[0].normal), Vec3::Z, "{size}");
    }
}

#[test]
fn a_binary_stl_that_begins_like_a_text_is_binary() {
    let mut stl = cube_stl();
    stl[..12].copy_from_slice(b"solid a cube");
    assert_eq!(triangles(only(&read("cube.stl", stl).unwrap())), triangles(&Mesh::cube()));
}

#[test]
fn every_solid_of_an_ascii_stl_is_a_part() {
    let twice = cube_ascii_stl() + &cube_ascii_stl().to_uppercase().replace("SOLID CUBE", "SOLID");
    let parts = read("two.STL", twice).unwrap().parts;
    assert_eq!(parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["cube", "two"]);
    assert!(parts.iter().all(|part| triangles(&part.mesh) == triangles(&Mesh::cube())));
}
