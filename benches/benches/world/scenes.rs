//! The shipped scenes, from their files.

use std::path::Path;

use downbeat_physics::registry;
use downbeat_world::Scene;

/// A shipped scene.
pub(crate) fn load(name: &str) -> anyhow::Result<Scene> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    Ok(Scene::load_file(&folder.join(name).with_extension("toml"), registry())?)
}

/// A number that is the same for the same bits of all poses.
pub(crate) fn proof(positions: impl Iterator<Item = [f32; 3]>) -> u64 {
    positions.flatten().fold(0, |sum, number| sum.rotate_left(7) ^ u64::from(number.to_bits()))
}
