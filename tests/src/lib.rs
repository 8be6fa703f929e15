//! What whole-engine tests share: the checks themselves, so that a test's short cut and a command's full length are
//! the same code.

mod exactness;
mod kill;
mod replay;
mod trail;

pub use exactness::{Difference, exact_over};
pub use kill::{Plan, Script, Totals, rounds, write};
pub use replay::{LogTotals, Recording, record, verify};
pub use trail::{Trail, rows_at};

/// The shipped scenes that determinism is shown on.
pub const SCENES: &[&str] = &["arm", "pile", "pendulum", "many_rates", "quadruped", "cart2d"];

/// A shipped scene.
pub fn shipped(name: &str) -> anyhow::Result<downbeat_world::Scene> {
    Ok(downbeat_app::load_scene(name, &downbeat_world::LoadOptions::default())?)
}
