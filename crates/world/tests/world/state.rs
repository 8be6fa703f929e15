//! Signals across rates, events, random streams and hashes, as parts of a running scene.

use downbeat_time::{Binding, BoxError, Phase, RunnerId, SimTime, StepContext};
use downbeat_world::{
    Body, ComponentKind, EVENTS_MAX, Event, Pose, Random, SIGNAL_WIDTH_MAX, Sampling, Scene, SignalError,
    Tap, Velocity, World, first_difference,
};
use glam::{Quat, Vec3};

use crate::common::empty;

/// Robot publishes its time every 20 ms; Capture reads every 33.3 ms.
#[test]
fn a_slower_reader_sees_the_newest_or_a_smooth_value() {
    let mut scene = empty();
    let key = scene.world_mut().signals.declare::<f32>("time").unwrap();
    let publish = move |world: &mut World, context: &StepContext<'_>| -> Result<(), BoxError> {
        let millis = context.now().as_nanos() as f32 * 1e-6;
        world.signals.publish(key, context.now(), millis);
        Ok(())
    };
    scene.add_fn("publish", Binding::new(RunnerId::ROBOT, Phase::Acquisition), publish).unwrap();
    let (mut held, mut smooth) = (Tap::new(key), Tap::new(key));
    let read = move |world: &mut World, context: &StepContext<'_>| -> Result<(), BoxError> {
        let now = context.now().as_nanos() as f32 * 1e-6;
        let newest = held.hold(&world.signals, context.now()).ok_or("nothing yet")?;
        assert!(newest.is_new && (now - newest.value - newest.age.as_nanos() as f32 * 1e-6).abs() < 1e-3);
        if context.step_index() > 1 {
            let value = smooth.interpolated(&world.signals, context.now()).ok_or("nothing yet")?.value;
            assert!((now - 20.0 - value).abs() < 1e-3, "{value} at {now}: one interval behind");
        }
        Ok(())
    };
    scene.add_fn("read", Binding::new(RunnerId::CAPTURE, Phase::Export), read).unwrap();
    scene.run_for(std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(scene.time().now().as_nanos(), 1_000_000_000);
}

#[test]
fn arrays_and_values_are_the_same_signals() {
    let mut world = World::new(1);
    let pose = Pose { position: Vec3::new(1.0, 2.0, 3.0), rotation: Quat::from_rotation_x(0.5) };
    let key = world.signals.declare::<Pose>("pose").unwrap();
    world.signals.publish(key, SimTime::from_nanos(5), pose);
    let (array, width) = world.signals.find("pose").unwrap();
    let mut numbers = vec![0.0; width];
    let age = world.signals.read_array(array, Sampling::Held, SimTime::from_nanos(9), &mut numbers);
    assert_eq!((age.unwrap().as_nanos(), &numbers[..3]), (4, &[1.0, 2.0, 3.0][..]));
    assert_eq!(numbers[3..], pose.rotation.to_array());
    // Wrong widths and other worlds' keys read and publish nothing.
    assert!(world.signals.read_array(array, Sampling::Held, SimTime::from_nanos(9), &mut [0.0; 3]).is_none());
    assert!(
        world.signals.read_array(array, Sampling::Latched, SimTime::from_nanos(9), &mut numbers).is_none()
    );
    world.signals.publish_array(array, SimTime::from_nanos(10), &[1.0]);
    let mut other = World::new(1);
    other.signals.declare::<f32>("pose").unwrap();
    other.signals.publish(key, SimTime::from_nanos(5), pose);
    assert!(other.signals.find("none").is_none());
    let wide = other.signals.declare_array("wide", SIGNAL_WIDTH_MAX + 1).unwrap_err();
    assert!(matches!(wide, SignalError::TooWide { .. }), "{wide}");
    world.signals.publish_array(array, SimTime::from_nanos(15), &[3.0; 7]);
    let age = world.signals.read_array(array, Sampling::Interpolated, SimTime::from_nanos(20), &mut numbers);
    assert_eq!(
        (age.unwrap().as_nanos(), numbers[0].to_bits()),
        (10, 2.0_f32.to_bits()),
        "half-way from 1 to 3"
    );
}

#[test]
fn events_beyond_the_limit_are_counted() {
    let mut scene = empty();
    let shout = |world: &mut World, _: &StepContext<'_>| -> Result<(), BoxError> {
        for _ in 0..EVENTS_MAX + 3 {
            world.events.push(Event::Refused { reason: String::new() });
        }
        Ok(())
    };
    scene.add_fn("shout", Binding::new(RunnerId::ROBOT, Phase::Control), shout).unwrap();
    scene.run_steps(1).unwrap();
    assert_eq!((scene.world().events.iter().count(), scene.world().events.lost()), (EVENTS_MAX, 3));
    scene.run_steps(1).unwrap();
    assert_eq!(scene.world().events.lost(), 3, "only Robot's steps shout, and each counts anew");
}

#[test]
fn random_streams_follow_seed_and_name() {
    let draw = |seed, name| Random::new(seed, name).bits();
    assert_eq!(draw(1, "arm"), draw(1, "arm"));
    assert_ne!(draw(1, "arm"), draw(2, "arm"));
    assert_ne!(draw(1, "arm"), draw(1, "arm "));
    let mut scene = empty();
    let first = scene.world_mut().random.bits();
    let saved = scene.save().unwrap();
    let second = scene.world_mut().random.bits();
    scene.restore(&saved).unwrap();
    assert_ne!(first, second);
    assert_eq!(scene.world_mut().random.bits(), second, "the stream goes on where it was saved");
}

#[test]
fn hashes_name_what_differs() {
    let build = || {
        let mut scene: Scene = empty();
        let ids = ["a", "b", "c"].map(|name| scene.world_mut().spawn(name, Pose::IDENTITY));
        for id in ids {
            scene.world_mut().set(id, Body::default());
            scene.world_mut().set(id, Velocity::default());
        }
        (scene, ids)
    };
    let (one, [_, b, _]) = build();
    let (mut other, _) = build();
    assert_eq!(one.state_hashes().difference(&other.state_hashes()), None);
    assert_eq!(first_difference(one.world(), other.world()), None);
    other.world_mut().set(b, Velocity { linear: Vec3::X * 1e-9, ..Velocity::default() });
    assert_eq!(one.state_hashes().difference(&other.state_hashes()).as_deref(), Some("velocity"));
    assert_eq!(first_difference(one.world(), other.world()), Some((b, ComponentKind::Velocity)));
    let (mut third, _) = build();
    third.world_mut().random.bits();
    let words = one.state_hashes().difference(&third.state_hashes());
    assert_eq!(words.as_deref(), Some("ids, signals, events or random numbers"));
}
