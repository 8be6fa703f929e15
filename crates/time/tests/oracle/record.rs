//! A manager built from a made-up case, over a world that writes down every call. It judges
//! nothing, except that `check_rows` holds a swarm against the oracle's.

use std::time::Duration;

use downbeat_time::{
    Binding, CallbackId, ManualClock, Phase, Rate, RunnerConfig, RunnerId, RunnerSet, SimTime, StepContext,
    TimeConfig, TimeManager,
};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};

use super::cases::{Case, Draw};
use super::{CallbackSpec, END, OracleStep, RunnerSpec, is_alpha};

/// One run of one callback.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// Number of registration.
    pub(crate) callback: usize,
    pub(crate) time: u64,
    pub(crate) fired: u8,
    pub(crate) runner: u8,
    pub(crate) phase: u8,
    pub(crate) dt: u64,
    pub(crate) dt_secs: f64,
    pub(crate) index: u64,
    pub(crate) frame: u64,
    /// The swarm as this call saw it; empty unless the world looks.
    pub(crate) rows: Vec<SeenRow>,
}

/// A runner's state as a call saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SeenRow {
    pub(crate) runner: u8,
    pub(crate) fires: bool,
    pub(crate) step: u64,
    pub(crate) index: u64,
    pub(crate) skipped: u64,
    pub(crate) last: u64,
    pub(crate) next: u64,
    pub(crate) alpha: f64,
}

/// What the callbacks run over: it remembers calls and burns time on a clock of its own.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) calls: Vec<Call>,
    pub(crate) looks: bool,
    pub(crate) hand: ManualClock,
    pub(crate) load: Load,
}

/// How much time calls burn.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) nanos_min: u64,
    pub(crate) nanos_max: u64,
    pub(crate) draw: Draw,
}

impl Load {
    pub(crate) const NONE: Self = Self { nanos_min: 0, nanos_max: 0, draw: Draw(0) };

    pub(crate) fn up_to(nanos_max: u64, seed: u64) -> Self {
        Self { nanos_min: 0, nanos_max, draw: Draw(seed) }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self { calls: Vec::new(), looks: false, hand: ManualClock::new(), load: Load::NONE }
    }

    pub(crate) fn looking() -> Self {
        Self { looks: true, ..Self::new() }
    }

    /// What every callback does.
    pub(crate) fn call(&mut self, callback: usize, ctx: &StepContext<'_>) {
        let rows = if self.looks { ctx.swarm().iter().map(SeenRow::of).collect() } else { Vec::new() };
        self.calls.push(Call {
            callback,
            time: ctx.now().as_nanos(),
            fired: ctx.fired().bits(),
            runner: ctx.runner().number(),
            phase: Phase::ALL.iter().position(|&phase| phase == ctx.phase()).expect("one of five") as u8,
            dt: ctx.dt_nanos(),
            dt_secs: ctx.dt_secs(),
            index: ctx.step_index(),
            frame: ctx.frame(),
            rows,
        });
        if self.load.nanos_max > 0 {
            let more = self.load.draw.below(self.load.nanos_max - self.load.nanos_min + 1);
            self.hand.advance(Duration::from_nanos(self.load.nanos_min + more));
        }
    }

    /// The calls so far, step by step.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &[Call]> {
        self.calls.chunk_by(|a, b| a.time == b.time)
    }
}

impl SeenRow {
    pub(crate) fn of(state: downbeat_time::RunnerState<'_>) -> Self {
        Self {
            runner: state.id.number(),
            fires: state.fires,
            step: state.step.as_nanos() as u64,
            index: state.index,
            skipped: state.skipped,
            last: state.last.as_nanos(),
            next: state.next.as_nanos(),
            alpha: state.alpha,
        }
    }
}

/// Whether a call saw every runner where it should stand after the step.
pub(crate) fn check_rows(expected: &OracleStep, seen: &[SeenRow]) -> Result<(), TestCaseError> {
    prop_assert_eq!(seen.len(), expected.rows.len());
    for (seen, row) in seen.iter().zip(&expected.rows) {
        prop_assert_eq!(seen.runner, row.runner);
        prop_assert_eq!(seen.fires, row.fires);
        prop_assert_eq!(seen.index + seen.skipped, row.passed);
        prop_assert_eq!(seen.last, row.last);
        prop_assert_eq!(seen.next, row.next.unwrap_or(END));
        match (&row.alpha, row.next) {
            (Some(alpha), Some(next)) => {
                prop_assert_eq!(seen.step, next - row.last);
                prop_assert!(is_alpha(seen.alpha, alpha), "{seen:?} should have alpha {alpha:?}");
            }
            _ => prop_assert!((0.0..1.0).contains(&seen.alpha), "{seen:?}"),
        }
    }
    Ok(())
}

/// Anything callbacks can be registered for by number.
pub(crate) trait Called {
    fn called(&mut self, callback: usize, ctx: &StepContext<'_>);
}

impl Called for World {
    fn called(&mut self, callback: usize, ctx: &StepContext<'_>) {
        self.call(callback, ctx);
    }
}

pub(crate) fn id(number: u8) -> RunnerId {
    RunnerId::new(number).expect("0 to 7")
}

pub(crate) fn config(number: usize, spec: RunnerSpec) -> RunnerConfig {
    let rate = Rate::new(spec.numer, spec.denom).expect("a usable rate");
    RunnerConfig::new(format!("runner-{number}"), rate).with_offset_nanos(spec.offset)
}

pub(crate) fn binding(spec: &CallbackSpec) -> Binding {
    let shared = (0..8).filter(|number| spec.on_shared & 1 << number != 0).map(id);
    Binding::new(id(spec.runner), Phase::ALL[usize::from(spec.phase)])
        .with_priority(spec.priority)
        .on_shared(RunnerSet::from_iter(shared))
}

/// A manager with the runners and callbacks of `case`, and the ids of the callbacks by number.
pub(crate) fn manager<W: Called + 'static>(case: &Case) -> (TimeManager<W>, Vec<CallbackId>) {
    let runners = case.runners.iter().enumerate().map(|(number, &spec)| config(number, spec)).collect();
    let mut time =
        TimeManager::new(TimeConfig { runners, ..TimeConfig::default() }).expect("one to eight runners");
    let ids = register(&mut time, &case.callbacks);
    (time, ids)
}

/// Registers callbacks by number.
pub(crate) fn register<W: Called + 'static>(
    time: &mut TimeManager<W>,
    callbacks: &[CallbackSpec],
) -> Vec<CallbackId> {
    let mut ids = Vec::new();
    for (number, spec) in callbacks.iter().enumerate() {
        let call = move |world: &mut W, ctx: &StepContext<'_>| world.called(number, ctx);
        let name = format!("callback-{number}");
        let callback = time.register(name, binding(spec), call).expect("a usable binding");
        time.set_enabled(callback, spec.enabled).expect("a callback");
        ids.push(callback);
    }
    ids
}

pub(crate) fn nanos(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}
