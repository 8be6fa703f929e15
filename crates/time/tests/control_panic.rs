//! A panic in a callback, caught by whoever called: the manager is paused, whole, and goes on when told to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use downbeat_time::{
    Binding, Edit, FreePhase, ManualClock, Phase, RunEnd, RunnerId, StepContext, TimeManager, TimeMode,
};

const ROBOT: RunnerId = RunnerId::ROBOT;
const CAPTURE: RunnerId = RunnerId::CAPTURE;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The frame of every call, and whether the next one panics.
#[derive(Default)]
struct World {
    frames: Vec<u64>,
    after: u64,
    panics: bool,
}

/// The default scene: the first callback asks for a change and may then panic, the second must not be reached.
fn scene() -> TimeManager<World> {
    let mut time = TimeManager::default();
    time.set_clock(ManualClock::new().clock());
    let panics = |world: &mut World, ctx: &StepContext<'_>| {
        world.frames.push(ctx.frame());
        if world.panics {
            ctx.request(Edit::RenameRunner { runner: CAPTURE, name: "Camera".to_owned() }).expect("room");
            ctx.request(Edit::Resume).expect("room");
            std::panic::panic_any("a bug");
        }
    };
    time.register("panics", Binding::new(ROBOT, Phase::Control), panics).expect("usable");
    let after = |world: &mut World, _: &StepContext<'_>| world.after += 1;
    time.register("after", Binding::new(ROBOT, Phase::Export), after).expect("usable");
    time
}

/// Runs something in which a callback panics, and checks that the panic arrives as it was thrown.
fn panicking<R>(
    time: &mut TimeManager<World>,
    world: &mut World,
    run: impl FnOnce(&mut TimeManager<World>, &mut World) -> R,
) {
    world.panics = true;
    let thrown = catch_unwind(AssertUnwindSafe(|| run(time, world))).err().expect("a panic");
    assert_eq!(thrown.downcast_ref::<&str>(), Some(&"a bug"));
    world.panics = false;
}

#[test]
fn a_panic_pauses_the_manager_however_it_was_run() {
    for paused in [false, true] {
        let (mut time, mut world) = (scene(), World::default());
        if paused {
            time.pause();
        }
        panicking(&mut time, &mut world, TimeManager::step);
        assert!(time.is_paused() && time.save() == time.save(), "paused before: {paused}");
    }
    let (mut time, mut world) = (scene(), World::default());
    panicking(&mut time, &mut world, |time, world| time.tick(world, ms(20)));
    assert!(time.is_paused());
    assert_eq!(time.tick(&mut world, ms(20)).unwrap().steps, 0);
}

#[test]
fn the_step_counts_as_taken_and_the_next_one_goes_on() {
    for mode in TimeMode::ALL {
        let (mut time, mut world) = (scene(), World::default());
        time.set_mode(mode);
        panicking(&mut time, &mut world, |time, world| time.tick(world, ms(20)));
        assert_eq!((time.now().as_nanos(), time.steps(), world.after), (20_000_000, 1, 0), "{mode}");
        time.resume();
        time.run_steps(&mut world, 2).unwrap();
        assert_eq!((time.now().as_nanos(), world.after), (40_000_000, 1), "{mode}");
    }
}

#[test]
fn changes_asked_for_before_the_panic_are_dropped() {
    let (mut time, mut world) = (scene(), World::default());
    panicking(&mut time, &mut world, |time, world| time.tick(world, ms(20)));
    time.run_steps(&mut world, 5).unwrap();
    assert_eq!(time.runner(CAPTURE).map(|runner| runner.name.as_str()), Some("Capture"));
    assert!(time.is_paused(), "the request to resume went the same way");
}

#[test]
fn the_frame_is_over_and_reported() {
    let (mut time, mut world) = (scene(), World::default());
    time.tick(&mut world, ms(5)).unwrap();
    panicking(&mut time, &mut world, |time, world| time.tick(world, ms(25)));
    let report = *time.last_frame();
    assert_eq!((report.frame, report.steps, report.end), (2, 1, RunEnd::Paused));
    assert_eq!(ms(5) + ms(25), report.simulated + report.owed + report.forgiven + report.skipped);
    time.run_steps(&mut world, 2).unwrap();
    assert_eq!(world.frames, [2, 0], "a step outside a frame belongs to none");
    time.resume();
    assert_eq!(time.tick(&mut world, ms(20)).unwrap().frame, 3);
}

#[test]
fn a_panicking_step_does_not_look_like_one_that_ran_through() {
    let run = |panics: bool| {
        let (mut time, mut world) = (scene(), World::default());
        if panics {
            panicking(&mut time, &mut world, TimeManager::step);
        } else {
            time.step(&mut world).unwrap();
        }
        time.schedule_hash()
    };
    assert_eq!(run(true), run(true));
    assert_ne!(run(true), run(false));
}

#[test]
fn a_free_callback_may_panic_too() {
    for (phase, steps) in [(FreePhase::PreAcquisition, 0), (FreePhase::PostExport, 1)] {
        let (mut time, mut calm) = (scene(), scene());
        let mut world = World::default();
        time.set_free_phase(phase, true);
        let panics = |world: &mut World, ctx: &downbeat_time::FreeContext<'_>| {
            if world.frames.len() < 2 {
                ctx.request(Edit::Resume).expect("room");
                std::panic::panic_any("a bug");
            }
        };
        time.register_free("free", phase, 0, panics).unwrap();
        let thrown = catch_unwind(AssertUnwindSafe(|| time.tick(&mut world, ms(20)))).err();
        assert!(thrown.is_some() && time.is_paused(), "{phase}");
        assert_eq!((time.last_frame().steps, time.last_frame().end), (steps, RunEnd::Paused), "{phase}");
        // No step broke off, so the schedule is the one of a manager in which nobody panicked.
        time.run_steps(&mut world, 7 - steps).unwrap();
        calm.run_steps(&mut World::default(), 7).unwrap();
        assert_eq!(time.schedule_hash(), calm.schedule_hash(), "{phase}");
        time.resume();
        time.tick(&mut world, ms(20)).unwrap();
    }
}

/// Panics when it is dropped.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        std::panic::panic_any("a bug");
    }
}

#[test]
fn a_closure_that_panics_when_dropped_is_gone_all_the_same() {
    let mut time = TimeManager::<u64>::default();
    let binding = Binding::new(ROBOT, Phase::Control);
    let fragile = Fragile;
    let id = time
        .register("fragile", binding, move |n: &mut u64, _| {
            let _held = &fragile;
            *n += 100;
        })
        .unwrap();
    time.register("work", binding, |n: &mut u64, _| *n += 1).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| time.unregister(id))).is_err());
    assert!(time.callback(id).is_none());
    let mut n = 0;
    time.run_steps(&mut n, 7).unwrap();
    assert_eq!(n, 5);
}
