//! The harness of the figures: ours and the peers' are measured in one run, and the ratio is what counts.
//!
//! A machine is never quiet, so a figure is either a race (`race.rs`: short batches in turn, many rounds, the low
//! quantile of each) or a count of instructions (`instructions.rs`), which noise cannot touch. It does not judge:
//! limits live where the figures are read, and nothing here knows what is measured.

mod figure;
mod instructions;
mod race;
mod suite;

pub use figure::Figure;
pub use instructions::{Counted, count_if_asked};
pub use race::{Contestant, Measured, Stopwatch, race};
pub use suite::Suite;
