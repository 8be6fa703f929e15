//! What should happen, worked out the slow way: big integers for time, plain sorting for order.
//!
//! It shares no code with the crate: nothing here or in `track.rs` names a type of it, and nothing is cached or
//! walked incrementally that could be computed afresh. `cases.rs` makes up registrations, `record.rs` runs them
//! on a real manager. It does not know modes, budgets or gates: those decide how many steps run, not which.

pub(crate) mod cases;
pub(crate) mod record;
pub(crate) mod track;

use num_bigint::{BigInt, BigUint};
use track::Track;

/// The last instant of the timeline.
pub(crate) const END: u64 = u64::MAX - 1;

/// A runner as one configures it: `numer / denom` hertz on a grid that starts at `offset` nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunnerSpec {
    pub(crate) numer: u64,
    pub(crate) denom: u64,
    pub(crate) offset: u64,
}

/// A callback as one registers it. `on_shared` has one bit per runner, phases count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallbackSpec {
    pub(crate) runner: u8,
    pub(crate) phase: u8,
    pub(crate) priority: i32,
    pub(crate) on_shared: u8,
    pub(crate) enabled: bool,
}

/// Where a runner should stand after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) runner: u8,
    pub(crate) fires: bool,
    pub(crate) last: u64,
    /// `None` when the boundary ahead lies beyond the timeline.
    pub(crate) next: Option<u64>,
    /// Boundaries behind, fired or not.
    pub(crate) passed: u64,
    /// The way from `last` to `next` as numerator and denominator; `None` when there is no `next`.
    pub(crate) alpha: Option<(BigUint, BigUint)>,
}

/// What should happen in one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OracleStep {
    pub(crate) time: u64,
    pub(crate) fired: u8,
    /// Callbacks by number of registration, in the order they run.
    pub(crate) calls: Vec<usize>,
    /// Length of the step that ends here, for the runners that fire.
    pub(crate) dt: [Option<u64>; 8],
    /// The rate of that step, which a change of rate at its end does not touch.
    pub(crate) rate: [(u64, u64); 8],
    pub(crate) rows: Vec<Row>,
}

/// A timeline and what is registered on it.
#[derive(Debug, Clone)]
pub(crate) struct Oracle {
    pub(crate) tracks: [Option<Track>; 8],
    /// By number of registration; `None` once removed.
    pub(crate) callbacks: Vec<Option<CallbackSpec>>,
    pub(crate) now: u64,
    pub(crate) steps: u64,
}

impl Oracle {
    pub(crate) fn new(runners: &[RunnerSpec], callbacks: &[CallbackSpec]) -> Self {
        let mut tracks = [const { None }; 8];
        for (track, &spec) in tracks.iter_mut().zip(runners) {
            *track = Some(Track::starting(spec, 0));
        }
        Self { tracks, callbacks: callbacks.iter().copied().map(Some).collect(), now: 0, steps: 0 }
    }

    /// The earliest boundary ahead of any runner.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.tracks.iter().flatten().filter_map(Track::next).min()
    }

    /// Takes one step, or `None` at the end of time.
    pub(crate) fn step(&mut self) -> Option<OracleStep> {
        let time = self.next_time()?;
        let mut dt = [None; 8];
        let mut rate = [(0, 0); 8];
        let mut fired = 0;
        for (number, track) in self.tracks.iter_mut().enumerate() {
            if let Some(track) = track
                && track.next() == Some(time)
            {
                rate[number] = track.rate();
                dt[number] = Some(track.pass());
                fired |= 1 << number;
            }
        }
        self.now = time;
        self.steps += 1;
        Some(OracleStep { time, fired, calls: self.order(fired), dt, rate, rows: self.rows(fired) })
    }

    /// Passes every boundary up to `time` without firing.
    pub(crate) fn skip_to(&mut self, time: u64) {
        self.now = time;
        self.tracks.iter_mut().flatten().for_each(|track| track.pass_until(time));
    }

    /// Who runs when `fired` meet: filtered, then sorted by phase, priority and registration.
    pub(crate) fn order(&self, fired: u8) -> Vec<usize> {
        let mut due: Vec<(u8, i32, usize)> = Vec::new();
        for (index, callback) in self.callbacks.iter().enumerate() {
            let Some(callback) = callback else { continue };
            let needed = callback.on_shared | 1 << callback.runner;
            if callback.enabled && needed & fired == needed {
                due.push((callback.phase, callback.priority, index));
            }
        }
        due.sort_unstable();
        due.into_iter().map(|(_, _, index)| index).collect()
    }

    /// Where every runner stands now.
    pub(crate) fn rows(&self, fired: u8) -> Vec<Row> {
        let mut rows = Vec::new();
        for (number, track) in self.tracks.iter().enumerate() {
            let Some(track) = track else { continue };
            rows.push(Row {
                runner: number as u8,
                fires: fired & 1 << number != 0,
                last: track.last(),
                next: track.next(),
                passed: track.passed,
                alpha: track.alpha(self.now),
            });
        }
        rows
    }
}

/// The changes of `Edit`, as they should turn out between two steps.
impl Oracle {
    pub(crate) fn add_runner(&mut self, spec: RunnerSpec) -> usize {
        let place = self.tracks.iter().position(Option::is_none).expect("a free place");
        self.tracks[place] = Some(Track::starting(spec, self.now));
        place
    }

    pub(crate) fn remove_runner(&mut self, runner: u8, rebind_to: Option<u8>) {
        self.tracks[usize::from(runner)] = None;
        let Some(to) = rebind_to else { return };
        for callback in self.callbacks.iter_mut().flatten() {
            if callback.runner == runner {
                callback.runner = to;
            }
            if callback.on_shared & 1 << runner != 0 {
                callback.on_shared = callback.on_shared & !(1 << runner) | 1 << to;
            }
        }
    }

    pub(crate) fn set_rate(&mut self, runner: u8, numer: u64, denom: u64) {
        let track = self.tracks[usize::from(runner)].as_mut().expect("a runner");
        track.pending_rate = Some((numer, denom));
        self.change_at_once(runner);
    }

    pub(crate) fn set_offset(&mut self, runner: u8, offset: u64) {
        let track = self.tracks[usize::from(runner)].as_mut().expect("a runner");
        track.pending_offset = Some(offset);
        self.change_at_once(runner);
    }

    /// Before the first step, and where no boundary is left to wait for, a change does not wait.
    fn change_at_once(&mut self, runner: u8) {
        let track = self.tracks[usize::from(runner)].as_mut().expect("a runner");
        if self.steps == 0 {
            track.begin_anew();
        } else if track.next().is_none() {
            track.change_without_boundary(self.now);
        }
    }

    /// Whether a callback runs on `runner` or waits for it.
    pub(crate) fn is_in_use(&self, runner: u8) -> bool {
        self.callbacks.iter().flatten().any(|c| c.runner == runner || c.on_shared & 1 << runner != 0)
    }

    /// How many runners there are.
    pub(crate) fn runner_count(&self) -> usize {
        self.tracks.iter().flatten().count()
    }
}

/// Whether `value` is the fraction `exact` to within 2⁻⁵², and in [0, 1). The float is taken apart into whole
/// numbers, so the comparison itself rounds nothing.
pub(crate) fn is_alpha(value: f64, exact: &(BigUint, BigUint)) -> bool {
    if !(0.0..1.0).contains(&value) {
        return false;
    }
    const SHIFT: u32 = 1074;
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as u32, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
    // value = mantissa · 2^(exponent − 1075), so value · 2^1074 = mantissa · 2^(exponent − 1).
    let value = BigInt::from(mantissa) << (exponent - 1);
    let (numer, denom) = (BigInt::from(exact.0.clone()), BigInt::from(exact.1.clone()));
    let error = value * &denom - (numer << SHIFT);
    error.magnitude() <= (denom << (SHIFT - 52)).magnitude()
}
