//! What becomes of a URDF file.

use std::time::Duration;

use downbeat_physics::{ImportOptions, import_urdf, registry};
use downbeat_world::{
    BodyKind, Datum, JointKind, Motor, MotorMode, Pose, Scene, Shape, Surface, World, WorldCommand,
};
use glam::Vec3;

use super::{arm_folder, named};

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
    assert_eq!(lift.motor, Some(motor), "the weaker of the file's 40 and the settings' 30");
    let reach = world.components.joint.get(carriage).unwrap();
    assert_eq!(reach.kind, JointKind::Slide { axis: Vec3::X });
    assert_eq!(reach.motor, Some(Motor { effort_max: 20.0, ..motor }));
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
