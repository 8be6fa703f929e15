//! Snapshots: saved, loaded and saved is the same bytes after any run; damaged ones are refused, whatever the damage;
//! a restore that fails leaves the scene as it was.

use downbeat_time::{Binding, BoxError, Phase, RunnerId, StepContext};
use downbeat_world::{
    Body, ComponentKind, EntityId, Event, Name, Parent, Pose, Registry, SNAPSHOT_VERSION, Scene,
    SnapshotError, Subsystem, Velocity, World, WorldCommand, state_from, state_into,
};
use glam::Vec3;
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy;

use crate::common::{add, empty};

/// What a random run does next. Commands that the world refuses are part of the run.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Command(WorldCommand),
    Run(u64),
}

pub(crate) fn act() -> impl Strategy<Value = Act> {
    let id = || (1..12_u64).prop_map(EntityId::new);
    let place = || prop::array::uniform3(-5.0..5.0_f32).prop_map(|place| Pose::at(Vec3::from_array(place)));
    let command = prop_oneof![
        place()
            .prop_map(|pose| WorldCommand::Spawn { components: vec![pose.into(), Body::default().into()] }),
        id().prop_map(|above| WorldCommand::Spawn { components: vec![Parent(above).into()] }),
        id().prop_map(|entity| WorldCommand::Despawn { entity }),
        (id(), place()).prop_map(|(entity, pose)| WorldCommand::Set { entity, component: pose.into() }),
        (id(), "[a-c]").prop_map(|(entity, name)| WorldCommand::Set { entity, component: Name(name).into() }),
        (id(), id())
            .prop_map(|(entity, above)| WorldCommand::Set { entity, component: Parent(above).into() }),
        id().prop_map(|entity| WorldCommand::Set { entity, component: Velocity::default().into() }),
        (id(), any::<prop::sample::Index>()).prop_map(|(entity, kind)| {
            WorldCommand::Remove { entity, kind: ComponentKind::ALL[kind.index(ComponentKind::ALL.len())] }
        }),
        id().prop_map(|entity| WorldCommand::Push { entity, linear: Vec3::X, angular: Vec3::Y }),
    ];
    prop_oneof![3 => command.prop_map(Act::Command), 1 => (1..4_u64).prop_map(Act::Run)]
}

/// A scene that draws random numbers, publishes, asks for entities and records.
pub(crate) fn busy() -> Scene {
    let mut scene = empty();
    let walk = |world: &mut World, context: &StepContext<'_>| -> Result<(), BoxError> {
        let steps = world.signals.declare::<f32>("steps")?;
        world.signals.publish(steps, context.now(), context.step_index() as f32);
        let step = Vec3::X * world.random.normal() as f32;
        for (_, pose) in world.components.pose.iter_mut() {
            pose.position += step;
        }
        if world.random.below(4) == 0 {
            world.request(WorldCommand::Spawn { components: vec![Pose::at(step).into()] })?;
        }
        world.events.push(Event::Refused { reason: "only to have one".to_owned() });
        Ok(())
    };
    let physics = Binding::new(RunnerId::ROBOT, Phase::Physics);
    scene.add_fn("walk", physics, walk).expect("the name is free");
    scene.world_mut().signals.declare::<f32>("steps").expect("there is room");
    add(&mut scene, "capture", "tape", "signals = ['steps']\nframes_max = 4");
    add(&mut scene, "sync_point", "sync", "");
    scene
}

pub(crate) fn play(scene: &mut Scene, acts: &[Act]) {
    for act in acts {
        match act {
            Act::Command(command) => _ = scene.apply(command.clone()),
            Act::Run(steps) => _ = scene.run_steps(*steps).expect("these steps do not fail"),
        }
    }
}

proptest! {
    #[test]
    fn a_restored_scene_goes_on_with_the_same_bytes(before in prop::collection::vec(act(), 0..30), after in prop::collection::vec(act(), 0..30)) {
        let mut scene = busy();
        play(&mut scene, &before);
        let saved = scene.save().unwrap();
        let mut again = busy();
        again.restore(&saved).unwrap();
        prop_assert!(again.save().unwrap() == saved);
        play(&mut scene, &after);
        play(&mut again, &after);
        prop_assert_eq!(scene.state_hashes(), again.state_hashes());
        prop_assert!(scene.save().unwrap() == again.save().unwrap());
        // And back: a scene that has gone elsewhere returns.
        again.restore(&saved).unwrap();
        prop_assert!(again.save().unwrap() == saved);
    }

    #[test]
    fn no_bytes_make_loading_panic(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Scene::from_snapshot(&noise, Registry::builtin()).is_err());
        prop_assert!(Scene::from_snapshot(&framed(SNAPSHOT_VERSION, &noise), Registry::builtin()).is_err());
    }
}

/// A snapshot around any payload, with the right length and check sum.
fn framed(version: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let mut bytes = [b"DBTSNAP\n", &version.to_le_bytes()[..], &length[..], payload].concat();
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

fn small() -> Scene {
    let mut scene = empty();
    let table = scene.world_mut().spawn("table", Pose::at(Vec3::Z));
    scene.world_mut().spawn_on(table, "cup", Pose::at(Vec3::X));
    add(&mut scene, "pose_sensor", "eye", "entity = 'cup'\nposition_noise = 0.1");
    scene.run_steps(3).expect("they run");
    scene
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed() {
    let mut scene = small();
    let saved = scene.save().unwrap();
    for length in 0..saved.len() {
        assert!(scene.restore(&saved[..length]).is_err(), "{length} bytes of {}", saved.len());
    }
    for at in 0..saved.len() * 8 {
        let mut damaged = saved.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        assert!(scene.restore(&damaged).is_err(), "bit {at}");
        assert!(Scene::inspect(&damaged).is_err(), "bit {at}");
    }
    let longer = [&saved[..], &[0]].concat();
    assert!(scene.restore(&longer).is_err());
    assert!(scene.save().unwrap() == saved, "all these attempts changed nothing");
}

/// A check sum protects from accidents, not from intent: content that fits its sum may be nonsense, and is then refused
/// or harmless.
#[test]
fn nonsense_with_a_right_check_sum_does_not_panic() {
    let saved = small().save().unwrap();
    let payload = &saved[20..saved.len() - 4];
    assert!(framed(SNAPSHOT_VERSION, payload) == saved, "the frame is as the format says");
    let (mut refused, mut taken) = (0, 0);
    for at in 0..payload.len() * 8 {
        let mut changed = payload.to_vec();
        changed[at / 8] ^= 1 << (at % 8);
        match Scene::from_snapshot(&framed(SNAPSHOT_VERSION, &changed), Registry::builtin()) {
            Ok(mut scene) => {
                taken += 1;
                let _ = scene.run_steps(1);
                let _ = scene.world_mut().in_box(Vec3::splat(-9.0), Vec3::splat(9.0));
                let _ = scene.to_text();
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100 && taken > 100, "{refused} refused, {taken} taken");
}

#[test]
fn what_is_no_snapshot_or_a_newer_one_says_so() {
    let saved = small().save().unwrap();
    let payload = &saved[20..saved.len() - 4];
    let newer = Scene::inspect(&framed(SNAPSHOT_VERSION + 1, payload)).unwrap_err();
    assert!(matches!(newer, SnapshotError::Newer { found } if found == SNAPSHOT_VERSION + 1), "{newer}");
    let foreign = Scene::inspect(b"# A scene").unwrap_err();
    assert!(matches!(foreign, SnapshotError::Foreign { .. }), "{foreign}");
    let long = Scene::inspect(&framed(SNAPSHOT_VERSION, &[payload, &[0]].concat())).unwrap_err();
    assert_eq!(long.to_string(), "the snapshot is damaged: it has bytes too many; use an older one");
    let summary = Scene::inspect(&saved).unwrap();
    assert_eq!((summary.scene.as_str(), summary.steps, summary.entities), ("test", 3, 2));
    assert_eq!(summary.now.as_nanos(), 40_000_000);
}

/// Counts its steps, and refuses to load what is odd.
struct Counter(u32);

impl Subsystem for Counter {
    fn step(&mut self, _: &mut World, _: &StepContext<'_>) -> Result<(), BoxError> {
        self.0 += 1;
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.0)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        self.0 = state_from(bytes)?;
        if self.0 >= 100 { Err("too many".into()) } else { Ok(()) }
    }

    fn hash(&self, hasher: &mut downbeat_world::StateHasher) {
        hasher.data(&self.0);
    }
}

fn with_natives(counts: [u32; 2]) -> Scene {
    let mut scene = empty();
    let binding = Binding::new(RunnerId::ROBOT, Phase::Control);
    for (name, count) in ["first", "second"].into_iter().zip(counts) {
        scene.add_native(name, Box::new(Counter(count)), binding).expect("the name is free");
    }
    add(&mut scene, "limits", "limits", "");
    scene
}

#[test]
fn native_subsystems_are_restored_where_they_are() {
    let mut scene = with_natives([0, 10]);
    scene.run_for(std::time::Duration::from_millis(100)).unwrap();
    let saved = scene.save().unwrap();
    scene.run_for(std::time::Duration::from_millis(100)).unwrap();
    assert_eq!(scene.subsystem::<Counter>("second").unwrap().0, 20);
    scene.restore(&saved).unwrap();
    assert_eq!(scene.subsystem::<Counter>("first").unwrap().0, 5);
    assert!(scene.save().unwrap() == saved);
    let error = Scene::from_snapshot(&saved, Registry::builtin()).err().expect("no registry knows it");
    assert!(matches!(error, SnapshotError::Native { name } if name == "first"));
}

#[test]
fn a_restore_that_fails_leaves_the_scene_as_it_was() {
    // The first loads well before the second refuses.
    let damaged = with_natives([3, 200]).save().unwrap();
    let mut scene = with_natives([1, 2]);
    scene.run_for(std::time::Duration::from_millis(100)).unwrap();
    scene.world_mut().spawn("it", Pose::IDENTITY);
    let before = scene.save().unwrap();
    let error = scene.restore(&damaged).unwrap_err();
    assert!(matches!(&error, SnapshotError::Subsystem { name, .. } if name == "second"), "{error}");
    assert!(scene.save().unwrap() == before);

    let error = scene.restore(&small().save().unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "subsystem 1 is `first` (native) here but `eye` (pose_sensor) in the snapshot; add the same ones in the same order"
    );
    let error = empty().restore(&small().save().unwrap()).unwrap_err();
    assert!(error.to_string().contains("subsystem 1 is missing here but `eye` (pose_sensor)"), "{error}");
    assert!(scene.save().unwrap() == before);
}

#[test]
fn a_hierarchy_that_bites_its_tail_is_refused() {
    let mut scene = empty();
    let [a, b] = ["a", "b"].map(|name| scene.world_mut().spawn(name, Pose::IDENTITY));
    // The world's own door for builders does not check; a snapshot's does.
    scene.world_mut().set(a, Parent(b));
    scene.world_mut().set(b, Parent(a));
    let error = empty().restore(&scene.save().unwrap()).unwrap_err();
    assert!(error.to_string().contains("hangs on itself"), "{error}");
}
