//! Made-up registrations, frames and limits for property tests. It decides nothing about what should happen.

use std::time::Duration;

use downbeat_time::Governor;
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any};
use proptest::prop_oneof;

use super::{CallbackSpec, RunnerSpec};

/// Runners and the callbacks registered on them.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) runners: Vec<RunnerSpec>,
    pub(crate) callbacks: Vec<CallbackSpec>,
}

/// A property test of so many cases that leaves no files behind. `DOWNBEAT_SOAK=100` makes it 100 times as many.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let times = std::env::var("DOWNBEAT_SOAK").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    ProptestConfig { cases: count * times, failure_persistence: None, ..ProptestConfig::default() }
}

/// Rates one meets in practice; many of them share boundaries.
pub(crate) fn common_rate() -> impl Strategy<Value = (u64, u64)> {
    const WHOLE: [u64; 12] = [1, 10, 24, 25, 30, 50, 60, 90, 100, 120, 500, 1000];
    prop_oneof![
        4 => (0..WHOLE.len()).prop_map(|at| (WHOLE[at], 1)),
        2 => (1..=2000_u64).prop_map(|hz| (hz, 1)),
        1 => (1..=100_000_u64).prop_map(|hundredths| (hundredths, 100)),
        1 => (1..=8_u64).prop_map(|times| (times * 15_000, 1001)),
        1 => (1..=50_000_u64, 1..=997_u64),
    ]
}

/// Every kind of rate, the fastest and the slowest included.
pub(crate) fn rate() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        8 => common_rate(),
        1 => (1..=u64::from(u32::MAX)).prop_map(|denom| (1_000_000_000, denom)),
        1 => (1_u64..=1_000_000_000).prop_map(|hz| (hz, 1)),
        1 => Just((1_000_000_000, 1)),
        1 => Just((999_999_999, 1)),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(a, b)| (a.max(1), b.max(a / 1_000_000_000 + 1))),
        1 => Just((u64::MAX, u64::MAX / 1_000_000_000 + 1)),
        1 => (1..=9_u64).prop_map(|numer| (numer, u64::MAX)),
    ]
}

/// Where grids start: mostly together, else within a second, rarely far out.
pub(crate) fn offset() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => Just(0_u64),
        2 => 1..=100_u64,
        4 => (1..=100_u64).prop_map(|tens| tens * 10_000_000),
        4 => 1..=1_000_000_000_u64,
        1 => any::<u64>().prop_map(|nanos| nanos.min(super::END)),
    ]
}

/// One to eight runners at rates drawn from `rates`. The first has a common rate, so that time moves.
pub(crate) fn runners(rates: impl Strategy<Value = (u64, u64)>) -> impl Strategy<Value = Vec<RunnerSpec>> {
    let first = (common_rate(), 0..=50_000_000_u64);
    (first, vec((rates, offset()), 0..=7)).prop_map(|(first, rest)| {
        let all = std::iter::once(first).chain(rest);
        all.map(|((numer, denom), offset)| RunnerSpec { numer, denom, offset }).collect()
    })
}

/// A callback on one of `count` runners. Priorities are few, so that there are ties.
pub(crate) fn callback(count: usize) -> impl Strategy<Value = CallbackSpec> {
    let priority = prop_oneof![6 => -2..=2_i32, 1 => Just(i32::MIN), 1 => Just(i32::MAX), 1 => any::<i32>()];
    let shared = prop_oneof![3 => Just(0_u8), 1 => any::<u8>()];
    (0..count as u8, 0..5_u8, priority, shared, prop_oneof![5 => Just(true), 1 => Just(false)]).prop_map(
        move |(runner, phase, priority, shared, enabled)| {
            let on_shared = shared & ((1_u16 << count) - 1) as u8;
            CallbackSpec { runner, phase, priority, on_shared, enabled }
        },
    )
}

/// Registrations in which every runner has a callback that runs each time, so that every step is seen.
pub(crate) fn case(rates: impl Strategy<Value = (u64, u64)>) -> impl Strategy<Value = Case> {
    runners(rates).prop_flat_map(|runners| {
        let count = runners.len();
        (Just(runners), vec(callback(count), count), vec(callback(count), 0..12)).prop_map(
            |(runners, mut seen, mut callbacks)| {
                for (number, callback) in seen.iter_mut().enumerate() {
                    (callback.runner, callback.on_shared, callback.enabled) = (number as u8, 0, true);
                }
                // Between each other, so that registration order follows neither kind.
                for (at, callback) in seen.into_iter().enumerate() {
                    callbacks.insert((at * 2).min(callbacks.len()), callback);
                }
                Case { runners, callbacks }
            },
        )
    })
}

/// Wall time of a frame: nothing, a usual frame, a hitch, a stall of seconds.
pub(crate) fn frame() -> impl Strategy<Value = Duration> {
    let nanos = prop_oneof![
        1 => Just(0_u64),
        2 => 1..=1000_u64,
        6 => 1_000_000..=40_000_000_u64,
        3 => 40_000_000..=400_000_000_u64,
        1 => 400_000_000..=5_000_000_000_u64,
    ];
    nanos.prop_map(Duration::from_nanos)
}

/// Limits of a frame. Steps are always capped: at a gigahertz a frame would never end.
pub(crate) fn governor() -> impl Strategy<Value = Governor> {
    let millis = |range: std::ops::RangeInclusive<u64>| range.prop_map(Duration::from_millis);
    let elapsed_max = prop_oneof![1 => millis(1..=20), 3 => millis(50..=1000), 1 => millis(5000..=60_000)];
    let owed_max = prop_oneof![1 => Just(Duration::ZERO), 3 => millis(1..=200), 1 => millis(1000..=5000)];
    let budget = prop_oneof![1 => Just(Duration::ZERO), 3 => millis(1..=20)];
    (elapsed_max, owed_max, budget, 1..=30_u32).prop_map(|(elapsed_max, owed_max, budget, cap)| Governor {
        elapsed_max,
        budget,
        owed_max,
        max_steps_per_frame: Some(cap),
    })
}

/// Numbers that look random and are the same on every machine (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit.max(1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
