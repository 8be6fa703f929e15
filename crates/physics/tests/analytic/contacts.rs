//! What touches, what does not, and who is told.

use downbeat_physics::Rapier3d;
use downbeat_world::{
    Body, BodyKind, Collider, EntityId, Event, Groups, Pose, Scene, Shape, Velocity, WorldCommand,
};
use glam::{Quat, Vec3};

use super::{ball, ground, place, run, solid};

fn boxed(scene: &mut Scene, at: Vec3, half: Vec3) -> EntityId {
    let id = scene.world_mut().spawn("box", Pose::at(at));
    scene.world_mut().set(id, Body::default());
    scene.world_mut().set(id, Collider::new(Shape::Box { half }));
    id
}

fn solver(scene: &Scene) -> &Rapier3d {
    scene.subsystem("physics").expect("it is there")
}

/// A stack rests where its boxes add up, to a millimetre and a half: contacts give a little.
#[test]
fn a_stack_rests() {
    let mut scene = solid("200");
    ground(&mut scene, Quat::IDENTITY, 0.5, 0.0);
    let boxes: Vec<_> =
        (0..5).map(|at| boxed(&mut scene, Vec3::Z * (0.11 + 0.21 * at as f32), Vec3::splat(0.1))).collect();
    run(&mut scene, 4.0);
    for (at, id) in boxes.into_iter().enumerate() {
        let error = place(&scene, id) - Vec3::Z * (0.1 + 0.2 * at as f32);
        assert!(error.length() < 1.5e-3 * (at + 1) as f32, "box {at} is off by {error}");
    }
}

#[test]
fn groups_say_what_touches() {
    let falls = |memberships: u32, filter: u32| {
        let mut scene = solid("200");
        let floor = ground(&mut scene, Quat::IDENTITY, 0.5, 0.0);
        let groups = Groups { memberships: 0b01, filter: 0b10 };
        let collider = scene.world().components.collider.get(floor).unwrap().clone();
        scene.world_mut().set(floor, Collider { groups, ..collider });
        let id = ball(&mut scene, Vec3::Z, 0.1);
        let collider = scene.world().components.collider.get(id).unwrap().clone();
        scene.world_mut().set(id, Collider { groups: Groups { memberships, filter }, ..collider });
        run(&mut scene, 1.0);
        place(&scene, id).z < 0.0
    };
    assert!(!falls(0b10, 0b01), "each lets the other through");
    assert!(falls(0b01, 0b01), "the floor does not let it through");
    assert!(falls(0b10, 0b10), "it does not let the floor through");
}

/// Two balls fall through two sensors at once: what began stands before what ended, pairs in the order of creation.
#[test]
fn sensors_tell_who_comes_and_goes() {
    let mut scene = solid("200");
    let sensor = |scene: &mut Scene, height: f32| {
        let id = scene.world_mut().spawn("sensor", Pose::at(Vec3::Z * height));
        let shape = Shape::Box { half: Vec3::new(5.0, 5.0, 0.05) };
        scene.world_mut().set(id, Collider { sensor: true, events: true, ..Collider::new(shape) });
        id
    };
    let (high, low) = (sensor(&mut scene, 2.0), sensor(&mut scene, 1.0));
    let balls = [-1.0, 1.0].map(|x| ball(&mut scene, Vec3::new(x, 0.0, 3.0), 0.1));
    let mut told = Vec::new();
    for _ in 0..200 {
        scene.run_steps(1).unwrap();
        told.extend(scene.world().events.iter().cloned());
    }
    let touched = |pair| Event::Touched { pair, sensor: true };
    let parted = |pair| Event::Parted { pair, sensor: true };
    let both = |sensor, tell: &dyn Fn([EntityId; 2]) -> Event| balls.map(|ball| tell([sensor, ball]));
    let wanted: Vec<_> =
        [both(high, &touched), both(high, &parted), both(low, &touched), both(low, &parted)].concat();
    assert_eq!(told, wanted);
    assert!(place(&scene, balls[0]).z < 0.0, "sensors hold nothing");
}

/// 200 m/s are four metres a step; the wall is two centimetres thin. What does not move is never passed.
#[test]
fn a_fast_ball_does_not_pass_a_thin_wall() {
    let meets = |wall_stands: bool, continuous: bool| {
        let mut scene = solid("50");
        let wall = boxed(&mut scene, Vec3::X * 6.0, Vec3::new(0.01, 5.0, 5.0));
        let kind = if wall_stands { BodyKind::Fixed } else { BodyKind::Dynamic };
        let heavy = Some(super::round_mass(1e6, 1e6));
        scene.world_mut().set(wall, Body { kind, mass: heavy, gravity_scale: 0.0, ..Body::default() });
        let id = ball(&mut scene, Vec3::ZERO, 0.05);
        scene.world_mut().set(id, Body { continuous, gravity_scale: 0.0, ..Body::default() });
        scene.world_mut().set(id, Velocity { linear: Vec3::X * 200.0, ..Velocity::default() });
        run(&mut scene, 1.0);
        place(&scene, id).x < 6.0
    };
    assert!(meets(true, true) && meets(true, false));
    assert!(meets(false, true));
    assert!(!meets(false, false), "or the test would not show anything");
}

#[test]
fn what_rests_sleeps_until_it_is_pushed() {
    let mut scene = solid("100");
    ground(&mut scene, Quat::IDENTITY, 0.5, 0.0);
    let id = boxed(&mut scene, Vec3::Z * 0.1, Vec3::splat(0.1));
    let awake = boxed(&mut scene, Vec3::new(2.0, 0.0, 0.1), Vec3::splat(0.1));
    scene.world_mut().set(awake, Body { can_sleep: false, ..Body::default() });
    run(&mut scene, 5.0);
    assert_eq!((solver(&scene).is_asleep(id), solver(&scene).is_asleep(awake)), (Some(true), Some(false)));
    let push = WorldCommand::Push { entity: id, linear: Vec3::X * 40.0, angular: Vec3::ZERO };
    scene.apply(push).unwrap();
    scene.run_steps(1).unwrap();
    assert_eq!(solver(&scene).is_asleep(id), Some(false));
    run(&mut scene, 0.3);
    assert!(place(&scene, id).x > 0.1, "8 kg with 40 N s");
}

/// A tenth of a millimetre: rays are exact, shapes are cast by an iteration.
#[test]
fn rays_and_shapes_meet_what_is_there() {
    let mut scene = solid("100");
    let floor = ground(&mut scene, Quat::IDENTITY, 0.5, 0.0);
    let id = ball(&mut scene, Vec3::new(0.0, 0.0, 2.0), 0.5);
    scene.world_mut().set(id, Body { gravity_scale: 0.0, ..Body::default() });
    let ghost = scene.world_mut().spawn("ghost", Pose::at(Vec3::Z * 4.0));
    let shape = Shape::Box { half: Vec3::ONE };
    scene.world_mut().set(ghost, Collider { sensor: true, ..Collider::new(shape) });
    scene.run_steps(1).unwrap();
    let solver = solver(&scene);
    let hit = solver.cast_ray(Vec3::new(0.3, 0.0, 6.0), Vec3::NEG_Z * 7.0, 10.0).unwrap();
    assert_eq!(hit.entity, id);
    assert!((hit.distance - (6.0 - 2.4)).abs() < 1e-4, "{hit:?}");
    assert!((hit.normal - Vec3::new(0.6, 0.0, 0.8)).length() < 1e-4, "{hit:?}");
    let beside = solver.cast_ray(Vec3::new(3.0, 0.0, 6.0), Vec3::NEG_Z, 10.0).unwrap();
    assert_eq!((beside.entity, beside.normal), (floor, Vec3::Z));
    assert_eq!(solver.cast_ray(Vec3::new(3.0, 0.0, 6.0), Vec3::NEG_Z, 5.9), None, "too far");
    assert_eq!(solver.cast_ray(Vec3::ZERO, Vec3::ZERO, 1.0), None, "nowhere to go");

    let cast =
        |shape: &Shape, x: f32| solver.cast_shape(shape, Pose::at(Vec3::new(x, 0.0, 6.0)), Vec3::NEG_Z, 10.0);
    let hit = cast(&Shape::Sphere { radius: 0.5 }, 0.6).unwrap();
    assert_eq!(hit.entity, id);
    assert!((hit.distance - (6.0 - 2.8)).abs() < 1e-4, "{hit:?}");
    // Cylinders stand along z, also when they are cast.
    let hit = cast(&Shape::Cylinder { half_length: 1.0, radius: 0.1 }, 3.0).unwrap();
    assert_eq!(hit.entity, floor);
    assert!((hit.distance - 5.0).abs() < 1e-3, "{hit:?}");
}

/// What lies on a belt comes to its speed by friction: μ g t until then, to 3 %.
#[test]
fn a_belt_carries() {
    let mut scene = solid("500");
    let belt = boxed(&mut scene, Vec3::NEG_Z * 0.1, Vec3::new(50.0, 1.0, 0.1));
    scene.world_mut().set(belt, Body { kind: BodyKind::Kinematic, ..Body::default() });
    scene.world_mut().set(belt, Velocity { linear: Vec3::X * 3.0, ..Velocity::default() });
    let id = boxed(&mut scene, Vec3::Z * 0.05, Vec3::new(0.2, 0.2, 0.05));
    let speed = |scene: &Scene| scene.world().components.velocity.get(id).unwrap().linear.x;
    run(&mut scene, 0.3);
    assert!((speed(&scene) / (0.5 * 9.81 * 0.3) - 1.0).abs() < 0.03, "{}", speed(&scene));
    run(&mut scene, 1.0);
    assert!((speed(&scene) - 3.0).abs() < 0.01, "{}", speed(&scene));
    assert!((place(&scene, belt).x - 3.0 * 1.3).abs() < 1e-3, "{}", place(&scene, belt));
}

/// Height fields, hulls and compounds are where their numbers say: balls come to rest on them, to 2 mm.
#[test]
fn shapes_are_where_their_numbers_say() {
    let cone = |x: f32, y: f32| Vec3::new(x, y, -1.0);
    let hull = Shape::Hull {
        points: vec![
            cone(1.0, 1.0),
            cone(-1.0, 1.0),
            cone(1.0, -1.0),
            cone(-1.0, -1.0),
            Vec3::new(-1.0, -1.0, 0.5),
            Vec3::new(1.0, -1.0, 0.5),
            Vec3::new(-1.0, 1.0, 0.5),
            Vec3::new(1.0, 1.0, 0.5),
        ],
    };
    // Rows along y: low y is low, high y is high.
    let heights = vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
    let heights = Shape::Heights { columns: 3, heights, size: Vec3::new(4.0, 6.0, 2.0) };
    let part = |pose, shape| downbeat_world::Part { pose, shape };
    let capsule = Shape::Capsule { half_length: 0.5, radius: 0.25 };
    let compound = Shape::Compound {
        parts: vec![
            part(Pose::at(Vec3::Z), capsule),
            part(Pose::IDENTITY, Shape::Box { half: Vec3::splat(0.2) }),
        ],
    };
    let cone_up = Shape::Cone { half_length: 1.0, radius: 0.5 };
    for (shape, at, top) in [
        (hull, Vec3::ZERO, 0.5),
        (heights.clone(), Vec3::Y * 2.5, 1.0),
        (heights, Vec3::NEG_Y * 2.5, 0.0),
        (compound, Vec3::ZERO, 1.75),
        (cone_up, Vec3::ZERO, 1.0),
    ] {
        let mut scene = solid("200");
        let id = scene.world_mut().spawn("shape", Pose::IDENTITY);
        scene.world_mut().set(id, Collider::new(shape.clone()));
        let id = boxed(&mut scene, at + Vec3::Z * 3.0, Vec3::new(0.3, 0.3, 0.1));
        scene.world_mut().set(id, Body { angular_damping: 1e6, ..Body::default() });
        run(&mut scene, 3.0);
        let height = place(&scene, id).z - 0.1;
        assert!((height - top).abs() < 2e-3, "{shape:?}: {height} m, not {top}");
    }
}
