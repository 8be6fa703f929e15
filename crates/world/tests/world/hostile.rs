//! Bytes that were made to do harm: with right check sums, but nested without end, or with numbers that no run could
//! have come to. Each is refused or harmless.

use downbeat_world::{
    Body, Collider, Component, ComponentKind, EntityId, Part, Pose, Registry, SNAPSHOT_VERSION, Scene, Shape,
    WorldCommand,
};
use glam::Vec3;

use crate::common::{add, empty};

const NESTED: &str = "a part of a compound may not be a compound; list its parts";

/// A compound around a shape.
fn around(shape: Shape) -> Shape {
    Shape::Compound { parts: vec![Part { pose: Pose::IDENTITY, shape }] }
}

/// Compounds inside compounds, as bytes: no value of that kind is ever made, which would overflow a stack by itself.
fn nested(depth: usize) -> Vec<u8> {
    let ball = postcard::to_stdvec(&Shape::Sphere { radius: 1.0 }).expect("a shape has bytes");
    let one = postcard::to_stdvec(&around(Shape::Sphere { radius: 1.0 })).expect("a shape has bytes");
    let opening = one.strip_suffix(&ball[..]).expect("what is inside stands last");
    [opening.repeat(depth), ball].concat()
}

#[test]
fn compounds_nested_without_end_are_refused_before_the_stack_ends() {
    let compound = around(Shape::Sphere { radius: 1.0 });
    assert_eq!(postcard::from_bytes::<Shape>(&nested(1)).unwrap(), compound, "one is what they are for");
    for depth in [2, 3, 1_000_000] {
        assert!(postcard::from_bytes::<Shape>(&nested(depth)).is_err(), "{depth} deep");
    }
    let set = WorldCommand::Set { entity: EntityId::new(1), component: Collider::new(compound).into() };
    let bytes = postcard::to_stdvec(&set).unwrap();
    let at = bytes.windows(nested(1).len()).position(|window| window == nested(1)).unwrap();
    let deep = [&bytes[..at], &nested(1_000_000), &bytes[at + nested(1).len()..]].concat();
    assert!(postcard::from_bytes::<WorldCommand>(&deep).is_err());
}

#[test]
fn a_file_with_nested_compounds_is_told_what_to_do() {
    let file = |shape: &str| {
        format!("downbeat = 1\nname = 'a'\n[[entity]]\npose = {{}}\ncollider = {{ shape = {shape} }}\n")
    };
    let load = |text: &str| Scene::from_text(text, "a.toml", "".as_ref(), Registry::builtin());
    let part = |shape: &str| format!("{{ compound = {{ parts = [{{ shape = {shape} }}] }} }}");
    let ball = "{ sphere = { radius = 1 } }";
    load(&file(&part(ball))).map(drop).unwrap();
    let refusal = load(&file(&part(&part(ball)))).map(drop).unwrap_err().to_string();
    assert!(refusal.starts_with("a.toml:5:") && refusal.ends_with(NESTED), "{refusal}");
    for depth in [20, 1000, 100_000] {
        let opening = "{ compound = { parts = [{ shape = ".repeat(depth);
        assert!(load(&file(&[&opening, ball, &"}] } }".repeat(depth)].concat())).is_err(), "{depth} deep");
    }
}

/// A snapshot around any payload, with the right length and check sum.
fn framed(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let mut bytes = [b"DBTSNAP\n", &SNAPSHOT_VERSION.to_le_bytes()[..], &length[..], payload].concat();
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

/// Every number of a snapshot in turn becomes the largest there is, and the largest that is even.
#[test]
fn any_number_of_a_snapshot_may_be_absurd() {
    let mut scene = empty();
    let table = scene.world_mut().spawn("table", Pose::at(Vec3::Z));
    scene.world_mut().set(table, Body::default());
    scene.world_mut().set(table, Collider::new(around(Shape::Sphere { radius: 1.0 })));
    add(&mut scene, "pose_sensor", "eye", "entity = 'table'");
    add(&mut scene, "sync_point", "sync", "");
    add(&mut scene, "capture", "tape", "signals = ['eye/pose']\nframes_max = 2");
    scene.run_steps(5).unwrap();
    let saved = scene.save().unwrap();
    let payload = &saved[20..saved.len() - 4];
    let mut loaded = 0;
    for at in 0..payload.len() {
        for lowest in [0xff, 0xfe] {
            let number = [&[lowest][..], &[0xff; 8], &[0x01]].concat();
            let odd = framed(&[&payload[..at], &number, &payload[at + 1..]].concat());
            let Ok(mut scene) = Scene::from_snapshot(&odd, Registry::builtin()) else { continue };
            loaded += 1;
            let _ = scene.run_steps(4);
            let spawn = WorldCommand::Spawn { components: vec![Pose::IDENTITY.into()] };
            let born = scene.apply(spawn).ok().flatten();
            let _ =
                born.map(|entity| scene.apply(WorldCommand::Remove { entity, kind: ComponentKind::Pose }));
            scene.save().unwrap();
        }
    }
    assert!(loaded > 10, "some numbers may be anything, and those are what this is about; {loaded} were");
}

/// What a recorder has kept stands in a text of its own, so its numbers are tried apart.
#[test]
fn any_number_of_a_recorder_may_be_absurd() {
    use downbeat_world::Subsystem as _;
    use downbeat_world::subsystems::Capture;

    let mut scene = empty();
    for name in ["table", "cup"] {
        scene.world_mut().spawn(name, Pose::at(Vec3::Z));
    }
    let text = "poses = ['table', 'cup']\nframes_max = 2";
    add(&mut scene, "capture", "tape", text);
    scene.run_steps(5).unwrap();
    let state = scene.subsystem::<Capture>("tape").unwrap().save().unwrap();
    let kind = *Registry::builtin().get("capture").unwrap();
    let settings = crate::common::settings(text);
    for at in 0..state.len() {
        let odd = [&state[..at], &[0xff; 9], &[0x01], &state[at + 1..]].concat();
        let birth = downbeat_world::Birth { name: "tape", seed: 1, settings: &settings };
        let _ = (kind.make)(&birth).unwrap().load(&odd);
    }
}

#[test]
fn a_snapshot_of_what_could_never_be_is_refused_by_name() {
    let mut scene = empty();
    let hill = scene.world_mut().spawn("hill", Pose::IDENTITY);
    let heights = Shape::Heights { columns: 0, heights: vec![0.0; 4], size: Vec3::ONE };
    let component: Component = Collider::new(heights).into();
    scene.world_mut().set(hill, component);
    let refusal = Scene::inspect(&scene.save().unwrap()).unwrap_err().to_string();
    assert!(
        refusal.contains("the collider of ent_1 is refused: 4 heights do not fill rows of 0"),
        "{refusal}"
    );
}

#[test]
fn ids_leave_room_to_count_on() {
    let file = |id: &str| format!("downbeat = 1\nname = 'a'\nnext_id = '{id}'\n");
    let load = |text: &str| Scene::from_text(text, "a.toml", "".as_ref(), Registry::builtin());
    assert!(load(&file("ent_18446744073709551615")).is_err());
    let mut scene = load(&file("ent_9223372036854775807")).unwrap();
    for _ in 0..3 {
        scene.apply(WorldCommand::Spawn { components: vec![Pose::IDENTITY.into()] }).unwrap();
    }
}
