//! Save and restore: a manager restored from a state continues with the same steps and the same schedule hash.
//!
//! Each property leads a manager through a life of steps, frames, skips and changes, saves it at a random point,
//! with changes pending and gates closed, and compares how the original and a restored stranger go on.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{
    Binding, CallbackId, FreePhase, Governor, Phase, Rate, RestoreError, RunnerConfig, RunnerId, RunnerSet,
    TimeConfig, TimeManager, TimeMode, TimeState,
};
use oracle::cases::{Case, Draw, case, cases, common_rate};
use oracle::record::{Call, SeenRow, World, id, manager, nanos, register};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseError;

/// A manager in the middle of its life.
struct Life {
    draw: Draw,
    time: TimeManager<World>,
    ids: Vec<CallbackId>,
    world: World,
}

impl Life {
    fn new(case: &Case, seed: u64) -> Self {
        let (mut time, ids) = manager::<World>(case);
        let world = World::new();
        time.set_clock(world.hand.clock());
        Self { draw: Draw(seed), time, ids, world }
    }

    fn live(&mut self, events: u64) {
        for _ in 0..events {
            let count = self.draw.below(8);
            self.time.run_steps(&mut self.world, count).expect("no callback fails");
            self.change();
        }
    }

    /// One random change. What is refused changes nothing, so refusals need no care here.
    fn change(&mut self) {
        let runner = id(self.draw.below(8) as u8);
        let callback = self.ids[self.draw.below(self.ids.len() as u64) as usize];
        match self.draw.below(12) {
            0 | 1 => {
                let rate = Rate::new(1 + self.draw.below(500), 1 + self.draw.below(7)).expect("a rate");
                let _ = self.time.set_rate(runner, rate);
            }
            2 | 3 => {
                let offset = nanos(self.draw.below(3_000_000_000));
                let _ = self.time.set_offset(runner, offset);
            }
            4 => {
                let _ = self.time.close_gate(runner);
                let releases = self.draw.below(5);
                let _ = self.time.release(runner, releases);
            }
            5 => {
                let _ = self.time.open_gate(runner);
            }
            6 => {
                let _ =
                    self.time.rebind(callback, Binding::new(runner, Phase::ALL[self.draw.below(5) as usize]));
            }
            7 => {
                let enabled = self.draw.once_in(2);
                let _ = self.time.set_enabled(callback, enabled);
            }
            8 => {
                let rate = Rate::hz(1 + self.draw.below(300) as u32).expect("a rate");
                let _ = self.time.add_runner(RunnerConfig::new(format!("new-{}", self.draw.bits()), rate));
            }
            9 => {
                let to = id(self.draw.below(8) as u8);
                let _ = self.time.remove_runner_rebinding(runner, to);
            }
            10 => {
                let seed = self.draw.bits();
                self.time.set_tie_shuffle((!seed.is_multiple_of(3)).then_some(seed));
            }
            _ => self.skip_a_little(),
        }
    }

    /// A frame of `GameRealtime` that leaves boundaries out.
    fn skip_a_little(&mut self) {
        let governor =
            Governor { owed_max: Duration::ZERO, max_steps_per_frame: Some(1), ..Governor::default() };
        self.time.set_governor(governor).expect("usable limits");
        self.time.set_mode(TimeMode::GameRealtime);
        let elapsed = Duration::from_nanos(self.draw.below(200_000_000));
        self.time.tick(&mut self.world, elapsed).expect("no callback fails");
        self.time.set_mode(TimeMode::SimHighPerformance);
    }
}

/// How a manager goes on: gates hold it, are released a few times, and are opened in the end.
fn go_on(time: &mut TimeManager<World>) -> (Vec<Call>, Vec<SeenRow>, u64, u64, TimeState) {
    let mut world = World::looking();
    for releases in 0..3 {
        time.run_steps(&mut world, 40).expect("no callback fails");
        for runner in RunnerId::all() {
            if time.gate(runner).is_some() {
                time.release(runner, releases).expect("a closed gate");
            }
        }
    }
    for runner in RunnerId::all() {
        let _ = time.open_gate(runner);
    }
    time.run_steps(&mut world, 60).expect("no callback fails");
    let rows = time.swarm().iter().map(SeenRow::of).collect();
    (world.calls, rows, time.steps(), time.schedule_hash(), time.save())
}

/// A manager with the same callbacks and nothing else in common.
fn stranger(case: &Case) -> TimeManager<World> {
    let runners = (0..8).map(|number| RunnerConfig::new(format!("other-{number}"), Rate::MAX)).collect();
    let mut time = TimeManager::new(TimeConfig { runners, ..TimeConfig::default() }).expect("eight runners");
    register(&mut time, &case.callbacks);
    time.run_steps(&mut World::new(), 5).expect("no callback fails");
    time
}

fn check(case: &Case, seed: u64, events: u64) -> Result<(), TestCaseError> {
    let mut life = Life::new(case, seed);
    life.live(events);
    let saved = life.time.save();
    let mut restored = stranger(case);
    restored.restore(&saved).expect("the same callbacks");
    prop_assert_eq!(&restored.save(), &saved);
    prop_assert_eq!(
        (restored.now(), restored.steps(), restored.schedule_hash(), restored.tie_shuffle()),
        (life.time.now(), life.time.steps(), life.time.schedule_hash(), life.time.tie_shuffle())
    );
    let original = go_on(&mut life.time);
    prop_assert_eq!(&go_on(&mut restored), &original);
    // And back again, in the manager that went on.
    life.time.restore(&saved).expect("the same callbacks");
    prop_assert_eq!(&life.time.save(), &saved);
    prop_assert_eq!(&go_on(&mut life.time), &original);
    through_bytes(case, &saved, &original)
}

#[cfg(feature = "serde")]
fn through_bytes(
    case: &Case,
    saved: &TimeState,
    original: &(Vec<Call>, Vec<SeenRow>, u64, u64, TimeState),
) -> Result<(), TestCaseError> {
    let bytes = postcard::to_stdvec(saved).expect("plain data");
    let back: TimeState = postcard::from_bytes(&bytes).expect("what was written");
    prop_assert_eq!(&back, saved);
    let text = serde_json::to_string(saved).expect("plain data");
    prop_assert_eq!(&serde_json::from_str::<TimeState>(&text).expect("what was written"), saved);
    let mut restored = stranger(case);
    restored.restore(&back).expect("the same callbacks");
    prop_assert_eq!(&go_on(&mut restored), original);
    Ok(())
}

#[cfg(not(feature = "serde"))]
fn through_bytes(
    _case: &Case,
    _saved: &TimeState,
    _original: &(Vec<Call>, Vec<SeenRow>, u64, u64, TimeState),
) -> Result<(), TestCaseError> {
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_restored_manager_goes_on_as_the_saved_one(
        case in case(common_rate()), seed in any::<u64>(), events in 0_u64..40,
    ) {
        check(&case, seed, events)?;
    }

    #[test]
    fn saving_changes_nothing(case in case(common_rate()), seed in any::<u64>(), events in 0_u64..20) {
        let (mut saver, mut other) = (Life::new(&case, seed), Life::new(&case, seed));
        saver.live(events);
        other.live(events);
        prop_assert_eq!(saver.time.save(), saver.time.save());
        prop_assert!(go_on(&mut saver.time) == go_on(&mut other.time));
    }
}

#[cfg(feature = "serde")]
proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_damaged_state_is_refused_or_runs_but_never_panics(
        case in case(common_rate()), seed in any::<u64>(), hits in 1_u64..4,
    ) {
        let mut life = Life::new(&case, seed);
        life.live(10);
        let mut bytes = postcard::to_stdvec(&life.time.save()).expect("plain data");
        for _ in 0..hits {
            let at = life.draw.below(bytes.len() as u64) as usize;
            bytes[at] = life.draw.bits() as u8;
        }
        if let Ok(state) = postcard::from_bytes::<TimeState>(&bytes) {
            let mut time = stranger(&case);
            let before = time.save();
            match time.restore(&state) {
                Ok(()) => {
                    time.run_steps(&mut World::looking(), 20).expect("no callback fails");
                    time.tick(&mut World::new(), Duration::from_nanos(1000)).expect("no callback fails");
                }
                Err(_) => prop_assert_eq!(time.save(), before),
            }
        }
    }
}

/// A manager with three callbacks in a tie, of which only those in `keep` stay.
fn tied(keep: &[usize]) -> TimeManager<World> {
    let mut time = TimeManager::default();
    for number in 0..4 {
        let binding = Binding::new(RunnerId::ROBOT, Phase::Control);
        if keep.contains(&number) {
            let call = move |world: &mut World, ctx: &downbeat_time::StepContext<'_>| world.call(number, ctx);
            time.register(format!("tied-{number}"), binding, call).expect("a usable binding");
        }
    }
    time
}

/// Restores a manager that has lost a callback and gained one into one that has only ever had the rest.
fn restored_without_the_removed(seed: Option<u64>) -> (TimeManager<World>, TimeManager<World>) {
    let mut original = tied(&[0, 1, 2]);
    original.set_tie_shuffle(seed);
    let gone = original.callbacks().nth(1).map(|callback| callback.id).expect("three callbacks");
    original.unregister(gone).expect("a callback");
    let binding = Binding::new(RunnerId::ROBOT, Phase::Control);
    let call = |world: &mut World, ctx: &downbeat_time::StepContext<'_>| world.call(3, ctx);
    original.register("tied-3", binding, call).expect("a usable binding");
    original.run_steps(&mut World::new(), 3).expect("no callback fails");
    let mut restored = tied(&[0, 2, 3]);
    restored.restore(&original.save()).expect("the same callbacks");
    (original, restored)
}

#[test]
fn callbacks_removed_before_saving_need_not_be_registered() {
    let (mut original, mut restored) = restored_without_the_removed(None);
    assert!(go_on(&mut original) == go_on(&mut restored));
}

#[test]
fn callbacks_removed_before_saving_leave_the_shuffle_of_ties_as_it_was() {
    let names = |time: &TimeManager<World>| -> Vec<String> {
        time.order(RunnerSet::only(RunnerId::ROBOT)).into_iter().map(|entry| entry.name).collect()
    };
    for seed in 0..10 {
        let (mut original, mut restored) = restored_without_the_removed(Some(seed));
        assert_eq!(names(&restored), names(&original), "seed {seed}");
        assert!(go_on(&mut original) == go_on(&mut restored), "seed {seed}");
    }
}

#[test]
fn a_state_of_other_callbacks_is_refused_and_changes_nothing() {
    let mut original = tied(&[0, 1, 2]);
    original.run_steps(&mut World::new(), 5).unwrap();
    let state = original.save();
    for other in [&[0, 1][..], &[0, 1, 3], &[0, 1, 2, 3], &[]] {
        let mut time = tied(other);
        time.run_steps(&mut World::new(), 2).unwrap();
        let before = time.save();
        let error = time.restore(&state).unwrap_err();
        assert!(matches!(error, RestoreError::OtherCallbacks { .. }), "{error}");
        assert_eq!(time.save(), before);
    }
}

#[test]
fn wall_time_owed_to_the_old_timeline_is_dropped() {
    let mut time = tied(&[0]);
    time.tick(&mut World::new(), Duration::from_millis(15)).unwrap();
    let state = time.save();
    time.restore(&state).unwrap();
    assert_eq!(time.tick(&mut World::new(), Duration::from_millis(15)).unwrap().steps, 0);
    assert_eq!(time.tick(&mut World::new(), Duration::from_millis(5)).unwrap().steps, 1);
}

#[test]
fn a_state_tells_its_time_and_its_steps() {
    let mut time = tied(&[0]);
    time.run_steps(&mut World::new(), 2).unwrap();
    assert_eq!((time.save().now(), time.save().steps()), (nanos(33_333_333), 2));
}

#[test]
fn a_shared_set_survives_the_way_through_a_state() {
    let both = RunnerSet::from_iter([RunnerId::ROBOT, RunnerId::CAPTURE]);
    let mut time = tied(&[0]);
    let callback = time.callbacks().next().map(|callback| callback.id).unwrap();
    time.rebind(callback, Binding::new(RunnerId::CAPTURE, Phase::Export).on_shared(both)).unwrap();
    let mut restored = tied(&[0]);
    restored.restore(&time.save()).unwrap();
    let mut world = World::new();
    restored.run_steps(&mut world, 14).unwrap();
    let times: Vec<u64> = world.calls.iter().map(|call| call.time).collect();
    assert_eq!(times, [100_000_000, 200_000_000]);
}

#[test]
fn free_phases_and_callbacks_are_on_or_off_as_they_were() {
    let scene = |names: &[&str]| {
        let mut time = TimeManager::<World>::default();
        for name in names {
            time.register_free(*name, FreePhase::PostExport, 0, |_, _| ()).expect("usable");
        }
        time
    };
    let enabled = |time: &TimeManager<World>| -> Vec<bool> {
        time.free_callbacks().map(|callback| callback.enabled).collect()
    };
    let mut original = scene(&["a", "b", "b"]);
    original.set_free_phase(FreePhase::PostExport, true);
    let last = original.free_callbacks().last().map(|callback| callback.id).unwrap();
    original.set_free_enabled(last, false).unwrap();
    let mut restored = scene(&["a", "b", "b"]);
    restored.set_free_phase(FreePhase::PreAcquisition, true);
    restored.restore(&original.save()).unwrap();
    assert_eq!(restored.save(), original.save());
    assert_eq!(enabled(&restored), [true, true, false]);
    let phases = FreePhase::ALL.map(|phase| restored.free_phase_is_enabled(phase));
    assert_eq!(phases, [false, true]);
    // They decide no step, so a manager with others takes the state as well.
    let mut other = scene(&["c", "b"]);
    let own = other.free_callbacks().next().map(|callback| callback.id).unwrap();
    other.set_free_enabled(own, false).unwrap();
    other.restore(&original.save()).unwrap();
    assert_eq!(enabled(&other), [false, true]);
}

#[cfg(feature = "serde")]
#[test]
fn settings_and_changes_survive_the_way_through_bytes_and_text() {
    use downbeat_time::Edit;

    let time = tied(&[0]);
    let callback = time.callbacks().next().map(|callback| callback.id).unwrap();
    let binding = Binding::new(RunnerId::CAPTURE, Phase::Validation).with_priority(i32::MIN);
    let edits = vec![
        Edit::AddRunner(RunnerConfig::new("Lidar", "30000/1001".parse().unwrap()).with_offset_nanos(7)),
        Edit::RemoveRunner { runner: RunnerId::ROBOT, rebind_to: Some(RunnerId::CAPTURE) },
        Edit::SetRate { runner: RunnerId::ROBOT, rate: "29.97".parse().unwrap() },
        Edit::Rebind { callback, binding: binding.on_shared(RunnerSet::only(RunnerId::ROBOT)) },
        Edit::Rename { callback, name: "work".to_owned() },
        Edit::SetMode(TimeMode::GameRealtime),
        Edit::SetTimeScale("1/3".parse().unwrap()),
    ];
    let bytes = postcard::to_stdvec(&edits).unwrap();
    assert_eq!(postcard::from_bytes::<Vec<Edit>>(&bytes).unwrap(), edits);
    let text = serde_json::to_string(&edits).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Edit>>(&text).unwrap(), edits);
    let config = TimeConfig { governor: Governor::default(), ..TimeConfig::default() };
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<TimeConfig>(&text).unwrap(), config);
}
