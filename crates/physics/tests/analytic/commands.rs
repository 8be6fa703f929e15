//! A running scene is changed from outside, and what cannot be simulated is said.

use downbeat_world::{
    Articulation, Body, BodyKind, Collider, Component, ComponentKind, EntityId, ExternalForce, Joint,
    JointKind, JointState, Motor, MotorMode, MotorTarget, Parent, Pose, Scene, Shape, Velocity, WorldCommand,
};
use glam::{Quat, Vec3};

use super::{G, at_position, ball, ground, hinge, place, round_mass, run, solid, state, weightless};

fn set(scene: &mut Scene, entity: EntityId, component: impl Into<Component>) {
    scene.apply(WorldCommand::Set { entity, component: component.into() }).expect("it is sound");
}

fn speed(scene: &Scene, id: EntityId) -> Velocity {
    *scene.world().components.velocity.get(id).expect("it moves")
}

/// A free base with two hinges on it, none of which gravity moves.
fn floater(scene: &mut Scene) -> [EntityId; 3] {
    let world = scene.world_mut();
    let body =
        Body { mass: Some(round_mass(2.0, 0.1)), gravity_scale: 0.0, can_sleep: false, ..Body::default() };
    let base = world.spawn("base", Pose::at(Vec3::Z));
    world.set(base, body);
    world.set(base, Joint::new(JointKind::Free));
    let mut below = base;
    let links = [Vec3::Y, Vec3::X].map(|axis| {
        let id = world.spawn("link", Pose::IDENTITY);
        world.set(id, body);
        let (to_frame, frame) = (Pose::at(Vec3::X * 0.5), Pose::at(Vec3::X * -0.5));
        world.set(id, Joint { to: Some(below), to_frame, frame, ..hinge(axis) });
        below = id;
        id
    });
    [base, links[0], links[1]]
}

#[test]
fn a_pose_and_a_velocity_take_effect() {
    let mut scene = solid("1000");
    let id = ball(&mut scene, Vec3::Z, 0.1);
    run(&mut scene, 0.5);
    set(&mut scene, id, Pose::at(Vec3::new(5.0, 6.0, 7.0)));
    set(&mut scene, id, Velocity { linear: Vec3::X * 2.0, angular: Vec3::Z });
    run(&mut scene, 0.1);
    let exact = Vec3::new(5.2, 6.0, 7.0 - G * 0.01 / 2.0);
    assert!((place(&scene, id) - exact).length() < 1e-3, "{}", place(&scene, id));
    assert!((speed(&scene, id).angular - Vec3::Z).length() < 1e-4);
}

#[test]
fn bodies_come_go_and_change() {
    let mut scene = solid("200");
    ground(&mut scene, Quat::IDENTITY, 0.5, 0.0);
    let first = ball(&mut scene, Vec3::Z * 0.1, 0.1);
    let second = ball(&mut scene, Vec3::Z * 0.3, 0.1);
    run(&mut scene, 0.2);
    scene.apply(WorldCommand::Despawn { entity: first }).unwrap();
    run(&mut scene, 1.0);
    assert!((place(&scene, second).z - 0.1).abs() < 2e-3, "it falls to where the other was");
    set(&mut scene, second, Body { kind: BodyKind::Fixed, ..Body::default() });
    set(&mut scene, second, Pose::at(Vec3::Z * 2.0));
    run(&mut scene, 0.5);
    assert_eq!(place(&scene, second), Vec3::Z * 2.0, "nobody moves it");
    set(&mut scene, second, Body { gravity_scale: -1.0, ..Body::default() });
    run(&mut scene, 0.5);
    assert!(place(&scene, second).z > 3.0, "gravity lifts it");
    set(&mut scene, second, Collider::new(Shape::Sphere { radius: 0.5 }));
    set(&mut scene, second, Body::default());
    run(&mut scene, 4.0);
    assert!((place(&scene, second).z - 0.5).abs() < 4e-3, "it is larger: {}", place(&scene, second));
    for kind in [ComponentKind::Velocity, ComponentKind::Body] {
        scene.apply(WorldCommand::Remove { entity: second, kind }).unwrap();
    }
    scene.run_steps(1).unwrap();
    let third = ball(&mut scene, Vec3::Z * 3.0, 0.1);
    run(&mut scene, 2.0);
    assert!(
        (place(&scene, third).z - 1.1).abs() < 0.01 || place(&scene, third).x.abs() > 0.1,
        "the rest is a hill"
    );
}

/// ω = τ t / I and v = F t / m, to a promille.
#[test]
fn forces_push_until_they_change() {
    let mut scene = solid("1000");
    let id = ball(&mut scene, Vec3::ZERO, 0.1);
    let body =
        Body { mass: Some(round_mass(2.0, 0.5)), gravity_scale: 0.0, can_sleep: false, ..Body::default() };
    scene.world_mut().set(id, body);
    set(&mut scene, id, ExternalForce { force: Vec3::X * 4.0, torque: Vec3::Y * 2.0 });
    run(&mut scene, 0.5);
    let exact = Velocity { linear: Vec3::X, angular: Vec3::Y * 2.0 };
    assert!((speed(&scene, id).linear - exact.linear).length() < 1e-3, "{:?}", speed(&scene, id));
    assert!((speed(&scene, id).angular - exact.angular).length() < 2e-3, "{:?}", speed(&scene, id));
    scene.apply(WorldCommand::Remove { entity: id, kind: ComponentKind::ExternalForce }).unwrap();
    run(&mut scene, 0.5);
    assert!((speed(&scene, id).linear - exact.linear).length() < 1e-3, "it pushes no more");
}

/// J = m v for a body, and J r = I ω for a link of an articulation; both to half a per cent, and once.
#[test]
fn a_push_is_given_once() {
    let mut scene = solid("1000");
    let id = ball(&mut scene, Vec3::Y * 5.0, 0.1);
    scene
        .world_mut()
        .set(id, Body { mass: Some(round_mass(2.0, 0.5)), gravity_scale: 0.0, ..Body::default() });
    let frame = Pose::at(Vec3::X * -1.0);
    let link = weightless(&mut scene, Joint { frame, ..hinge(Vec3::Z) });
    scene.run_steps(1).unwrap();
    let push = |entity| WorldCommand::Push { entity, linear: Vec3::Y * 3.0, angular: Vec3::ZERO };
    for entity in [id, link] {
        scene.apply(push(entity)).unwrap();
    }
    run(&mut scene, 0.2);
    assert!((speed(&scene, id).linear.y - 1.5).abs() < 0.0075, "{:?}", speed(&scene, id));
    let turning = state(&scene, link).velocity[0];
    let exact = 3.0 * 1.0 / (0.1 + 2.0);
    assert!((turning / exact - 1.0).abs() < 5e-3, "{turning} rad/s, not {exact}");
}

#[test]
fn a_joints_state_takes_effect() {
    let mut scene = solid("1000");
    let [base, first, second] = floater(&mut scene);
    scene.run_steps(5).unwrap();
    set(&mut scene, first, at_position(0.7));
    set(&mut scene, second, at_position(-0.4));
    scene.run_steps(1).unwrap();
    assert!((state(&scene, first).position[0] - 0.7).abs() < 1e-5, "{:?}", state(&scene, first));
    assert!((state(&scene, second).position[0] + 0.4).abs() < 1e-5, "{:?}", state(&scene, second));
    let knee = place(&scene, base) + Vec3::X * 0.5;
    let exact = knee + Quat::from_rotation_y(0.7) * Vec3::X * 0.5;
    assert!((place(&scene, first) - exact).length() < 1e-4, "{}", place(&scene, first));

    // The free base: a place, a turn, and how it moves, and all that hangs on it with it.
    let mut free = JointState::default();
    let turn = Quat::from_rotation_z(1.2);
    free.position[..3].copy_from_slice(&[3.0, 4.0, 5.0]);
    free.position[3..].copy_from_slice(&turn.to_array());
    free.velocity[1] = 2.0;
    set(&mut scene, base, free);
    scene.run_steps(1).unwrap();
    let there = scene.world().world_pose(base);
    assert!((there.position - Vec3::new(3.0, 4.002, 5.0)).length() < 1e-3, "{there:?}");
    assert!(there.rotation.dot(turn).abs() > 0.999_99, "{there:?}");
    assert!((state(&scene, base).position[1] - there.position.y).abs() < 1e-6);
    let exact =
        there * Pose::at(Vec3::X * 0.5) * Pose::turned(Quat::from_rotation_y(0.7)) * Pose::at(Vec3::X * 0.5);
    assert!((place(&scene, first) - exact.position).length() < 2e-3, "{}", place(&scene, first));
    assert!(
        (state(&scene, first).position[0] - 0.7).abs() < 2e-3,
        "the joints stay: {:?}",
        state(&scene, first)
    );
}

/// Nothing pushes a floating robot, so its centre of mass goes on straight: to a millimetre after a second.
#[test]
fn a_floating_base_drifts() {
    let mut scene = solid("1000");
    let [base, first, second] = floater(&mut scene);
    scene.world_mut().set(base, Velocity { linear: Vec3::new(1.0, 0.5, 0.0), ..Velocity::default() });
    scene.run_steps(1).unwrap();
    let center = |scene: &Scene| [base, first, second].map(|id| place(scene, id)).iter().sum::<Vec3>() / 3.0;
    let start = center(&scene);
    run(&mut scene, 1.0);
    let way = center(&scene) - start;
    assert!((way - Vec3::new(1.0, 0.5, 0.0)).length() < 1e-3, "{way}");
}

#[test]
fn a_joint_may_change_while_it_moves() {
    let mut scene = solid("500");
    let motor = Motor { mode: MotorMode::Position, stiffness: 500.0, damping: 50.0, effort_max: 100.0 };
    let joint = Joint { motor: Some(motor), ..hinge(Vec3::Y) };
    let id = weightless(&mut scene, joint);
    let tip = scene.world_mut().spawn("tip", Pose::IDENTITY);
    scene
        .world_mut()
        .set(tip, Body { mass: Some(round_mass(0.5, 0.01)), gravity_scale: 0.0, ..Body::default() });
    let frame = Pose::at(Vec3::X * -0.5);
    scene.world_mut().set(tip, Joint { to: Some(id), frame, damping: 0.3, ..hinge(Vec3::Z) });
    scene.world_mut().set(tip, at_position(0.4));
    scene.world_mut().set(id, MotorTarget { position: 0.6, ..MotorTarget::default() });
    run(&mut scene, 2.0);
    let before = [id, tip].map(|id| state(&scene, id).position[0]);
    assert!((before[0] - 0.6).abs() < 0.01 && before[1] > 0.1, "{before:?}");
    set(
        &mut scene,
        id,
        Joint { limits: Some([-1.0, 1.0]), motor: Some(Motor { stiffness: 900.0, ..motor }), ..joint },
    );
    scene.run_steps(1).unwrap();
    let after = [id, tip].map(|id| state(&scene, id).position[0]);
    assert!((after[0] - before[0]).abs() < 1e-3 && (after[1] - before[1]).abs() < 1e-3, "{after:?}");
    // The tip's own damping is still there.
    let mut swing = at_position(0.0);
    swing.velocity[0] = 2.0;
    set(&mut scene, tip, swing);
    run(&mut scene, 2.0);
    assert!(state(&scene, tip).velocity[0].abs() < 0.3, "{:?}", state(&scene, tip));
}

#[test]
fn what_hangs_on_an_entity_moves_with_it() {
    let mut scene = solid("200");
    let frame = scene
        .world_mut()
        .spawn("frame", Pose { position: Vec3::Z * 5.0, rotation: Quat::from_rotation_z(1.0) });
    let id = ball(&mut scene, Vec3::X, 0.1);
    scene.world_mut().set(id, Parent(frame));
    let start = place(&scene, id);
    run(&mut scene, 0.5);
    let fallen = start - place(&scene, id);
    assert!((fallen - Vec3::Z * G / 8.0).length() < 0.02, "straight down in the world: {fallen}");
    set(&mut scene, frame, Pose::at(Vec3::Z * 50.0));
    scene.run_steps(1).unwrap();
    assert!(place(&scene, id).z > 45.0, "{}", place(&scene, id));
}

#[test]
fn a_link_must_be_dynamic() {
    let mut scene = solid("200");
    let id = weightless(&mut scene, hinge(Vec3::Z));
    scene.run_steps(1).unwrap();
    let body = *scene.world().components.body.get(id).unwrap();
    let fixed = Body { kind: BodyKind::Fixed, ..body };
    let refused = scene.apply(WorldCommand::Set { entity: id, component: fixed.into() });
    assert!(refused.unwrap_err().to_string().contains("must be dynamic"));
    // Code inside a step is not checked, but it does not get past the solver either.
    scene.world_mut().set(id, fixed);
    let error = scene.run_steps(1).unwrap_err().to_string();
    assert!(
        error.contains("ent_1 hangs on a joint in reduced coordinates, so its body must be dynamic"),
        "{error}"
    );
    assert!(scene.time().is_paused());
}

/// State that is no number is an error that names the body; the scene is paused, and a snapshot brings it back.
#[test]
fn what_cannot_be_simulated_is_named() {
    type Blow = fn(&mut Scene, EntityId);
    let blow_up: [(&str, Blow); 3] = [
        ("force", |scene, id| {
            set(scene, id, ExternalForce { force: Vec3::splat(f32::MAX), torque: Vec3::ZERO });
        }),
        ("push", |scene, id| {
            let push = WorldCommand::Push { entity: id, linear: Vec3::splat(f32::MAX), angular: Vec3::ZERO };
            scene.apply(push).unwrap();
        }),
        ("speed", |scene, id| {
            set(scene, id, Velocity { linear: Vec3::splat(f32::MAX), angular: Vec3::ZERO });
        }),
    ];
    for (what, blow_up) in blow_up {
        let mut scene = solid("100");
        ground(&mut scene, Quat::IDENTITY, 0.5, 0.0);
        let other = ball(&mut scene, Vec3::new(3.0, 0.0, 2.0), 0.1);
        let id = ball(&mut scene, Vec3::Z * 2.0, 0.1);
        run(&mut scene, 0.1);
        let saved = scene.save().unwrap();
        blow_up(&mut scene, id);
        let error = scene.run_steps(50).unwrap_err().to_string();
        assert!(error.contains(&format!("{id} cannot be simulated")), "{what}: {error}");
        assert!(scene.time().is_paused(), "{what}");
        scene.restore(&saved).unwrap();
        run(&mut scene, 2.0);
        for id in [other, id] {
            assert!((place(&scene, id).z - 0.1).abs() < 2e-3, "{what}: {}", place(&scene, id));
        }
    }
}

/// A joint far beyond a limit is pushed back so hard that the solver itself gives up, in a panic; the process lives.
#[test]
fn a_joint_that_the_solver_gives_up_is_named() {
    let mut scene = solid("100");
    let motor = Motor { mode: MotorMode::Position, stiffness: 10.0, damping: 1.0, effort_max: 5.0 };
    let joint = Joint { frame: Pose::at(Vec3::Z), motor: Some(motor), ..hinge(Vec3::Y) };
    let id = super::on_joint(&mut scene, joint, Body::default());
    scene.run_steps(5).unwrap();
    let saved = scene.save().unwrap();
    set(&mut scene, id, Joint { limits: Some([1e37, 1e37]), ..joint });
    let error = scene.run_steps(50).unwrap_err().to_string();
    assert!(error.contains(&format!("{id} cannot be simulated")), "{error}");
    assert!(scene.time().is_paused());
    scene.restore(&saved).unwrap();
    run(&mut scene, 1.0);
    assert!(state(&scene, id).position[0].is_finite());
}

#[test]
fn an_articulation_that_blows_up_is_named() {
    for articulation in [Articulation::Reduced, Articulation::Impulse] {
        let mut scene = solid("100");
        let joint = Joint { frame: Pose::at(Vec3::Z), articulation, ..hinge(Vec3::Y) };
        let id = super::on_joint(&mut scene, joint, Body::default());
        scene.run_steps(5).unwrap();
        let saved = scene.save().unwrap();
        set(&mut scene, id, ExternalForce { force: Vec3::splat(f32::MAX), torque: Vec3::splat(f32::MAX) });
        let error = scene.run_steps(50).unwrap_err().to_string();
        assert!(error.contains(&format!("{id} cannot be simulated")), "{articulation:?}: {error}");
        scene.restore(&saved).unwrap();
        run(&mut scene, 1.0);
        assert!(state(&scene, id).position[0].is_finite());
    }
}
