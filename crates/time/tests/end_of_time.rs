//! What happens where the timeline ends: skips count right, nothing is owed, and a runner that would never fire
//! again can still be changed.

use std::time::Duration;

use downbeat_time::{
    Governor, Rate, RunEnd, RunnerConfig, RunnerId, SimTime, TimeConfig, TimeManager, TimeMode, TimeScale,
};

const ROBOT: RunnerId = RunnerId::ROBOT;

fn hz(hz: u32) -> Rate {
    Rate::hz(hz).expect("a rate")
}

/// A manager that jumps to the end of time within a few frames.
fn hasty(rate: Rate) -> TimeManager<()> {
    let config = TimeConfig {
        runners: vec![RunnerConfig::new("only", rate)],
        mode: TimeMode::GameRealtime,
        scale: TimeScale::new(u32::MAX.into(), 1).expect("a scale"),
        governor: Governor { max_steps_per_frame: Some(10), ..Governor::default() },
        ..TimeConfig::default()
    };
    TimeManager::new(config).expect("usable")
}

#[test]
fn every_boundary_up_to_the_end_of_time_is_fired_or_skipped() {
    let end = SimTime::END.as_nanos();
    // The last two have a boundary on the very last nanosecond.
    let last_nanosecond = Rate::new(1_000_000_000, end).unwrap();
    for (rate, boundaries) in [(hz(50), end / 20_000_000), (Rate::MAX, end), (last_nanosecond, 1)] {
        let mut time = hasty(rate);
        let (mut steps, mut skips) = (0, 0);
        while time.now() < SimTime::END {
            let report = time.tick(&mut (), Duration::from_secs(4)).unwrap();
            steps += report.runner_steps[0];
            skips += report.runner_skips[0];
        }
        assert_eq!(steps + skips, boundaries, "{rate}");
        assert_eq!((time.next_step(), time.step(&mut ()).unwrap().end), (None, RunEnd::EndOfTime), "{rate}");
        let state = time.save();
        hasty(rate).restore(&state).expect("a state of its own");
    }
}

#[test]
fn nothing_is_owed_when_time_is_over() {
    let config = TimeConfig {
        runners: vec![RunnerConfig::new("late", hz(50)).with_offset_nanos(u64::MAX)],
        ..TimeConfig::default()
    };
    let mut time = TimeManager::<()>::new(config).unwrap();
    let report = time.tick(&mut (), Duration::from_millis(30)).unwrap();
    assert_eq!((report.end, report.owed), (RunEnd::EndOfTime, Duration::ZERO));
    assert_eq!(report.forgiven, Duration::from_millis(30));
}

/// Robot at 50 Hz with three steps behind it, and a runner that never fires.
fn with_idle(idle: RunnerConfig) -> (TimeManager<()>, RunnerId) {
    let runners = vec![RunnerConfig::new("Robot", hz(50)), idle];
    let mut time = TimeManager::new(TimeConfig { runners, ..TimeConfig::default() }).expect("usable");
    time.run_steps(&mut (), 3).expect("no callback fails");
    (time, RunnerId::CAPTURE)
}

/// When a runner fires, up to 100 ms.
fn firings(time: &mut TimeManager<()>, id: RunnerId) -> Vec<u64> {
    let mut times = Vec::new();
    while time.next_step().is_some_and(|(next, _)| next.as_nanos() <= 100_000_000) {
        time.step(&mut ()).expect("no callback fails");
        if time.swarm().get(id).is_some_and(|state| state.fires) {
            times.push(time.now().as_nanos());
        }
    }
    times
}

#[test]
fn a_runner_with_no_boundary_ahead_takes_a_new_rate_at_once() {
    let slow = RunnerConfig::new("slow", Rate::new(1, u64::MAX).unwrap());
    let (mut time, id) = with_idle(slow.clone());
    time.set_rate(id, hz(100)).unwrap();
    assert_eq!(time.runner(id).unwrap().rate, hz(100));
    assert_eq!(firings(&mut time, id), [70_000_000, 80_000_000, 90_000_000, 100_000_000]);
    // The same for one that has never had a place on the timeline, because it was added after the first step.
    let mut time = TimeManager::<()>::default();
    time.run_steps(&mut (), 1).unwrap();
    let id = time.add_runner(slow).unwrap();
    time.set_rate(id, hz(50)).unwrap();
    assert_eq!(firings(&mut time, id), [40_000_000, 60_000_000, 80_000_000, 100_000_000]);
}

#[test]
fn a_runner_with_no_boundary_ahead_takes_a_new_offset_at_once() {
    let (mut time, id) = with_idle(RunnerConfig::new("late", hz(50)).with_offset_nanos(u64::MAX));
    time.set_offset(id, SimTime::from_nanos(5_000_000)).unwrap();
    assert_eq!(firings(&mut time, id), [85_000_000]);
}

#[test]
fn an_origin_that_is_still_to_come_stays_when_the_rate_changes() {
    let origin = SimTime::END.as_nanos() - 5;
    let (mut time, id) = with_idle(RunnerConfig::new("late", hz(50)).with_offset_nanos(origin));
    time.set_rate(id, Rate::MAX).unwrap();
    let state = time.swarm().get(id).unwrap();
    assert_eq!((state.last.as_nanos(), state.next.as_nanos()), (origin, origin + 1));
    let saved = time.save();
    time.restore(&saved).expect("a state of its own");
    assert_eq!(time.save(), saved);
}

#[test]
fn a_runner_that_waits_for_nothing_keeps_nothing_pending() {
    let (mut time, id) = with_idle(RunnerConfig::new("slow", Rate::new(1, u64::MAX).unwrap()));
    time.set_rate(id, hz(100)).unwrap();
    let saved = time.save();
    time.run_for(&mut (), Duration::from_secs(1)).unwrap();
    let hash = time.schedule_hash();
    time.restore(&saved).unwrap();
    time.run_for(&mut (), Duration::from_secs(1)).unwrap();
    assert_eq!(time.schedule_hash(), hash);
    assert_eq!(time.swarm().get(ROBOT).unwrap().index, 53);
}
