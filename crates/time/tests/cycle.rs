//! The analysed cycle against the oracle: what it counts is what runs, and it repeats after that long.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use oracle::cases::{Case, callback, cases};
use oracle::record::{World, manager};
use oracle::{Oracle, OracleStep, RunnerSpec};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_assert_eq, proptest};
use proptest::prop_oneof;

/// Runners whose cycle is short enough to walk with big integers.
fn case() -> impl Strategy<Value = Case> {
    let rate = prop_oneof![
        (1..=20_u64).prop_map(|tens| (tens * 10, 1)),
        (1..=12_u64, 1..=3_u64),
        (1..=9_u64).prop_map(|thirds| (thirds * 10, 3)),
    ];
    let offset = prop_oneof![Just(0_u64), 0..50_000_000_u64];
    vec((rate, offset), 1..=4).prop_flat_map(|runners| {
        let count = runners.len();
        let runner = |((numer, denom), offset)| RunnerSpec { numer, denom, offset };
        let runners: Vec<_> = runners.into_iter().map(runner).collect();
        (Just(runners), vec(callback(count), 0..8))
            .prop_map(|(runners, callbacks)| Case { runners, callbacks })
    })
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn the_analysed_cycle_is_the_one_that_runs(case in case()) {
        let cycle = manager::<World>(&case).0.cycle();
        let nanos = cycle.cycle_nanos.expect("a short cycle");
        let start = case.runners.iter().map(|runner| runner.offset).max().expect("a runner");
        let mut oracle = Oracle::new(&case.runners, &case.callbacks);
        oracle.skip_to(start);
        let mut walk = |end: u64| -> Vec<OracleStep> {
            let mut steps = Vec::new();
            while oracle.next_time().is_some_and(|next| next <= end) {
                steps.extend(oracle.step());
            }
            steps
        };
        let first = walk(start + nanos);
        prop_assert_eq!(cycle.steps, Some(first.len() as u64));
        let shared = first.iter().filter(|step| step.fired.count_ones() > 1).count();
        prop_assert_eq!(cycle.shared_steps, Some(shared as u64));
        let most = first.iter().map(|step| step.calls.len()).max().expect("a step");
        let heaviest = first.iter().find(|step| step.calls.len() == most).expect("a step");
        let seen = cycle.heaviest.map(|step| (step.time.as_nanos(), step.fires.bits(), step.weight));
        prop_assert_eq!(seen, Some((heaviest.time, heaviest.fired, most as u64)));
        // It repeats: the same steps, one cycle later.
        let second = walk(start + 2 * nanos);
        prop_assert_eq!(second.len(), first.len());
        for (first, second) in first.iter().zip(&second) {
            prop_assert_eq!((first.time + nanos, first.fired), (second.time, second.fired));
        }
        // And nothing shorter does: at the end of every cycle all runners meet their own start, never before.
        let whole = |time: u64, runner: &RunnerSpec| {
            let steps = u128::from(time) * u128::from(runner.numer);
            steps.is_multiple_of(1_000_000_000 * u128::from(runner.denom))
        };
        for step in &first {
            let since = step.time - start;
            prop_assert_eq!(case.runners.iter().all(|runner| whole(since, runner)), since == nanos);
        }
    }
}
