//! Promise: after any sequence of commands, steps, restores, settings and changes by hand, the hash that a scene keeps
//! from step to step is the one from scratch, and keeping it allocates nothing.
//! Method: random runs that ask now and then, and the ways in which two contents could pass for one.

use downbeat_world::{Pose, Registry, Scene, World, WorldCommand};
use glam::Vec3;
use proptest::prelude::{any, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

use crate::common::{add, add_unit_masses, arm, empty};
use crate::snapshots::{Act, act, busy, play};

/// What a random run does next.
#[derive(Debug, Clone)]
enum Move {
    Play(Act),
    Configure(u8),
    Save,
    Restore(prop::sample::Index),
    /// Keeps a copy of the world for later.
    Copy,
    /// Puts a copy in the world's place, or only one of its parts.
    PutBack(prop::sample::Index, Part),
    Meddle(Part),
}

#[derive(Debug, Clone, Copy)]
enum Part {
    World,
    Poses,
    Signals,
    Random,
}

fn next_move() -> impl Strategy<Value = Move> {
    let part = || prop_oneof![Just(Part::World), Just(Part::Poses), Just(Part::Signals), Just(Part::Random)];
    prop_oneof![
        6 => act().prop_map(Move::Play),
        1 => (0..6_u8).prop_map(Move::Configure),
        1 => Just(Move::Save),
        1 => any::<prop::sample::Index>().prop_map(Move::Restore),
        1 => Just(Move::Copy),
        1 => (any::<prop::sample::Index>(), part()).prop_map(|(which, part)| Move::PutBack(which, part)),
        1 => part().prop_map(Move::Meddle),
    ]
}

fn make(scene: &mut Scene, saved: &mut Vec<Vec<u8>>, copies: &mut Vec<World>, next: &Move) {
    match next {
        Move::Play(act) => play(scene, std::slice::from_ref(act)),
        Move::Configure(frames_max) => {
            // No frames at all are refused.
            let (subsystem, settings) = ("tape".to_owned(), format!("frames_max = {frames_max}"));
            let _ = scene.apply(WorldCommand::Configure { subsystem, settings });
        }
        Move::Save => saved.push(scene.save().expect("it can be saved")),
        Move::Restore(which) if !saved.is_empty() => {
            // A copy put in the world's place may hang together otherwise than the snapshot; then nothing happens.
            let _ = scene.restore(&saved[which.index(saved.len())]);
        }
        Move::Copy => copies.push(scene.world().clone()),
        Move::PutBack(which, part) if !copies.is_empty() => {
            let (world, copy) = (scene.world_mut(), which.get_mut(copies));
            match part {
                Part::World => std::mem::swap(world, copy),
                Part::Poses => world.components.pose = copy.components.pose.clone(),
                Part::Signals => world.signals = copy.signals.clone(),
                Part::Random => world.random = copy.random.clone(),
            }
        }
        Move::Restore(_) | Move::PutBack(..) => {}
        Move::Meddle(part) => meddle(scene.world_mut(), *part),
    }
}

fn meddle(world: &mut World, part: Part) {
    match part {
        Part::World => _ = world.spawn("meddler", Pose::IDENTITY),
        Part::Poses => world.components.pose.iter_mut().for_each(|(_, pose)| pose.position.y += 1.0),
        Part::Signals => world.signals.latch(),
        Part::Random => _ = world.random.bits(),
    }
}

proptest! {
    #[test]
    fn a_kept_hash_is_the_hash_from_scratch(run in prop::collection::vec((next_move(), any::<bool>()), 0..60)) {
        let mut scene = busy();
        let (mut saved, mut copies) = (Vec::new(), Vec::new());
        for (next, asked) in run {
            make(&mut scene, &mut saved, &mut copies, &next);
            if asked {
                prop_assert_eq!(scene.state_hash(), scene.state_hashes().total, "after {:?}", next);
            }
        }
        prop_assert_eq!(scene.state_hash(), scene.state_hashes().total);
    }
}

/// A restored column counts on from its saved version, so two futures reach one version with two contents.
#[test]
fn two_futures_of_a_snapshot_are_told_apart() {
    let mut scene = empty();
    let ball = scene.world_mut().spawn("ball", Pose::IDENTITY);
    let saved = scene.save().unwrap();
    let mut futures = [1.0, 2.0].map(|height| {
        scene.restore(&saved).unwrap();
        let component = Pose::at(Vec3::Z * height).into();
        scene.apply(WorldCommand::Set { entity: ball, component }).unwrap();
        assert_eq!(scene.state_hash(), scene.state_hashes().total);
        (scene.world().components.pose.version(), scene.state_hash())
    });
    futures.sort_unstable();
    assert_eq!(futures[0].0, futures[1].0, "the versions are no help");
    assert_ne!(futures[0].1, futures[1].1);
}

#[test]
fn parts_put_back_and_changed_again_are_told_apart() {
    for part in [Part::World, Part::Poses, Part::Signals] {
        let mut scene = busy();
        scene.run_steps(3).unwrap();
        let steps = scene.world_mut().signals.declare::<f32>("steps").unwrap();
        let before = scene.world().clone();
        for number in [1.0, 2.0] {
            let world = scene.world_mut();
            match part {
                Part::World | Part::Random => *world = before.clone(),
                Part::Poses => world.components.pose = before.components.pose.clone(),
                Part::Signals => world.signals = before.signals.clone(),
            }
            world.components.pose.iter_mut().for_each(|(_, pose)| pose.position.x = number);
            world.signals.publish(steps, world.now(), number);
            assert_eq!(scene.state_hash(), scene.state_hashes().total, "{part:?}");
        }
    }
}

#[test]
fn who_comes_and_goes_is_in_the_hash() {
    let mut scene = empty();
    let ball = scene.world_mut().spawn("ball", Pose::IDENTITY);
    let first = scene.state_hash();
    // One leaves and another comes with the same components, so that only ids differ.
    scene.apply(WorldCommand::Despawn { entity: ball }).unwrap();
    scene.world_mut().spawn("ball", Pose::IDENTITY);
    assert_eq!(scene.state_hash(), scene.state_hashes().total);
    assert_ne!(scene.state_hash(), first);
}

#[test]
fn hashing_allocates_nothing_once_warm() {
    let mut scene = Scene::new("arm", 7, Registry::builtin());
    arm(scene.world_mut(), downbeat_world::MotorMode::Effort);
    add(&mut scene, "joint_sensor", "encoders", "robot = 'arm'\nposition_noise = 0.1");
    add(&mut scene, "sync_point", "sync", "");
    add(&mut scene, "capture", "tape", "robots = ['arm']\nframes_max = 4");
    add_unit_masses(&mut scene);
    scene.run_steps(20).unwrap();
    scene.state_hash();
    for _ in 0..20 {
        let before = scene.state_hash();
        scene.run_steps(1).unwrap();
        let allocations = allocation_counter::measure(|| assert_ne!(scene.state_hash(), before)).count_total;
        assert_eq!(allocations, 0);
    }
}
