//! Loom models of everything here that synchronises: `cargo xtask loom` runs each in a process of its own.
//!
//! A model is small on purpose: two or three threads and one question. Where all schedules can be tried in seconds
//! they are; the others are tried with at most three preemptions, which finds what two threads can do to each other.
//! Each has at least one seeded fault in `xtask/mutants.toml` that it must catch (`cargo xtask loom --mutants`).
#![cfg(downbeat_loom)]

mod dispatcher;
mod jobs;
mod latest;
mod roles;
mod stop;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How many schedules are tried.
enum Schedules {
    /// Every one there is.
    All,
    /// Those with at most three preemptions.
    Bounded,
}

/// Tries the schedules of a model and prints the line that `cargo xtask loom` makes its table of.
fn check(name: &str, schedules: Schedules, model: impl Fn() + Send + Sync + 'static) {
    let iterations = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&iterations);
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    let bound = match schedules {
        Schedules::All => None,
        Schedules::Bounded => Some(3),
    };
    builder.preemption_bound = bound;
    #[expect(clippy::disallowed_methods, reason = "the time a model takes is for the reader")]
    let started = Instant::now();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let bound = bound.map_or_else(|| "all".to_owned(), |bound| format!("preemptions<={bound}"));
    let secs = started.elapsed().as_secs_f64();
    println!("\nloom-model {name} {} {bound} {secs:.2}", iterations.load(Ordering::Relaxed));
}
