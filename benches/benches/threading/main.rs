//! The figures of `downbeat-threading`, each beside what a programmer would have used instead.
//!
//! One file per group of figures; `captures.rs` is what their commands carry. It sets no limits.

mod arena;
mod captures;
mod execute;
mod execute_async;
mod latest;
mod role;
mod stop;

use downbeat_benches::{Suite, count_if_asked};
use downbeat_threading::{Role, spawn};

fn main() -> anyhow::Result<()> {
    let counted = [
        execute_async::OURS,
        execute_async::LOCKED,
        arena::OURS,
        arena::BOXED,
        stop::OURS,
        stop::RELAXED,
        role::CHECK,
        role::ASSERT,
        role::NOTHING,
    ];
    if count_if_asked(&counted)? {
        return Ok(());
    }
    let mut suite = Suite::from_args()?;
    // The allocator takes shortcuts as long as a process has never had a second thread. Nobody who asks which thread
    // may do what has just one, so no figure may depend on whether another one came first.
    spawn("first", Role::Worker, || ())?.join()?;
    execute::measure(&mut suite)?;
    execute_async::measure(&mut suite)?;
    arena::measure(&mut suite)?;
    stop::measure(&mut suite)?;
    role::measure(&mut suite)?;
    latest::measure(&mut suite)?;
    suite.finish()
}
