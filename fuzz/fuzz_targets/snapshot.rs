//! Snapshots: any bytes, as they are and with their head and check sum made right, so that what is behind the check
//! sum is reached. Solvers read their state here but are not stepped with it: what is in there is theirs alone, and
//! cannot be checked from outside.

#![no_main]

use downbeat_world::Scene;

libfuzzer_sys::fuzz_target!(init: downbeat_fuzz::start(), |input: &[u8]| downbeat_fuzz::run(input, |input| {
    load(input);
    load(&sealed(input));
}));

/// Loads a snapshot. A scene that comes of it can be asked, saved again and, without solvers, stepped.
fn load(bytes: &[u8]) {
    let inspected = Scene::inspect(bytes);
    let Ok(mut scene) = Scene::from_snapshot(bytes, downbeat_physics::registry()) else { return };
    let summary = inspected.expect("what can be loaded can be inspected");
    assert_eq!(summary.now, scene.time().now());
    let _ = scene.state_hashes();
    let saved = scene.save().expect("what was loaded can be saved");
    Scene::inspect(&saved).expect("what was saved is a snapshot");
    if !scene.subsystems().any(|(_, kind, _)| kind.is_some_and(|kind| kind.starts_with("rapier"))) {
        let _ = scene.run_steps(2);
    }
}

/// The input's payload between a right head and a right check sum.
fn sealed(input: &[u8]) -> Vec<u8> {
    const MARK_AND_VERSION: &[u8] = b"DBTSNAP\n\x01\0\0\0";
    const HEAD: usize = MARK_AND_VERSION.len() + 8;
    const CHECK: usize = 4;
    let whole = input.starts_with(MARK_AND_VERSION) && input.len() >= HEAD + CHECK;
    let payload = if whole { &input[HEAD..input.len() - CHECK] } else { input };
    let mut bytes = [MARK_AND_VERSION, &(payload.len() as u64).to_le_bytes(), payload].concat();
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}
