//! Once it is warm, a manager takes steps without allocating, in every mode and under every limit.
//!
//! A counting allocator measures this thread. The worlds used here are numbers, so nothing else allocates.

use std::time::Duration;

use downbeat_time::{
    Binding, FreePhase, Governor, ManualClock, Phase, Profiling, Rate, RunEnd, RunnerConfig, RunnerId,
    RunnerSet, SimTime, TimeConfig, TimeManager, TimeMode,
};

/// Counts calls and burns time.
struct Counter {
    calls: u64,
    hand: ManualClock,
    burn: Duration,
}

/// A manager of these runners with four callbacks on each, one of them for shared steps only.
fn scene(rates: &[&str]) -> (TimeManager<Counter>, Counter) {
    let runners = rates.iter().map(|rate| RunnerConfig::new(*rate, rate.parse().expect("a rate"))).collect();
    let mut time = TimeManager::new(TimeConfig { runners, ..TimeConfig::default() }).expect("usable runners");
    let count = |counter: &mut Counter, _: &downbeat_time::StepContext<'_>| {
        counter.calls += 1;
        counter.hand.advance(counter.burn);
    };
    for number in 0..rates.len() as u8 {
        let runner = RunnerId::new(number).expect("0 to 7");
        for phase in [Phase::Acquisition, Phase::Physics, Phase::Export] {
            time.register(format!("{phase} {number}"), Binding::new(runner, phase), count).expect("usable");
        }
        let shared = Binding::new(runner, Phase::Control).on_shared(RunnerSet::only(RunnerId::ROBOT));
        time.register(format!("shared {number}"), shared, count).expect("usable");
    }
    let counter = Counter { calls: 0, hand: ManualClock::new(), burn: Duration::ZERO };
    time.set_clock(counter.hand.clock());
    (time, counter)
}

const RATES: [&str; 5] = ["50", "30", "29.97", "1000/3", "120"];

/// How many allocations `frames` frames make.
fn allocations(
    time: &mut TimeManager<Counter>,
    counter: &mut Counter,
    frames: u64,
    mut check: impl FnMut(&downbeat_time::FrameReport),
) -> u64 {
    let (calls, mut work) = (counter.calls, 0);
    let info = allocation_counter::measure(|| {
        for number in 0..frames {
            let elapsed = Duration::from_micros(16_000 + number % 7 * 500);
            let report = time.tick(counter, elapsed).expect("no callback fails");
            work += report.steps;
            check(&report);
        }
    });
    assert!(work >= frames && counter.calls > calls + frames, "there was something to measure");
    info.count_total
}

#[test]
fn frames_allocate_nothing_in_any_mode() {
    for mode in TimeMode::ALL {
        for profiling in [Profiling::Auto, Profiling::On, Profiling::Off] {
            let (mut time, mut counter) = scene(&RATES);
            time.set_mode(mode);
            time.set_profiling(profiling);
            let governor = Governor { max_steps_per_frame: Some(50), ..Governor::default() };
            time.set_governor(governor).unwrap();
            time.tick(&mut counter, Duration::from_millis(16)).unwrap();
            let count = allocations(&mut time, &mut counter, 500, |_| ());
            assert_eq!(count, 0, "{mode:?} {profiling:?}");
        }
    }
}

#[test]
fn budget_stops_allocate_nothing() {
    for mode in TimeMode::ALL {
        let (mut time, mut counter) = scene(&RATES);
        time.set_mode(mode);
        time.set_profiling(Profiling::On);
        counter.burn = Duration::from_micros(700);
        time.tick(&mut counter, Duration::from_millis(16)).unwrap();
        let mut stops = 0;
        let count = allocations(&mut time, &mut counter, 300, |report| {
            stops += u64::from(report.end == RunEnd::Budget);
        });
        assert!(stops > 0, "{mode:?} never reached the budget");
        assert_eq!(count, 0, "{mode:?}");
    }
}

#[test]
fn skips_allocate_nothing() {
    let (mut time, mut counter) = scene(&RATES);
    time.set_mode(TimeMode::GameRealtime);
    let governor = Governor { owed_max: Duration::ZERO, max_steps_per_frame: Some(1), ..Governor::default() };
    time.set_governor(governor).unwrap();
    time.tick(&mut counter, Duration::from_millis(16)).unwrap();
    let mut skips = 0;
    let count = allocations(&mut time, &mut counter, 300, |report| {
        skips += report.runner_skips.iter().sum::<u64>();
    });
    assert!(skips > 100);
    assert_eq!(count, 0);
}

#[test]
fn free_phases_allocate_nothing() {
    let (mut time, mut counter) = scene(&RATES);
    for phase in FreePhase::ALL {
        time.set_free_phase(phase, true);
        time.register_free(phase.name(), phase, 0, |counter, _| counter.calls += 1).unwrap();
    }
    time.tick(&mut counter, Duration::from_millis(16)).unwrap();
    assert_eq!(allocations(&mut time, &mut counter, 300, |_| ()), 0);
}

#[test]
fn steps_outside_frames_allocate_nothing() {
    for profiling in [Profiling::On, Profiling::Off] {
        let (mut time, mut counter) = scene(&RATES);
        time.set_profiling(profiling);
        time.run_steps(&mut counter, 10).unwrap();
        let info = allocation_counter::measure(|| {
            time.run_steps(&mut counter, 5000).expect("no callback fails");
            time.step(&mut counter).expect("no callback fails");
            time.run_for(&mut counter, Duration::from_secs(1)).expect("no callback fails");
        });
        assert_eq!(info.count_total, 0, "{profiling:?}");
    }
}

#[test]
fn runners_that_first_meet_after_a_thousand_seconds_allocate_nothing() {
    // The slowest fires every 1,000 s; only then do all four meet.
    let (mut time, mut counter) = scene(&["10", "1001/100", "7", "1/1000"]);
    for profiling in [Profiling::Off, Profiling::On] {
        time.set_profiling(profiling);
        time.run_steps(&mut counter, 5).unwrap();
        let mut meetings = 0;
        let info = allocation_counter::measure(|| {
            let end = time.now().saturating_add(Duration::from_secs(1001));
            while time.now() < end {
                time.step(&mut counter).expect("no callback fails");
                let fired = time.swarm().iter().filter(|runner| runner.fires).count();
                meetings += u64::from(fired == 4);
            }
        });
        assert_eq!(meetings, 1);
        assert_eq!(info.count_total, 0, "{profiling:?}");
    }
    assert!(time.now() > SimTime::from_nanos(2_000_000_000_000));
}

#[test]
fn changes_asked_for_in_every_step_allocate_nothing_once_warm() {
    let mut time = TimeManager::<u64>::default();
    let other = time.register("other", Binding::new(RunnerId::ROBOT, Phase::Export), |n, _| *n += 1).unwrap();
    time.register("toggle", Binding::new(RunnerId::ROBOT, Phase::Control), move |_, ctx| {
        let enabled = ctx.step_index() % 2 == 0;
        Ok(ctx.request(downbeat_time::Edit::SetEnabled { callback: other, enabled })?)
    })
    .unwrap();
    time.run_steps(&mut 0, 20).unwrap();
    let info = allocation_counter::measure(|| {
        time.run_steps(&mut 0, 1000).expect("no refusal");
    });
    assert_eq!(info.count_total, 0);
}

#[test]
fn rate_changes_and_gates_allocate_nothing() {
    let (mut time, mut counter) = scene(&RATES);
    let rates = [Rate::hz(49).unwrap(), Rate::hz(50).unwrap()];
    time.tick(&mut counter, Duration::from_millis(16)).unwrap();
    let info = allocation_counter::measure(|| {
        for number in 0..100 {
            time.set_rate(RunnerId::ROBOT, rates[number % 2]).expect("a runner");
            time.close_gate(RunnerId::CAPTURE).expect("a runner");
            time.release(RunnerId::CAPTURE, 2).expect("a closed gate");
            time.tick(&mut counter, Duration::from_millis(100)).expect("no callback fails");
        }
    });
    assert_eq!(info.count_total, 0);
}
