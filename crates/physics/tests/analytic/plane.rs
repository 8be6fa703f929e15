//! The same in a plane: y points up, and only the turn about z counts.

use std::f32::consts::PI;
use std::path::Path;

use downbeat_physics::{Rapier2d, registry};
use downbeat_time::Edit;
use downbeat_world::{
    Articulation, Body, BodyKind, Collider, EntityId, Event, ExternalForce, Joint, JointKind, Motor,
    MotorMode, MotorTarget, Part, Pose, Scene, Shape, Space, Velocity, WorldCommand,
};
use glam::{Quat, Vec3};

use super::{G, at_position, hinge, lab, place, round_mass, run, state};

const BOTH: [Articulation; 2] = [Articulation::Reduced, Articulation::Impulse];

fn flat(rate: &str) -> Scene {
    lab("rapier2d", rate, "")
}

fn body() -> Body {
    Body { space: Space::Plane, ..Body::default() }
}

fn flat_collider(shape: Shape) -> Collider {
    Collider { space: Space::Plane, ..Collider::new(shape) }
}

fn link(scene: &mut Scene, joint: Joint, gravity_scale: f32) -> EntityId {
    let id = scene.world_mut().spawn("link", Pose::IDENTITY);
    let mass = Some(round_mass(2.0, 0.1));
    scene.world_mut().set(id, Body { mass, gravity_scale, can_sleep: false, ..body() });
    scene.world_mut().set(id, joint);
    id
}

/// Whether a number has not changed at all.
fn is(number: f32, wanted: f32) -> bool {
    number.to_bits() == wanted.to_bits()
}

/// The small pendulum: to a promille, also with the axis the other way round, where its angle has the other sign.
#[test]
fn a_pendulum_swings_in_the_plane() {
    for articulation in BOTH {
        for axis in [Vec3::Z, Vec3::NEG_Z] {
            let mut scene = flat("1000");
            let joint = Joint { frame: Pose::at(Vec3::Y), articulation, ..hinge(axis) };
            let id = link(&mut scene, joint, 1.0);
            let rotation = Quat::from_axis_angle(axis, 0.1);
            scene.world_mut().set(id, Pose { position: rotation * Vec3::NEG_Y + Vec3::Z * 3.0, rotation });
            scene.world_mut().set(id, at_position(0.1));
            let period = 2.0 * PI * (2.1 / (2.0 * G)).sqrt() * (1.0 + 0.1 * 0.1 / 16.0);
            run(&mut scene, period / 2.0);
            let half = state(&scene, id).position[0];
            assert!((half + 0.1).abs() < 3e-4, "{articulation:?}, {axis}: {half} after half a period");
            // The turn of the joint is that of the body, seen along its axis.
            let (about, angle) = scene.world().world_pose(id).rotation.to_axis_angle();
            assert!(
                (about.dot(axis) * angle - half).abs() < 1e-5,
                "{articulation:?}, {axis}: {about} {angle}"
            );
            assert!(is(place(&scene, id).z, 3.0), "how high it is above the plane stays");
        }
    }
}

/// s = F t² / 2 m along a diagonal, ω = τ t / I about −z, to half a per cent.
#[test]
fn motors_push_and_turn() {
    for articulation in BOTH {
        let motor = |mode| Some(Motor { mode, stiffness: 400.0, damping: 40.0, effort_max: 1e4 });
        let mut scene = flat("1000");
        let kind = JointKind::Slide { axis: Vec3::new(3.0, 4.0, 0.0) };
        let slide = Joint { motor: motor(MotorMode::Effort), articulation, ..Joint::new(kind) };
        let slide = link(&mut scene, slide, 0.0);
        scene.world_mut().set(slide, MotorTarget { effort: 4.0, ..MotorTarget::default() });
        let turn = Joint { motor: motor(MotorMode::Effort), articulation, ..hinge(Vec3::NEG_Z) };
        let turn = link(&mut scene, turn, 0.0);
        scene.world_mut().set(turn, MotorTarget { effort: 0.2, ..MotorTarget::default() });
        let spin = Joint { motor: motor(MotorMode::Velocity), articulation, ..hinge(Vec3::NEG_Z) };
        let spin = link(&mut scene, spin, 0.0);
        scene.world_mut().set(spin, MotorTarget { velocity: 1.5, ..MotorTarget::default() });
        let aim = Joint {
            motor: motor(MotorMode::Position),
            limits: Some([-0.2, 0.6]),
            articulation,
            ..hinge(Vec3::NEG_Z)
        };
        let aim = link(&mut scene, aim, 0.0);
        scene.world_mut().set(aim, MotorTarget { position: 0.5, ..MotorTarget::default() });
        run(&mut scene, 1.0);
        let way = place(&scene, slide);
        assert!((way - Vec3::new(0.6, 0.8, 0.0)).length() < 5e-3, "{articulation:?}: {way}");
        assert!((state(&scene, slide).position[0] - 1.0).abs() < 5e-3, "{articulation:?}");
        let speed = scene.world().components.velocity.get(turn).unwrap().angular;
        assert!((speed + Vec3::Z * 2.0).length() < 0.01, "{articulation:?}: {speed}");
        assert!((state(&scene, turn).velocity[0] - 2.0).abs() < 0.01, "{articulation:?}");
        assert!((state(&scene, spin).velocity[0] - 1.5).abs() < 2e-3, "{articulation:?}");
        assert!((state(&scene, aim).position[0] - 0.5).abs() < 1e-3, "{articulation:?}");
        let beyond = MotorTarget { position: 2.0, ..MotorTarget::default() };
        scene.apply(WorldCommand::Set { entity: aim, component: beyond.into() }).unwrap();
        run(&mut scene, 1.0);
        assert!((state(&scene, aim).position[0] - 0.6).abs() < 0.02, "{articulation:?}: the limit holds it");
    }
}

/// Shapes are where their numbers say: a box comes to rest on them, to 2 mm.
#[test]
fn shapes_hold_what_falls_on_them() {
    let corner = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let hull = Shape::Hull {
        points: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 0.4), corner(-1.0, 0.4)],
    };
    let heights =
        Shape::Heights { columns: 4, heights: vec![0.0, 0.0, 0.5, 0.5], size: Vec3::new(6.0, 1.0, 2.0) };
    let capsule = Shape::Capsule { half_length: 0.5, radius: 0.25 };
    let compound = Shape::Compound { parts: vec![Part { pose: Pose::at(Vec3::Y), shape: capsule }] };
    for (shape, x, top) in [
        (Shape::HalfSpace, 0.0, 0.0),
        (Shape::Box { half: Vec3::new(1.0, 0.3, 9.0) }, 0.0, 0.3),
        (Shape::Sphere { radius: 0.7 }, 0.0, 0.7),
        (hull, 0.5, 0.4),
        (heights.clone(), 2.2, 1.0),
        (heights, -2.2, 0.0),
        (compound, 0.0, 1.75),
    ] {
        let mut scene = flat("200");
        let id = scene.world_mut().spawn("shape", Pose::IDENTITY);
        scene.world_mut().set(id, flat_collider(shape.clone()));
        let id = scene.world_mut().spawn("box", Pose::at(Vec3::new(x, 3.0, 7.0)));
        scene.world_mut().set(id, Body { angular_damping: 1e6, ..body() });
        scene.world_mut().set(id, flat_collider(Shape::Box { half: Vec3::new(0.3, 0.1, 0.1) }));
        run(&mut scene, 3.0);
        let there = place(&scene, id);
        assert!((there.y - 0.1 - top).abs() < 2e-3, "{shape:?}: {there}, not {top}");
        assert!(is(there.z, 7.0), "{there}");
        let solver: &Rapier2d = scene.subsystem("physics").unwrap();
        let hit = solver.cast_ray(Vec3::new(x, 9.0, 1.0), Vec3::NEG_Y, 20.0).unwrap();
        assert!((9.0 - hit.distance - top - 0.2).abs() < 4e-3 && hit.entity == id, "{hit:?}");
        assert_eq!(solver.is_asleep(id), Some(true));
    }
}

#[test]
fn what_has_no_place_in_a_plane_is_named() {
    let refused = |make: &dyn Fn(&mut Scene)| {
        let mut scene = flat("100");
        make(&mut scene);
        let refusal = scene.run_steps(1).unwrap_err().to_string();
        scene.apply(WorldCommand::Time(Edit::Resume)).unwrap();
        let again = scene.run_steps(1).unwrap_err().to_string();
        let reason = |text: &str| text.split_once(": ").map(|(_, reason)| reason.to_owned());
        assert_eq!(reason(&refusal), reason(&again), "it is wrong until it is mended");
        refusal
    };
    let shape = |shape: Shape| {
        refused(&move |scene| {
            let id = scene.world_mut().spawn("shape", Pose::IDENTITY);
            scene.world_mut().set(id, flat_collider(shape.clone()));
        })
    };
    let triangles =
        Shape::Triangles { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y], indices: vec![[0, 1, 2]] };
    for shape in [shape(triangles), shape(Shape::Cone { half_length: 1.0, radius: 1.0 })] {
        assert!(
            shape.contains("the collider of ent_1 cannot be used: cylinders, cones and triangles"),
            "{shape}"
        );
    }
    let line = shape(Shape::Hull { points: vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0] });
    assert!(line.contains("are they all on one line?"), "{line}");
    let joint = |kind: JointKind| refused(&move |scene| _ = link(scene, Joint::new(kind), 1.0));
    assert!(joint(JointKind::Hinge { axis: Vec3::X }).contains("its axis must be z or -z"));
    assert!(joint(JointKind::Slide { axis: Vec3::Z }).contains("its axis must have no z"));
    assert!(joint(JointKind::Ball).contains("a ball is a hinge about z"));
}

/// Bodies of the two spaces live in one world and do not meet.
#[test]
fn two_spaces_do_not_meet() {
    let mut scene = flat("200");
    scene.add("rapier3d", "solid", &toml::Table::new(), None).unwrap();
    let floor = scene.world_mut().spawn("floor", Pose::IDENTITY);
    scene.world_mut().set(floor, flat_collider(Shape::HalfSpace));
    let [flat, solid] = [Space::Plane, Space::Solid].map(|space| {
        let id = scene.world_mut().spawn("ball", Pose::at(Vec3::new(0.0, 1.0, 1.0)));
        scene.world_mut().set(id, Body { space, ..Body::default() });
        scene.world_mut().set(id, Collider { events: true, ..Collider::new(Shape::Sphere { radius: 0.1 }) });
        id
    });
    scene.world_mut().set(flat, ExternalForce { force: Vec3::new(0.0, 0.0, 50.0), torque: Vec3::ZERO });
    let push = |entity| WorldCommand::Push { entity, linear: Vec3::X, angular: Vec3::ZERO };
    for id in [flat, solid] {
        scene.apply(push(id)).unwrap();
    }
    let mut told = Vec::new();
    for _ in 0..200 {
        scene.run_steps(1).unwrap();
        told.extend(scene.world().events.iter().cloned());
    }
    assert!(
        (place(&scene, flat).y - 0.1).abs() < 2e-3 && is(place(&scene, flat).z, 1.0),
        "{}",
        place(&scene, flat)
    );
    assert!(place(&scene, solid).z < -3.0 && is(place(&scene, solid).y, 1.0), "{}", place(&scene, solid));
    assert!(
        place(&scene, flat).x > 0.01 && place(&scene, solid).x > 0.1,
        "each was pushed by its own solver"
    );
    assert_eq!(told, [Event::Touched { pair: [floor, flat], sensor: false }]);
    assert!(scene.world().impulses.is_empty());
}

#[test]
fn a_free_base_and_a_belt_move_in_the_plane() {
    let mut scene = flat("1000");
    let base = link(&mut scene, Joint::new(JointKind::Free), 0.0);
    scene.world_mut().set(base, Pose::turned(Quat::from_rotation_z(-0.7)));
    let arm =
        Joint { to: Some(base), to_frame: Pose::at(Vec3::X), frame: Pose::at(Vec3::NEG_X), ..hinge(Vec3::Z) };
    let arm = link(&mut scene, arm, 0.0);
    scene.run_steps(1).unwrap();
    let exact = Quat::from_rotation_z(-0.7) * Vec3::X * 2.0;
    assert!((place(&scene, arm) - exact).length() < 1e-5, "{}", place(&scene, arm));
    let mut free = downbeat_world::JointState::default();
    let turn = Quat::from_rotation_z(0.5);
    free.position[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
    free.position[3..].copy_from_slice(&turn.to_array());
    free.velocity[0] = 4.0;
    scene.apply(WorldCommand::Set { entity: base, component: free.into() }).unwrap();
    scene.apply(WorldCommand::Set { entity: arm, component: at_position(0.3).into() }).unwrap();
    scene.run_steps(1).unwrap();
    let there = place(&scene, base);
    assert!((there - Vec3::new(1.004, 2.0, 3.0)).length() < 2e-3, "{there}");
    let exact = there + turn * Vec3::X + turn * Quat::from_rotation_z(0.3) * Vec3::X;
    assert!((place(&scene, arm) - exact).truncate().length() < 2e-3, "{}, not {exact}", place(&scene, arm));

    let belt = scene.world_mut().spawn("belt", Pose::IDENTITY);
    scene.world_mut().set(belt, Body { kind: BodyKind::Kinematic, ..body() });
    scene.world_mut().set(belt, Velocity { linear: Vec3::new(1.0, 2.0, 0.0), angular: Vec3::Z * 0.5 });
    let before = scene.world().now();
    run(&mut scene, 1.0);
    assert!(scene.world().now() > before);
    let pose = scene.world().world_pose(belt);
    assert!((pose.position - Vec3::new(1.0, 2.0, 0.0)).length() < 1e-3, "{pose:?}");
    assert!((pose.rotation.to_axis_angle().1 - 0.5).abs() < 1e-3, "{pose:?}");
}

/// The shipped cart and pole: with θ from upright, (I + m l²) θ'' = m g l sin θ + m l cos θ x'', and
/// (M + m) x'' = F + m l (cos θ θ'' − sin θ θ'²) with our signs; at the start, to 2 %. Then it falls, and stays on its rail.
#[test]
fn the_cart_and_its_pole_move_as_they_must() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/cart2d.toml");
    let mut scene = Scene::load_file(&file, registry()).unwrap();
    let [robot, cart, pole] = ["cart and pole", "cart", "pole"].map(|name| scene.world().find(name).unwrap());
    scene.apply(WorldCommand::Drive { robot, targets: vec![3.0] }).unwrap();
    run(&mut scene, 0.05);
    let (sin, cos) = libm::sincosf(0.05);
    let (cart_mass, mass, length, inertia) = (1.0, 0.1, 0.5, 0.008_333);
    // Two equations with two unknowns, at rest.
    let spread = inertia + mass * length * length;
    let determinant = (cart_mass + mass) * spread - mass * length * cos * mass * length * cos;
    let forward = (3.0 * spread + mass * length * cos * mass * G * length * sin) / determinant;
    let turning = (mass * G * length * sin * (cart_mass + mass) + mass * length * cos * 3.0) / determinant;
    let measured = [cart, pole].map(|id| state(&scene, id).velocity[0] / 0.05);
    assert!((measured[0] / forward - 1.0).abs() < 0.02, "{} m/s², not {forward}", measured[0]);
    assert!((measured[1] / turning - 1.0).abs() < 0.02, "{} rad/s², not {turning}", measured[1]);
    scene.apply(WorldCommand::Drive { robot, targets: vec![0.0] }).unwrap();
    run(&mut scene, 10.0);
    assert!(state(&scene, cart).position[0].abs() < 2.42, "{:?}", state(&scene, cart));
    assert!((place(&scene, cart).y - 2.0).abs() < 1e-4, "{}", place(&scene, cart));
    assert!(place(&scene, scene.world().find("box 6").unwrap()).y > 0.7, "the boxes stand");
}
