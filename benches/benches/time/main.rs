//! The figures of `downbeat-time`, each beside what a programmer would have used instead.
//!
//! One file per group of figures; `ours.rs`, `plain.rs` and `bevy.rs` build the contestants. It sets no limits.

mod bevy;
mod dispatch;
mod edit;
mod empty_step;
mod growth;
mod ours;
mod pacer;
mod plain;
mod profiled;
mod shared;
mod tick;

use downbeat_benches::{Suite, count_if_asked};

fn main() -> anyhow::Result<()> {
    let counted = [dispatch::OURS, dispatch::PLAIN, shared::OURS, shared::PLAIN, empty_step::OURS];
    if count_if_asked(&counted)? {
        return Ok(());
    }
    let mut suite = Suite::from_args()?;
    dispatch::measure(&mut suite)?;
    shared::measure(&mut suite)?;
    empty_step::measure(&mut suite)?;
    growth::measure(&mut suite)?;
    edit::measure(&mut suite)?;
    profiled::measure(&mut suite)?;
    tick::measure(&mut suite)?;
    pacer::measure(&mut suite)?;
    suite.finish()
}
