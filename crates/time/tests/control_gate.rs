//! Gates: a runner whose next boundary may not be passed until it is released, in every mode.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{Governor, ManualClock, RunEnd, RunnerId, SimTime, TimeManager, TimeMode};
use oracle::Oracle;
use oracle::cases::{Case, case, cases, common_rate, frame, governor, rate};
use oracle::record::{World, id, manager};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The default scene in a mode, on a clock that stands still, with frames of at most 50 steps.
fn scene(mode: TimeMode) -> TimeManager<()> {
    let mut time = TimeManager::default();
    time.set_clock(ManualClock::new().clock());
    time.set_mode(mode);
    let governor = Governor { max_steps_per_frame: Some(50), ..Governor::default() };
    time.set_governor(governor).expect("usable limits");
    time
}

#[test]
fn others_run_up_to_a_closed_gate_in_every_mode() {
    for mode in TimeMode::ALL {
        let mut time = scene(mode);
        time.step_to(&mut (), SimTime::from_nanos(34_000_000)).unwrap();
        time.close_gate(CAPTURE).unwrap();
        assert_eq!(time.gate(CAPTURE), Some(0));
        let mut robot = 0;
        for _ in 0..10 {
            let report = time.tick(&mut (), ms(50)).unwrap();
            robot += report.runner_steps[0];
            assert_eq!((report.runner_steps[1], report.runner_skips), (0, [0; 8]), "{mode:?}");
        }
        // Robot fires at 40 and 60 ms; Capture's boundary at 66.7 ms holds everybody.
        assert_eq!((robot, time.swarm().get(CAPTURE).unwrap().index), (2, 1), "{mode:?}");
        assert!(time.now().as_nanos() >= 60_000_000 && time.now().as_nanos() < 66_666_666, "{mode:?}");
        assert_eq!(time.last_frame().end, RunEnd::Gate(CAPTURE), "{mode:?}");
        assert_eq!(time.until_due(), None, "{mode:?}");
    }
}

#[test]
fn steps_on_demand_stop_at_a_gate_too() {
    let mut time = scene(TimeMode::SimRealtime);
    time.close_gate(ROBOT).unwrap();
    let held = RunEnd::Gate(ROBOT);
    assert_eq!((time.step(&mut ()).unwrap().steps, time.step(&mut ()).unwrap().end), (0, held));
    assert_eq!(time.run_steps(&mut (), 5).unwrap().end, held);
    assert_eq!(time.step_to(&mut (), SimTime::from_nanos(90_000_000)).unwrap().end, held);
    assert_eq!(time.step_to(&mut (), SimTime::from_nanos(10_000_000)).unwrap().end, RunEnd::Done);
    assert_eq!((time.now(), time.steps()), (SimTime::ZERO, 0));
}

#[test]
fn no_burst_follows_an_opened_gate() {
    for mode in [TimeMode::SimRealtime, TimeMode::GameRealtime] {
        let mut time = scene(mode);
        time.close_gate(ROBOT).unwrap();
        for _ in 0..100 {
            time.tick(&mut (), ms(16)).unwrap();
        }
        time.open_gate(ROBOT).unwrap();
        assert_eq!(time.gate(ROBOT), None);
        // At most the step that was held is due at once; after that it is one frame at a time.
        let mut now = time.now();
        let report = time.tick(&mut (), Duration::ZERO).unwrap();
        assert!(report.steps <= 1 && report.runner_skips == [0; 8], "{mode:?}: {report:?}");
        for _ in 0..20 {
            now = now.saturating_add(ms(16));
            time.tick(&mut (), ms(16)).unwrap();
            assert!(time.now() <= now.saturating_add(ms(20)), "{mode:?}");
            assert!(time.now().saturating_add(ms(20)) >= now, "{mode:?}");
        }
        assert_eq!(time.swarm().get(ROBOT).unwrap().skipped, 0, "{mode:?}");
    }
}

#[test]
fn a_game_does_not_jump_over_a_gate() {
    let mut time = scene(TimeMode::GameRealtime);
    let governor = Governor { owed_max: Duration::ZERO, max_steps_per_frame: Some(1), ..Governor::default() };
    time.set_governor(governor).unwrap();
    time.close_gate(CAPTURE).unwrap();
    for _ in 0..10 {
        time.tick(&mut (), Duration::from_secs(1)).unwrap();
        let capture = time.swarm().get(CAPTURE).unwrap();
        assert_eq!((capture.index, capture.skipped), (0, 0));
        assert!(time.now().as_nanos() < 33_333_333);
    }
    time.open_gate(CAPTURE).unwrap();
    time.tick(&mut (), ms(34)).unwrap();
    assert!(time.now().as_nanos() >= 33_333_333);
}

#[test]
fn releases_add_up_and_an_opened_gate_forgets_them() {
    let mut time = scene(TimeMode::SimRealtime);
    time.close_gate(ROBOT).unwrap();
    time.release(ROBOT, 2).unwrap();
    time.release(ROBOT, 3).unwrap();
    assert_eq!(time.gate(ROBOT), Some(5));
    time.step(&mut ()).unwrap();
    assert_eq!(time.gate(ROBOT), Some(4));
    time.open_gate(ROBOT).unwrap();
    time.close_gate(ROBOT).unwrap();
    assert_eq!(time.gate(ROBOT), Some(0));
    time.release(ROBOT, u64::MAX).unwrap();
    time.release(ROBOT, u64::MAX).unwrap();
    assert_eq!(time.run_steps(&mut (), 10).unwrap().steps, 10);
}

#[test]
fn of_two_gates_the_nearer_one_holds() {
    let mut time = scene(TimeMode::SimHighPerformance);
    time.close_gate(ROBOT).unwrap();
    time.close_gate(CAPTURE).unwrap();
    assert_eq!(time.tick(&mut (), ms(1)).unwrap().end, RunEnd::Gate(ROBOT));
    time.release(ROBOT, 100).unwrap();
    assert_eq!(time.tick(&mut (), ms(1)).unwrap().end, RunEnd::Gate(CAPTURE));
    assert_eq!(time.now().as_nanos(), 20_000_000);
    time.release(CAPTURE, 2).unwrap();
    time.tick(&mut (), ms(1)).unwrap();
    // At 100 ms both are due, and the one without a release holds the other too.
    assert_eq!((time.now().as_nanos(), time.gate(ROBOT)), (80_000_000, Some(96)));
}

/// Runs frames until nothing moves any more.
fn settle(time: &mut TimeManager<World>, world: &mut World, elapsed: Duration) {
    loop {
        let before = time.steps();
        for _ in 0..20 {
            time.tick(world, elapsed).expect("no callback fails");
        }
        if time.steps() == before {
            return;
        }
    }
}

fn check_releases(case: &Case, mode: TimeMode, gated: u8, rounds: &[u64]) -> Result<(), String> {
    let (mut time, _) = manager::<World>(case);
    let mut world = World::new();
    time.set_clock(world.hand.clock());
    time.set_mode(mode);
    let governor = Governor {
        elapsed_max: ms(5_000),
        owed_max: ms(5_000),
        max_steps_per_frame: Some(2000),
        ..Governor::default()
    };
    time.set_governor(governor).expect("usable limits");
    let gated = id(gated);
    time.close_gate(gated).expect("a runner");
    let mut released = 0;
    let mut oracle = Oracle::new(&case.runners, &case.callbacks);
    for &count in rounds {
        time.release(gated, count).expect("a closed gate");
        released += count;
        settle(&mut time, &mut world, ms(1500));
        let state = time.swarm().get(gated).expect("a runner");
        if (state.index, time.gate(gated)) != (released, Some(0)) {
            return Err(format!("{released} released, {} passed", state.index));
        }
        // The others have done everything before the gate and nothing after it.
        while oracle.next_time().is_some_and(|next| next < state.next.as_nanos()) {
            oracle.step();
        }
        if mode.is_deterministic() && (time.steps(), time.now().as_nanos()) != (oracle.steps, oracle.now) {
            return Err(format!("{} steps instead of {}", time.steps(), oracle.steps));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_release_of_n_passes_exactly_n(
        case in case(common_rate()), mode in select(TimeMode::ALL.to_vec()), gated in 0..8_u8,
        rounds in vec(0..4_u64, 1..4),
    ) {
        let mut case = case;
        // A gate a long way off would take many frames to reach.
        let gated = gated % case.runners.len() as u8;
        let runner = &mut case.runners[usize::from(gated)];
        (runner.offset, runner.numer) = (runner.offset % 1_000_000_000, runner.numer.max(runner.denom));
        check_releases(&case, mode, gated, &rounds).map_err(proptest::test_runner::TestCaseError::fail)?;
    }

    #[test]
    fn a_gated_runner_never_skips_a_boundary(
        case in case(rate()), governor in governor(), gated in 0..8_u8,
        script in vec((frame(), 0..4_u64), 1..40),
    ) {
        let (mut time, _) = manager::<World>(&case);
        let mut world = World::new();
        time.set_clock(world.hand.clock());
        time.set_mode(TimeMode::GameRealtime);
        time.set_governor(governor).expect("usable limits");
        let gated = id(gated % case.runners.len() as u8);
        time.close_gate(gated).expect("a runner");
        let mut released = 0;
        for &(elapsed, count) in &script {
            time.release(gated, count).expect("a closed gate");
            released += count;
            time.tick(&mut world, elapsed).expect("no callback fails");
            let state = time.swarm().get(gated).expect("a runner");
            prop_assert!(state.index <= released && state.skipped == 0, "{state:?} after {released}");
            prop_assert_eq!(Some(released - state.index), time.gate(gated));
        }
    }
}

#[test]
fn a_release_in_a_game_is_a_step_and_not_a_skip() {
    // External lock-step: whoever releases a step waits for it to be simulated.
    let mut time = scene(TimeMode::GameRealtime);
    let governor = Governor { owed_max: Duration::ZERO, max_steps_per_frame: Some(1), ..Governor::default() };
    time.set_governor(governor).unwrap();
    time.close_gate(CAPTURE).unwrap();
    time.release(CAPTURE, 5).unwrap();
    for _ in 0..20 {
        time.tick(&mut (), ms(200)).unwrap();
    }
    let capture = time.swarm().get(CAPTURE).unwrap();
    assert_eq!((capture.index, capture.skipped), (5, 0));
}
