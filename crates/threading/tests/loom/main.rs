//! Loom models of everything here that synchronises: `cargo xtask loom` runs each in a process of its own.
//!
//! A model is small on purpose: two or three threads and one question. Where all schedules can be tried in seconds
//! they are; the others are tried with at most three preemptions, which finds what two threads can do to each other.
//! Each has at least one seeded fault in `xtask/mutants.toml` that it must catch (`cargo xtask loom --mutants`).
#![cfg(downbeat_loom)]

mod batch;
mod bound;
mod dispatcher;
mod jobs;
mod latest;
mod roles;
mod stop;
