//! What every loom model of the workspace is checked with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many schedules are tried.
#[derive(Debug, Clone, Copy)]
pub enum Schedules {
    /// Every one there is.
    All,
    /// Those with at most three preemptions, which finds what two threads can do to each other.
    Bounded,
}

/// Tries the schedules of a model and prints the line that `cargo xtask loom` makes its table of.
pub fn check(name: &str, schedules: Schedules, model: impl Fn() + Send + Sync + 'static) {
    let iterations = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&iterations);
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = match schedules {
        Schedules::All => None,
        Schedules::Bounded => Some(3),
    };
    let bound = builder.preemption_bound;
    let took = crate::clock::timed(move || {
        builder.check(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            model();
        });
    });
    let bound = bound.map_or_else(|| "all".to_owned(), |bound| format!("preemptions<={bound}"));
    println!("\nloom-model {name} {} {bound} {:.2}", iterations.load(Ordering::Relaxed), took.as_secs_f64());
}
