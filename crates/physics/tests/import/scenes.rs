//! Imported robots in scenes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use downbeat_physics::{ImportOptions, import_mjcf, registry};
use downbeat_world::{Event, Scene, Surface, WorldCommand};
use glam::Vec3;

use super::{arm_folder, named};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name)
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
