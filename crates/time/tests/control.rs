//! Running the timeline by hand: pause, single steps, time scale, alpha, the real-time factor, shuffled ties.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{
    Governor, ManualClock, Pacer, Rate, RunEnd, RunnerId, SimTime, TimeManager, TimeMode, TimeScale,
};
use num_bigint::BigUint;
use oracle::cases::{case, cases, common_rate, frame};
use oracle::record::{World, id, manager};
use oracle::{Oracle, is_alpha};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

const ROBOT: RunnerId = RunnerId::ROBOT;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> SimTime {
    SimTime::from_nanos(millis * 1_000_000)
}

/// Robot at 50 Hz alone, on a clock that stands still.
fn robot_alone() -> TimeManager<()> {
    let mut time = TimeManager::default();
    time.remove_runner(RunnerId::CAPTURE).expect("nobody uses it");
    time.set_clock(ManualClock::new().clock());
    time
}

#[test]
fn pause_keeps_the_step() {
    for mode in [TimeMode::SimRealtime, TimeMode::GameRealtime] {
        let mut time = robot_alone();
        time.set_mode(mode);
        time.tick(&mut (), ms(35)).unwrap();
        let alpha = time.alpha(ROBOT);
        time.pause();
        for _ in 0..5 {
            let report = time.tick(&mut (), ms(100)).unwrap();
            assert_eq!((report.steps, report.end), (0, RunEnd::Paused));
            assert_eq!((time.now(), time.steps()), (at(20), 1));
            assert_eq!(time.alpha(ROBOT).to_bits(), alpha.to_bits(), "the picture stands still");
        }
        assert_eq!(time.until_due(), None);
        time.resume();
        assert_eq!(time.until_due(), Some(ms(5)));
        assert_eq!(time.tick(&mut (), ms(5)).unwrap().steps, 1, "{mode:?}");
        assert_eq!(time.now(), at(40));
    }
}

#[test]
fn a_single_step_runs_paused_or_not() {
    let mut time = robot_alone();
    time.pause();
    let report = time.step(&mut ()).unwrap();
    assert_eq!((report.steps, report.advanced, report.end), (1, ms(20), RunEnd::Done));
    assert!(time.is_paused());
    time.resume();
    time.step(&mut ()).unwrap();
    assert_eq!((time.now(), time.steps()), (at(40), 2));
}

#[test]
fn step_to_takes_the_steps_up_to_and_including_a_time() {
    let mut time = robot_alone();
    assert_eq!(time.step_to(&mut (), SimTime::from_nanos(39_999_999)).unwrap().steps, 1);
    assert_eq!(time.step_to(&mut (), at(40)).unwrap().steps, 1);
    assert_eq!(time.step_to(&mut (), at(40)).unwrap().steps, 0);
    assert_eq!(time.step_to(&mut (), at(10)).unwrap().steps, 0);
    assert_eq!(time.step_to(&mut (), at(119)).unwrap().advanced, ms(60));
    assert_eq!(time.now(), at(100));
}

#[test]
fn run_for_takes_the_steps_of_a_span() {
    let mut time = TimeManager::<()>::default();
    assert_eq!(time.run_for(&mut (), ms(100)).unwrap().steps, 7);
    assert_eq!(time.run_for(&mut (), ms(33)).unwrap().steps, 1);
    assert_eq!(time.now(), at(120));
    assert_eq!(time.run_for(&mut (), Duration::ZERO).unwrap().steps, 0);
    // 133 ms have been asked for; the next boundary is a third of a millisecond further on.
    assert_eq!(time.run_for(&mut (), Duration::from_nanos(333_332)).unwrap().steps, 0);
    assert_eq!(time.run_for(&mut (), Duration::from_nanos(1)).unwrap().steps, 1);
}

#[test]
fn a_span_goes_on_from_wherever_the_timeline_was_led() {
    let mut time = robot_alone();
    time.run_for(&mut (), ms(15)).unwrap();
    time.step(&mut ()).unwrap();
    assert_eq!(time.run_for(&mut (), ms(19)).unwrap().steps, 0, "the step to 20 ms counts");
    time.step_to(&mut (), at(50)).unwrap();
    assert_eq!((time.run_for(&mut (), ms(10)).unwrap().steps, time.now()), (1, at(60)));
    time.run_for(&mut (), ms(10)).unwrap();
    let state = time.save();
    let mut restored = robot_alone();
    restored.restore(&state).unwrap();
    assert_eq!(restored.run_for(&mut (), ms(10)).unwrap().steps, 1, "a saved span is not lost");
}

#[test]
fn a_span_that_a_gate_cut_short_is_not_made_up_for() {
    let mut time = robot_alone();
    time.close_gate(ROBOT).unwrap();
    assert_eq!(time.run_for(&mut (), ms(100)).unwrap().end, RunEnd::Gate(ROBOT));
    time.open_gate(ROBOT).unwrap();
    let report = time.run_for(&mut (), ms(20)).unwrap();
    assert!(report.steps <= 2, "{report:?}");
}

#[test]
fn run_steps_takes_as_many_as_asked() {
    let mut time = TimeManager::<()>::default();
    for count in [0, 1, 7, 1000] {
        let before = time.steps();
        let report = time.run_steps(&mut (), count).unwrap();
        assert_eq!((report.steps, report.end), (count, RunEnd::Done));
        assert_eq!(time.steps(), before + count);
    }
}

#[test]
fn a_time_scale_changes_the_pace_and_not_the_steps() {
    let mut time = robot_alone();
    for (numer, denom, steps, now) in [(1, 2, 2, 40), (3, 1, 12, 280), (1, 1, 4, 360), (1, 8, 0, 360)] {
        time.set_time_scale(TimeScale::new(numer, denom).unwrap());
        let report = time.tick(&mut (), ms(80)).unwrap();
        assert_eq!((report.steps, time.now()), (steps, at(now)), "at {numer}/{denom}");
    }
    assert_eq!(time.until_due(), Some(ms(80))); // 10 ms are left, which take 80 at an eighth.
}

#[test]
fn a_third_loses_no_nanosecond_in_a_thousand_frames() {
    let mut time = robot_alone();
    time.set_time_scale("1/3".parse().unwrap());
    for _ in 0..1000 {
        time.tick(&mut (), Duration::from_nanos(60_000_000 - 1)).unwrap();
    }
    assert_eq!((time.steps(), time.now()), (999, at(19_980)));
    let report = time.tick(&mut (), Duration::from_nanos(1000)).unwrap();
    assert_eq!((report.steps, report.owed), (1, Duration::ZERO));
}

#[test]
fn high_performance_ignores_wall_time_and_scale() {
    let mut time = robot_alone();
    time.set_mode(TimeMode::SimHighPerformance);
    time.set_time_scale(TimeScale::new(1, 100).unwrap());
    time.set_governor(Governor { max_steps_per_frame: Some(9), ..Governor::default() }).unwrap();
    for elapsed in [0, 1, 1000] {
        assert_eq!(time.tick(&mut (), ms(elapsed)).unwrap().steps, 9);
    }
    assert_eq!(time.until_due(), Some(Duration::ZERO));
    assert_eq!(time.alpha(ROBOT).to_bits(), 0);
}

#[test]
fn the_real_time_factor_is_simulated_over_wall_time() {
    let mut time = robot_alone();
    assert_eq!(time.real_time_factor(), None);
    let near = |value: Option<f64>, expected: f64| value.is_some_and(|value| (value - expected).abs() < 1e-9);
    for _ in 0..10 {
        time.tick(&mut (), ms(20)).unwrap();
    }
    assert!(near(time.real_time_factor(), 1.0) && near(time.real_time_factor_target(), 1.0));
    time.set_time_scale(TimeScale::new(2, 1).unwrap());
    for _ in 0..64 {
        time.tick(&mut (), ms(20)).unwrap();
    }
    assert!(near(time.real_time_factor(), 2.0) && near(time.real_time_factor_target(), 2.0));
    // Half the pace is all that one step per frame allows, and 64 frames later only that counts.
    time.set_governor(Governor { max_steps_per_frame: Some(1), ..Governor::default() }).unwrap();
    for _ in 0..64 {
        time.tick(&mut (), ms(20)).unwrap();
    }
    assert!(near(time.real_time_factor(), 1.0) && near(time.real_time_factor_target(), 2.0));
    time.set_mode(TimeMode::SimHighPerformance);
    assert_eq!(time.real_time_factor_target(), None);
}

#[test]
fn a_paced_loop_meets_every_boundary() {
    let mut time = TimeManager::<()>::default();
    let hand = ManualClock::new();
    time.set_clock(hand.clock());
    let mut pacer = Pacer::new(hand.clock());
    let mut times = Vec::new();
    while time.steps() < 7 {
        let elapsed = pacer.wait(time.until_due());
        assert_eq!(time.tick(&mut (), elapsed).unwrap().steps, 1);
        times.push(time.now());
        assert_eq!(time.now().as_nanos(), hand.clock().elapsed().as_nanos() as u64);
    }
    assert_eq!(times.last(), Some(&at(100)));
}

#[test]
fn a_paced_loop_keeps_up_with_the_wall_clock_however_slow_the_runner() {
    for (scale, steps) in [("1", 10), ("1/10", 1)] {
        let mut time = robot_alone();
        time.set_rate(ROBOT, Rate::hz(1).unwrap()).unwrap();
        time.set_time_scale(scale.parse().unwrap());
        let hand = ManualClock::new();
        let mut pacer = Pacer::new(hand.clock());
        while hand.clock().elapsed() < Duration::from_secs(10) {
            let elapsed = pacer.wait(time.until_due());
            let report = time.tick(&mut (), elapsed).unwrap();
            assert_eq!(report.forgiven, Duration::ZERO, "at {scale} after {:?}", hand.clock().elapsed());
        }
        assert_eq!(time.steps(), steps, "at {scale}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn spans_add_up(case in case(common_rate()), spans in vec(frame(), 1..30)) {
        let (mut time, _) = manager::<World>(&case);
        let mut oracle = Oracle::new(&case.runners, &[]);
        let mut total = 0;
        for &span in &spans {
            let span = span.min(ms(60));
            time.run_for(&mut World::new(), span).expect("no callback fails");
            total += span.as_nanos() as u64;
            while oracle.next_time().is_some_and(|next| next <= total) {
                let next = oracle.next_time().map(SimTime::from_nanos);
                oracle.step();
                prop_assert!(next <= Some(time.now()));
            }
            prop_assert_eq!((time.steps(), time.now().as_nanos()), (oracle.steps, oracle.now));
            let next = time.next_step().map(|(time, fires)| (time.as_nanos(), fires.bits()));
            let expected = oracle.clone().step().map(|step| (step.time, step.fired));
            prop_assert_eq!(next, expected);
        }
    }

    #[test]
    fn a_step_comes_when_it_is_due_and_not_a_nanosecond_before(
        case in case(common_rate()), frames in vec(frame(), 1..10), numer in 1..20_u64, denom in 1..20_u64,
        mode in select(vec![TimeMode::SimRealtime, TimeMode::GameRealtime]),
    ) {
        let (mut time, _) = manager::<World>(&case);
        let mut world = World::new();
        time.set_clock(world.hand.clock());
        time.set_mode(mode);
        time.set_time_scale(TimeScale::new(numer, denom).expect("a scale"));
        let governor = Governor { elapsed_max: Duration::from_secs(1000), ..Governor::default() };
        time.set_governor(governor).expect("usable limits");
        for &elapsed in &frames {
            time.tick(&mut world, elapsed.min(ms(100))).expect("no callback fails");
            let due = time.until_due().expect("nothing holds it");
            prop_assert!(!due.is_zero(), "all that was due has run");
            let early = due - Duration::from_nanos(1);
            prop_assert_eq!(time.tick(&mut world, early).expect("no callback fails").steps, 0);
            prop_assert_eq!(time.until_due(), Some(Duration::from_nanos(1)));
            let report = time.tick(&mut world, Duration::from_nanos(1)).expect("no callback fails");
            prop_assert!(report.steps >= 1, "{report:?}");
        }
    }

    #[test]
    fn alpha_after_a_frame_is_where_the_wall_clock_stands(
        case in case(common_rate()),
        frames in vec(frame(), 1..20),
        mode in select(vec![TimeMode::SimRealtime, TimeMode::GameRealtime]),
    ) {
        let (mut time, _) = manager::<World>(&case);
        time.set_mode(mode);
        time.set_clock(ManualClock::new().clock());
        time.set_governor(Governor { elapsed_max: ms(10_000), ..Governor::default() }).expect("usable");
        let mut oracle = Oracle::new(&case.runners, &[]);
        let mut wall = 0;
        for &elapsed in &frames {
            time.tick(&mut World::new(), elapsed).expect("no callback fails");
            wall += elapsed.as_nanos() as u64;
            oracle.skip_to(wall);
            for row in oracle.rows(0) {
                let alpha = time.alpha(id(row.runner));
                match &row.alpha {
                    Some(exact) => prop_assert!(is_alpha(alpha, exact), "{alpha} for {row:?} at {wall}"),
                    None => prop_assert!((0.0..1.0).contains(&alpha)),
                }
            }
        }
    }

    #[test]
    fn alpha_stays_below_one_however_late_the_steps_are(
        case in case(common_rate()), frames in vec(frame(), 1..20), scale in 1..20_u64,
    ) {
        let (mut time, _) = manager::<World>(&case);
        time.set_clock(ManualClock::new().clock());
        time.set_time_scale(TimeScale::new(scale, 7).expect("a scale"));
        time.set_governor(Governor { max_steps_per_frame: Some(1), ..Governor::default() }).expect("usable");
        for &elapsed in &frames {
            let report = time.tick(&mut World::new(), elapsed).expect("no callback fails");
            for state in time.swarm().iter() {
                let alpha = time.alpha(state.id);
                prop_assert!((0.0..1.0).contains(&alpha) && alpha >= state.alpha, "{alpha} {state:?}");
                if report.owed.is_zero() {
                    prop_assert_eq!(alpha.to_bits(), state.alpha.to_bits());
                }
            }
        }
    }

    #[test]
    fn the_shuffle_changes_ties_and_nothing_else(case in case(common_rate()), seed in any::<u64>()) {
        let (mut plain, mut shuffled) = (manager::<World>(&case).0, manager::<World>(&case).0);
        shuffled.set_tie_shuffle(Some(seed));
        prop_assert_eq!(shuffled.tie_shuffle(), Some(seed));
        let (mut one, mut two) = (World::looking(), World::looking());
        plain.run_steps(&mut one, 60).expect("no callback fails");
        shuffled.run_steps(&mut two, 60).expect("no callback fails");
        for (plain, shuffled) in one.steps().zip(two.steps()) {
            let place = |number: usize| (case.callbacks[number].phase, case.callbacks[number].priority);
            prop_assert!(shuffled.is_sorted_by_key(|call| place(call.callback)));
            let mut back = shuffled.to_vec();
            back.sort_by_key(|call| (place(call.callback), call.callback));
            prop_assert_eq!(&back[..], plain);
        }
        // The same seed gives the same order, and without one the order is back.
        let names = |time: &TimeManager<World>| -> Vec<String> {
            time.order_of_all().into_iter().map(|entry| entry.name).collect()
        };
        let again = names(&shuffled);
        shuffled.set_tie_shuffle(None);
        prop_assert_eq!(names(&shuffled), names(&plain));
        shuffled.set_tie_shuffle(Some(seed));
        prop_assert_eq!(names(&shuffled), again);
    }
}

#[test]
fn some_seed_turns_a_tie_around() {
    let spec = oracle::CallbackSpec { runner: 0, phase: 1, priority: 0, on_shared: 0, enabled: true };
    let runner = oracle::RunnerSpec { numer: 50, denom: 1, offset: 0 };
    let case = oracle::cases::Case { runners: vec![runner], callbacks: vec![spec; 3] };
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let (mut time, _) = manager::<World>(&case);
        time.set_tie_shuffle(Some(seed));
        let mut world = World::new();
        time.step(&mut world).unwrap();
        orders.insert(world.calls.iter().map(|call| call.callback).collect::<Vec<_>>());
    }
    assert_eq!(orders.len(), 6, "every order of three comes up in a hundred seeds");
}

#[test]
fn exact_alpha_needs_an_exact_comparison() {
    let exact = |a: u64, b: u64| (BigUint::from(a), BigUint::from(b));
    assert!(is_alpha(0.25, &exact(1, 4)) && is_alpha(0.0, &exact(0, 9)) && is_alpha(1.0 / 3.0, &exact(1, 3)));
    assert!(!is_alpha(0.25, &exact(250_000_001, 1_000_000_000)) && !is_alpha(1.0, &exact(1, 1)));
    assert!(!is_alpha(f64::NAN, &exact(0, 1)) && !is_alpha(-0.25, &exact(1, 4)));
}

#[test]
fn steps_outside_a_frame_have_no_frame_number() {
    let runner = oracle::RunnerSpec { numer: 50, denom: 1, offset: 0 };
    let spec = oracle::CallbackSpec { runner: 0, phase: 1, priority: 0, on_shared: 0, enabled: true };
    let case = oracle::cases::Case { runners: vec![runner], callbacks: vec![spec] };
    let (mut time, _) = manager::<World>(&case);
    let mut world = World::new();
    time.step(&mut world).unwrap();
    time.tick(&mut world, ms(20)).unwrap();
    time.tick(&mut world, ms(20)).unwrap();
    time.step(&mut world).unwrap();
    let frames: Vec<u64> = world.calls.iter().map(|call| call.frame).collect();
    assert_eq!(frames, [0, 1, 2, 0]);
}
