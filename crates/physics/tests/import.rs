//! Robots from files: what they become, what is said of what they do not, and that no file does harm.

use std::path::{Path, PathBuf};
use std::time::Duration;

use downbeat_physics::{ImportOptions, import_mjcf, import_urdf, registry};
use downbeat_world::{
    BodyKind, Datum, Event, JointKind, Motor, MotorMode, Pose, Scene, Shape, Surface, World, WorldCommand,
};
use glam::{Quat, Vec3};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name)
}

/// The arm of the tests with the mesh that it names, in a folder of its own.
fn arm_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("meshes")).unwrap();
    let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|bits: u8| {
        let side = |bit: u8, half: f32| if bits & bit == 0 { -half } else { half };
        format!("vertex {} {} {}\n", side(1, 0.15), side(2, 0.02), side(4, 0.04))
    });
    std::fs::write(folder.path().join("meshes/beam.stl"), format!("solid\n{}endsolid", corners.concat()))
        .unwrap();
    let path = folder.path().join("arm.urdf");
    std::fs::write(&path, include_str!("data/arm.urdf")).unwrap();
    (folder, path)
}

fn mjcf(text: &str) -> Result<(World, downbeat_physics::ImportReport), String> {
    mjcf_with(text, &ImportOptions::default())
}

fn mjcf_with(text: &str, options: &ImportOptions) -> Result<(World, downbeat_physics::ImportReport), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("robot.xml");
    std::fs::write(&path, text).unwrap();
    let mut world = World::new(1);
    let report = import_mjcf(&path, options, &mut world).map_err(|error| error.to_string())?;
    Ok((world, report))
}

fn named(world: &World, name: &str) -> downbeat_world::EntityId {
    world.find(name).unwrap_or_else(|| panic!("there is no {name}"))
}

#[test]
fn a_urdf_becomes_links_joints_and_a_robot() {
    let (_folder, path) = arm_folder();
    let mut world = World::new(1);
    let motor = Motor { mode: MotorMode::Position, stiffness: 100.0, damping: 5.0, effort_max: 30.0 };
    let options = ImportOptions {
        name: Some("arm".to_owned()),
        pose: Pose::at(Vec3::new(1.0, 2.0, 3.0)),
        motor: Some(motor),
        ..ImportOptions::default()
    };
    let report = import_urdf(&path, &options, &mut world).unwrap();
    let names: Vec<_> =
        report.links.iter().map(|id| world.components.name.get(*id).unwrap().0.as_str()).collect();
    assert_eq!(names, ["base", "column", "beam", "carriage", "tool"]);
    let robot = world.components.robot.get(report.robot).unwrap();
    assert_eq!(robot.joints, report.joints);
    assert_eq!(robot.tools, [named(&world, "tool")]);
    assert_eq!(world.components.name.get(report.robot).unwrap().0, "arm");

    assert_eq!(world.components.body.get(report.links[0]).unwrap().kind, BodyKind::Fixed);
    let [column, beam, carriage, tool] = [1, 2, 3, 4].map(|at| report.links[at]);
    let turn = world.components.joint.get(column).unwrap();
    assert_eq!((turn.kind, turn.limits), (JointKind::Hinge { axis: Vec3::Z * 2.0 }, None));
    assert!((turn.damping - 0.7).abs() < 1e-6);
    let lift = world.components.joint.get(beam).unwrap();
    assert_eq!((lift.limits, lift.to), (Some([-1.2, 0.9]), Some(column)));
    assert_eq!(lift.motor.unwrap().effort_max, 30.0, "the weaker of the file's 40 and the settings' 30");
    let reach = world.components.joint.get(carriage).unwrap();
    assert_eq!(reach.kind, JointKind::Slide { axis: Vec3::X });
    assert_eq!(reach.motor.unwrap().effort_max, 20.0);
    assert_eq!(world.components.joint.get(tool).unwrap().kind, JointKind::Fixed);

    // A quarter turn to the left, then along what x has become.
    let place = world.world_pose(tool).position;
    assert!((place - Vec3::new(1.0, 2.35, 3.45)).length() < 1e-5, "{place}");
    let mass = world.components.body.get(column).unwrap().mass.unwrap();
    assert_eq!((mass.mass, mass.center), (2.0, Vec3::new(0.0, 0.0, 0.2)));
    assert!((mass.inertia.element_sum() - 0.06).abs() < 1e-6, "{mass:?}");

    let second = world.children(column).find(|id| world.components.collider.contains(*id)).unwrap();
    assert_eq!(world.components.collider.get(second).unwrap().shape, Shape::Sphere { radius: 0.05 });
    let Shape::Hull { points } = &world.components.collider.get(beam).unwrap().shape else {
        panic!("a mesh collides as its hull")
    };
    assert!(points.len() == 8 && points.iter().all(|point| (point.z.abs() - 0.02).abs() < 1e-6));
    let Surface::Shape(Shape::Cylinder { .. }) = world.components.mesh.get(column).unwrap().surface else {
        panic!("the column is drawn as a cylinder")
    };
    assert!((world.components.mesh.get(column).unwrap().colour.x - 0.5).abs() < 1e-6);
}

#[test]
fn what_a_urdf_asks_for_in_vain_is_said() {
    let (_folder, path) = arm_folder();
    let mut world = World::new(1);
    let report = import_urdf(&path, &ImportOptions::default(), &mut world).unwrap();
    for wanted in [
        "<mimic> is not supported",
        "<safety_controller> is not supported",
        "<transmission> is not supported",
        "`friction` of <dynamics> is not supported",
        "`velocity` of <limit> is not supported (2 times)",
        "link `tool` has no mass; it is given a gram",
        "mesh `meshes/beam.stl` collides as its convex hull",
        "mesh `package://lift_arm/meshes/beam.dae` is not drawn: it is missing, mirrored, or not glTF, OBJ or STL",
        "URDF names no actuators: joints move freely; set `motor` to drive them",
    ] {
        assert!(report.notes.iter().any(|note| note == wanted), "{wanted} is not in {:#?}", report.notes);
    }
    assert_eq!(report.notes.len(), 9, "{:#?}", report.notes);
    let told = &world.components.user_data.get(report.robot).unwrap().0;
    for (at, note) in report.notes.iter().enumerate() {
        assert_eq!(told[&format!("import.note.{:03}", at + 1)], Datum::Text(note.clone()));
    }
    assert_eq!(told["import.file"], Datum::Text("arm.urdf".to_owned()));
}

#[test]
fn a_urdf_hangs_on_its_motors() {
    let (_folder, path) = arm_folder();
    let mut scene = Scene::new("arm", 1, registry());
    let motor = Motor { mode: MotorMode::Position, stiffness: 500.0, damping: 50.0, effort_max: 1000.0 };
    let options = ImportOptions { motor: Some(motor), ..ImportOptions::default() };
    let report = import_urdf(&path, &options, scene.world_mut()).unwrap();
    scene.add("rapier3d", "physics", &toml::Table::new(), None).unwrap();
    scene.apply(WorldCommand::Drive { robot: report.robot, targets: vec![0.5, -0.4, 0.1] }).unwrap();
    scene.run_for(Duration::from_secs(3)).unwrap();
    let there = |at: usize| scene.world().components.joint_state.get(report.joints[at]).unwrap().position[0];
    assert!((there(0) - 0.5).abs() < 0.01, "{}", there(0));
    // Gravity bends the lift by its moment over the stiffness, at most 1.3 kg · g · 0.4 m / 40 N m (the joint's strongest).
    assert!((there(1) + 0.4).abs() < 0.02, "{}", there(1));
    assert!((there(2) - 0.1).abs() < 0.01, "{}", there(2));
}

const HOPPER: &str = r#"<mujoco model="hopper">
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
        (motor.mode, motor.stiffness, motor.damping),
        (MotorMode::Position, 40.0, 4.0),
        "gear squared"
    );
    assert_eq!(motor.effort_max, 6.0);
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
    assert_eq!(components.motor_target.get(between).unwrap().effort, 2.5);
    assert_eq!(components.motor_target.get(trunk).unwrap().velocity, 0.2);

    // The trunk has gone up and forward; the leg has turned about its anchor.
    let knee_place = Vec3::new(0.1, 0.0, 1.5 - 0.2 + 0.05);
    let leg_place = knee_place + Quat::from_rotation_y(0.3 - zero) * Vec3::new(0.0, 0.0, -0.05);
    assert!((world.world_pose(leg).position - leg_place).length() < 1e-6);
    let toe = named(&world, "toe");
    assert_eq!(world.components.parent.get(toe).unwrap().0, leg);
    let floor = named(&world, "floor");
    assert_eq!(components.collider.get(floor).unwrap().shape, Shape::HalfSpace);
    assert_eq!(components.collider.get(floor).unwrap().friction, 0.7);
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

#[test]
fn urdf_trees_that_are_none_are_refused() {
    let robot = |inside: &str| format!("<robot name='r'>{inside}</robot>");
    let links = "<link name='a'/><link name='b'/>";
    let joint = |name: &str, parent: &str, child: &str| {
        format!("<joint name='{name}' type='fixed'><parent link='{parent}'/><child link='{child}'/></joint>")
    };
    for (text, wanted) in [
        (robot(""), "it must have one root link, not 0"),
        (robot(links), "it must have one root link, not 2"),
        (robot(&format!("{links}<link name='a'/>")), "there are two links `a`"),
        (robot(&format!("{links}{}", joint("j", "a", "c"))), "joint `j` names `c`, which is no link"),
        (
            robot(&format!("{links}{}{}", joint("j", "a", "b"), joint("k", "a", "b"))),
            "link `b` hangs on two joints",
        ),
        (
            robot(&format!("{links}<link name='c'/>{}{}", joint("j", "b", "c"), joint("k", "c", "b"))),
            "some links hang on one another in a circle",
        ),
        (
            robot(
                "<link name='a'><collision><geometry><mesh filename='../a.stl'/></geometry></collision></link>",
            ),
            "leads out of the file's folder",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot.urdf");
        std::fs::write(&path, &text).unwrap();
        let mut world = World::new(1);
        let error = import_urdf(&path, &ImportOptions::default(), &mut world).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}\n{error}");
        assert!(world.entities().is_empty());
    }
}

#[test]
fn links_that_hang_on_one_another_pass_through_and_others_need_not() {
    let scene = |ignore: bool| {
        let text = r#"<mujoco><worldbody><body name="a"><geom size="0.2"/>
            <body name="b"><joint name="j" type="slide" axis="1 0 0"/><geom name="b" size="0.2"/>
            <body name="c" pos="0.1 0 0"><joint name="k" type="slide" axis="1 0 0"/><geom name="c" size="0.2"/></body></body>
            </body></worldbody></mujoco>"#;
        let options = ImportOptions { ignore_self_contacts: ignore, ..ImportOptions::default() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot.xml");
        std::fs::write(&path, text).unwrap();
        let mut scene = Scene::new("robot", 1, registry());
        let report = import_mjcf(&path, &options, scene.world_mut()).unwrap();
        scene.add("rapier3d", "physics", &toml::Table::new(), None).unwrap();
        scene.run_for(Duration::from_secs(1)).unwrap();
        let place = |at: usize| scene.world().world_pose(report.links[at]).position.x;
        (place(1), place(2))
    };
    assert_eq!(scene(true), (0.0, 0.1), "nothing pushes anything");
    // The first and the third link overlap and do not hang on one another: they part until they just touch.
    assert!(scene(false).1 > 0.35, "{:?}", scene(false));
}

#[test]
fn meshes_of_an_import_are_named_from_the_scenes_folder() {
    let (folder, _) = arm_folder();
    let robot = folder.path().join("robots");
    std::fs::create_dir(&robot).unwrap();
    std::fs::rename(folder.path().join("meshes"), robot.join("meshes")).unwrap();
    let text = r#"<mujoco><compiler meshdir="meshes"/><asset><mesh name="beam" file="beam.stl" scale="1 2 1"/></asset>
        <worldbody><body name="b"><joint/><geom type="mesh" mesh="beam"/></body></worldbody></mujoco>"#;
    std::fs::write(robot.join("beam.xml"), text).unwrap();
    let file = folder.path().join("scene.toml");
    std::fs::write(&file, "downbeat = 1\nname = 'a'\n[[import]]\nfile = 'robots/beam.xml'\n").unwrap();
    let scene = Scene::load_file(&file, registry()).unwrap();
    let mesh = scene.world().components.mesh.get(named(scene.world(), "b")).unwrap();
    let path = PathBuf::from("robots/meshes/beam.stl");
    assert_eq!(mesh.surface, Surface::File { path, scale: Vec3::new(1.0, 2.0, 1.0) });
    // So the scene can be saved, moved and loaded again, now without the robot's own file.
    scene.save_file(&file).unwrap();
    std::fs::remove_file(robot.join("beam.xml")).unwrap();
    let again = Scene::load_file(&file, registry()).unwrap();
    assert_eq!(again.to_text().unwrap(), scene.to_text().unwrap());
}

#[test]
fn the_quadruped_stands() {
    let mut scene = Scene::load_file(&shipped("quadruped.toml"), registry()).unwrap();
    let robot = named(scene.world(), "quadruped");
    let torso = named(scene.world(), "torso");
    assert_eq!(scene.world().driven_joints(robot).len(), 12);
    let told = &scene.world().components.user_data.get(robot).unwrap().0;
    assert!(told.keys().all(|key| !key.starts_with("import.note")), "{told:?}");
    let mass: f32 =
        scene.world().components.body.values().iter().filter_map(|body| Some(body.mass?.mass)).sum();
    assert!((mass - 10.0).abs() < 0.05, "{mass} kg");
    for tenth in 0..120 {
        scene.run_for(Duration::from_millis(100)).unwrap();
        let pose = scene.world().world_pose(torso);
        let tilt = 1.0 - (pose.rotation * Vec3::Z).z;
        assert!((0.27..0.34).contains(&pose.position.z), "{} ms: {pose:?}", tenth * 100 + 100);
        assert!(tilt < 0.02, "{} ms: {pose:?}", tenth * 100 + 100);
        assert!(pose.position.truncate().length() < 0.03, "{} ms: {pose:?}", tenth * 100 + 100);
    }
    let still = scene.world().components.velocity.get(torso).unwrap();
    assert!(still.linear.length() < 0.01, "{still:?}");
    let refused = |event: &Event| matches!(event, Event::Refused { .. });
    assert!(!scene.world().events.iter().any(refused));
}

#[test]
fn a_robot_is_despawned_with_all_its_links() {
    let mut scene = Scene::load_file(&shipped("quadruped.toml"), registry()).unwrap();
    scene.run_steps(20).unwrap();
    let robot = named(scene.world(), "quadruped");
    scene.apply(WorldCommand::Despawn { entity: robot }).unwrap();
    scene.run_steps(20).unwrap();
    assert_eq!(scene.world().entities().len(), 3);
    assert!(scene.world().components.body.is_empty());
}

/// Imports damaged text and runs what became of it. Whatever comes of it, it comes back.
fn survives(name: &str, text: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut scene = Scene::new("damaged", 1, registry());
    let import = if name.ends_with("urdf") { import_urdf } else { import_mjcf };
    if import(&path, &ImportOptions::default(), scene.world_mut()).is_err() {
        assert!(scene.world().entities().is_empty(), "a refused file leaves nothing");
        return;
    }
    scene.add("rapier3d", "physics", &toml::Table::new(), None).unwrap();
    // A robot of odd numbers may fly to pieces, which is an error of the step; then the scene is paused.
    let ran = scene.run_steps(3);
    assert_eq!(ran.is_err(), scene.time().is_paused());
}

const TEXTS: [(&str, &str); 3] = [
    ("arm.urdf", include_str!("data/arm.urdf")),
    ("hopper.xml", HOPPER),
    ("quadruped.xml", include_str!("../../../scenes/robots/quadruped.xml")),
];

#[test]
fn a_file_may_end_anywhere() {
    for (name, text) in TEXTS {
        for length in 0..text.len() {
            survives(name, &text.as_bytes()[..length]);
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_file_may_have_any_bytes_changed(
        which in 0..TEXTS.len(),
        changes in proptest::collection::vec((0..1_usize << 20, 0..=255_u8), 1..4),
    ) {
        let (name, text) = TEXTS[which];
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        survives(name, &bytes);
    }

    #[test]
    fn a_file_may_have_any_numbers(
        which in 0..TEXTS.len(),
        at in 0..400_usize,
        number in proptest::sample::select(vec![
            "", "nan", "inf", "-inf", "1e39", "-1e39", "1e308", "0", "-0", "-1", "4294967296", "1e-320", "x", "1 2", "xyzxyz",
        ]),
    ) {
        let (name, text) = TEXTS[which];
        // Every second quoted text is a value.
        let mut parts: Vec<_> = text.split('"').collect();
        let values = parts.len() / 2;
        let words: Vec<_> = parts[at % values * 2 + 1].split(' ').collect();
        let mut words: Vec<_> = words.into_iter().map(str::to_owned).collect();
        let word = at / values % words.len();
        words[word] = number.to_owned();
        let value = words.join(" ");
        parts[at % values * 2 + 1] = &value;
        survives(name, parts.join("\"").as_bytes());
    }
}
