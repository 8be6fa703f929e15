//! Each kind of change, asked for inside the step at 40 ms of the default scene, with the exact steps that follow.
//!
//! `edits.rs` has the same promise for random changes; here one sees what it means.

use std::time::Duration;

use downbeat_time::{
    Binding, CallbackId, Cause, Edit, EditError, EditQueueFull, FreePhase, Phase, Rate, RunEnd, RunnerConfig,
    RunnerId, Site, StepContext, TimeManager, TimeMode, TimeScale,
};

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;

/// Who ran when, in nanoseconds, and what to ask for at 40 ms.
#[derive(Default)]
struct Log {
    calls: Vec<(&'static str, u64)>,
    names: Vec<String>,
    asks: Vec<Edit>,
}

impl Log {
    fn times(&self, name: &str) -> Vec<u64> {
        self.calls.iter().filter(|call| call.0 == name).map(|call| call.1).collect()
    }
}

fn note(name: &'static str) -> impl FnMut(&mut Log, &StepContext<'_>) + Send {
    move |log, ctx| log.calls.push((name, ctx.now().as_nanos()))
}

/// The default scene with someone who asks first in every step of Robot, and a worker on Robot.
fn scene() -> (TimeManager<Log>, CallbackId) {
    let mut time = TimeManager::default();
    let first = Binding::new(ROBOT, Phase::Acquisition).with_priority(i32::MIN);
    time.register("asker", first, |log: &mut Log, ctx| {
        log.names.extend(ctx.swarm().get(ROBOT).map(|robot| robot.name.to_owned()));
        if ctx.now().as_nanos() == 40_000_000 {
            for edit in log.asks.drain(..) {
                ctx.request(edit)?;
            }
        }
        Ok(())
    })
    .expect("a usable binding");
    let worker = time
        .register("worker", Binding::new(ROBOT, Phase::Control), note("worker"))
        .expect("a usable binding");
    (time, worker)
}

/// Runs `steps` steps in which `asks` are asked for at 40 ms.
fn run(time: &mut TimeManager<Log>, asks: impl IntoIterator<Item = Edit>, steps: u64) -> Log {
    let mut log = Log { asks: asks.into_iter().collect(), ..Log::default() };
    time.run_steps(&mut log, steps).expect("no refusal");
    log
}

#[test]
fn a_rebound_callback_runs_where_it_is_bound_from_the_next_step() {
    let (mut time, worker) = scene();
    let edit = Edit::Rebind { callback: worker, binding: Binding::new(CAPTURE, Phase::Export) };
    let log = run(&mut time, [edit], 10);
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000, 66_666_666, 100_000_000, 133_333_333]);
}

#[test]
fn a_disabled_callback_finishes_the_step_and_an_enabled_one_waits_for_the_next() {
    let (mut time, worker) = scene();
    let other = time.register("other", Binding::new(ROBOT, Phase::Control), note("other")).unwrap();
    time.set_enabled(other, false).unwrap();
    let turn = |callback, enabled| Edit::SetEnabled { callback, enabled };
    let log = run(&mut time, [turn(worker, false), turn(other, true)], 7);
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000]);
    assert_eq!(log.times("other"), [60_000_000, 80_000_000, 100_000_000]);
}

#[test]
fn a_removed_callback_finishes_the_step() {
    let (mut time, worker) = scene();
    let log = run(&mut time, [Edit::Unregister(worker)], 7);
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000]);
    assert!(time.callback(worker).is_none());
}

#[test]
fn a_new_priority_counts_from_the_next_step() {
    let (mut time, worker) = scene();
    time.register("second", Binding::new(ROBOT, Phase::Control).with_priority(1), note("second")).unwrap();
    let binding = Binding::new(ROBOT, Phase::Control).with_priority(2);
    let log = run(&mut time, [Edit::Rebind { callback: worker, binding }], 4);
    let order: Vec<_> = log.calls.iter().map(|call| call.0).collect();
    assert_eq!(order, ["worker", "second", "worker", "second", "second", "worker"]);
}

#[test]
fn a_new_rate_starts_at_the_next_boundary() {
    let (mut time, _) = scene();
    let log = run(&mut time, [Edit::SetRate { runner: ROBOT, rate: Rate::hz(30).unwrap() }], 10);
    // The step under way ends at 60 ms as it would have; the new grid starts there.
    assert_eq!(
        log.times("worker"),
        [20_000_000, 40_000_000, 60_000_000, 93_333_333, 126_666_666, 160_000_000]
    );
}

#[test]
fn a_new_offset_waits_for_the_grid_and_fires_one_step_later() {
    let (mut time, _) = scene();
    let edit = Edit::SetOffset { runner: ROBOT, offset: downbeat_time::SimTime::from_nanos(5_000_000) };
    let log = run(&mut time, [edit], 9);
    // At 60 ms it goes over to the grid 5, 25, 45, 65 …: it waits for 65 and fires at 85.
    assert_eq!(
        log.times("worker"),
        [20_000_000, 40_000_000, 60_000_000, 85_000_000, 105_000_000, 125_000_000]
    );
}

#[test]
fn a_new_offset_brings_runners_together_again() {
    let (mut time, _) = scene();
    let rate = Rate::hz(30).unwrap();
    let asks = [
        Edit::SetRate { runner: ROBOT, rate },
        Edit::SetOffset { runner: ROBOT, offset: downbeat_time::SimTime::ZERO },
    ];
    let log = run(&mut time, asks, 7);
    // Rate and offset change together at 60 ms; from 66.7 ms on Robot is on Capture's grid.
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000, 60_000_000, 100_000_000, 133_333_333]);
    assert_eq!(time.now().as_nanos(), 133_333_333);
}

#[test]
fn an_added_runner_starts_on_its_grid_and_fires_one_step_later() {
    let (mut time, _) = scene();
    let lidar = RunnerConfig::new("Lidar", Rate::hz(40).unwrap());
    run(&mut time, [Edit::AddRunner(lidar)], 3);
    let id = time.runner_id("Lidar").unwrap();
    assert_eq!(id.number(), 2);
    let state = time.swarm().get(id).unwrap();
    assert_eq!((state.last.as_nanos(), state.next.as_nanos()), (50_000_000, 75_000_000));
    assert_eq!((state.index, state.alpha.to_bits()), (0, 0));
    time.register("scan", Binding::new(id, Phase::Acquisition), note("scan")).unwrap();
    let log = run(&mut time, [], 8);
    assert_eq!(log.times("scan"), [75_000_000, 100_000_000, 125_000_000]);
}

#[test]
fn a_removed_runner_hands_its_callbacks_over_between_steps() {
    let (mut time, worker) = scene();
    let log = run(&mut time, [Edit::RemoveRunner { runner: ROBOT, rebind_to: Some(CAPTURE) }], 6);
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000, 66_666_666, 100_000_000, 133_333_333]);
    assert_eq!(time.callback(worker).unwrap().binding.runner, CAPTURE);
    assert_eq!(time.runners().count(), 1);
}

#[test]
fn a_renamed_runner_keeps_its_old_name_to_the_end_of_the_step() {
    let (mut time, _) = scene();
    let log = run(&mut time, [Edit::RenameRunner { runner: ROBOT, name: "Arm".to_owned() }], 4);
    assert_eq!(log.names, ["Robot", "Robot", "Arm"]);
    assert_eq!((time.runner_id("Arm"), time.runner_id("Robot")), (Some(ROBOT), None));
}

#[test]
fn a_gate_closed_inside_a_step_holds_the_very_next_one() {
    let (mut time, _) = scene();
    let mut log = Log { asks: vec![Edit::CloseGate(ROBOT)], ..Log::default() };
    let report = time.run_steps(&mut log, 10).unwrap();
    assert_eq!((report.steps, report.end, time.now().as_nanos()), (3, RunEnd::Gate(ROBOT), 40_000_000));
    log.asks = vec![];
    time.apply(Edit::Release { runner: ROBOT, steps: 1 }).unwrap();
    assert_eq!(time.run_steps(&mut log, 10).unwrap().steps, 2); // 60 and 66.7 ms
    time.apply(Edit::OpenGate(ROBOT)).unwrap();
    assert_eq!(time.run_steps(&mut log, 10).unwrap().steps, 10);
}

#[test]
fn a_pause_asked_for_inside_a_step_lets_it_finish_and_stops_the_timeline_there() {
    for mode in TimeMode::ALL {
        let (mut time, _) = scene();
        time.set_mode(mode);
        let mut log = Log { asks: vec![Edit::Pause], ..Log::default() };
        let report = time.tick(&mut log, Duration::from_millis(200)).unwrap();
        assert_eq!((report.steps, report.end, time.is_paused()), (3, RunEnd::Paused, true));
        assert_eq!((time.now().as_nanos(), report.skipped), (40_000_000, Duration::ZERO), "{mode:?}");
        assert_eq!(log.times("worker"), [20_000_000, 40_000_000]);
        assert_eq!(time.tick(&mut log, Duration::from_millis(100)).unwrap().steps, 0);
        time.apply(Edit::Resume).unwrap();
        assert!(!time.is_paused());
    }
}

#[test]
fn run_steps_ends_after_a_step_in_which_a_pause_was_asked_for() {
    let (mut time, _) = scene();
    let mut log = Log { asks: vec![Edit::Pause], ..Log::default() };
    let report = time.run_steps(&mut log, 100).unwrap();
    assert_eq!((report.steps, report.end), (3, RunEnd::Paused));
    assert_eq!(time.run_steps(&mut log, 4).unwrap().steps, 4); // paused or not
}

#[test]
fn a_change_in_the_middle_of_a_frame_counts_in_the_same_frame() {
    let (mut time, worker) = scene();
    let mut log = Log { asks: vec![Edit::Unregister(worker)], ..Log::default() };
    assert_eq!(time.tick(&mut log, Duration::from_millis(100)).unwrap().steps, 7);
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000]);
}

#[test]
fn settings_changed_inside_a_step_are_in_force_after_it() {
    let (mut time, _) = scene();
    let half = TimeScale::new(1, 2).unwrap();
    let phase = FreePhase::PostExport;
    let asks = [
        Edit::SetMode(TimeMode::GameRealtime),
        Edit::SetTimeScale(half),
        Edit::SetFreePhase { phase, enabled: true },
    ];
    run(&mut time, asks, 3);
    assert_eq!((time.mode(), time.time_scale()), (TimeMode::GameRealtime, half));
    assert!(time.free_phase_is_enabled(phase));
}

#[test]
fn changes_of_one_step_apply_in_the_order_asked() {
    let (mut time, worker) = scene();
    let turn = |enabled| Edit::SetEnabled { callback: worker, enabled };
    run(&mut time, [turn(false), turn(true)], 3);
    assert!(time.callback(worker).unwrap().enabled);
    let (mut time, worker) = scene();
    run(&mut time, [Edit::SetEnabled { callback: worker, enabled: true }, turn(false)], 3);
    assert!(!time.callback(worker).unwrap().enabled);
}

#[test]
fn a_free_phase_asks_for_the_steps_that_follow() {
    let (mut time, worker) = scene();
    time.set_free_phase(FreePhase::PreAcquisition, true);
    time.register_free("asker", FreePhase::PreAcquisition, 0, move |_, ctx| {
        Ok(ctx.request(Edit::SetEnabled { callback: worker, enabled: ctx.frame() != 2 })?)
    })
    .unwrap();
    let mut log = Log::default();
    for _ in 0..3 {
        time.tick(&mut log, Duration::from_millis(40)).unwrap();
    }
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000, 100_000_000, 120_000_000]);
}

#[test]
fn a_refused_change_pauses_and_names_who_asked() {
    let (mut time, worker) = scene();
    let refused = Edit::RenameRunner { runner: ROBOT, name: "Capture".to_owned() };
    let turn_off = Edit::SetEnabled { callback: worker, enabled: false };
    let mut log = Log { asks: vec![refused.clone(), turn_off], ..Log::default() };
    let failure = time.run_steps(&mut log, 10).unwrap_err();
    assert_eq!((failure.callback.as_str(), failure.time.as_nanos()), ("asker", 40_000_000));
    let site = Site::Step { runner: ROBOT, runner_name: "Robot".to_owned(), phase: Phase::Acquisition };
    assert_eq!(failure.site, site);
    let Cause::Edit { edit, error } = &failure.cause else { panic!("{failure}") };
    assert_eq!((edit, error), (&refused, &EditError::DuplicateRunner { name: "Capture".to_owned() }));
    assert!(time.is_paused());
    // The step itself was whole, and the change after the refused one was made.
    assert_eq!(log.times("worker"), [20_000_000, 40_000_000]);
    assert!(!time.callback(worker).unwrap().enabled);
}

#[test]
fn the_queue_of_changes_has_a_limit() {
    let mut time = TimeManager::<Vec<bool>>::default();
    time.register("asker", Binding::new(ROBOT, Phase::Control), |taken: &mut Vec<bool>, ctx| {
        for _ in 0..1030 {
            taken.push(ctx.request(Edit::Resume) != Err(EditQueueFull));
        }
    })
    .unwrap();
    let mut taken = Vec::new();
    time.step(&mut taken).unwrap();
    assert_eq!(taken.iter().position(|&taken| !taken), Some(1024));
    taken.clear();
    time.run_steps(&mut taken, 2).unwrap();
    assert!(taken[0], "the queue is empty again in the next step");
}

#[test]
fn a_place_given_to_another_runner_has_no_memory() {
    let (mut time, _) = scene();
    time.run_steps(&mut Log::default(), 5).unwrap();
    time.close_gate(CAPTURE).unwrap();
    time.set_rate(CAPTURE, Rate::hz(1).unwrap()).unwrap();
    time.set_offset(CAPTURE, downbeat_time::SimTime::from_nanos(7)).unwrap();
    time.remove_runner(CAPTURE).unwrap();
    let id = time.add_runner(RunnerConfig::new("New", Rate::hz(100).unwrap())).unwrap();
    assert_eq!((id, time.gate(id)), (CAPTURE, None));
    let state = time.swarm().get(id).unwrap();
    assert_eq!((state.index, state.skipped, state.last.as_nanos()), (0, 0, 70_000_000));
    time.step_to(&mut Log::default(), downbeat_time::SimTime::from_nanos(100_000_000)).unwrap();
    assert_eq!(time.swarm().get(id).unwrap().index, 3); // at 80, 90 and 100 ms
}

#[test]
fn a_resume_asked_for_in_a_step_on_demand_resumes() {
    let (mut time, _) = scene();
    time.step_to(&mut Log::default(), downbeat_time::SimTime::from_nanos(39_000_000)).unwrap();
    time.pause();
    run(&mut time, [Edit::Resume], 1);
    assert!(!time.is_paused());
}

#[test]
fn a_refusal_names_who_asked_even_when_they_are_gone() {
    let mut time = TimeManager::<()>::default();
    let refused = || Edit::RenameRunner { runner: ROBOT, name: String::new() };
    let binding = Binding::new(ROBOT, Phase::Control);
    time.register("leaver", binding, move |(), ctx| {
        let myself = CallbackId::clone(&LEAVER.get().copied().ok_or("not known yet")?);
        ctx.request(Edit::Unregister(myself))?;
        Ok(ctx.request(refused())?)
    })
    .unwrap();
    LEAVER.get_or_init(|| time.callbacks().next().map(|callback| callback.id).expect("it is there"));
    let failure = time.step(&mut ()).unwrap_err();
    assert_eq!(failure.callback, "leaver");
    assert!(matches!(failure.site, Site::Step { runner: ROBOT, phase: Phase::Control, .. }));
}

static LEAVER: std::sync::OnceLock<CallbackId> = std::sync::OnceLock::new();

#[test]
fn a_refusal_names_the_free_callback_that_asked_even_when_it_is_gone() {
    static FREE: std::sync::OnceLock<downbeat_time::FreeCallbackId> = std::sync::OnceLock::new();
    let mut time = TimeManager::<()>::default();
    time.set_free_phase(FreePhase::PreAcquisition, true);
    let id = time.register_free("leaver", FreePhase::PreAcquisition, 0, |(), ctx| {
        ctx.request(Edit::UnregisterFree(*FREE.get().ok_or("not known yet")?))?;
        Ok(ctx.request(Edit::RenameRunner { runner: ROBOT, name: String::new() })?)
    });
    FREE.get_or_init(|| id.expect("usable"));
    let failure = time.tick(&mut (), Duration::ZERO).unwrap_err();
    assert_eq!((failure.callback.as_str(), failure.site), ("leaver", Site::Free(FreePhase::PreAcquisition)));
}

/// What is said of a callback on Robot in Control that asks for these changes, the last of which is refused.
fn refusal(asks: impl Fn(CallbackId) -> Vec<Edit> + Send + 'static) -> (String, Site) {
    let mut time = TimeManager::<Option<CallbackId>>::default();
    let ask = move |id: &mut Option<CallbackId>, ctx: &StepContext<'_>| {
        for edit in id.iter().flat_map(|&id| asks(id)) {
            ctx.request(edit)?;
        }
        Ok(())
    };
    let id = time.register("asker", Binding::new(ROBOT, Phase::Control), ask).expect("usable");
    let failure = time.step(&mut Some(id)).expect_err("the last change is refused");
    (failure.callback, failure.site)
}

#[test]
fn a_refusal_names_the_place_where_the_callback_ran_and_not_where_it_is_bound_since() {
    let refused = Edit::Release { runner: CAPTURE, steps: 1 };
    let place = Site::Step { runner: ROBOT, runner_name: "Robot".to_owned(), phase: Phase::Control };
    let elsewhere = Binding::new(CAPTURE, Phase::Export);
    let cases: [fn(CallbackId, Binding) -> Vec<Edit>; 5] = [
        |callback, binding| vec![Edit::Rebind { callback, binding }],
        |callback, _| vec![Edit::Rename { callback, name: "somebody".to_owned() }],
        |_, _| vec![Edit::RenameRunner { runner: ROBOT, name: "Arm".to_owned() }],
        |_, _| vec![Edit::RemoveRunner { runner: ROBOT, rebind_to: Some(CAPTURE) }],
        |callback, _| vec![Edit::Unregister(callback), Edit::RemoveRunner { runner: ROBOT, rebind_to: None }],
    ];
    for (number, before) in cases.into_iter().enumerate() {
        let refused = refused.clone();
        let said = refusal(move |id| [before(id, elsewhere), vec![refused.clone()]].concat());
        assert_eq!(said, ("asker".to_owned(), place.clone()), "case {number}");
    }
}
