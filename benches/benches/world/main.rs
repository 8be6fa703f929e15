//! The figures of `downbeat-world` and `downbeat-physics`, beside the bare solver, one core and another engine.
//!
//! One file per group of figures; `scenes.rs` loads the scenes. It sets no limits.

mod arm_steps;
mod overhead;
mod scale;
mod scenes;
mod snapshot;
mod state_hash;

use downbeat_benches::Suite;

fn main() -> anyhow::Result<()> {
    let mut suite = Suite::from_args()?;
    overhead::measure(&mut suite)?;
    arm_steps::measure(&mut suite)?;
    scale::measure(&mut suite)?;
    snapshot::measure(&mut suite)?;
    state_hash::measure(&mut suite)?;
    suite.finish()
}
