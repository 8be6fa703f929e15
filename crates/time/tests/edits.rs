//! A change asked for inside a step takes effect at the next one, never in the same and never one late.
//!
//! The property asks for random changes inside random steps, or makes them between steps, and applies them to the
//! oracle between the same two steps. Every step must then be the oracle's: time, who fires, order, lengths, swarm.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{CallbackId, Edit, Governor, Rate, StepContext, TimeManager, TimeMode};
use oracle::cases::{Case, callback, case, cases, common_rate, frame, rate};
use oracle::record::{Called, World, binding, check_rows, config, id, manager, nanos};
use oracle::{CallbackSpec, END, Oracle, OracleStep, RunnerSpec};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::prop_oneof;
use proptest::test_runner::TestCaseError;

/// A world whose first call in a step asks for the changes that wait.
struct Stage {
    world: World,
    requests: Vec<Edit>,
}

impl Called for Stage {
    fn called(&mut self, callback: usize, ctx: &StepContext<'_>) {
        self.world.call(callback, ctx);
        for edit in self.requests.drain(..) {
            ctx.request(edit).expect("room for a few changes");
        }
    }
}

/// A change with numbers instead of ids. Runners are the n-th of those there are at the time.
#[derive(Debug, Clone)]
enum Change {
    Rate(usize, (u64, u64)),
    Offset(usize, u64),
    Add(RunnerSpec),
    Remove(usize, usize),
    RemoveUnused(usize),
    Rename(usize, u64),
    Rebind(usize, CallbackSpec),
    Enable(usize, bool),
    Unregister(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let runner = || 0..8_usize;
    let number = || 2..20_usize;
    let offset = || {
        prop_oneof![
            4 => Just(0_u64),
            4 => 0..3_000_000_000_u64,
            4 => (0..30_u64).prop_map(|n| n * 100_000_000),
            1 => any::<u64>().prop_map(|nanos| nanos.min(END)),
        ]
    };
    let rate = prop_oneof![9 => common_rate().boxed(), 1 => rate().boxed()];
    prop_oneof![
        3 => (runner(), rate).prop_map(|(runner, rate)| Change::Rate(runner, rate)),
        3 => (runner(), offset()).prop_map(|(runner, offset)| Change::Offset(runner, offset)),
        2 => (common_rate(), offset())
            .prop_map(|((numer, denom), offset)| Change::Add(RunnerSpec { numer, denom, offset })),
        1 => (runner(), runner()).prop_map(|(runner, to)| Change::Remove(runner, to)),
        1 => runner().prop_map(Change::RemoveUnused),
        1 => (runner(), any::<u64>()).prop_map(|(runner, name)| Change::Rename(runner, name)),
        3 => (number(), callback(8)).prop_map(|(number, spec)| Change::Rebind(number, spec)),
        2 => (number(), any::<bool>()).prop_map(|(number, enabled)| Change::Enable(number, enabled)),
        1 => number().prop_map(Change::Unregister),
    ]
}

/// How a step is taken.
#[derive(Debug, Clone, Copy)]
enum Way {
    Step,
    RunSteps,
    Frame,
}

/// A manager and the oracle side by side.
struct Pair {
    time: TimeManager<Stage>,
    ids: Vec<CallbackId>,
    stage: Stage,
    oracle: Oracle,
    runners_added: usize,
}

impl Pair {
    fn new(case: &Case) -> Self {
        let (mut time, ids) = manager::<Stage>(case);
        let stage = Stage { world: World::looking(), requests: Vec::new() };
        time.set_clock(stage.world.hand.clock());
        time.set_mode(TimeMode::SimHighPerformance);
        let governor = Governor { max_steps_per_frame: Some(1), ..Governor::default() };
        time.set_governor(governor).expect("usable limits");
        let oracle = Oracle::new(&case.runners, &case.callbacks);
        Self { time, ids, stage, oracle, runners_added: 0 }
    }

    /// The n-th runner there is, counted round.
    fn runner(&self, n: usize) -> u8 {
        let present: Vec<u8> = (0..8).filter(|&r| self.oracle.tracks[usize::from(r)].is_some()).collect();
        present[n % present.len()]
    }

    /// The change as an edit, or `None` where it makes no sense now. `apply` is its counterpart.
    fn edit(&mut self, change: &Change) -> Option<Edit> {
        let live = |number: usize| self.oracle.callbacks.get(number)?.is_some().then(|| self.ids[number]);
        Some(match *change {
            Change::Rate(n, (numer, denom)) => {
                Edit::SetRate { runner: id(self.runner(n)), rate: Rate::new(numer, denom).expect("a rate") }
            }
            Change::Offset(n, offset) => {
                Edit::SetOffset { runner: id(self.runner(n)), offset: nanos(offset) }
            }
            Change::Add(spec) => {
                self.runners_added += 1;
                let runner = config(100 + self.runners_added, spec);
                (self.oracle.runner_count() < 8).then_some(Edit::AddRunner(runner))?
            }
            Change::Remove(n, to) => {
                let (runner, to) = (self.runner(n), self.runner(to));
                (runner != to).then(|| Edit::RemoveRunner { runner: id(runner), rebind_to: Some(id(to)) })?
            }
            Change::RemoveUnused(n) => {
                let runner = self.runner(n);
                let may_go = self.oracle.runner_count() > 1 && !self.oracle.is_in_use(runner);
                may_go.then(|| Edit::RemoveRunner { runner: id(runner), rebind_to: None })?
            }
            Change::Rename(n, name) => {
                Edit::RenameRunner { runner: id(self.runner(n)), name: format!("renamed-{name}") }
            }
            Change::Rebind(number, spec) => {
                Edit::Rebind { callback: live(number)?, binding: binding(&self.present(spec)) }
            }
            Change::Enable(number, enabled) => Edit::SetEnabled { callback: live(number)?, enabled },
            Change::Unregister(number) => Edit::Unregister(live(number)?),
        })
    }

    /// The binding on runners that there are.
    fn present(&self, spec: CallbackSpec) -> CallbackSpec {
        let runner = self.runner(usize::from(spec.runner));
        let shared = (0..8_u8).filter(|&r| self.oracle.tracks[usize::from(r)].is_some());
        let on_shared = shared.fold(0, |set, runner| set | (spec.on_shared & 1 << runner));
        CallbackSpec { runner, on_shared, ..spec }
    }

    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Rate(n, (numer, denom)) => self.oracle.set_rate(self.runner(n), numer, denom),
            Change::Offset(n, offset) => self.oracle.set_offset(self.runner(n), offset),
            Change::Add(spec) => drop(self.oracle.add_runner(spec)),
            Change::Remove(n, to) => {
                let (runner, to) = (self.runner(n), self.runner(to));
                self.oracle.remove_runner(runner, Some(to));
            }
            Change::RemoveUnused(n) => self.oracle.remove_runner(self.runner(n), None),
            Change::Rename(..) => {}
            Change::Rebind(number, spec) => {
                let enabled = self.oracle.callbacks[number].expect("a live callback").enabled;
                let spec = self.present(spec);
                self.oracle.callbacks[number] = Some(CallbackSpec { enabled, ..spec });
            }
            Change::Enable(number, enabled) => {
                self.oracle.callbacks[number].as_mut().expect("a live callback").enabled = enabled;
            }
            Change::Unregister(number) => self.oracle.callbacks[number] = None,
        }
    }

    /// Takes one step of both and compares. A change handed over is applied to the oracle once a call took it.
    fn step(&mut self, way: Way, change: Option<&Change>) -> Result<(), TestCaseError> {
        self.stage.world.calls.clear();
        let edit = change.and_then(|change| self.edit(change));
        self.stage.requests.extend(edit);
        let asked = !self.stage.requests.is_empty();
        let steps = match way {
            Way::Step => self.time.step(&mut self.stage).expect("no refusal").steps,
            Way::RunSteps => self.time.run_steps(&mut self.stage, 1).expect("no refusal").steps,
            Way::Frame => {
                self.time.tick(&mut self.stage, Duration::from_millis(1)).expect("no refusal").steps
            }
        };
        let Some(expected) = self.oracle.step() else {
            prop_assert_eq!(steps, 0, "no runner has another boundary");
            self.stage.requests.clear();
            return Ok(());
        };
        prop_assert_eq!(steps, 1);
        prop_assert_eq!(self.time.now().as_nanos(), expected.time);
        check_calls(&expected, &self.stage.world)?;
        if asked && self.stage.requests.is_empty() {
            self.apply(change.expect("something was asked"));
        }
        self.stage.requests.clear();
        Ok(())
    }
}

fn check_calls(expected: &OracleStep, world: &World) -> Result<(), TestCaseError> {
    let order: Vec<usize> = world.calls.iter().map(|call| call.callback).collect();
    prop_assert_eq!(&order, &expected.calls);
    for call in &world.calls {
        prop_assert_eq!((call.time, call.fired), (expected.time, expected.fired));
        prop_assert_eq!(Some(call.dt), expected.dt[usize::from(call.runner)]);
        let (numer, denom) = expected.rate[usize::from(call.runner)];
        prop_assert!((call.dt_secs * numer as f64 / denom as f64 - 1.0).abs() < 1e-15, "{call:?}");
        check_rows(expected, &call.rows)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn changes_take_effect_at_the_next_step_and_not_before(
        case in case(common_rate()),
        at_first in vec(change(), 0..3),
        script in vec((proptest::option::of(change()), any::<bool>(), 0..3_u8), 1..80),
    ) {
        let mut pair = Pair::new(&case);
        for change in &at_first {
            if let Some(edit) = pair.edit(change) {
                pair.time.apply(edit).expect("no refusal");
                pair.apply(change);
            }
        }
        for (change, inside, way) in &script {
            let way = [Way::Step, Way::RunSteps, Way::Frame][usize::from(*way)];
            if *inside {
                pair.step(way, change.as_ref())?;
            } else {
                if let Some((change, edit)) = change.as_ref().and_then(|c| Some((c, pair.edit(c)?))) {
                    pair.time.apply(edit).expect("no refusal");
                    pair.apply(change);
                }
                pair.step(way, None)?;
            }
        }
    }

    #[test]
    fn changes_take_effect_at_a_boundary_that_a_game_skips(
        case in case(common_rate()),
        script in vec((proptest::option::of(change()), frame()), 1..40),
    ) {
        let mut pair = Pair::new(&case);
        pair.time.set_mode(TimeMode::GameRealtime);
        let governor = Governor { owed_max: Duration::ZERO, max_steps_per_frame: Some(2), ..Governor::default() };
        pair.time.set_governor(governor).expect("usable limits");
        for (change, elapsed) in &script {
            // Before the first step a change counts at once; that is another promise.
            if pair.oracle.steps > 0
                && let Some((change, edit)) = change.as_ref().and_then(|c| Some((c, pair.edit(c)?)))
            {
                pair.time.apply(edit).expect("no refusal");
                pair.apply(change);
            }
            pair.stage.world.calls.clear();
            let report = pair.time.tick(&mut pair.stage, *elapsed).expect("no refusal");
            let calls = std::mem::take(&mut pair.stage.world.calls);
            for calls in calls.chunk_by(|a, b| a.time == b.time) {
                pair.oracle.skip_to(calls[0].time - 1);
                let expected = pair.oracle.step().expect("a step was seen");
                prop_assert_eq!((calls[0].time, calls[0].fired), (expected.time, expected.fired));
                let order: Vec<usize> = calls.iter().map(|call| call.callback).collect();
                prop_assert_eq!(order, expected.calls);
            }
            prop_assert!(report.steps > 0 || calls.is_empty());
            pair.oracle.skip_to(pair.time.now().as_nanos());
            for (state, row) in pair.time.swarm().iter().zip(pair.oracle.rows(0)) {
                prop_assert_eq!(state.index + state.skipped, row.passed);
                prop_assert_eq!(state.last.as_nanos(), row.last);
                prop_assert_eq!(state.next.as_nanos(), row.next.unwrap_or(END));
            }
        }
    }
}
