//! Small programs that show one thing each: `cargo run -p downbeat-examples --example NAME`.

/// The README's example, compiled and run with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
