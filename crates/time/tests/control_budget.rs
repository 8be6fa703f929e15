//! The governor's budget and step cap, deadline misses and profiling, on a clock that only callbacks move.

use std::time::Duration;

use downbeat_time::{
    Binding, CallbackId, FreePhase, Governor, ManualClock, Phase, Profiling, RunEnd, RunnerId, StepContext,
    TimeManager, TimeMode,
};

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The time each call burns, which a test may change between frames.
struct Burner {
    hand: ManualClock,
    burn: Duration,
}

impl Burner {
    fn run(&mut self, _: &StepContext<'_>) {
        self.hand.advance(self.burn);
    }
}

/// Robot at 50 Hz alone with one callback that burns `burn`.
fn robot(burn: Duration) -> (TimeManager<Burner>, Burner, CallbackId) {
    let mut time = TimeManager::default();
    time.remove_runner(CAPTURE).expect("nobody uses it");
    let burner = Burner { hand: ManualClock::new(), burn };
    time.set_clock(burner.hand.clock());
    let work = time.register("work", Binding::new(ROBOT, Phase::Physics), Burner::run).expect("usable");
    (time, burner, work)
}

fn with_budget(time: &mut TimeManager<Burner>, budget: Duration) {
    time.set_governor(Governor { budget, ..Governor::default() }).expect("usable limits");
}

#[test]
fn a_due_step_always_runs() {
    for mode in TimeMode::ALL {
        let (mut time, mut burner, _) = robot(ms(500));
        time.set_mode(mode);
        with_budget(&mut time, Duration::ZERO);
        for frame in 1..=10 {
            let report = time.tick(&mut burner, ms(20)).unwrap();
            assert_eq!((report.steps, time.steps()), (1, frame), "{mode:?}");
        }
    }
}

#[test]
fn a_frame_stops_before_the_budget_would_be_passed() {
    let (mut time, mut burner, _) = robot(ms(3));
    with_budget(&mut time, ms(10));
    for _ in 0..3 {
        let report = time.tick(&mut burner, ms(100)).unwrap();
        // A fourth step would end at 12 ms.
        assert_eq!((report.steps, report.end, report.cpu), (3, RunEnd::Budget, ms(9)));
    }
}

#[test]
fn a_step_that_just_fits_the_budget_runs() {
    let (mut time, mut burner, _) = robot(ms(3));
    with_budget(&mut time, ms(12));
    time.tick(&mut burner, ms(100)).unwrap();
    assert_eq!(time.tick(&mut burner, ms(100)).unwrap().cpu, ms(12));
}

#[test]
fn a_lighter_load_is_noticed() {
    let (mut time, mut burner, _) = robot(ms(8));
    with_budget(&mut time, ms(10));
    for _ in 0..5 {
        assert_eq!(time.tick(&mut burner, ms(100)).unwrap().steps, 1);
    }
    burner.burn = ms(1);
    let steps: Vec<u64> = (0..40).map(|_| time.tick(&mut burner, ms(100)).unwrap().steps).collect();
    assert!(steps.is_sorted_by(|a, b| a <= b || *b >= 5), "{steps:?}");
    assert!(steps.last().is_some_and(|&steps| steps >= 5), "{steps:?}");
}

#[test]
fn each_kind_of_step_has_its_own_cost() {
    // Shared steps are dear, the others cost nothing: a frame ends before a shared step, not before the others.
    let mut time = TimeManager::default();
    let mut burner = Burner { hand: ManualClock::new(), burn: ms(9) };
    time.set_clock(burner.hand.clock());
    let shared = downbeat_time::RunnerSet::only(CAPTURE);
    time.register("sync", Binding::new(ROBOT, Phase::Physics).on_shared(shared), Burner::run).unwrap();
    with_budget(&mut time, ms(10));
    assert_eq!(time.tick(&mut burner, ms(100)).unwrap().steps, 7); // 20 to 100 ms, the last one shared
    let report = time.tick(&mut burner, ms(210)).unwrap();
    // One shared step at 200 ms fits, the one at 300 ms would not, and all between cost nothing.
    assert_eq!((report.steps, report.end, report.cpu), (13, RunEnd::Budget, ms(9)));
    assert_eq!(time.now().as_nanos(), 280_000_000);
}

#[test]
fn the_step_cap_ends_a_frame() {
    for mode in TimeMode::ALL {
        let (mut time, mut burner, _) = robot(Duration::ZERO);
        time.set_mode(mode);
        let governor = Governor { max_steps_per_frame: Some(3), ..Governor::default() };
        time.set_governor(governor).unwrap();
        let report = time.tick(&mut burner, ms(100)).unwrap();
        assert_eq!((report.steps, report.end), (3, RunEnd::StepCap), "{mode:?}");
        assert_eq!(time.step(&mut burner).unwrap().steps, 1, "on demand there is no cap");
    }
}

#[test]
fn high_performance_spends_the_budget_and_no_more() {
    let (mut time, mut burner, _) = robot(ms(1));
    time.set_mode(TimeMode::SimHighPerformance);
    with_budget(&mut time, ms(12));
    for _ in 0..5 {
        let report = time.tick(&mut burner, Duration::ZERO).unwrap();
        assert_eq!((report.steps, report.cpu, report.end), (12, ms(12), RunEnd::Budget));
    }
}

#[test]
fn a_step_that_takes_longer_than_its_runner_has_is_an_overrun() {
    let (mut time, mut burner, work) = robot(ms(25));
    for _ in 0..4 {
        time.tick(&mut burner, ms(20)).unwrap();
    }
    let cost = time.cost(work).unwrap();
    assert_eq!((cost.count, cost.overruns, cost.late_releases), (4, 4, 0));
}

#[test]
fn a_step_in_time_misses_nothing() {
    let (mut time, mut burner, work) = robot(ms(19));
    for _ in 0..4 {
        time.tick(&mut burner, ms(20)).unwrap();
    }
    let cost = time.cost(work).unwrap();
    assert_eq!((cost.count, cost.overruns, cost.late_releases), (4, 0, 0));
}

#[test]
fn a_step_that_starts_too_late_is_a_late_release() {
    let (mut time, mut burner, work) = robot(ms(1));
    // After 70 ms the boundaries at 20 and 40 ms are late by more than a step, the one at 60 ms is not.
    time.tick(&mut burner, ms(70)).unwrap();
    let cost = time.cost(work).unwrap();
    assert_eq!((cost.count, cost.late_releases, cost.overruns), (3, 2, 0));
}

#[test]
fn a_late_step_that_is_too_long_as_well_is_an_overrun() {
    let (mut time, mut burner, work) = robot(ms(25));
    time.tick(&mut burner, ms(55)).unwrap();
    let cost = time.cost(work).unwrap();
    assert_eq!((cost.count, cost.late_releases, cost.overruns), (1, 0, 1));
}

#[test]
fn each_callback_is_held_to_the_step_of_its_own_runner() {
    let mut time = TimeManager::default();
    let mut burner = Burner { hand: ManualClock::new(), burn: ms(15) };
    time.set_clock(burner.hand.clock());
    let robot = time.register("robot", Binding::new(ROBOT, Phase::Control), Burner::run).unwrap();
    let capture = time.register("capture", Binding::new(CAPTURE, Phase::Export), Burner::run).unwrap();
    time.run_steps(&mut burner, 6).unwrap();
    time.reset_costs();
    // The shared step: Robot's callback ends after 15 of 20 ms, Capture's after 30 of 33.3 ms.
    time.step(&mut burner).unwrap();
    let misses = |time: &TimeManager<Burner>, id| time.cost(id).map(|cost| (cost.count, cost.overruns));
    assert_eq!((misses(&time, robot), misses(&time, capture)), (Some((1, 0)), Some((1, 0))));
    // Half as much again: 18 and 36 ms.
    burner.burn = ms(18);
    time.run_steps(&mut burner, 6).unwrap();
    time.reset_costs();
    time.step(&mut burner).unwrap();
    assert_eq!((misses(&time, robot), misses(&time, capture)), (Some((1, 0)), Some((1, 1))));
}

#[test]
fn costs_are_what_the_clock_saw() {
    let (mut time, mut burner, work) = robot(ms(1));
    time.run_steps(&mut burner, 99).unwrap();
    burner.burn = ms(7);
    time.step(&mut burner).unwrap();
    let cost = time.cost(work).unwrap();
    assert_eq!((cost.count, cost.total, cost.max), (100, ms(106), ms(7)));
    assert_eq!(cost.mean, Duration::from_micros(1060));
    let near = |value: Duration, expected: Duration| value.abs_diff(expected) < expected / 50;
    assert!(near(cost.p50, ms(1)) && near(cost.p95, ms(1)) && near(cost.p99, ms(1)), "{cost:?}");
    time.reset_costs();
    assert_eq!(time.cost(work), Some(Default::default()));
}

#[test]
fn profiling_is_on_by_itself_in_the_realtime_modes_only() {
    for (mode, profiling, counted) in [
        (TimeMode::SimRealtime, Profiling::Auto, true),
        (TimeMode::GameRealtime, Profiling::Auto, true),
        (TimeMode::SimHighPerformance, Profiling::Auto, false),
        (TimeMode::SimHighPerformance, Profiling::On, true),
        (TimeMode::SimRealtime, Profiling::Off, false),
        (TimeMode::GameRealtime, Profiling::Off, false),
    ] {
        let (mut time, mut burner, work) = robot(ms(5));
        time.set_mode(mode);
        time.set_profiling(profiling);
        time.tick(&mut burner, ms(20)).unwrap();
        let count = time.cost(work).map_or(0, |cost| cost.count);
        assert_eq!(count > 0, counted, "{mode:?} {profiling:?}");
        time.step(&mut burner).unwrap();
        assert_eq!(time.cost(work).unwrap().count, if counted { count + 1 } else { 0 });
    }
}

#[test]
fn free_phases_are_not_part_of_what_a_step_costs() {
    let (mut time, mut burner, _) = robot(ms(1));
    with_budget(&mut time, ms(12));
    time.set_free_phase(FreePhase::PreAcquisition, true);
    time.register_free("hook", FreePhase::PreAcquisition, 0, |burner, _| burner.hand.advance(ms(8))).unwrap();
    for _ in 0..3 {
        // Five steps of 1 ms are due, and at least 4 ms of the budget are left for them.
        let report = time.tick(&mut burner, ms(100)).unwrap();
        assert!(report.steps >= 4, "{report:?}");
    }
}

#[test]
fn a_new_callback_does_not_inherit_the_costs_of_a_removed_one() {
    let (mut time, mut burner, work) = robot(ms(2));
    time.run_steps(&mut burner, 5).unwrap();
    time.unregister(work).unwrap();
    let new = time.register("new", Binding::new(ROBOT, Phase::Physics), Burner::run).unwrap();
    assert_eq!((time.cost(work), time.cost(new)), (None, Some(Default::default())));
    time.step(&mut burner).unwrap();
    assert_eq!(time.cost(new).map(|cost| cost.count), Some(1));
}

#[test]
fn what_earlier_steps_of_a_frame_have_used_makes_later_ones_late() {
    let (mut time, mut burner, work) = robot(ms(15));
    with_budget(&mut time, ms(1_000));
    // The first step was due 20 ms before the frame. The second is due as it starts and takes 15 of its 20 ms, but
    // the first has used 15 ms before it.
    time.tick(&mut burner, ms(40)).unwrap();
    let cost = time.cost(work).unwrap();
    assert_eq!((cost.count, cost.overruns, cost.late_releases), (2, 0, 2));
}

#[test]
fn the_real_time_factor_is_over_all_wall_time_and_not_what_counts_of_it() {
    let (mut time, mut burner, _) = robot(Duration::ZERO);
    time.tick(&mut burner, Duration::from_secs(2)).unwrap();
    assert_eq!(time.last_frame().advanced, ms(240));
    assert!(time.real_time_factor().is_some_and(|factor| (factor - 0.12).abs() < 1e-9));
}

#[test]
fn a_callback_that_is_turned_off_keeps_its_place_in_the_order_of_all() {
    let (mut time, _, work) = robot(Duration::ZERO);
    time.register("more", Binding::new(ROBOT, Phase::Physics), Burner::run).unwrap();
    time.set_enabled(work, false).unwrap();
    let all: Vec<_> = time.order_of_all().into_iter().map(|entry| (entry.name, entry.enabled)).collect();
    assert_eq!(all, [("work".to_owned(), false), ("more".to_owned(), true)]);
    assert_eq!(time.order(downbeat_time::RunnerSet::only(ROBOT)).len(), 1);
}
