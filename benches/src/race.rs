//! Measuring several contestants in turn, in many short rounds, so that noise meets them all alike.
//!
//! The value of each is a low quantile over its rounds: whatever else the machine does only ever adds time. It does
//! not compare contestants that did different work; that is an error.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// How long a race takes, warm-up included.
const RACE_TIME: Duration = Duration::from_secs(3);

/// Fewer rounds than this and the quantile would be an accident.
const ROUNDS_MIN: usize = 40;

/// Above the minimum, so that one lucky reading is not the figure; low, so that a busy neighbour is not either.
const QUANTILE: f64 = 0.05;

/// Collects the time of the part of a batch that counts.
#[derive(Debug, Default)]
pub struct Stopwatch {
    spent: Duration,
}

impl Stopwatch {
    /// Runs `work` and adds its time.
    #[expect(clippy::disallowed_methods, reason = "the harness must not depend on the clock it measures")]
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.spent += start.elapsed();
        result
    }

    /// All of it.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}

/// Something that can do a batch of the work, again and again.
pub struct Contestant<'a> {
    name: &'static str,
    batch: Box<dyn FnMut(&mut Stopwatch) -> u64 + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant whose whole batch is timed. `batch` returns what the work has added up to, which must be the
    /// same for all contestants of a race.
    pub fn new(name: &'static str, mut batch: impl FnMut() -> u64 + 'a) -> Self {
        Self::timed_within(name, move |watch| watch.time(&mut batch))
    }

    /// A contestant that times the part of its batch that counts.
    pub fn timed_within(name: &'static str, batch: impl FnMut(&mut Stopwatch) -> u64 + 'a) -> Self {
        Self { name, batch: Box::new(batch) }
    }
}

/// What a contestant needs for one unit of work.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// The contestant.
    pub name: &'static str,
    /// Nanoseconds per unit.
    pub nanos: f64,
}

/// Runs all contestants against each other; a batch is `units` units of work. Results come in the order given.
pub fn race(units: u64, mut contestants: Vec<Contestant<'_>>) -> Result<Vec<Measured>> {
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); contestants.len()];
    let mut total = Stopwatch::default();
    while total.spent < RACE_TIME || rounds[0].len() < ROUNDS_MIN {
        let mut first = None;
        for (contestant, rounds) in contestants.iter_mut().zip(&mut rounds) {
            let (proof, nanos) = total.time(|| one_batch(contestant));
            let (first_name, first_proof) = *first.get_or_insert((contestant.name, proof));
            ensure!(
                proof == first_proof,
                "`{}` did other work than `{first_name}`: {proof}, not {first_proof}",
                contestant.name,
            );
            rounds.push(nanos / units as f64);
        }
    }
    let value = |(contestant, rounds): (&Contestant<'_>, Vec<f64>)| Measured {
        name: contestant.name,
        nanos: low_quantile(rounds),
    };
    Ok(contestants.iter().zip(rounds).map(value).collect())
}

/// The timed batch follows an untimed one: the contestant before has filled the caches with its own.
fn one_batch(contestant: &mut Contestant<'_>) -> (u64, f64) {
    (contestant.batch)(&mut Stopwatch::default());
    let mut watch = Stopwatch::default();
    let proof = (contestant.batch)(&mut watch);
    (proof, watch.spent.as_nanos() as f64)
}

fn low_quantile(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    rounds[(rounds.len() as f64 * QUANTILE) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contestant_that_did_other_work_is_refused() {
        let contestants = vec![Contestant::new("ours", || 7), Contestant::new("lazy", || 6)];
        let error = race(1, contestants).unwrap_err().to_string();
        assert_eq!(error, "`lazy` did other work than `ours`: 6, not 7");
    }

    #[test]
    fn the_quantile_ignores_the_slow_rounds() {
        let rounds = (0..100).rev().map(f64::from).collect();
        assert!((low_quantile(rounds) - 5.0).abs() < f64::EPSILON);
    }
}
