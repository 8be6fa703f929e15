//! The figures of the world log: what it takes to make commands last, what that costs the simulation, and how a run
//! comes back. The peer is the disk itself where there is one.
//!
//! One file per group of figures; `logs.rs` has what they share. It sets no limits.

mod ack;
mod append;
mod logs;
mod recover;
mod size;
mod step_cost;

use downbeat_benches::Suite;

fn main() -> anyhow::Result<()> {
    let mut suite = Suite::from_args()?;
    append::measure(&mut suite)?;
    ack::measure(&mut suite)?;
    step_cost::measure(&mut suite)?;
    recover::measure(&mut suite)?;
    size::measure(&mut suite)?;
    suite.finish()
}
