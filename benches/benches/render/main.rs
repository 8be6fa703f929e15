//! The figures of `downbeat-render`'s queue, each beside boxed closures over the channels a programmer would have used.
//!
//! One file per group of figures; `queues.rs` builds the contestants. It draws nothing and sets no limits.

#[path = "../threading/captures.rs"]
mod captures;
mod drain;
mod extract;
mod gain;
mod kick;
mod pipelined;
mod queues;
mod submit;

use downbeat_benches::{Suite, count_if_asked};

fn main() -> anyhow::Result<()> {
    if count_if_asked(&[submit::OURS, submit::FLUME, submit::CROSSBEAM, extract::OURS])? {
        return Ok(());
    }
    let mut suite = Suite::from_args()?;
    submit::measure(&mut suite)?;
    drain::measure(&mut suite)?;
    pipelined::measure(&mut suite)?;
    extract::measure(&mut suite)?;
    gain::measure(&mut suite)?;
    kick::measure(&mut suite)?;
    suite.finish()
}
