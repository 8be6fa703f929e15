//! What one can rely on in every step, in all three modes, over made-up rates, offsets, callbacks and frames.
//!
//! Every property drives a manager with frames and compares what the callbacks saw with the oracle. In
//! `GameRealtime`, which may leave boundaries out, the oracle is led to each step by skipping what lies before.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{Governor, RunEnd, TimeManager, TimeMode};
use oracle::cases::{Case, case, cases, frame, governor, rate};
use oracle::record::{Call, Load, World, check_rows, manager, nanos};
use oracle::{CallbackSpec, END, Oracle, OracleStep, RunnerSpec};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

/// One manager's life: what is registered and which frames it gets.
#[derive(Debug, Clone)]
struct Run {
    case: Case,
    mode: TimeMode,
    governor: Governor,
    frames: Vec<Duration>,
    load_nanos: u64,
    seed: u64,
}

fn run() -> impl Strategy<Value = Run> {
    let load = select(vec![0_u64, 0, 10_000, 1_000_000, 10_000_000]);
    let frames = vec(frame(), 1..20);
    (case(rate()), select(TimeMode::ALL.to_vec()), governor(), frames, load, any::<u64>()).prop_map(
        |(case, mode, governor, frames, load_nanos, seed)| Run {
            case,
            mode,
            governor,
            frames,
            load_nanos,
            seed,
        },
    )
}

impl Run {
    fn start(&self) -> (TimeManager<World>, World) {
        let (mut time, _) = manager::<World>(&self.case);
        let mut world = World::looking();
        world.load = Load::up_to(self.load_nanos, self.seed);
        time.set_clock(world.hand.clock());
        time.set_mode(self.mode);
        time.set_governor(self.governor).expect("usable limits");
        (time, world)
    }

    /// The calls of all frames.
    fn finish(&self) -> World {
        let (mut time, mut world) = self.start();
        for &elapsed in &self.frames {
            time.tick(&mut world, elapsed).expect("no callback fails");
        }
        world
    }

    fn oracle(&self) -> Oracle {
        Oracle::new(&self.case.runners, &self.case.callbacks)
    }

    /// What should happen in the step that was seen at `time`.
    fn expect_at(&self, oracle: &mut Oracle, time: u64) -> Result<OracleStep, TestCaseError> {
        if self.mode == TimeMode::GameRealtime && oracle.next_time().is_some_and(|next| next < time) {
            oracle.skip_to(time - 1);
        }
        oracle.step().ok_or_else(|| TestCaseError::fail("a step after the end of time"))
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn all_runners_share_one_timeline(run in run()) {
        let world = run.finish();
        let mut oracle = run.oracle();
        for calls in world.steps() {
            let expected = run.expect_at(&mut oracle, calls[0].time)?;
            prop_assert_eq!(calls[0].time, expected.time);
            for call in calls {
                // One delta for all: every call of the step sees the same instant and the same swarm.
                prop_assert_eq!(&call.rows, &calls[0].rows);
            }
            prop_assert!(run.mode == TimeMode::GameRealtime || calls[0].rows.iter().all(|row| row.skipped == 0));
            check_rows(&expected, &calls[0].rows)?;
        }
    }

    #[test]
    fn only_runners_that_reached_a_boundary_fire(run in run()) {
        let world = run.finish();
        let mut oracle = run.oracle();
        let mut fired = [0_u64; 8];
        for calls in world.steps() {
            let expected = run.expect_at(&mut oracle, calls[0].time)?;
            for (runner, count) in fired.iter_mut().enumerate() {
                *count += u64::from(expected.dt[runner].is_some());
            }
            for call in calls {
                let runner = usize::from(call.runner);
                prop_assert_eq!(call.fired, expected.fired);
                prop_assert_eq!(call.runner, run.case.callbacks[call.callback].runner);
                prop_assert_eq!(Some(call.dt), expected.dt[runner]);
                prop_assert_eq!(call.index, fired[runner]);
                let (numer, denom) = expected.rate[runner];
                let nominal = denom as f64 / numer as f64;
                prop_assert!((call.dt_secs / nominal - 1.0).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn phases_always_run_in_order(run in run()) {
        let world = run.finish();
        for calls in world.steps() {
            prop_assert!(calls.is_sorted_by_key(|call| call.phase));
            for call in calls {
                prop_assert_eq!(call.phase, run.case.callbacks[call.callback].phase);
            }
        }
    }

    #[test]
    fn callbacks_interleave_by_phase_then_priority_then_registration(run in run()) {
        let world = run.finish();
        let mut oracle = run.oracle();
        for calls in world.steps() {
            let expected = run.expect_at(&mut oracle, calls[0].time)?;
            let order: Vec<usize> = calls.iter().map(|call| call.callback).collect();
            prop_assert_eq!(order, expected.calls);
        }
    }

    #[test]
    fn fired_and_skipped_boundaries_are_all_there_are(run in run()) {
        let (mut time, mut world) = run.start();
        let mut fired = [0_u64; 8];
        let mut skipped = [0_u64; 8];
        for (number, &elapsed) in run.frames.iter().enumerate() {
            let calls_before = world.calls.len();
            let report = time.tick(&mut world, elapsed).expect("no callback fails");
            prop_assert!(world.calls[calls_before..].iter().all(|call| call.frame == number as u64 + 1));
            let steps = world.calls[calls_before..].chunk_by(|a, b| a.time == b.time);
            prop_assert_eq!(report.steps, steps.count() as u64);
            for runner in 0..8 {
                fired[runner] += report.runner_steps[runner];
                skipped[runner] += report.runner_skips[runner];
            }
            let mut oracle = run.oracle();
            oracle.skip_to(time.now().as_nanos());
            for (state, row) in time.swarm().iter().zip(oracle.rows(0)) {
                let runner = usize::from(row.runner);
                prop_assert_eq!(fired[runner] + skipped[runner], row.passed);
                prop_assert_eq!((state.index, state.skipped), (fired[runner], skipped[runner]));
                prop_assert_eq!(state.last.as_nanos(), row.last);
                prop_assert_eq!(state.next.as_nanos(), row.next.unwrap_or(END));
                let counted = fired_times(&world.calls, row.runner);
                prop_assert_eq!(counted, fired[runner]);
            }
            prop_assert!(run.mode == TimeMode::GameRealtime || skipped == [0; 8]);
        }
    }

    #[test]
    fn the_order_is_shown_as_it_runs(case in case(rate()), fires in any::<u8>()) {
        let (time, ids) = manager::<World>(&case);
        let set = (0..case.runners.len() as u8).filter(|number| fires & 1 << number != 0);
        let set: downbeat_time::RunnerSet = set.map(oracle::record::id).collect();
        let shown: Vec<_> = time.order(set).into_iter().map(|entry| entry.id).collect();
        let expected = Oracle::new(&case.runners, &case.callbacks).order(set.bits());
        prop_assert_eq!(shown, expected.into_iter().map(|number| ids[number]).collect::<Vec<_>>());
    }
}

fn fired_times(calls: &[Call], runner: u8) -> u64 {
    calls.chunk_by(|a, b| a.time == b.time).filter(|calls| calls[0].fired & 1 << runner != 0).count() as u64
}

#[test]
fn the_oracle_knows_the_first_steps_of_thirty_hertz() {
    let mut oracle = Oracle::new(&[RunnerSpec { numer: 30, denom: 1, offset: 5 }], &[]);
    let steps: Vec<_> = (0..3).filter_map(|_| oracle.step()).map(|step| (step.time, step.dt[0])).collect();
    assert_eq!(
        steps,
        [(33_333_338, Some(33_333_333)), (66_666_671, Some(33_333_333)), (100_000_005, Some(33_333_334))]
    );
}

#[test]
fn alpha_stays_below_one_where_a_float_would_round_up_to_it() {
    // One nanosecond before the boundary of a step of 2⁵⁴ ns, which is finer than a float tells apart.
    let step = 1_u64 << 54;
    let runner = |denom| RunnerSpec { numer: 1_000_000_000, denom, offset: 0 };
    let callback = CallbackSpec { runner: 1, phase: 0, priority: 0, on_shared: 0, enabled: true };
    let case = Case { runners: vec![runner(step), runner(step - 1)], callbacks: vec![callback] };
    let (mut time, _) = manager::<World>(&case);
    let mut world = World::looking();
    time.step(&mut world).unwrap();
    assert_eq!(time.now(), nanos(step - 1));
    let alpha = world.calls[0].rows[0].alpha;
    assert!(alpha < 1.0 && alpha > 0.999, "{alpha}");
    assert!(time.alpha(oracle::record::id(0)) < 1.0);
}

#[test]
fn the_last_instant_is_a_boundary_and_nothing_comes_after_it() {
    let last = RunnerSpec { numer: 1_000_000_000, denom: END, offset: 0 };
    let beyond = RunnerSpec { numer: 1_000_000_000, denom: END, offset: 1 };
    let never = RunnerSpec { numer: 1, denom: u64::MAX, offset: 0 };
    let case = Case { runners: vec![last, beyond, never], callbacks: Vec::new() };
    let (mut time, _) = manager::<World>(&case);
    let report = time.run_steps(&mut World::new(), 10).unwrap();
    assert_eq!((report.steps, report.end, time.now().as_nanos()), (1, RunEnd::EndOfTime, END));
    assert_eq!(time.tick(&mut World::new(), Duration::from_secs(1)).unwrap().end, RunEnd::EndOfTime);
    assert_eq!(time.until_due(), None);
}
