//! Saved, loaded and stepped gives the bytes of stepped alone, at every step of scenes full of contacts and joints.

use downbeat_physics::registry;
use downbeat_time::BoxError;
use downbeat_world::{
    Body, BodyKind, Collider, Joint, JointKind, Motor, MotorMode, MotorTarget, Pose, Scene, Shape, Velocity,
    World,
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

fn exact_over(mut scene: Scene, steps: usize) -> Result<(), BoxError> {
    for step in 0..steps {
        let saved = scene.save()?;
        let mut again = Scene::from_snapshot(&saved, registry())?;
        assert!(again.save()? == saved, "step {step}: loading changed something");
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
