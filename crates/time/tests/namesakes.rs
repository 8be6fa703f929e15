//! Callbacks of one name are still several callbacks, and a callback that is renamed is still the same one.

use downbeat_time::{
    Binding, CallbackId, Edit, EditError, FreePhase, Phase, RunnerId, RunnerSet, StepContext, TimeManager,
};

const CONTROL: Binding = Binding::new(RunnerId::ROBOT, Phase::Control);

/// Who ran, in order.
type Log = Vec<u8>;

fn note(number: u8) -> impl FnMut(&mut Log, &StepContext<'_>) + Send {
    move |log, _| log.push(number)
}

/// One callback per number, all of the same name, priority and phase.
fn scene(numbers: &[u8]) -> (TimeManager<Log>, Vec<CallbackId>) {
    let mut time = TimeManager::default();
    let ids = numbers.iter().map(|&number| time.register("note", CONTROL, note(number)).expect("usable"));
    let ids = ids.collect();
    (time, ids)
}

fn step(time: &mut TimeManager<Log>) -> (Log, u64) {
    let mut log = Log::new();
    time.step(&mut log).expect("no callback fails");
    (log, time.schedule_hash())
}

#[test]
fn the_schedule_hash_tells_namesakes_apart() {
    let (mut one, _) = scene(&[0, 1]);
    let (mut other, ids) = scene(&[0, 1]);
    other.rebind(ids[0], CONTROL.with_priority(1)).unwrap();
    let (one, other) = (step(&mut one), step(&mut other));
    assert_eq!((one.0, other.0), (vec![0, 1], vec![1, 0]));
    assert_ne!(one.1, other.1);
}

#[test]
fn namesakes_are_shuffled_like_anybody() {
    let orders = |numbers: &[u8]| -> std::collections::BTreeSet<Log> {
        let order = |seed| {
            let (mut time, _) = scene(numbers);
            time.set_tie_shuffle(Some(seed));
            step(&mut time).0
        };
        (0..100).map(order).collect()
    };
    assert_eq!(orders(&[0, 1, 2]).len(), 6);
}

#[test]
fn a_restored_manager_agrees_on_namesakes_that_are_left() {
    for seed in [None, Some(1), Some(2), Some(3), Some(4), Some(5)] {
        let (mut original, ids) = scene(&[0, 1, 2, 3]);
        original.set_tie_shuffle(seed);
        original.unregister(ids[1]).unwrap();
        // The new one takes the place of the old in memory, but comes last.
        original.register("note", CONTROL, note(4)).unwrap();
        let (mut restored, _) = scene(&[0, 2, 3, 4]);
        restored.restore(&original.save()).unwrap();
        for _ in 0..5 {
            assert_eq!(step(&mut original), step(&mut restored), "{seed:?}");
        }
    }
}

#[test]
fn removing_namesakes_in_any_order_keeps_the_order_of_the_rest() {
    for seed in 0..20 {
        let (mut time, ids) = scene(&[0, 1, 2, 3, 4, 5]);
        time.set_tie_shuffle(Some(seed));
        for (gone, left) in [(3, 5), (0, 4), (5, 3), (1, 2), (4, 1), (2, 0)] {
            time.unregister(ids[gone]).unwrap();
            assert_eq!(time.order(RunnerSet::only(RunnerId::ROBOT)).len(), left, "seed {seed}");
        }
    }
}

#[test]
fn a_new_name_is_shown_and_nothing_else_changes() {
    let mut time = TimeManager::<Log>::default();
    let id = time.register("old", CONTROL, note(0)).unwrap();
    time.register("asker", Binding::new(RunnerId::ROBOT, Phase::Acquisition), move |_, ctx| {
        if ctx.step_index() == 2 {
            ctx.request(Edit::Rename { callback: id, name: "new".to_owned() })?;
        }
        Ok(())
    })
    .unwrap();
    let mut plain = TimeManager::<Log>::default();
    plain.register("old", CONTROL, note(0)).unwrap();
    plain.register("asker", Binding::new(RunnerId::ROBOT, Phase::Acquisition), |_, _| ()).unwrap();
    time.run_steps(&mut Log::new(), 7).unwrap();
    plain.run_steps(&mut Log::new(), 7).unwrap();
    assert_eq!(time.callback(id).unwrap().name, "new");
    assert_eq!(time.order_of_all()[1].name, "new");
    assert_eq!(time.schedule_hash(), plain.schedule_hash());
    // A state is restored where the callback was registered under its first name, and brings the new one along.
    plain.restore(&time.save()).unwrap();
    assert_eq!(plain.callbacks().next().map(|callback| callback.name), Some("new"));
    assert_eq!(plain.save(), time.save());
}

#[test]
fn a_free_callback_can_be_renamed_too() {
    let scene = || {
        let mut time = TimeManager::<Log>::default();
        let id = time.register_free("old", FreePhase::PostExport, 0, |_, _| ()).expect("usable");
        (time, id)
    };
    let ((mut time, id), (mut other, _)) = (scene(), scene());
    time.apply(Edit::RenameFree { callback: id, name: "new".to_owned() }).unwrap();
    assert_eq!(time.free_callbacks().next().map(|free| free.name), Some("new"));
    other.restore(&time.save()).unwrap();
    assert_eq!(other.free_callbacks().next().map(|free| free.name), Some("new"));
}

#[test]
fn a_name_that_cannot_be_shown_is_refused() {
    let (mut time, ids) = scene(&[0]);
    let free = time.register_free("free", FreePhase::PostExport, 0, |_, _| ()).unwrap();
    let before = time.save();
    assert!(matches!(time.rename(ids[0], ""), Err(EditError::BadName { .. })));
    assert!(matches!(time.rename_free(free, "a\nb"), Err(EditError::BadName { .. })));
    assert_eq!(time.save(), before);
    time.unregister(ids[0]).unwrap();
    time.unregister_free(free).unwrap();
    assert_eq!(time.rename(ids[0], "late"), Err(EditError::UnknownCallback));
    assert_eq!(time.rename_free(free, "late"), Err(EditError::UnknownCallback));
}
