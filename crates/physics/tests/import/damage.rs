//! Files that are cut or changed: each is refused or imported, and neither does harm.

use downbeat_physics::{ImportOptions, import_mjcf, import_urdf, registry};
use downbeat_world::Scene;

use super::mjcf::HOPPER;

/// Imports damaged text and runs what became of it. Whatever comes of it, it comes back.
fn survives(name: &str, text: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder to write to");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a folder to write to");
    let mut scene = Scene::new("damaged", 1, registry());
    let import = if name.ends_with("urdf") { import_urdf } else { import_mjcf };
    if import(&path, &ImportOptions::default(), scene.world_mut()).is_err() {
        assert!(scene.world().entities().is_empty(), "a refused file leaves nothing");
        return;
    }
    scene.add("rapier3d", "physics", &toml::Table::new(), None).expect("rapier3d is known");
    // A robot of odd numbers may fly to pieces, which is an error of the step; then the scene is paused.
    let ran = scene.run_steps(3);
    assert_eq!(ran.is_err(), scene.time().is_paused());
}

const TEXTS: [(&str, &str); 3] = [
    ("arm.urdf", include_str!("../data/arm.urdf")),
    ("hopper.xml", HOPPER),
    ("quadruped.xml", include_str!("../../../../scenes/robots/quadruped.xml")),
];

#[test]
fn a_file_may_end_anywhere() {
    for (name, text) in TEXTS {
        for length in 0..text.len() {
            survives(name, &text.as_bytes()[..length]);
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_file_may_have_any_bytes_changed(
        which in 0..TEXTS.len(),
        changes in proptest::collection::vec((0..1_usize << 20, 0..=255_u8), 1..4),
    ) {
        let (name, text) = TEXTS[which];
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        survives(name, &bytes);
    }

    #[test]
    fn a_file_may_have_any_numbers(
        which in 0..TEXTS.len(),
        at in 0..400_usize,
        number in proptest::sample::select(vec![
            "", "nan", "inf", "-inf", "1e39", "-1e39", "1e308", "0", "-0", "-1", "4294967296", "1e-320", "x", "1 2", "xyzxyz",
        ]),
    ) {
        let (name, text) = TEXTS[which];
        // Every second quoted text is a value.
        let mut parts: Vec<_> = text.split('"').collect();
        let values = parts.len() / 2;
        let words: Vec<_> = parts[at % values * 2 + 1].split(' ').collect();
        let mut words: Vec<_> = words.into_iter().map(str::to_owned).collect();
        let word = at / values % words.len();
        words[word] = number.to_owned();
        let value = words.join(" ");
        parts[at % values * 2 + 1] = &value;
        survives(name, parts.join("\"").as_bytes());
    }
}
