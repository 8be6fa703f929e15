//! Chains against mathematics that can be done by hand, and inverse kinematics against forward kinematics.

use downbeat_world::{Body, Chain, ChainError, IkSettings, Joint, JointKind, MotorMode, Pose, Random, World};
use glam::{Quat, Vec3};

fn close(found: Pose, wanted: Pose) -> bool {
    (found.position - wanted.position).length() < 1e-5
        && found.rotation.dot(wanted.rotation).abs() > 1.0 - 1e-6
}

#[test]
fn a_chain_goes_through_frames_hinges_slides_and_fixed_joints() {
    let mut world = World::new(1);
    let base = world.spawn("base", Pose::at(Vec3::new(5.0, 0.0, 1.0)));
    let [turn, bracket, slide] = ["turn", "bracket", "slide"].map(|name| world.spawn(name, Pose::IDENTITY));
    for id in [base, turn, bracket, slide] {
        world.set(id, Body::default());
    }
    let to_frame = Pose { position: Vec3::Z, rotation: Quat::from_rotation_x(0.3) };
    let frame = Pose { position: Vec3::X * -0.5, rotation: Quat::from_rotation_z(0.2) };
    let hinge = JointKind::Hinge { axis: Vec3::new(0.0, 0.0, 2.0) };
    world.set(turn, Joint { to: Some(base), to_frame, frame, ..Joint::new(hinge) });
    world.set(bracket, Joint { to: Some(turn), to_frame: Pose::at(Vec3::Y), ..Joint::new(JointKind::Fixed) });
    let along = JointKind::Slide { axis: Vec3::new(1.0, 1.0, 0.0) };
    world.set(slide, Joint { to: Some(bracket), to_frame: Pose::at(Vec3::X), ..Joint::new(along) });
    let grip = world.spawn_on(slide, "grip", Pose::at(Vec3::Z * 0.2));
    let tool = world.spawn_on(grip, "tool", Pose::turned(Quat::from_rotation_y(0.4)));

    let chain = Chain::to_tool(&world.components, tool).unwrap();
    assert_eq!(chain.joints(), [turn, slide]);
    assert_eq!(chain.world_from_base(&world.components), Pose::at(Vec3::new(5.0, 0.0, 1.0)));
    let (angle, way) = (0.7, 0.25);
    let base_from_turn = to_frame * Pose::turned(Quat::from_rotation_z(angle)) * frame.inverse();
    let turn_from_slide =
        Pose::at(Vec3::Y) * Pose::at(Vec3::X) * Pose::at(Vec3::new(1.0, 1.0, 0.0).normalize() * way);
    let slide_from_tool = Pose::at(Vec3::Z * 0.2) * Pose::turned(Quat::from_rotation_y(0.4));
    let wanted = base_from_turn * turn_from_slide * slide_from_tool;
    let found = chain.forward(&[angle, way]);
    assert!(close(found, wanted), "{found:?} is not {wanted:?}");
}

#[test]
fn what_is_no_chain_is_refused() {
    let mut world = World::new(1);
    let loose = world.spawn("loose", Pose::IDENTITY);
    assert_eq!(
        Chain::to_tool(&world.components, loose).unwrap_err(),
        ChainError::NothingMoves { tool: loose }
    );
    world.set(loose, Body::default());
    world.set(loose, Joint::new(JointKind::Ball));
    assert_eq!(Chain::to_tool(&world.components, loose).unwrap_err(), ChainError::Ball { joint: loose });
    // Impulse joints may form loops; a chain must end all the same.
    let other = world.spawn("other", Pose::IDENTITY);
    world.set(other, Body::default());
    let hinge = JointKind::Hinge { axis: Vec3::X };
    world.set(loose, Joint { to: Some(other), ..Joint::new(hinge) });
    world.set(other, Joint { to: Some(loose), ..Joint::new(hinge) });
    assert_eq!(Chain::to_tool(&world.components, loose).unwrap_err(), ChainError::TooLong { tool: loose });
}

/// Goals are made from random positions, so each can be reached; the search begins elsewhere.
#[test]
fn an_arm_of_six_hinges_reaches_what_it_can_reach() {
    let mut world = World::new(1);
    let (_, _, tool) = crate::common::arm(&mut world, MotorMode::Position);
    let mut chain = Chain::to_tool(&world.components, tool).unwrap();
    let mut random = Random::new(11, "goals");
    let mut somewhere = || [(); 6].map(|()| random.between(-2.8, 2.8) as f32);
    let (tries, mut reached) = (400, 0);
    for number in 0..tries {
        let goal = chain.forward(&somewhere());
        let mut positions = somewhere();
        let reach = chain.reach(goal, &mut positions, &IkSettings::default());
        assert!(positions.iter().all(|position| (-2.8..=2.8).contains(position)), "{number}: {positions:?}");
        // The answer is judged by forward kinematics, not by what the search says of itself.
        let found = chain.forward(&positions);
        let distance = (found.position - goal.position).length();
        let angle = found.rotation.angle_between(goal.rotation).to_degrees();
        let there = distance < 1e-3 && angle < 0.5;
        assert!(there || !reach.reached, "{number}: {distance} m, {angle}°, {reach:?}");
        reached += i32::from(there);
    }
    println!("{reached} of {tries} goals reached");
    assert!(reached * 100 >= tries * 95, "{reached} of {tries}");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let mut world = World::new(1);
    let (_, _, tool) = crate::common::arm(&mut world, MotorMode::Position);
    let mut chain = Chain::to_tool(&world.components, tool).unwrap();
    let goal = chain.forward(&[1.0, -0.5, 0.8, 0.3, 0.4, -1.0]);
    let (mut first, mut second) = ([0.0; 6], [0.0; 6]);
    let one = chain.reach(goal, &mut first, &IkSettings::default());
    let mut other = Chain::to_tool(&world.components, tool).unwrap();
    let two = other.reach(goal, &mut second, &IkSettings::default());
    assert_eq!((first.map(f32::to_bits), one), (second.map(f32::to_bits), two));
}

#[test]
fn a_goal_out_of_reach_is_approached_and_reported() {
    let mut world = World::new(1);
    let (_, _, tool) = crate::common::arm(&mut world, MotorMode::Position);
    let mut chain = Chain::to_tool(&world.components, tool).unwrap();
    let mut positions = [0.1; 6];
    let settings = IkSettings { orientation: false, ..IkSettings::default() };
    let reach = chain.reach(Pose::at(Vec3::X * 9.0), &mut positions, &settings);
    assert!(!reach.reached);
    // The shoulder is 0.1 m up, and the links from there to the tool are 1.2 m long together.
    let nearest = libm::sqrt(9.0 * 9.0 + 0.1 * 0.1) - 1.2;
    assert!((reach.position_error - nearest).abs() < 1e-2, "{reach:?}, nearest is {nearest}");
}
