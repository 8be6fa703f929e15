//! What bad files are answered with: the file, what is wrong with it, and what to do.

use std::fs;
use std::path::Path;

use downbeat_render::{Model, ModelError, ModelLimits};

use crate::files::{cube_ascii_stl, cube_buffer, cube_glb, cube_gltf, cube_obj, cube_stl, cubes};
use crate::read;

#[track_caller]
fn refused(name: &str, bytes: impl AsRef<[u8]>, message: &str) {
    assert_eq!(read(name, bytes).expect_err(message).to_string(), message);
}

/// The cube's text with something else in its place, which must be there.
#[track_caller]
fn with(find: &str, replace: &str) -> String {
    assert!(cube_gltf().contains(find), "{find}");
    cube_gltf().replacen(find, replace, 1)
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Model::load("no/such/cube.stl").unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }));
    let message = error.to_string();
    assert!(message.starts_with("no/such/cube.stl cannot be read: "), "{message}");
    assert!(message.ends_with("; check that it exists and may be read"), "{message}");
}

#[test]
fn a_name_without_a_known_format_is_refused_before_the_file_is_opened() {
    for name in ["cube.fbx", "cube", ".obj", ""] {
        let message =
            format!("{name} is in no format that is read here; export it as .gltf, .glb, .obj or .stl");
        refused(name, "", &message);
        assert_eq!(Model::load(name).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_file_without_triangles_is_refused() {
    let message = |name: &str| format!("{name} has no triangles; export it with its meshes");
    let empty_stl: &[u8] = &[0; 84];
    for (name, bytes) in [
        ("x.obj", &b""[..]),
        ("x.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nf 1 2 3\n"),
        ("x.stl", empty_stl),
        ("x.stl", b"solid x\nendsolid x\n"),
        ("x.gltf", br#"{"asset":{"version":"2.0"}}"#),
        ("x.gltf", br#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[]}]}"#),
    ] {
        refused(name, bytes, &message(name));
    }
}

#[test]
fn a_file_cut_short_says_where() {
    refused("x.stl", "", "x.stl: 0 bytes are too few for an STL file; export it again");
    refused(
        "x.stl",
        &cube_stl()[..600],
        "x.stl: its 12 triangles would take 684 bytes, but it has 600; export it again",
    );
    let text = cube_ascii_stl();
    let half = text.find("outer").unwrap();
    refused("x.stl", &text[..half], "x.stl: it ends before `endsolid cube`; export it again");
    refused("x.glb", b"glTF\x02\0", "x.glb: it ends within its header; export it again");
    let glb = cube_glb();
    let message = format!("x.glb: its header says {} bytes, but it has 100; export it again", glb.len());
    refused("x.glb", &glb[..100], &message);
    refused(
        "x.gltf",
        r#"{"asset":"#,
        "x.gltf: EOF while parsing a value at line 1 column 9; export it again",
    );
    refused(
        "x.gltf",
        with("\"byteLength\":648", "\"byteLength\":649"),
        "x.gltf: buffer 0 should have 649 bytes, but has 648; export it again",
    );
}

#[test]
fn a_line_that_is_wrong_is_numbered() {
    for (obj, what) in [
        ("v 0 0\n", "line 1: a number is missing"),
        ("\n\nv 0 0 nan\n", "line 3: `nan` is no finite number"),
        ("vn 0 0 1e39\n", "line 1: `1e39` is no finite number"),
        ("v 0 0 \x1b[2J\n", "line 1: `\\u{1b}[2J` is no finite number"),
        ("v 0 0 0\nf 1 1\n", "line 2: a face has at least 3 corners, this one 2"),
        ("v 0 0 0\nf 1 1 2\n", "line 2: there is no vertex 2, only 1 before this line"),
        ("v 0 0 0\nf 1 1 0\n", "line 2: there is no vertex 0, only 1 before this line"),
        ("v 0 0 0\nf 1 1 -2\n", "line 2: there is no vertex -2, only 1 before this line"),
        ("v 0 0 0\nf 1//1 1//1 1//1\n", "line 2: there is no normal 1, only 0 before this line"),
        ("v 0 0 0\nf 1 1 x\n", "line 2: `x` names no vertex"),
        ("usemtl red\n", "line 1: no material library has `red`"),
    ] {
        refused("x.obj", obj, &format!("x.obj: {what}; export it again"));
    }
    for (stl, what) in [
        ("solid x\nfacet normal 0 0 1\nvertex 0 0 0\n", "line 3: expected `outer`, found `vertex 0 0 0`"),
        ("solid x\nendsolid x\nrubbish\n", "line 3: expected `solid`, found `rubbish`"),
        ("solid x\nfacet\nouter loop\nvertex 0 0 inf\n", "line 4: `inf` is no finite number"),
    ] {
        refused("x.stl", stl, &format!("x.stl: {what}; export it again"));
    }
}

#[test]
fn numbers_that_are_no_place_are_refused() {
    let mut stl = cube_stl();
    stl[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    let message = read("x.stl", stl).unwrap_err().to_string();
    assert!(message.starts_with("x.stl: vertex 0 of `x` is at [NaN, "), "{message}");
    let far = with("\"name\":\"cube\",", "\"name\":\"cube\",\"translation\":[1e300,0,0],");
    let message = read("x.gltf", far).unwrap_err().to_string();
    assert!(message.starts_with("x.gltf: vertex 0 of `cube` is at [NaN, "), "{message}");
}

#[test]
fn a_gltf_that_points_nowhere_says_from_where() {
    for (text, what) in [
        (
            with("\"POSITION\":0", "\"POSITION\":9"),
            "there is no accessor 9, in which a mesh has its positions",
        ),
        (with("\"mesh\":0", "\"mesh\":3"), "nodes[0].mesh: index out of bounds"),
        (with("\"count\":24", "\"count\":25"), "accessor 0 reaches beyond its buffer"),
        (with("\"count\":24", "\"count\":4000000000000000000"), ""),
        (
            with("\"count\":24,\"type\":\"VEC3\",\"min\"", "\"count\":3,\"type\":\"VEC3\",\"min\""),
            "`cube` has 3 positions, but 24 normals",
        ),
        (
            with("\"byteOffset\":288", "\"byteOffset\":18446744073709551615"),
            "accessor 1 reaches beyond its buffer",
        ),
        (
            with("\"byteLength\":288", "\"byteStride\":8,\"byteLength\":288"),
            "the elements of accessor 0 overlap",
        ),
        (with("\"indices\":2", "\"indices\":0"), "accessor 0 has no numbers that can be indices"),
        (with("base64,", "base64,!"), "a buffer's data URI is not base64"),
    ] {
        let message = read("x.gltf", text).unwrap_err().to_string();
        let expected = match what {
            "" => "x.gltf has more than 6000000 vertices; simplify it, or raise `ModelLimits::vertices_max`"
                .to_owned(),
            what => format!("x.gltf: {what}; export it again"),
        };
        assert_eq!(message, expected);
    }
    let mut glb = cube_glb();
    let last = glb.len() - 2;
    glb[last..].copy_from_slice(&24_u16.to_le_bytes());
    refused(
        "x.glb",
        glb,
        "x.glb: a triangle of `cube` has corner 24, but there are 24 vertices; export it again",
    );
}

#[test]
fn a_node_that_is_its_own_ancestor_is_refused_and_so_is_one_with_two_parents() {
    for (nodes, node) in [
        (r#"[{"mesh":0,"children":[0]}]"#, 0),
        (r#"[{"children":[1]},{"children":[0]}]"#, 0),
        (r#"[{"children":[1,2]},{"children":[2]},{}]"#, 2),
        (r#"[{"children":[1,1]},{}]"#, 1),
    ] {
        let text = with(r#"[{"name":"cube","mesh":0}]"#, nodes);
        let what = format!("node {node} has two parents, or is its own");
        refused("x.gltf", text, &format!("x.gltf: {what}; export it again"));
    }
}

#[test]
fn what_is_not_supported_is_named() {
    let required = with("\"scene\":0", "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"scene\":0");
    refused(
        "x.gltf",
        required,
        "x.gltf: it asks for extensionsRequired[0] = \"KHR_draco_mesh_compression\", which is not supported; \
         export it without",
    );
    let deviation =
        r#""sparse":{"count":1,"indices":{"bufferView":0,"componentType":5125},"values":{"bufferView":0}}"#;
    let sparse = with("\"count\":36,", &format!("{deviation},\"count\":36,"));
    refused("x.gltf", sparse, "x.gltf: accessor 2 is sparse, which is not supported; export it without");
    refused(
        "x.gltf",
        with("5126", "5122"),
        "x.gltf: accessor 0 has positions or normals that are not 32-bit floats, which is not supported; \
         export it without",
    );
}

#[test]
fn a_file_may_not_reach_out_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(folder.path().join("cube.bin"), cube_buffer()).unwrap();
    fs::write(folder.path().join("cube.mtl"), "newmtl red\n").unwrap();
    let absolute = folder.path().join("cube.bin").display().to_string();
    let (before, _) = cube_gltf().split_once("data:").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let load = |name: &str, text: &str| {
        let path = inside.join(name);
        fs::write(&path, text).unwrap();
        Model::load(&path).unwrap_err()
    };
    let out_of_reach = |error: ModelError, target: &str| {
        let message = error.to_string();
        let expected =
            format!(" refers to `{target}`, which is not a file in its folder; put it there, or embed it");
        assert!(message.ends_with(&expected), "{message}");
    };
    for (uri, target) in [
        ("../cube.bin", "../cube.bin"),
        ("..%2Fcube.bin", "../cube.bin"),
        ("x/../../cube.bin", "x/../../cube.bin"),
        ("", ""),
        ("https://example.com/cube.bin", "https://example.com/cube.bin"),
        ("file:cube.bin", "file:cube.bin"),
        (&absolute, &absolute.chars().take(60).collect::<String>()),
    ] {
        let cut = if target.len() == 60 && absolute.len() > 60 { "…" } else { "" };
        out_of_reach(load("x.gltf", &format!(r#"{before}{uri}"}}]}}"#)), &format!("{target}{cut}"));
    }
    out_of_reach(load("x.obj", "mtllib ..\\cube.mtl\n"), "../cube.mtl");
    // In memory there is no folder at all.
    out_of_reach(read("x.obj", "mtllib cube.mtl\n").unwrap_err(), "cube.mtl");
    // One that is missing is named by its whole path.
    let missing = load("x.obj", "mtllib none.mtl\n").to_string();
    assert!(missing.starts_with(&inside.join("none.mtl").display().to_string()), "{missing}");
}

#[test]
fn materials_without_a_beginning_or_with_numbers_missing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (obj, mtl) = (folder.path().join("x.obj"), folder.path().join("x.mtl"));
    fs::write(&obj, "mtllib x.mtl\n").unwrap();
    for (text, what) in [
        ("Kd 1 1 1\n", "line 1: a material begins with `newmtl`"),
        ("newmtl x\nKd 1\n", "line 2: a number is missing"),
        ("newmtl x\nPr rough\n", "line 2: `rough` is no finite number"),
    ] {
        fs::write(&mtl, text).unwrap();
        let expected = format!("{}: {what}; export it again", mtl.display());
        assert_eq!(Model::load(&obj).unwrap_err().to_string(), expected);
    }
}

#[test]
fn every_limit_is_kept_in_every_format() {
    let over = |name: &str, bytes: &[u8], limits: &ModelLimits, what: &str, max: u64| {
        let expected =
            format!("{name} has more than {max} {what}; simplify it, or raise `ModelLimits::{what}_max`");
        assert_eq!(Model::from_bytes(name, bytes, limits).unwrap_err().to_string(), expected);
    };
    for (name, bytes) in cubes() {
        let corners = if name == "flat.obj" || name.ends_with(".stl") { 36 } else { 24 };
        let len = bytes.len() as u64;
        let exact = ModelLimits {
            bytes_max: len,
            vertices_max: corners,
            triangles_max: 12,
            parts_max: 1,
            objects_max: 16,
            levels_max: 1,
        };
        Model::from_bytes(name, &bytes, &exact).unwrap();
        over(name, &bytes, &ModelLimits { bytes_max: len - 1, ..exact.clone() }, "bytes", len - 1);
        over(
            name,
            &bytes,
            &ModelLimits { vertices_max: corners - 1, ..exact.clone() },
            "vertices",
            corners - 1,
        );
        over(name, &bytes, &ModelLimits { triangles_max: 11, ..exact.clone() }, "triangles", 11);
        over(name, &bytes, &ModelLimits { parts_max: 0, ..exact.clone() }, "parts", 0);
        if name.starts_with("cube.gl") {
            over(name, &bytes, &ModelLimits { objects_max: 15, ..exact.clone() }, "objects", 15);
            over(name, &bytes, &ModelLimits { levels_max: 0, ..exact }, "levels", 0);
        }
    }
}

#[test]
fn the_limit_of_bytes_counts_what_a_file_refers_to_and_holds_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.obj");
    fs::write(&path, "mtllib x.mtl\n".to_owned() + &cube_obj()).unwrap();
    fs::write(folder.path().join("x.mtl"), "newmtl red\n").unwrap();
    let len = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
    let both = len("x.obj") + len("x.mtl");
    Model::load_within(&path, &ModelLimits { bytes_max: both, ..ModelLimits::default() }).unwrap();
    let limits = ModelLimits { bytes_max: both - 1, ..ModelLimits::default() };
    assert!(matches!(Model::load_within(&path, &limits), Err(ModelError::OverLimit { what: "bytes", .. })));
    // A device has no length and no end.
    if Path::new("/dev/zero").exists() {
        let endless = folder.path().join("endless.stl");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        let limits = ModelLimits { bytes_max: 1 << 16, ..ModelLimits::default() };
        assert!(matches!(
            Model::load_within(&endless, &limits),
            Err(ModelError::OverLimit { what: "bytes", .. })
        ));
    }
}
