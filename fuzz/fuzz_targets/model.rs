//! Models: any bytes, to each reader in turn. None of them looks at a file.

#![no_main]

use downbeat_render::{Model, ModelLimits};

libfuzzer_sys::fuzz_target!(init: downbeat_fuzz::start(), |input: &[u8]| downbeat_fuzz::run(input, |input| {
    for name in ["model.gltf", "model.obj", "model.stl"] {
        let Ok(model) = Model::from_bytes(name, input, &ModelLimits::default()) else { continue };
        for part in &model.parts {
            let corners = part.mesh.vertices.len();
            assert!(part.mesh.indices.iter().all(|index| (*index as usize) < corners), "{name}: {}", part.name);
        }
    }
}));
