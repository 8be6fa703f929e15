//! A change that is refused leaves everything as it was: the saved state, the settings and the resolved order.

use std::time::Duration;

use downbeat_time::{
    BUDGET_MAX, Binding, CallbackId, Edit, EditError, FreeCallbackId, FreePhase, Governor, GovernorError,
    Phase, Rate, RunnerConfig, RunnerId, RunnerSet, SimTime, TimeConfig, TimeManager,
};

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;

fn runner(name: &str) -> RunnerConfig {
    RunnerConfig::new(name, Rate::hz(10).expect("a rate"))
}

fn id(number: u8) -> RunnerId {
    RunnerId::new(number).expect("0 to 7")
}

/// A scene in use: steps taken, a change pending, a gate closed, a callback and a free callback gone.
struct Scene {
    time: TimeManager<u64>,
    gone: CallbackId,
    gone_free: FreeCallbackId,
}

fn scene() -> Scene {
    let mut time = TimeManager::default();
    let shared = RunnerSet::only(CAPTURE);
    time.register("work", Binding::new(ROBOT, Phase::Control), |n: &mut u64, _| *n += 1).expect("usable");
    time.register("sync", Binding::new(ROBOT, Phase::Export).on_shared(shared), |_, _| ()).expect("usable");
    let gone = time.register("gone", Binding::new(CAPTURE, Phase::Export), |_, _| ()).expect("usable");
    time.unregister(gone).expect("it was there");
    let gone_free = time.register_free("gone", FreePhase::PostExport, 0, |_, _| ()).expect("usable");
    time.unregister_free(gone_free).expect("it was there");
    time.register_free("frame", FreePhase::PreAcquisition, 0, |_, _| ()).expect("usable");
    time.run_steps(&mut 0, 3).expect("no callback fails");
    time.set_rate(ROBOT, Rate::hz(60).expect("a rate")).expect("a runner");
    time.close_gate(CAPTURE).expect("a runner");
    time.tick(&mut 0, Duration::from_millis(5)).expect("no callback fails");
    Scene { time, gone, gone_free }
}

/// Everything there is to see of a manager, as text.
fn everything(time: &TimeManager<u64>) -> String {
    let runners: Vec<_> = time.runners().collect();
    let swarm: Vec<_> = time.swarm().iter().collect();
    let callbacks: Vec<_> = time.callbacks().collect();
    let free: Vec<_> = time.free_callbacks().collect();
    format!(
        "{:?}\n{runners:?}\n{swarm:?}\n{callbacks:?}\n{free:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        time.save(),
        time.governor(),
        time.order_of_all(),
        time.until_due(),
        time.last_frame(),
    )
}

/// Applies an edit that must be refused, and looks whether anything has changed.
fn refuse(time: &mut TimeManager<u64>, edit: Edit) -> EditError {
    let (before, state) = (everything(time), time.save());
    let shown = format!("{edit:?}");
    let error = time.apply(edit).expect_err("it cannot be done");
    assert_eq!(time.save(), state, "{shown}");
    assert_eq!(everything(time), before, "{shown}");
    error
}

#[test]
fn a_ninth_runner_is_refused() {
    let mut time = scene().time;
    for number in 2..8 {
        assert_eq!(time.add_runner(runner(&format!("runner {number}"))).unwrap(), id(number));
    }
    let error = refuse(&mut time, Edit::AddRunner(runner("ninth")));
    assert_eq!(error, EditError::TooManyRunners { name: "ninth".to_owned() });
    time.remove_runner(id(4)).unwrap();
    assert_eq!(time.add_runner(runner("ninth")).unwrap(), id(4));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let mut time = scene().time;
    let taken = |name: &str| EditError::DuplicateRunner { name: name.to_owned() };
    assert_eq!(refuse(&mut time, Edit::AddRunner(runner("Robot"))), taken("Robot"));
    let rename = Edit::RenameRunner { runner: ROBOT, name: "Capture".to_owned() };
    assert_eq!(refuse(&mut time, rename), taken("Capture"));
    time.rename_runner(ROBOT, "Robot").expect("its own name is not taken by another");
}

#[test]
fn the_last_runner_stays() {
    let mut time = TimeManager::<u64>::default();
    time.remove_runner(ROBOT).unwrap();
    let last = EditError::LastRunner { name: "Capture".to_owned() };
    assert_eq!(refuse(&mut time, Edit::RemoveRunner { runner: CAPTURE, rebind_to: None }), last);
}

#[test]
fn a_runner_in_use_stays() {
    let mut time = scene().time;
    let robot = refuse(&mut time, Edit::RemoveRunner { runner: ROBOT, rebind_to: None });
    let in_use = |name: &str, count, first: &str| EditError::RunnerInUse {
        name: name.to_owned(),
        count,
        first: first.to_owned(),
    };
    assert_eq!(robot, in_use("Robot", 2, "work"));
    // Nobody runs on Capture, but `sync` waits for it.
    let capture = refuse(&mut time, Edit::RemoveRunner { runner: CAPTURE, rebind_to: None });
    assert_eq!(capture, in_use("Capture", 1, "sync"));
}

#[test]
fn a_runner_cannot_take_over_from_itself_or_hand_over_to_nobody() {
    let mut time = scene().time;
    let to = |rebind_to| Edit::RemoveRunner { runner: ROBOT, rebind_to };
    let itself = EditError::RebindToItself { name: "Robot".to_owned() };
    assert_eq!(refuse(&mut time, to(Some(ROBOT))), itself);
    assert_eq!(refuse(&mut time, to(Some(id(5)))), EditError::UnknownRunner { runner: id(5) });
}

#[test]
fn names_that_cannot_be_shown_are_refused() {
    let long = "x".repeat(129);
    let mut time = scene().time;
    for name in ["", "a\nb", "tab\t", "\u{7f}", "\0", long.as_str()] {
        let error = refuse(&mut time, Edit::AddRunner(runner(name)));
        assert!(matches!(error, EditError::BadName { .. }), "{name:?}: {error}");
        let error = refuse(&mut time, Edit::RenameRunner { runner: ROBOT, name: name.to_owned() });
        assert!(matches!(error, EditError::BadName { .. }), "{name:?}: {error}");
        let before = everything(&time);
        let error = time.register(name, Binding::new(ROBOT, Phase::Control), |_, _| ()).unwrap_err();
        assert!(matches!(error, EditError::BadName { .. }), "{name:?}: {error}");
        let error = time.register_free(name, FreePhase::PostExport, 0, |_, _| ()).unwrap_err();
        assert!(matches!(error, EditError::BadName { .. }), "{name:?}: {error}");
        assert_eq!(everything(&time), before);
    }
    time.rename_runner(ROBOT, "x".repeat(128)).expect("128 bytes are a name");
    time.rename_runner(ROBOT, "Röntgen 🤖").expect("names are for people");
}

#[test]
fn what_does_not_exist_cannot_be_changed() {
    let Scene { mut time, gone, gone_free } = scene();
    let nobody = id(3);
    let rate = Rate::hz(10).unwrap();
    for edit in [
        Edit::RemoveRunner { runner: nobody, rebind_to: None },
        Edit::RemoveRunner { runner: nobody, rebind_to: Some(ROBOT) },
        Edit::RenameRunner { runner: nobody, name: "Nobody".to_owned() },
        Edit::SetRate { runner: nobody, rate },
        Edit::SetOffset { runner: nobody, offset: SimTime::from_nanos(1) },
        Edit::CloseGate(nobody),
        Edit::OpenGate(nobody),
        Edit::Release { runner: nobody, steps: 1 },
    ] {
        assert_eq!(refuse(&mut time, edit), EditError::UnknownRunner { runner: nobody });
    }
    let work = time.callbacks().next().map(|callback| callback.id).unwrap();
    let on = |runner, shared| Edit::Rebind {
        callback: work,
        binding: Binding::new(runner, Phase::Physics).on_shared(shared),
    };
    let unknown = EditError::UnknownRunner { runner: nobody };
    assert_eq!(refuse(&mut time, on(nobody, RunnerSet::EMPTY)), unknown);
    assert_eq!(refuse(&mut time, on(ROBOT, RunnerSet::only(nobody))), unknown);
    for edit in [
        Edit::Unregister(gone),
        Edit::SetEnabled { callback: gone, enabled: false },
        Edit::Rebind { callback: gone, binding: Binding::new(ROBOT, Phase::Control) },
        Edit::UnregisterFree(gone_free),
        Edit::SetFreeEnabled { callback: gone_free, enabled: false },
    ] {
        assert_eq!(refuse(&mut time, edit), EditError::UnknownCallback);
    }
    assert!(time.callback(gone).is_none() && time.cost(gone).is_none());
}

#[test]
fn a_callback_on_a_runner_that_does_not_exist_is_refused() {
    let mut time = scene().time;
    let before = everything(&time);
    for binding in [
        Binding::new(id(3), Phase::Control),
        Binding::new(ROBOT, Phase::Control).on_shared(RunnerSet::only(id(3))),
    ] {
        let error = time.register("lost", binding, |_, _| ()).unwrap_err();
        assert_eq!(error, EditError::UnknownRunner { runner: id(3) });
        assert_eq!(everything(&time), before);
    }
}

#[test]
fn the_place_of_a_removed_callback_does_not_revive_its_id() {
    let Scene { mut time, gone, .. } = scene();
    let new = time.register("new", Binding::new(ROBOT, Phase::Control), |_, _| ()).unwrap();
    assert_ne!(new, gone);
    assert_eq!(refuse(&mut time, Edit::Unregister(gone)), EditError::UnknownCallback);
}

#[test]
fn only_a_closed_gate_can_be_released() {
    let mut time = scene().time;
    let error = refuse(&mut time, Edit::Release { runner: ROBOT, steps: 1 });
    assert_eq!(error, EditError::NotGated { name: "Robot".to_owned() });
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let mut time = scene().time;
    let before = everything(&time);
    let usual = Governor::default();
    let long = BUDGET_MAX + Duration::from_nanos(1);
    for (governor, error) in [
        (Governor { budget: long, ..usual }, GovernorError::BudgetTooLong(long)),
        (Governor { elapsed_max: Duration::ZERO, ..usual }, GovernorError::ElapsedMaxZero),
        (Governor { max_steps_per_frame: Some(0), ..usual }, GovernorError::StepCapZero),
    ] {
        assert_eq!(time.set_governor(governor), Err(EditError::Governor(error)));
        assert_eq!(everything(&time), before);
        let config = TimeConfig { governor, ..TimeConfig::default() };
        assert_eq!(TimeManager::<()>::new(config).err(), Some(EditError::Governor(error)));
    }
}

#[test]
fn a_configuration_is_held_to_the_same_rules() {
    let new = |runners: Vec<RunnerConfig>| {
        TimeManager::<()>::new(TimeConfig { runners, ..TimeConfig::default() }).err()
    };
    assert_eq!(new(vec![]), Some(EditError::NoRunner));
    let nine = (0..9).map(|number| runner(&number.to_string())).collect();
    assert_eq!(new(nine), Some(EditError::TooManyRunners { name: "8".to_owned() }));
    let twice = EditError::DuplicateRunner { name: "a".to_owned() };
    assert_eq!(new(vec![runner("a"), runner("a")]), Some(twice));
    assert!(matches!(new(vec![runner("")]), Some(EditError::BadName { .. })));
    assert_eq!(new((0..8).map(|number| runner(&number.to_string())).collect()), None);
}
