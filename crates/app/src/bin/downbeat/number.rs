//! Numbers as all commands print them.

use std::time::Duration;

use downbeat_time::SimTime;

/// A hash.
pub(crate) fn hex(hash: u64) -> String {
    format!("{hash:#018x}")
}

/// How many times real time, as a person reads it.
pub(crate) fn factor(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.2}") } else { format!("{factor:.0}") }
}

/// Simulated time for each second of wall time.
pub(crate) fn real_time_factor(from: SimTime, to: SimTime, wall: Duration) -> f64 {
    (to.as_secs_f64() - from.as_secs_f64()) / wall.as_secs_f64().max(1e-9)
}

/// A size in bytes, as a person reads it.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// So many of something.
pub(crate) fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
