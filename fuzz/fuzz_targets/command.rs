//! Commands: any bytes, decoded as one command after the other and applied to a small scene, which is then saved and
//! stepped.

#![no_main]

use std::sync::LazyLock;

use downbeat_world::{Scene, WorldCommand};

/// Commands of one input, at most.
const COMMANDS_MAX: usize = 16;

static SCENE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let text = include_str!("../scene.toml");
    let scene = Scene::from_text(text, "fuzz/scene.toml", "".as_ref(), downbeat_physics::registry());
    let mut scene = scene.unwrap_or_else(|error| panic!("{error}"));
    scene.run_steps(3).expect("the scene runs as long as nobody changes it");
    scene.save().expect("it has no native code")
});

libfuzzer_sys::fuzz_target!(init: downbeat_fuzz::start(), |input: &[u8]| downbeat_fuzz::run(input, |input| {
    let mut scene = Scene::from_snapshot(&SCENE, downbeat_physics::registry()).expect("it was just saved");
    let mut before = scene.state_hashes();
    let mut rest = input;
    for _ in 0..COMMANDS_MAX {
        let Ok((command, behind)) = postcard::take_from_bytes::<WorldCommand>(rest) else { break };
        rest = behind;
        let refused = scene.apply(command).is_err();
        let after = scene.state_hashes();
        assert!(!refused || before == after, "a refused command leaves no trace");
        before = after;
    }
    let saved = scene.save().expect("it has no native code");
    Scene::inspect(&saved).expect("what commands made can be saved and read");
    let _ = scene.run_steps(2);
}));
