//! Spatial queries against looking at every entity, and the index against a world that changes and is restored.

use downbeat_world::{Collider, EntityId, Mesh, Parent, Pose, Shape, Surface, World, WorldCommand};
use glam::{Quat, Vec3, Vec4};
use proptest::prelude::{any, prop, prop_assert_eq, proptest};
use proptest::strategy::Strategy;

use crate::common::empty;

#[derive(Debug, Clone)]
struct Thing {
    pose: Pose,
    half: Option<Vec3>,
    offset: Vec3,
    drawn: bool,
    above: Option<prop::sample::Index>,
}

fn vector(reach: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-reach..reach).prop_map(Vec3::from_array)
}

fn thing() -> impl Strategy<Value = Thing> {
    let pose = (vector(5.0), vector(3.0));
    let pose = pose.prop_map(|(position, turn)| Pose { position, rotation: Quat::from_scaled_axis(turn) });
    let half = prop::option::of(vector(1.0).prop_map(|half| half.abs() + 0.01));
    let above = prop::option::of(any::<prop::sample::Index>());
    (pose, half, vector(1.0), any::<bool>(), above).prop_map(|(pose, half, offset, drawn, above)| Thing {
        pose,
        half,
        offset,
        drawn,
        above,
    })
}

/// A world of things, and the box of each as plain arithmetic gives it.
fn build(things: &[Thing]) -> (World, Vec<(EntityId, Vec3, Vec3)>) {
    let mut world = World::new(1);
    let mut ids: Vec<EntityId> = Vec::new();
    for thing in things {
        let id = world.spawn("thing", thing.pose);
        if let Some(above) = thing.above.filter(|_| !ids.is_empty()) {
            world.set(id, Parent(ids[above.index(ids.len())]));
        }
        if let Some(half) = thing.half {
            let (shape, offset) = (Shape::Box { half }, Pose::at(thing.offset));
            if thing.drawn {
                world.set(id, Mesh { offset, ..Mesh::new(Surface::Shape(shape), Vec4::ONE) });
            } else {
                world.set(id, Collider { offset, ..Collider::new(shape) });
            }
        }
        ids.push(id);
    }
    let boxes = ids.iter().zip(things).map(|(id, thing)| {
        let pose = world.world_pose(*id);
        let Some(half) = thing.half else { return (*id, pose.position, pose.position) };
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for corner in 0..8 {
            let sign = |bit: i32| if corner & bit == 0 { -1.0 } else { 1.0 };
            let corner = half * Vec3::new(sign(1), sign(2), sign(4));
            let there = (pose * Pose::at(thing.offset)).transform_point(corner);
            (low, high) = (low.min(there), high.max(there));
        }
        (*id, low, high)
    });
    let boxes = boxes.collect();
    (world, boxes)
}

proptest! {
    #[test]
    fn queries_find_what_looking_at_everyone_finds(
        things in prop::collection::vec(thing(), 0..40),
        at in vector(6.0),
        toward in vector(1.0),
        size in 0.0..3.0_f32,
    ) {
        let (mut world, boxes) = build(&things);
        let (low, high) = (at - size, at + Vec3::splat(size));
        let touches = |a: f32, b: f32, c: f32, d: f32| a <= d && b >= c;
        let wanted: Vec<EntityId> = boxes.iter()
            .filter(|(_, a, b)| (0..3).all(|axis| touches(a[axis], b[axis], low[axis], high[axis])))
            .map(|(id, ..)| *id).collect();
        prop_assert_eq!(world.in_box(low, high), wanted);

        let wanted: Vec<EntityId> = boxes.iter()
            .filter(|(_, a, b)| at.clamp(*a, *b).distance_squared(at) <= size * size)
            .map(|(id, ..)| *id).collect();
        prop_assert_eq!(world.in_sphere(at, size), wanted);

        // A ray meets a box where its ways into the three slabs overlap.
        let way = toward.normalize_or_zero();
        let mut wanted: Vec<(EntityId, f32)> = boxes.iter().filter_map(|(id, a, b)| {
            let (into, out) = ((*a - at) / way, (*b - at) / way);
            let enter = into.min(out).max_element().max(0.0);
            let leave = into.max(out).min_element().min(4.0);
            (enter <= leave).then_some((*id, enter))
        }).collect();
        wanted.sort_by(|(a_id, a), (b_id, b)| a.total_cmp(b).then(a_id.cmp(b_id)));
        let found = world.along_ray(at, toward, 4.0);
        let (found_ids, wanted_ids): (Vec<_>, Vec<_>) = (found.iter().map(|hit| hit.0).collect(), wanted.iter().map(|hit| hit.0).collect());
        prop_assert_eq!(found_ids, wanted_ids);
        for ((_, found), (_, wanted)) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-4, "{found} is not {wanted}");
        }
    }
}

#[test]
fn the_index_follows_every_change_and_a_restore() {
    let mut scene = empty();
    let id = scene.world_mut().spawn("ball", Pose::at(Vec3::X * 3.0));
    let there = |scene: &mut downbeat_world::Scene, x: f32| {
        scene.world_mut().in_sphere(Vec3::X * x, 0.4).contains(&id)
    };
    assert!(there(&mut scene, 3.0) && !there(&mut scene, 5.0));
    let saved = scene.save().unwrap();
    let other = Pose::at(Vec3::X * 5.0);
    scene.apply(WorldCommand::Set { entity: id, component: other.into() }).unwrap();
    assert!(there(&mut scene, 5.0) && !there(&mut scene, 3.0));
    scene.restore(&saved).unwrap();
    assert!(there(&mut scene, 3.0) && !there(&mut scene, 5.0));
    // As many changes as before the restore, but to another place: the count of changes is the same again.
    let third = Pose::at(Vec3::X * 7.0);
    scene.apply(WorldCommand::Set { entity: id, component: third.into() }).unwrap();
    assert!(there(&mut scene, 7.0) && !there(&mut scene, 5.0));
    let ball = Collider::new(Shape::Sphere { radius: 3.0 });
    scene.apply(WorldCommand::Set { entity: id, component: ball.into() }).unwrap();
    assert!(there(&mut scene, 5.0));
    let parent = scene.world_mut().spawn("cart", Pose::at(Vec3::X * 20.0));
    assert!(there(&mut scene, 7.0), "asked in between, so that the hanging alone has changed after it");
    scene.apply(WorldCommand::Set { entity: id, component: Parent(parent).into() }).unwrap();
    assert!(there(&mut scene, 27.0) && !there(&mut scene, 7.0));
    scene.apply(WorldCommand::Despawn { entity: id }).unwrap();
    assert!(!there(&mut scene, 27.0));
}

#[test]
fn what_is_no_longer_a_number_is_found_nowhere() {
    let mut world = World::new(1);
    let [a, b, c] = [1.0, f32::NAN, 2.0].map(|x| world.spawn("it", Pose::at(Vec3::X * x)));
    assert_eq!(world.in_sphere(Vec3::ZERO, 10.0), [a, c]);
    assert!(!world.in_box(Vec3::splat(-1e9), Vec3::splat(1e9)).contains(&b));
    assert_eq!(world.along_ray(Vec3::ZERO, Vec3::X, 10.0), [(a, 1.0), (c, 2.0)]);
}
