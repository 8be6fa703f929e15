//! Locks, condition variables, atomics and threads: one shape, three bodies.
//!
//! Ordinary builds get parking_lot and the standard library; with `--cfg downbeat_loom` or `--cfg downbeat_shuttle`
//! the same code runs under a model checker. Whatever synchronises in the workspace goes through here, or it is not
//! checked. A guard is handed to `wait` and comes back from it, as in the standard library, but nothing is poisoned:
//! a panic under a lock leaves the data as it was.
//!
//! It holds no channel: what the checkers cannot see into must not sit inside code that they model. Reference
//! counts come from the standard library under every body.

#[cfg(any(downbeat_loom, downbeat_shuttle))]
mod checked;
#[cfg(downbeat_loom)]
pub mod model;
#[cfg(not(any(downbeat_loom, downbeat_shuttle)))]
mod native;

#[cfg(any(downbeat_loom, downbeat_shuttle))]
use checked as body;
#[cfg(not(any(downbeat_loom, downbeat_shuttle)))]
use native as body;

pub(crate) use body::local;
pub use body::{Condvar, Mutex, MutexGuard, SPINS_MAX, atomic, spin_hint, thread};
