//! What becomes of an MJCF file.

use downbeat_physics::{ImportOptions, import_mjcf};
use downbeat_world::{BodyKind, JointKind, Motor, MotorMode, Pose, Shape, World};
use glam::{Quat, Vec3};

use super::{mjcf, mjcf_with, named};

pub(crate) const HOPPER: &str = r#"<mujoco model="hopper">
  <compiler angle="degree"/>
  <option gravity="0 0 -1.6" timestep="0.001"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 -0.1" friction="0.7"/>
    <body name="trunk" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1" ref="1"/>
      <geom type="box" size="0.1 0.1 0.2" mass="3"/>
      <body name="leg" pos="0 0 -0.2">
        <joint name="knee" type="hinge" axis="0 1 0" pos="0 0 0.05" range="-90 30" ref="10" damping="1" armature="0.2" stiffness="5"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05" density="500"/>
        <geom type="ellipsoid" size="0.05 0.1 0.02" pos="0 0 -0.5" contype="0" conaffinity="0" rgba="1 0 0 1" mass="0"/>
        <site name="toe" pos="0 0 -0.55"/>
        <body name="ball" pos="0.2 0 0"><joint name="wrist" type="ball" range="0 45"/><geom size="0.03" mass="0.2"/></body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="knee" coef="1"/></fixed></tendon>
  <equality><joint joint1="knee" joint2="x"/></equality>
  <sensor><gyro site="toe"/></sensor>
  <actuator>
    <position name="knee" joint="knee" kp="10" kv="1" gear="2" forcerange="-3 3"/>
    <motor name="x" joint="x" gear="5" ctrlrange="-1 1"/>
    <velocity name="z" joint="z" kv="7"/>
    <general name="loose" tendon="t"/>
  </actuator>
  <keyframe><key name="up" qpos="0.1 1.5 0.3 0.7071068 0 0 0.7071068" ctrl="0.4 0.5 0.2 0"/></keyframe>
</mujoco>"#;

#[test]
fn an_mjcf_becomes_links_joints_motors_and_keyframes() {
    let options = ImportOptions { start_keyframe: Some("up".to_owned()), ..ImportOptions::default() };
    let (world, report) = mjcf_with(HOPPER, &options).unwrap();
    let components = &world.components;
    assert_eq!((report.links.len(), report.joints.len()), (4, 4));
    let [between, trunk, leg, ball] = report.links[..] else { panic!("four links") };
    let zero = 10_f32.to_radians();
    let knee = components.joint.get(leg).unwrap();
    let [low, high] = knee.limits.unwrap();
    assert!((low - (-100_f32).to_radians()).abs() < 1e-6 && (high - 20_f32.to_radians()).abs() < 1e-6);
    assert_eq!((knee.damping, knee.armature, knee.to), (1.0, 0.2, Some(trunk)));
    assert_eq!(knee.frame, Pose::at(Vec3::Z * 0.05));
    let motor = knee.motor.unwrap();
    assert_eq!(
        motor,
        Motor { mode: MotorMode::Position, stiffness: 40.0, damping: 4.0, effort_max: 6.0 },
        "gear squared"
    );
    let push = components.joint.get(between).unwrap().motor.unwrap();
    assert_eq!((push.mode, push.effort_max), (MotorMode::Effort, 5.0));
    let lift = components.joint.get(trunk).unwrap().motor.unwrap();
    assert_eq!((lift.mode, lift.damping), (MotorMode::Velocity, 7.0));
    assert_eq!(components.joint.get(ball).unwrap().kind, JointKind::Ball);
    assert_eq!(components.joint.get(ball).unwrap().limits, Some([-45_f32.to_radians(), 45_f32.to_radians()]));

    let keyframe = &components.robot.get(report.robot).unwrap().keyframes["up"];
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let wanted = [0.1, 0.5, 0.3 - zero, 0.0, 0.0, half, half];
    assert!(keyframe.iter().zip(wanted).all(|(there, wanted)| (there - wanted).abs() < 1e-6), "{keyframe:?}");
    assert!((components.motor_target.get(leg).unwrap().position - (0.2 - zero)).abs() < 1e-6);
    assert!((components.motor_target.get(between).unwrap().effort - 2.5).abs() < 1e-6);
    assert!((components.motor_target.get(trunk).unwrap().velocity - 0.2).abs() < 1e-6);

    // The trunk has gone up and forward; the leg has turned about its anchor.
    let knee_place = Vec3::new(0.1, 0.0, 1.5 - 0.2 + 0.05);
    let leg_place = knee_place + Quat::from_rotation_y(0.3 - zero) * Vec3::new(0.0, 0.0, -0.05);
    assert!((world.world_pose(leg).position - leg_place).length() < 1e-6);
    let toe = named(&world, "toe");
    assert_eq!(world.components.parent.get(toe).unwrap().0, leg);
    let floor = named(&world, "floor");
    assert_eq!(components.collider.get(floor).unwrap().shape, Shape::HalfSpace);
    assert!((components.collider.get(floor).unwrap().friction - 0.7).abs() < 1e-6);
    assert!(!components.body.contains(floor), "it never moves");

    // A capsule of half length 0.25 and radius 0.05: a cylinder and a ball.
    let volume = std::f32::consts::PI * (0.05 * 0.05 * 0.5 + 4.0 / 3.0 * 0.05 * 0.05 * 0.05);
    let mass = components.body.get(leg).unwrap().mass.unwrap();
    assert!((mass.mass - 500.0 * volume).abs() < 1e-4, "{mass:?}");
    assert!((mass.center - Vec3::Z * -0.25).length() < 1e-5, "{mass:?}");
}

#[test]
fn what_an_mjcf_asks_for_in_vain_is_said() {
    let (_, report) = mjcf(HOPPER).unwrap();
    for wanted in [
        "<light> is not supported",
        "<tendon> is not supported",
        "<equality> is not supported",
        "<sensor> is not supported",
        "`tendon` of <general> is not supported",
        "`stiffness` of <joint> is not supported",
        "gravity 0 0 -1.6 is not set; it is a setting of the scene's physics",
        "time step 0.001 s is not set; it is the rate of the physics' runner",
        "body `trunk` has several joints; links of a gram stand between them",
        "geom without a name is an ellipsoid; a hull of points stands for it",
        "actuator loose is left out: it drives no joint",
    ] {
        assert!(report.notes.iter().any(|note| note == wanted), "{wanted} is not in {:#?}", report.notes);
    }
    assert_eq!(report.notes.len(), 11, "{:#?}", report.notes);
}

#[test]
fn a_base_is_fixed_or_free_as_asked() {
    let free = r#"<mujoco><worldbody><body name="b" pos="0 0 1"><freejoint/><geom size="0.1"/>
        <body name="c"><joint name="j"/><geom size="0.1"/></body></body></worldbody>
        <keyframe><key name="k" qpos="0 0 2 1 0 0 0 0.5"/></keyframe></mujoco>"#;
    let kind = |world: &World| world.components.body.get(named(world, "b")).unwrap().kind;
    let fixed = ImportOptions { fixed_base: Some(true), ..ImportOptions::default() };
    let (world, report) = mjcf(free).unwrap();
    assert_eq!((kind(&world), report.joints.len()), (BodyKind::Dynamic, 2));
    assert_eq!(world.components.robot.get(report.robot).unwrap().keyframes["k"].len(), 8);
    let (world, report) = mjcf_with(free, &fixed).unwrap();
    assert_eq!((kind(&world), report.joints.len()), (BodyKind::Fixed, 1));
    assert_eq!(world.components.robot.get(report.robot).unwrap().keyframes["k"], [0.5]);
    let welded = free.replace("<freejoint/>", "").replace("0 0 2 1 0 0 0 ", "");
    let (world, _) = mjcf(&welded).unwrap();
    assert_eq!(kind(&world), BodyKind::Fixed);
    let loose = ImportOptions { fixed_base: Some(false), ..ImportOptions::default() };
    let (world, report) = mjcf_with(&welded, &loose).unwrap();
    assert_eq!((kind(&world), report.joints.len()), (BodyKind::Dynamic, 2));
    let wanted = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5];
    assert_eq!(world.components.robot.get(report.robot).unwrap().keyframes["k"], wanted);
}

#[test]
fn a_refused_file_is_named_and_leaves_the_world_alone() {
    let body =
        |inside: &str| format!("<mujoco><worldbody><body name='b'>{inside}</body></worldbody></mujoco>");
    let deep = format!("<mujoco>{}{}</mujoco>", "<a>".repeat(200), "</a>".repeat(200));
    for (text, wanted) in [
        ("<mujoco>".to_owned(), "robot.xml: "),
        ("<robot/>".to_owned(), "expected <mujoco> root, found <robot>"),
        (deep, "its elements stand more than 128 deep"),
        ("<!DOCTYPE a><mujoco/>".to_owned(), "declarations (<!DOCTYPE …>) are not read"),
        (
            "<mujoco><include file='../x.xml'/></mujoco>".to_owned(),
            "`../x.xml` leads out of the file's folder",
        ),
        ("<mujoco><include file='robot.xml'/></mujoco>".to_owned(), "it includes more than 64 files"),
        (
            "<mujoco><asset><model name='m' file='/etc/m.xml'/></asset></mujoco>".to_owned(),
            "sub-models are not read",
        ),
        (
            "<mujoco><compiler eulerseq='xyzx'/></mujoco>".to_owned(),
            "1:9: <compiler>: `eulerseq` is three letters",
        ),
        (body("<joint axis='0 0 0'/><geom size='1'/>"), "has an axis without a direction"),
        (body("<joint range='1 -1'/><geom size='1'/>"), "`b`: limits run from low to high"),
        (body("<joint/><geom size='nan'/>"), "robot.xml: `b`: "),
        (body("<freejoint/><joint/><geom size='1'/>"), "a free joint must be the only one"),
        (body("<joint/><geom type='plane' size='1 1 1'/>"), "so it cannot have a plane"),
        (body("<joint/><geom type='mesh' mesh='m'/>"), "the mesh `m`, which no <asset> has"),
        (
            "<mujoco><keyframe><key qpos='1 2'/></keyframe></mujoco>".to_owned(),
            "`qpos` has 2 numbers, but the joints have 0",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot.xml");
        std::fs::write(&path, &text).unwrap();
        let mut world = World::new(1);
        let error = import_mjcf(&path, &ImportOptions::default(), &mut world).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}\n{error}");
        assert!(error.contains("robot.xml"), "{error}");
        assert!(world.entities().is_empty());
        assert_eq!(world.entities().next_id().number(), 1, "not even an id was used");
    }
    let unknown = ImportOptions { start_keyframe: Some("sit".to_owned()), ..ImportOptions::default() };
    let error = mjcf_with(HOPPER, &unknown).unwrap_err();
    assert!(error.ends_with("there is no keyframe `sit`; there are `up`"), "{error}");
}
