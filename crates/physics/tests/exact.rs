//! Saved, loaded and stepped gives the bytes of stepped alone, at every step of scenes full of contacts and joints.

use downbeat_physics::{Rapier3d, Rapier3dSettings, registry};
use downbeat_time::BoxError;
use downbeat_world::{
    Articulation, Body, BodyKind, Collider, Component, ComponentKind, ExternalForce, Joint, JointKind, Motor,
    MotorMode, MotorTarget, Name, Pose, Scene, Shape, Space, Subsystem as _, Velocity, World, WorldCommand,
};
use glam::{Quat, Vec3};

fn ground(world: &mut World) {
    let ground = world.spawn("ground", Pose::IDENTITY);
    world.set(ground, Collider::new(Shape::HalfSpace));
}

fn pile(bodies: usize) -> Scene {
    let mut scene = Scene::new("pile", 7, registry());
    let world = scene.world_mut();
    ground(world);
    for number in 0..bodies {
        let shape = match number % 3 {
            0 => Shape::Box { half: Vec3::new(0.1, 0.12, 0.14) },
            1 => Shape::Sphere { radius: 0.12 },
            _ => Shape::Capsule { half_length: 0.1, radius: 0.08 },
        };
        let (x, y) = (world.random.between(-0.4, 0.4) as f32, world.random.between(-0.4, 0.4) as f32);
        let id = world.spawn(format!("body {number}"), Pose::at(Vec3::new(x, y, 0.3 + 0.2 * number as f32)));
        world.set(id, Body::default());
        world.set(id, Collider { events: number % 5 == 0, ..Collider::new(shape) });
    }
    scene.add("rapier3d", "physics", &toml::Table::new(), None).expect("rapier3d is known");
    scene
}

fn arm(links: usize) -> Scene {
    let mut scene = Scene::new("arm", 7, registry());
    let world = scene.world_mut();
    ground(world);
    let mut below = None;
    for number in 0..links {
        let id = world.spawn(format!("link {number}"), Pose::at(Vec3::Z * (0.2 + 0.2 * number as f32)));
        world.set(id, Body::default());
        world.set(id, Collider::new(Shape::Capsule { half_length: 0.07, radius: 0.03 }));
        let axis = if number % 2 == 0 { Vec3::Y } else { Vec3::X };
        let motor = Motor { mode: MotorMode::Position, stiffness: 200.0, damping: 20.0, effort_max: 100.0 };
        world.set(
            id,
            Joint {
                to: below,
                to_frame: Pose::at(Vec3::Z * 0.1),
                frame: Pose::at(Vec3::Z * -0.1),
                motor: Some(motor),
                ..Joint::new(JointKind::Hinge { axis })
            },
        );
        world.set(id, MotorTarget { position: 0.3, ..MotorTarget::default() });
        below = Some(id);
    }
    scene.add("rapier3d", "physics", &toml::Table::new(), None).expect("rapier3d is known");
    scene
}

fn exact_over(scene: Scene, steps: usize) -> Result<(), BoxError> {
    exact_with(scene, steps, |_, _| Vec::new())
}

/// Goes through a snapshot before every step, and has commands applied between the snapshot and the step.
fn exact_with(
    mut scene: Scene,
    steps: usize,
    commands: impl Fn(usize, &Scene) -> Vec<WorldCommand>,
) -> Result<(), BoxError> {
    for step in 0..steps {
        let saved = scene.save()?;
        let mut again = Scene::from_snapshot(&saved, registry())?;
        assert!(again.save()? == saved, "step {step}: loading changed something");
        for command in commands(step, &scene) {
            scene.apply(command.clone())?;
            again.apply(command)?;
        }
        scene.run_steps(1)?;
        again.run_steps(1)?;
        let (ours, theirs) = (scene.state_hashes(), again.state_hashes());
        assert_eq!(ours.difference(&theirs), None, "step {step}");
        assert!(scene.save()? == again.save()?, "step {step}: same hash, other bytes");
    }
    Ok(())
}

#[test]
fn a_pile_goes_through_a_snapshot_at_every_step() {
    exact_over(pile(60), 200).unwrap();
}

#[test]
fn an_arm_goes_through_a_snapshot_at_every_step() {
    exact_over(arm(6), 200).unwrap();
}

#[test]
fn a_chain_of_impulse_joints_goes_through_a_snapshot_at_every_step() {
    let mut scene = Scene::new("chain", 7, registry());
    let world = scene.world_mut();
    ground(world);
    let mut above = None;
    for number in 0..12 {
        let id = world.spawn(format!("bead {number}"), Pose::at(Vec3::new(0.1 * number as f32, 0.0, 1.0)));
        world.set(id, Body::default());
        world.set(id, Collider::new(Shape::Sphere { radius: 0.04 }));
        let kind = match number % 3 {
            0 => JointKind::Ball,
            1 => JointKind::Hinge { axis: Vec3::Y },
            _ => JointKind::Slide { axis: Vec3::X },
        };
        let to_frame = Pose::at(if above.is_some() { Vec3::X * 0.05 } else { Vec3::new(-0.05, 0.0, 1.0) });
        let (frame, articulation) = (Pose::at(Vec3::X * -0.05), Articulation::Impulse);
        let limits = (number % 3 == 2).then_some([-0.02, 0.02]);
        world.set(
            id,
            Joint { to: above, to_frame, frame, limits, articulation, damping: 0.01, ..Joint::new(kind) },
        );
        above = Some(id);
    }
    scene.add("rapier3d", "physics", &toml::Table::new(), None).expect("rapier3d is known");
    exact_over(scene, 250).unwrap();
}

fn shipped(name: &str) -> Scene {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    Scene::load_file(&file, registry()).expect("it is shipped")
}

/// Everything that can be done to a running scene, spread over the steps.
fn disturbed(step: usize, scene: &Scene) -> Vec<WorldCommand> {
    let named = |name: &str| scene.world().find(name).expect("it lives");
    let set = |entity, component: Component| WorldCommand::Set { entity, component };
    let torso = named("torso");
    match step {
        20 => vec![WorldCommand::Drive { robot: named("quadruped"), targets: [0.1, 0.9, -1.8].repeat(4) }],
        40 => {
            vec![WorldCommand::Push { entity: torso, linear: Vec3::new(2.0, 3.0, 0.0), angular: Vec3::ZERO }]
        }
        60 => {
            let pose = Pose::at(Vec3::new(0.0, 0.0, 0.8));
            let body = Body { continuous: true, ..Body::default() };
            let collider = Collider { events: true, ..Collider::new(Shape::Sphere { radius: 0.05 }) };
            let components = vec![Name("ball".to_owned()).into(), pose.into(), body.into(), collider.into()];
            vec![WorldCommand::Spawn { components }]
        }
        80 => vec![set(named("ball"), Velocity { linear: Vec3::NEG_Z * 3.0, ..Velocity::default() }.into())],
        100 => {
            let calf = named("front_left_calf");
            let joint = *scene.world().components.joint.get(calf).expect("it hangs");
            vec![set(calf, Joint { damping: 1.0, limits: Some([-2.0, -0.4]), ..joint }.into())]
        }
        120 => vec![WorldCommand::Despawn { entity: named("ball") }],
        140 => {
            let mut state = *scene.world().components.joint_state.get(torso).expect("it is free");
            state.position[2] += 0.1;
            state.velocity[0] = 0.5;
            vec![set(torso, state.into())]
        }
        160 => vec![set(torso, ExternalForce { force: Vec3::Y * 20.0, torque: Vec3::Z }.into())],
        180 => vec![WorldCommand::Remove { entity: torso, kind: ComponentKind::ExternalForce }],
        200 => vec![set(named("ground"), Pose::at(Vec3::Z * 0.02).into())],
        220 => vec![WorldCommand::Configure {
            subsystem: "physics".to_owned(),
            settings: "substeps = 2".to_owned(),
        }],
        _ => Vec::new(),
    }
}

#[test]
fn a_quadruped_goes_through_a_snapshot_at_every_step_whatever_is_done_to_it() {
    exact_with(shipped("quadruped.toml"), 240, disturbed).unwrap();
}

#[test]
fn a_cart_in_a_plane_goes_through_a_snapshot_at_every_step_whatever_is_done_to_it() {
    exact_with(shipped("cart2d.toml"), 260, |step, scene| {
        let named = |name: &str| scene.world().find(name).expect("it lives");
        match step {
            10 | 110 => vec![WorldCommand::Drive { robot: named("cart and pole"), targets: vec![8.0] }],
            60 | 160 => vec![WorldCommand::Drive { robot: named("cart and pole"), targets: vec![-8.0] }],
            80 => {
                vec![WorldCommand::Push { entity: named("box 6"), linear: Vec3::X * 10.0, angular: Vec3::Z }]
            }
            100 => vec![WorldCommand::Despawn { entity: named("box 1") }],
            120 => {
                let mut state = *scene.world().components.joint_state.get(named("pole")).expect("it hangs");
                state.position[0] = 2.0;
                vec![WorldCommand::Set { entity: named("pole"), component: state.into() }]
            }
            140 => {
                let body = Body { space: Space::Plane, ..Body::default() };
                let collider =
                    Collider { space: Space::Plane, ..Collider::new(Shape::Sphere { radius: 0.2 }) };
                let pose = Pose::at(Vec3::new(0.1, 3.0, 0.0));
                vec![WorldCommand::Spawn { components: vec![pose.into(), body.into(), collider.into()] }]
            }
            _ => Vec::new(),
        }
    })
    .unwrap();
}

#[test]
fn an_arm_holds_its_targets() {
    let mut scene = arm(6);
    scene.run_steps(300).unwrap();
    for (id, state) in scene.world().components.joint_state.iter() {
        assert!((state.position[0] - 0.3).abs() < 0.1, "{id}: {state:?}");
    }
}

#[test]
fn a_turned_kinematic_body_moves_by_its_velocity() {
    let mut scene = Scene::new("belt", 1, registry());
    let world = scene.world_mut();
    let belt = world.spawn("belt", Pose::turned(Quat::from_rotation_z(1.0)));
    world.set(belt, Body { kind: BodyKind::Kinematic, ..Body::default() });
    world.set(belt, Velocity { linear: Vec3::X, ..Velocity::default() });
    scene.add("rapier3d", "physics", &toml::Table::new(), None).unwrap();
    scene.run_for(std::time::Duration::from_secs(1)).unwrap();
    let there = scene.world().world_pose(belt).position;
    assert!((there - Vec3::X).length() < 1e-4, "{there}");
}

/// What a solver has saved is its own to read, and it was not made for numbers that somebody has changed.
#[test]
fn any_number_of_a_saved_solver_may_be_absurd() {
    let mut scene = arm(2);
    scene.run_steps(3).unwrap();
    let state = scene.subsystem::<Rapier3d>("physics").unwrap().save().unwrap();
    let mut solver = Rapier3d::new(Rapier3dSettings::default()).unwrap();
    for at in 0..state.len() {
        for lowest in [0xff, 0xfe] {
            let _ = solver.load(&[&state[..at], &[lowest], &[0xff; 8], &[0x01], &state[at + 1..]].concat());
        }
    }
    solver.load(&state).unwrap();
}
