//! MJCF files: any text, beside a mesh that it may name. What is imported can be simulated.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use downbeat_physics::{ImportOptions, import_mjcf};
use downbeat_world::Scene;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| downbeat_fuzz::folder_with_mesh().join("robot.xml"));

libfuzzer_sys::fuzz_target!(init: downbeat_fuzz::start(), |input: &[u8]| downbeat_fuzz::run(input, |input| {
    std::fs::write(&*FILE, input).expect("the temporary folder can be written to");
    let mut scene = Scene::new("fuzz", 1, downbeat_physics::registry());
    if import_mjcf(&FILE, &ImportOptions::default(), scene.world_mut()).is_err() {
        assert!(scene.world().entities().is_empty(), "a refused file leaves nothing");
        return;
    }
    scene.add("rapier3d", "physics", &toml::Table::new(), None).expect("rapier3d is known");
    let _ = scene.run_steps(2);
}));
