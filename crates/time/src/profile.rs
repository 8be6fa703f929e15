//! What callbacks cost and which deadlines they miss.
//!
//! It measures and never decides: no step runs earlier, later or not at all because of a figure kept here.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::mode::TimeMode;

/// Whether callbacks are timed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Profiling {
    /// On in the realtime modes, off in `SimHighPerformance`.
    #[default]
    Auto,
    /// Always on.
    On,
    /// Always off.
    Off,
}

impl Profiling {
    pub(crate) const fn is_on(self, mode: TimeMode) -> bool {
        match self {
            Self::Auto => mode.is_realtime(),
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// What a callback has cost since it was registered or its figures were last reset.
///
/// A deadline is missed when a callback ends later than one step of its runner after the boundary was due. The
/// miss is an overrun when the step's own execution up to there took longer than that, and a late release when
/// it would have been in time had the step started in time.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CallbackCost {
    /// How often it ran.
    pub count: u64,
    /// Time spent in all runs.
    pub total: Duration,
    /// Time spent per run on average.
    pub mean: Duration,
    /// Half of the runs were at most this long.
    pub p50: Duration,
    /// 95 of 100 runs were at most this long.
    pub p95: Duration,
    /// 99 of 100 runs were at most this long.
    pub p99: Duration,
    /// The longest run.
    pub max: Duration,
    /// Deadlines missed because the step started late.
    pub late_releases: u64,
    /// Deadlines missed because the step took too long.
    pub overruns: u64,
}

/// One figure per callback slot; memory is set aside when a callback is registered or profiling is turned on.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    on: bool,
    costs: Vec<Cost>,
}

#[derive(Debug)]
struct Cost {
    runs: Histogram<u64>,
    total_nanos: u64,
    max_nanos: u64,
    late_releases: u64,
    overruns: u64,
}

/// The longest run that percentiles tell apart; longer ones count as this. `max` is exact.
const PERCENTILE_NANOS_MAX: u64 = 100_000_000_000;

impl Cost {
    fn new() -> Self {
        // One significant digit keeps a histogram near 5 KiB, so that thousands of callbacks can have one.
        let runs = Histogram::new_with_bounds(1, PERCENTILE_NANOS_MAX, 1);
        let runs = runs.expect("one digit over constant bounds is a valid histogram");
        Self { runs, total_nanos: 0, max_nanos: 0, late_releases: 0, overruns: 0 }
    }
}

/// How a step stands against the wall clock while its callbacks are timed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepTiming {
    /// When the step began, on the profiler's clock.
    pub(crate) started: u64,
    /// How long before that the boundary was due; 0 where the wall clock does not matter.
    pub(crate) overdue: u64,
}

impl Profiler {
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Makes room for `slots` callbacks when on.
    pub(crate) fn set_on(&mut self, on: bool, slots: usize) {
        self.on = on;
        if on && self.costs.len() < slots {
            self.costs.resize_with(slots, Cost::new);
        }
    }

    /// Forgets the callback that had this slot before.
    pub(crate) fn reset(&mut self, slot: u32) {
        if let Some(cost) = self.costs.get_mut(slot as usize) {
            *cost = Cost::new();
        }
    }

    pub(crate) fn reset_all(&mut self) {
        self.costs.iter_mut().for_each(|cost| *cost = Cost::new());
    }

    /// One run of a callback from `began` to `ended`, in a step of its runner of `dt` nanoseconds.
    #[inline]
    pub(crate) fn record(&mut self, slot: u32, step: StepTiming, began: u64, ended: u64, dt: u64) {
        let Some(cost) = self.costs.get_mut(slot as usize) else { return };
        let nanos = ended.saturating_sub(began);
        cost.runs.saturating_record(nanos.max(1));
        cost.total_nanos += nanos;
        cost.max_nanos = cost.max_nanos.max(nanos);
        let executed = ended.saturating_sub(step.started);
        if executed > dt {
            cost.overruns += 1;
        } else if executed.saturating_add(step.overdue) > dt {
            cost.late_releases += 1;
        }
    }

    pub(crate) fn cost(&self, slot: u32) -> CallbackCost {
        let Some(cost) = self.costs.get(slot as usize) else { return CallbackCost::default() };
        let count = cost.runs.len();
        let percentile = |quantile| {
            // A bucket's upper edge may lie above the longest run ever seen.
            Duration::from_nanos(cost.runs.value_at_quantile(quantile).min(cost.max_nanos))
        };
        CallbackCost {
            count,
            total: Duration::from_nanos(cost.total_nanos),
            mean: Duration::from_nanos(cost.total_nanos.checked_div(count).unwrap_or(0)),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
            max: Duration::from_nanos(cost.max_nanos),
            late_releases: cost.late_releases,
            overruns: cost.overruns,
        }
    }
}
