//! Free phases, and callbacks that fail: who is named, what still runs, and how one goes on.

use std::time::Duration;

use downbeat_time::{
    Binding, Cause, Edit, FreePhase, Phase, RunEnd, RunnerId, SimTime, Site, StepContext, TimeConfig,
    TimeManager, TimeMode, TimeScale,
};

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;
const PRE: FreePhase = FreePhase::PreAcquisition;
const POST: FreePhase = FreePhase::PostExport;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

type Log = Vec<String>;

/// The default scene with a step on Robot and hooks in both free phases, registered out of order.
fn scene() -> TimeManager<Log> {
    let mut time = TimeManager::default();
    for (name, phase, priority) in
        [("post", POST, 0), ("late", PRE, 5), ("early", PRE, -5), ("tie", PRE, 5), ("first", POST, -1)]
    {
        time.register_free(name, phase, priority, move |log: &mut Log, _| log.push(name.to_owned()))
            .expect("usable");
    }
    time.register("step", Binding::new(ROBOT, Phase::Control), |log: &mut Log, ctx| {
        log.push(format!("step {}", ctx.now()));
    })
    .expect("usable");
    time
}

#[test]
fn free_phases_are_off_by_default() {
    let (mut time, mut log) = (scene(), Log::new());
    assert!(FreePhase::ALL.into_iter().all(|phase| !time.free_phase_is_enabled(phase)));
    time.tick(&mut log, ms(20)).unwrap();
    assert_eq!(log, ["step 20 ms"]);
}

#[test]
fn free_phases_run_around_the_steps_by_priority_then_registration() {
    let (mut time, mut log) = (scene(), Log::new());
    time.set_free_phase(PRE, true);
    time.set_free_phase(POST, true);
    time.tick(&mut log, ms(40)).unwrap();
    assert_eq!(log, ["early", "late", "tie", "step 20 ms", "step 40 ms", "first", "post"]);
    let shown: Vec<_> = time.free_callbacks().map(|callback| callback.name).collect();
    assert_eq!(shown, ["early", "late", "tie", "first", "post"]);
    // Each phase has its own switch, and so has each callback.
    log.clear();
    time.set_free_phase(PRE, false);
    let first = time.free_callbacks().find(|callback| callback.name == "first").unwrap().id;
    time.set_free_enabled(first, false).unwrap();
    time.tick(&mut log, ms(1)).unwrap();
    assert_eq!(log, ["post"]);
    time.unregister_free(first).unwrap();
    assert_eq!(time.free_callbacks().count(), 4);
}

#[test]
fn free_phases_run_in_frames_only_also_when_paused() {
    let (mut time, mut log) = (scene(), Log::new());
    time.set_free_phase(POST, true);
    time.run_steps(&mut log, 1).unwrap();
    time.step_to(&mut log, SimTime::from_nanos(30_000_000)).unwrap();
    assert_eq!(log, ["step 20 ms"]);
    time.pause();
    time.tick(&mut log, ms(100)).unwrap();
    assert_eq!(log, ["step 20 ms", "first", "post"]);
}

#[test]
fn the_delta_of_a_free_phase_is_the_frames_own() {
    let mut time = TimeManager::<Vec<(Duration, u64, u64)>>::default();
    for phase in FreePhase::ALL {
        time.set_free_phase(phase, true);
        time.register_free(phase.name(), phase, 0, move |log: &mut Vec<_>, ctx| {
            assert_eq!(ctx.phase(), phase);
            assert_eq!(ctx.swarm().iter().count(), 2);
            log.push((ctx.delta(), ctx.frame(), ctx.now().as_nanos()));
        })
        .unwrap();
    }
    time.set_time_scale(TimeScale::new(1, 2).unwrap());
    let mut log = Vec::new();
    time.tick(&mut log, ms(40)).unwrap();
    time.tick(&mut log, Duration::from_secs(9)).unwrap();
    assert_eq!(log[..2], [(ms(40), 1, 0), (ms(40), 1, 20_000_000)]);
    // Neither scaled nor clamped to the 250 ms that count for steps.
    assert_eq!((log[2].0, log[2].1, log[2].2), (Duration::from_secs(9), 2, 20_000_000));
    assert_eq!((log[3].0, log[3].1), (Duration::from_secs(9), 2));
}

#[test]
fn a_failing_free_callback_pauses_and_is_named() {
    for (phase, steps) in [(PRE, 0), (POST, 1)] {
        let (mut time, mut log) = (scene(), Log::new());
        time.set_free_phase(phase, true);
        time.register_free("broken", phase, -1, |_, ctx| match ctx.frame() {
            1 => Err("no window".into()),
            _ => Ok(()),
        })
        .unwrap();
        let failure = time.tick(&mut log, ms(20)).unwrap_err();
        assert_eq!((failure.callback.as_str(), &failure.site), ("broken", &Site::Free(phase)));
        let message = failure.to_string();
        assert!(message.contains("broken") && message.contains("no window"), "{message}");
        assert!(time.is_paused());
        assert_eq!((time.steps(), time.last_frame().steps), (steps, steps), "{phase}");
        account(&time, Duration::ZERO);
        time.resume();
        time.tick(&mut log, ms(20)).unwrap();
        assert!(time.steps() > steps);
    }
}

/// What was owed before and the frame's time are all in the report of the last frame.
fn account<W>(time: &TimeManager<W>, owed_before: Duration) {
    let report = time.last_frame();
    assert_eq!(
        owed_before + report.elapsed,
        report.simulated + report.owed + report.forgiven + report.skipped,
        "{report:?}"
    );
}

/// Callbacks before and after one that fails at 40 ms, in every phase.
fn failing() -> TimeManager<Log> {
    let mut time = TimeManager::default();
    for phase in Phase::ALL {
        time.register(phase.name(), Binding::new(ROBOT, phase), move |log: &mut Log, ctx| {
            log.push(format!("{phase} {}", ctx.now()));
        })
        .expect("usable");
    }
    let binding = Binding::new(ROBOT, Phase::Physics).with_priority(1);
    time.register("solver", binding, |_, ctx: &StepContext<'_>| match ctx.now().as_nanos() {
        40_000_000 => Err("it diverged".into()),
        _ => Ok(()),
    })
    .expect("usable");
    time
}

#[test]
fn a_failing_callback_is_named_with_runner_phase_and_time() {
    let mut time = failing();
    let failure = time.run_steps(&mut Log::new(), 10).unwrap_err();
    assert_eq!((failure.callback.as_str(), failure.time.as_nanos()), ("solver", 40_000_000));
    let site = Site::Step { runner: ROBOT, runner_name: "Robot".to_owned(), phase: Phase::Physics };
    assert_eq!(failure.site, site);
    assert!(matches!(&failure.cause, Cause::Callback(error) if error.to_string() == "it diverged"));
    for word in ["solver", "Robot", "Physics", "40 ms", "it diverged"] {
        assert!(failure.to_string().contains(word), "{failure}");
    }
}

#[test]
fn a_failure_ends_the_step_and_the_next_step_goes_on() {
    for mode in TimeMode::ALL {
        let (mut time, mut log) = (failing(), Log::new());
        time.set_mode(mode);
        time.tick(&mut log, ms(100)).unwrap_err();
        assert!(time.is_paused());
        assert_eq!(log[5..], ["Acquisition 40 ms", "Control 40 ms", "Physics 40 ms"], "{mode:?}");
        // The step was taken: the timeline stands at its end and the runner has fired.
        assert_eq!((time.now().as_nanos(), time.steps()), (40_000_000, 3));
        assert_eq!(time.swarm().get(ROBOT).unwrap().index, 2);
        let report = *time.last_frame();
        assert_eq!((report.steps, report.runner_steps[0], report.runner_steps[1]), (3, 2, 1));
        assert_eq!(report.advanced, ms(40));
        account(&time, Duration::ZERO);
        assert_eq!(time.tick(&mut log, ms(20)).unwrap().end, RunEnd::Paused);
        time.resume();
        log.clear();
        time.step(&mut log).unwrap();
        assert_eq!(log.len(), 5, "{mode:?}");
        assert_eq!(log[0], "Acquisition 60 ms");
    }
}

#[test]
fn a_failure_leaves_the_schedule_as_it_was() {
    let (mut time, mut log) = (failing(), Log::new());
    time.run_steps(&mut log, 10).unwrap_err();
    time.run_steps(&mut log, 10).unwrap();
    let mut again = failing();
    again.tick(&mut log, ms(50)).unwrap_err();
    again.resume();
    again.run_steps(&mut log, 10).unwrap();
    assert_eq!((time.steps(), time.schedule_hash()), (again.steps(), again.schedule_hash()));
}

#[test]
fn what_was_asked_for_before_a_failure_is_still_done() {
    let mut time = failing();
    let binding = Binding::new(ROBOT, Phase::Acquisition);
    time.register("asker", binding, |_, ctx| {
        Ok(ctx.request(Edit::RenameRunner { runner: CAPTURE, name: "Camera".to_owned() })?)
    })
    .unwrap();
    time.step_to(&mut Log::new(), SimTime::from_nanos(30_000_000)).unwrap();
    time.rename_runner(CAPTURE, "Capture").unwrap();
    let failure = time.run_steps(&mut Log::new(), 5).unwrap_err();
    assert_eq!(failure.callback, "solver");
    assert!(time.runner_id("Camera").is_some());
}

#[test]
fn no_free_phase_runs_after_a_failed_step() {
    let (mut time, mut log) = (failing(), Log::new());
    time.set_free_phase(POST, true);
    time.register_free("post", POST, 0, |log: &mut Log, _| log.push("post".to_owned())).unwrap();
    time.tick(&mut log, ms(20)).unwrap();
    assert_eq!(log.pop().as_deref(), Some("post"));
    time.tick(&mut log, ms(20)).unwrap_err();
    assert_eq!(log.last().map(String::as_str), Some("Physics 40 ms"));
}

#[test]
fn errors_may_be_of_a_type_of_ones_own() {
    #[derive(Debug, PartialEq)]
    enum Broken {
        Arm(u8),
    }
    let mut time = TimeManager::<(), Broken>::with_errors(TimeConfig::default()).unwrap();
    time.register("arm", Binding::new(CAPTURE, Phase::Export), |(), _| Err(Broken::Arm(7))).unwrap();
    let failure = time.run_steps(&mut (), 9).unwrap_err();
    assert!(matches!(failure.cause, Cause::Callback(Broken::Arm(7))));
    assert_eq!(time.steps(), 2);
}

/// Asks to go on before something fails in the same step or phase.
fn resuming(ctx: &StepContext<'_>) -> Result<(), downbeat_time::BoxError> {
    Ok(ctx.request(Edit::Resume)?)
}

/// A change that is always refused: nobody has closed that gate.
const REFUSED: Edit = Edit::Release { runner: CAPTURE, steps: 1 };

#[test]
fn a_failed_step_stays_paused_whoever_asked_to_resume() {
    for paused in [false, true] {
        let mut time = failing();
        let first = Binding::new(ROBOT, Phase::Acquisition);
        time.register("optimist", first, |_, ctx: &StepContext<'_>| resuming(ctx)).unwrap();
        if paused {
            time.pause();
            time.step_to(&mut Log::new(), SimTime::from_nanos(50_000_000)).unwrap_err();
        } else {
            time.tick(&mut Log::new(), ms(50)).unwrap_err();
        }
        assert!(time.is_paused(), "paused before: {paused}");
    }
}

#[test]
fn a_refused_change_pauses_whatever_is_asked_for_after_it() {
    let mut time = TimeManager::<()>::default();
    time.register("asker", Binding::new(ROBOT, Phase::Control), |(), ctx| {
        ctx.request(REFUSED)?;
        resuming(ctx)
    })
    .unwrap();
    time.tick(&mut (), ms(20)).unwrap_err();
    assert!(time.is_paused());
}

#[test]
fn a_failed_free_phase_stays_paused_whoever_asked_to_resume() {
    for phase in FreePhase::ALL {
        for refused in [false, true] {
            let mut time = TimeManager::<()>::default();
            time.set_free_phase(phase, true);
            time.register_free("optimist", phase, 0, move |(), ctx| {
                if refused {
                    ctx.request(REFUSED)?;
                }
                Ok(ctx.request(Edit::Resume)?)
            })
            .unwrap();
            time.register_free(
                "broken",
                phase,
                1,
                move |(), _| {
                    if refused { Ok(()) } else { Err("no window".into()) }
                },
            )
            .unwrap();
            time.tick(&mut (), ms(20)).unwrap_err();
            assert!(time.is_paused(), "{phase}, refused: {refused}");
        }
    }
}

#[test]
fn a_refused_change_of_a_free_callback_names_that_callback() {
    let mut time = TimeManager::<()>::default();
    time.set_free_phase(PRE, true);
    time.register_free("quiet", PRE, -1, |(), _| ()).unwrap();
    time.register_free("asker", PRE, 0, |(), ctx| Ok(ctx.request(REFUSED)?)).unwrap();
    let failure = time.tick(&mut (), ms(1)).unwrap_err();
    assert_eq!((failure.callback.as_str(), failure.site), ("asker", Site::Free(PRE)));
}

#[test]
fn a_step_that_broke_off_does_not_look_like_one_that_ran_through() {
    let run = |fails: bool| {
        let mut time = TimeManager::<()>::default();
        let last = Binding::new(ROBOT, Phase::Export);
        time.register("work", last, move |(), _| if fails { Err("bad".into()) } else { Ok(()) }).unwrap();
        assert_eq!(time.step(&mut ()).is_err(), fails);
        time.schedule_hash()
    };
    assert_ne!(run(true), run(false));
}
