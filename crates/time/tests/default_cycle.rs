//! The default scene, Robot at 50 Hz and Capture at 30 Hz, through its cycle of 100 ms, as a table.

use std::time::Duration;

use downbeat_time::{Binding, Phase, RunnerId, SimTime, StepContext, TimeManager, TimeMode};

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;

/// When, who fires with which length, and how far both are from their last boundary, in nanoseconds of so many.
struct Line {
    nanos: u64,
    robot_dt: Option<u64>,
    capture_dt: Option<u64>,
    robot_alpha: (u32, u32),
    capture_alpha: (u32, u32),
}

const R: Option<u64> = Some(20_000_000);

#[rustfmt::skip]
const CYCLE: [Line; 7] = [
    Line { nanos:  20_000_000, robot_dt: R,    capture_dt: None,             robot_alpha: (0, 1),                   capture_alpha: (20_000_000, 33_333_333) },
    Line { nanos:  33_333_333, robot_dt: None, capture_dt: Some(33_333_333), robot_alpha: (13_333_333, 20_000_000), capture_alpha: (0, 1) },
    Line { nanos:  40_000_000, robot_dt: R,    capture_dt: None,             robot_alpha: (0, 1),                   capture_alpha: ( 6_666_667, 33_333_333) },
    Line { nanos:  60_000_000, robot_dt: R,    capture_dt: None,             robot_alpha: (0, 1),                   capture_alpha: (26_666_667, 33_333_333) },
    Line { nanos:  66_666_666, robot_dt: None, capture_dt: Some(33_333_333), robot_alpha: ( 6_666_666, 20_000_000), capture_alpha: (0, 1) },
    Line { nanos:  80_000_000, robot_dt: R,    capture_dt: None,             robot_alpha: (0, 1),                   capture_alpha: (13_333_334, 33_333_334) },
    Line { nanos: 100_000_000, robot_dt: R,    capture_dt: Some(33_333_334), robot_alpha: (0, 1),                   capture_alpha: (0, 1) },
];

/// What one callback saw.
#[derive(Debug, Clone)]
struct Seen {
    nanos: u64,
    runner: RunnerId,
    dt: u64,
    dt_secs: f64,
    shared: bool,
    alpha: [f64; 2],
}

fn see(log: &mut Vec<Seen>, ctx: &StepContext<'_>) {
    log.push(Seen {
        nanos: ctx.now().as_nanos(),
        runner: ctx.runner(),
        dt: ctx.dt_nanos(),
        dt_secs: ctx.dt_secs(),
        shared: ctx.fired().is_shared(),
        alpha: [ctx.alpha(ROBOT), ctx.alpha(CAPTURE)],
    });
}

fn scene() -> TimeManager<Vec<Seen>> {
    let mut time = TimeManager::default();
    // Capture is registered first and still runs second: it has the higher priority number.
    time.register("record", Binding::new(CAPTURE, Phase::Control), see).expect("usable");
    time.register("control", Binding::new(ROBOT, Phase::Control).with_priority(-200), see).expect("usable");
    time
}

/// Compares what was seen with the table, repeated every 100 ms.
fn check(log: &[Seen], cycles: u64) {
    let mut seen = log.iter();
    for cycle in 0..cycles {
        for line in &CYCLE {
            let firing = [(ROBOT, line.robot_dt, 0.02), (CAPTURE, line.capture_dt, 1.0 / 30.0)];
            for (runner, dt, dt_secs) in firing {
                let Some(dt) = dt else { continue };
                let seen = seen.next().expect("the table goes on");
                assert_eq!((seen.nanos, seen.runner), (line.nanos + cycle * 100_000_000, runner));
                assert_eq!(seen.dt, dt, "{seen:?}");
                assert_eq!(seen.dt_secs.to_bits(), f64::to_bits(dt_secs), "{seen:?}");
                assert_eq!(seen.shared, line.nanos == 100_000_000, "{seen:?}");
                for (alpha, (part, whole)) in seen.alpha.iter().zip([line.robot_alpha, line.capture_alpha]) {
                    assert!((alpha - f64::from(part) / f64::from(whole)).abs() < 1e-15, "{seen:?}");
                }
            }
        }
    }
    assert!(seen.next().is_none(), "the table ends");
}

#[test]
fn the_default_cycle_is_as_tabled() {
    let (mut time, mut log) = (scene(), Vec::new());
    time.run_steps(&mut log, 21).unwrap();
    assert_eq!(time.now(), SimTime::from_nanos(300_000_000));
    check(&log, 3);
}

#[test]
fn nothing_fires_at_zero() {
    let (mut time, mut log) = (scene(), Vec::new());
    time.step_to(&mut log, SimTime::from_nanos(19_999_999)).unwrap();
    assert_eq!((time.now(), time.steps(), log.len()), (SimTime::ZERO, 0, 0));
    for state in time.swarm().iter() {
        assert_eq!((state.index, state.last, state.fires), (0, SimTime::ZERO, false));
        assert_eq!(state.alpha.to_bits(), 0);
    }
}

#[test]
fn frames_of_any_length_give_the_same_cycle() {
    for mode in TimeMode::ALL {
        for frame in [1, 7, 16, 33, 50] {
            let (mut time, mut log) = (scene(), Vec::new());
            time.set_mode(mode);
            let cap = downbeat_time::Governor {
                budget: downbeat_time::BUDGET_MAX,
                max_steps_per_frame: Some(7),
                ..Default::default()
            };
            time.set_governor(cap).unwrap();
            while time.steps() < 14 {
                time.tick(&mut log, Duration::from_millis(frame)).unwrap();
            }
            log.retain(|seen| seen.nanos <= 200_000_000);
            check(&log, 2);
        }
    }
}

#[test]
fn the_cycle_is_analysed_as_it_runs() {
    let time = scene();
    let cycle = time.cycle();
    assert_eq!((cycle.cycle_nanos, cycle.steps, cycle.shared_steps), (Some(100_000_000), Some(7), Some(1)));
    let heaviest = cycle.heaviest.unwrap();
    assert_eq!((heaviest.time.as_nanos(), heaviest.fires.len(), heaviest.weight), (100_000_000, 2, 2));
}
