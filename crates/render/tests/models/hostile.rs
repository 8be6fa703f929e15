//! What no file can do, whatever its bytes: make the reader panic, hand out a mesh that is not one, or take much more
//! memory than the file is long. Good files are cut at every length, every byte is changed, and pieces are moved about.

use allocation_counter::measure;
use downbeat_render::{Model, ModelError, ModelLimits};
use glam::Vec3;
use proptest::prelude::*;

use crate::files::{cube_gltf, cubes};
use crate::read;

/// The most bytes that were in use at once, per byte of the file. JSON is costly: `{},` becomes a node.
const BYTES_PER_BYTE: u64 = 400;
/// And for what does not depend on the file.
const BYTES_AT_LEAST: u64 = 64 << 10;

fn check(name: &str, bytes: &[u8]) {
    let mut outcome = None;
    let memory = measure(|| outcome = Some(read(name, bytes))).bytes_max;
    assert!(memory < BYTES_PER_BYTE * bytes.len() as u64 + BYTES_AT_LEAST, "{name}: {memory} bytes");
    match outcome.expect("it was measured") {
        Ok(model) => assert_sound(&model),
        Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
    }
}

fn assert_sound(model: &Model) {
    assert!(!model.parts.is_empty());
    for part in &model.parts {
        assert!(!part.mesh.indices.is_empty() && part.mesh.indices.len().is_multiple_of(3));
        assert!(part.mesh.indices.iter().all(|index| (*index as usize) < part.mesh.vertices.len()));
        for vertex in &part.mesh.vertices {
            assert!(Vec3::from(vertex.position).is_finite());
            assert!((Vec3::from(vertex.normal).length() - 1.0).abs() < 1e-5);
        }
        let material = part.material;
        let numbers =
            [material.base_colour.max_element(), material.base_colour.min_element(), material.metallic];
        assert!(
            numbers.iter().chain([&material.roughness]).all(|number| (0.0..=1.0).contains(number)),
            "{material:?}"
        );
    }
}

#[test]
fn a_file_cut_at_any_length_is_harmless() {
    for (name, bytes) in cubes() {
        for len in 0..bytes.len() {
            check(name, &bytes[..len]);
        }
    }
}

#[test]
fn a_byte_changed_anywhere_is_harmless() {
    for (name, bytes) in cubes() {
        for at in 0..bytes.len() {
            // Other digits, signs and brackets in a text; extremes and near misses in numbers.
            for other in [0, b'0', b'9', b'-', b'{', 0x7f, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
                let mut changed = bytes.clone();
                changed[at] = other;
                check(name, &changed);
            }
        }
    }
}

#[test]
fn a_number_in_the_json_that_is_anything_else_is_harmless() {
    let good = cube_gltf();
    let (head, buffer) = good.split_once("data:").unwrap();
    let digits: Vec<_> = head.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
    for at in digits {
        for number in
            ["-1", "1e300", "2147483647", "4294967295", "4294967296", "18446744073709551615", "null", "[]"]
        {
            check("cube.gltf", format!("{}{number}{}data:{buffer}", &head[..at], &head[at + 1..]).as_bytes());
        }
    }
}

#[test]
fn a_scene_of_any_depth_or_width_is_harmless() {
    let scene = |nodes: &str| {
        format!(r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{nodes}{{}}]}}"#)
    };
    let deep: String = (1..50_000).map(|child| format!(r#"{{"children":[{child}]}},"#)).collect();
    check("deep.gltf", scene(&deep).as_bytes());
    let levels = ModelLimits { levels_max: u64::MAX, ..ModelLimits::default() };
    let error = Model::from_bytes("deep.gltf", scene(&deep).as_bytes(), &levels).unwrap_err();
    assert!(matches!(error, ModelError::Empty { .. }), "{error}");
    check("wide.gltf", scene(&"{},".repeat(50_000)).as_bytes());
    check("twice.gltf", scene(&format!(r#"{{"children":[1{}]}},"#, ",1".repeat(50_000))).as_bytes());
}

#[test]
fn materials_cut_or_changed_anywhere_are_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.obj");
    std::fs::write(&path, "mtllib part.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let mtl = b"newmtl red\nKd 0.9 0.1 0.2\nPr 0.2\nPm 1\n";
    for at in 0..mtl.len() {
        let cut = mtl[..at].to_vec();
        let changed =
            [0, b'9', b'-', b'e', b'\n', 0xff].map(|other| [&mtl[..at], &[other], &mtl[at + 1..]].concat());
        for bytes in changed.into_iter().chain([cut]) {
            std::fs::write(folder.path().join("part.mtl"), bytes).unwrap();
            if let Ok(model) = Model::load(&path) {
                assert_sound(&model);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn pieces_moved_about_are_harmless(
        which in 0..6_usize,
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..40_usize), 1..6),
    ) {
        let (name, mut bytes) = cubes()[which].clone();
        for (from, to, len) in moves {
            let from = from.index(bytes.len());
            let piece = bytes[from..(from + len).min(bytes.len())].to_vec();
            let to = to.index(bytes.len());
            bytes.splice(to..to, piece);
        }
        check(name, &bytes);
    }

    #[test]
    fn any_bytes_are_harmless(which in 0..6_usize, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let name = cubes()[which].0;
        check(name, &bytes);
        check(name, &[b"solid x\n", &bytes[..]].concat());
        check(name, &[b"glTF\x02\0\0\0", &bytes[..]].concat());
    }
}
