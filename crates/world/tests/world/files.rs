//! Scene files: what is written is read again to the letter, every mistake is named with its place and its cure, a
//! file is replaced whole, and files of the first version load for ever.

use std::path::Path;

use downbeat_time::{Binding, BoxError, Phase, RunnerId, StepContext};
use downbeat_world::{
    Body, BodyKind, Camera, Collider, Datum, Event, ExternalForce, Joint, JointKind, JointState, Lens, Light,
    MassProperties, Mesh, MotorMode, Name, Outputs, Part, Pose, Registry, Scene, SceneFileError, Shape,
    Surface, Tags, UserData, Velocity, World, first_difference,
};
use glam::{Quat, Vec3, Vec4};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

use crate::common::{add, arm, empty};

fn load(text: &str) -> Result<Scene, SceneFileError> {
    Scene::from_text(text, "lab.toml", Path::new("folder"), Registry::builtin())
}

/// A scene with every kind of component.
fn full() -> Scene {
    let mut scene = empty();
    let world = scene.world_mut();
    let (_, joints, _) = arm(world, MotorMode::Position);
    let mut state = JointState::default();
    (state.position[0], state.velocity[0], state.effort) = (0.1, -0.2, 0.3);
    world.set(joints[1], state);
    let box_ =
        world.spawn("box", Pose { position: Vec3::new(0.1, 0.2, 0.3), rotation: Quat::from_rotation_z(0.7) });
    let mass = MassProperties {
        mass: 1.5,
        center: Vec3::new(0.01, 0.0, 0.0),
        inertia: Vec3::splat(0.02),
        axes: Quat::IDENTITY,
    };
    world.set(
        box_,
        Body { kind: BodyKind::Dynamic, mass: Some(mass), linear_damping: 0.05, ..Body::default() },
    );
    world.set(box_, Velocity { linear: Vec3::X * 0.1, angular: Vec3::Z * -3.3 });
    world.set(box_, ExternalForce { force: Vec3::Z * 9.81, torque: Vec3::ZERO });
    let part = Part { pose: Pose::at(Vec3::Y), shape: Shape::Sphere { radius: 0.3 } };
    world.set(box_, Collider { friction: 0.7, ..Collider::new(Shape::Compound { parts: vec![part] }) });
    world.set(box_, Mesh::new(Surface::Collider, Vec4::new(0.8, 0.1, 0.1, 1.0)));
    world.set(box_, Tags(vec!["red".to_owned(), "to grip".to_owned()]));
    let data = [
        ("flag", Datum::Flag(true)),
        ("number", Datum::Number(0.1)),
        ("text", Datum::Text("a \"b\"\nc".to_owned())),
        ("whole", Datum::Whole(-7)),
    ];
    world.set(box_, UserData(data.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()));
    let eye = world.spawn_on(box_, "eye", Pose::at(Vec3::Z));
    let lens = Lens::Perspective { fov_deg: 60.0 };
    let camera = Camera { width: 64, height: 48, lens, near: 0.05, far: 50.0, outputs: Outputs::default() };
    world.set(eye, camera);
    world.set(eye, Light { colour: Vec3::ONE, strength: 0.4, shadows: true });
    let ground = world.spawn("ground", Pose::IDENTITY);
    world.set(ground, Collider::new(Shape::HalfSpace));
    add(&mut scene, "joint_sensor", "encoders", "robot = 'arm'\nposition_noise = 0.1");
    add(&mut scene, "limits", "limits", "");
    scene
}

#[test]
fn what_is_written_is_read_again_to_the_letter() {
    let scene = full();
    let text = scene.to_text().unwrap();
    let again = load(&text).unwrap();
    assert_eq!(again.to_text().unwrap(), text);
    assert_eq!(first_difference(scene.world(), again.world()), None);
    assert_eq!(again.world().entities().next_id(), scene.world().entities().next_id());
    assert_eq!(again.world().seed(), 7);
}

#[test]
fn ids_that_are_gone_stay_gone_through_a_file() {
    let mut scene = empty();
    let [first, last] = ["a", "b"].map(|name| scene.world_mut().spawn(name, Pose::IDENTITY));
    scene.apply(downbeat_world::WorldCommand::Despawn { entity: last }).unwrap();
    let mut again = load(&scene.to_text().unwrap()).unwrap();
    assert!(again.world().entities().contains(first));
    assert!(again.world_mut().spawn("c", Pose::IDENTITY) > last);
}

proptest! {
    #[test]
    fn floats_are_written_short_and_read_exactly(bits in prop::array::uniform3(any::<u32>()), number: f64) {
        let place = Vec3::from_array(bits.map(f32::from_bits));
        if place.is_finite() && number.is_finite() {
            let mut scene = empty();
            let id = scene.world_mut().spawn("it", Pose::at(place));
            scene.world_mut().set(id, UserData([("n".to_owned(), Datum::Number(number))].into_iter().collect()));
            let text = scene.to_text().unwrap();
            let again = load(&text).unwrap();
            prop_assert_eq!(again.world().components.pose.get(id).unwrap().position.to_array().map(f32::to_bits), place.to_array().map(f32::to_bits));
            let data = again.world().components.user_data.get(id).unwrap();
            prop_assert!(matches!(data.0["n"], Datum::Number(there) if there.to_bits() == number.to_bits()));
        }
    }

    /// Text that begins like a scene reaches further in than noise does.
    #[test]
    fn no_text_makes_loading_panic(noise in "\\PC{0,80}", at in any::<prop::sample::Index>(), len in 0..40_usize) {
        let _ = load(&noise);
        let mut text = full().to_text().unwrap();
        let mut begin = at.index(text.len());
        while !text.is_char_boundary(begin) { begin -= 1; }
        let mut end = (begin + len).min(text.len());
        while !text.is_char_boundary(end) { end -= 1; }
        text.replace_range(begin..end.max(begin), &noise);
        let _ = load(&text);
    }
}

#[test]
fn tenths_are_written_as_people_write_them() {
    let text = full().to_text().unwrap();
    assert!(text.contains("position = [0.1, 0.2, 0.3]"), "{text}");
    assert!(text.contains("position_noise = 0.1\n"), "{text}");
    assert!(text.contains("friction = 0.7\n"), "{text}");
}

const HEAD: &str = "downbeat = 1\nname = \"lab\"\n";

/// Each text has a `¦` where the message must point to.
#[test]
fn every_mistake_is_named_with_its_place_and_its_cure() {
    let cases = [
        ("¦colour = 3", "unknown field `colour`, expected one of"),
        ("seed = ¦\"x\"", "invalid type: string \"x\", expected u64"),
        ("seed = ¦", "string values must be quoted"),
        ("mode = ¦'fast'", "fast"),
        ("[[runner]]\nname = 'Robot'\nrate = ¦'quick'", "quick"),
        ("[[runner]]\nname = 'Robot'\nrate = ¦'0'", "0"),
        ("[[runner]]\nname = 'A'\nrate = '50'\n[[runner]]\nname = ¦'A'\nrate = '30'", "`A`"),
        (
            "[[entity]]\nid = 'ent_1'\n[[entity]]\nid = ¦'ent_1'",
            "ent_1 is there twice; give each entity an id of its own",
        ),
        (
            "[[entity]]\nid = 'ent_2'\n[[entity]]\nid = ¦'ent_1'",
            "ent_1 stands after ent_2; entities stand in the order of their ids",
        ),
        ("[[entity]]\nid = ¦'box'", "`box` is not an entity; write `ent_` and a number"),
        ("[[entity]]\nid = 'ent_1'\n¦poze = {}", "unknown field `poze`"),
        ("[[entity]]\nid = 'ent_1'\nparent = ¦'ent_9'", "there is no ent_9"),
        (
            "[[entity]]\nid = 'ent_1'\nparent = 'ent_2'\n[[entity]]\nid = 'ent_2'\nparent = ¦'ent_1'",
            "ent_2 cannot hang on ent_1, which hangs on ent_2 itself",
        ),
        (
            "[[entity]]\nid = 'ent_1'\npose = ¦{ rotation = [0, 0, 0, 2] }",
            "a rotation must be a unit quaternion, this one has length 2",
        ),
        (
            "[[entity]]\nid = 'ent_1'\nvelocity = ¦{}",
            "ent_1 has no body, which velocity needs; set that first",
        ),
        (
            "[[entity]]\nid = 'ent_1'\nbody = { kind = 'fixed' }\njoint = ¦{ kind = { hinge = { axis = [0, 0, 1] } } }",
            "must be dynamic",
        ),
        (
            "[[entity]]\nid = 'ent_1'\nmesh = ¦{ surface = { file = { path = 'cup.obj' } } }",
            "there is no mesh folder/cup.obj; paths are looked for from the scene's folder",
        ),
        ("[[import]]\nfile = ¦'arm.xyz'", "nothing here imports `.xyz` files; known are none"),
        (
            "[[subsystem]]\nname = 'x'\nkind = ¦'magic'",
            "there is no kind of subsystem `magic`; there are `capture`, `episode`",
        ),
        (
            "[[subsystem]]\nname = 'x'\nkind = 'limits'\nrunner = ¦'Fast'",
            "there is no runner `Fast`; there are `Robot`, `Capture`",
        ),
        (
            "[[subsystem]]\nname = 'x'\nkind = 'limits'\non_shared = ['Robot', ¦'Fast']",
            "there is no runner `Fast`",
        ),
        ("[[subsystem]]\nname = 'x'\nkind = 'limits'\nphase = ¦'Lunch'", "Lunch"),
        (
            "[[subsystem]]\nname = 'x'\nkind = 'limits'\nsettings = ¦{ speed_max = -1 }",
            "subsystem `x`: `speed_max` must be above 0, not -1",
        ),
        ("[[subsystem]]\nname = 'x'\nkind = 'limits'\nsettings = ¦{ speed = 1 }", "unknown field `speed`"),
        (
            "[[subsystem]]\nname = 'x'\nkind = 'limits'\n[[subsystem]]\nname = 'x'\nkind = ¦'limits'",
            "the scene already has a subsystem `x`; choose another name",
        ),
    ];
    for (body, wanted) in cases {
        let marked = format!("{HEAD}{body}\n");
        let (before, after) = marked.split_once('¦').expect("the case has a mark");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        let message = load(&format!("{before}{after}")).err().map(|error| error.to_string());
        let message = message.unwrap_or_else(|| panic!("no mistake was found in\n{body}"));
        let place = format!("lab.toml:{line}:{column}: ");
        assert!(
            message.starts_with(&place) && message.contains(wanted),
            "wanted {place}{wanted}\nfound  {message}"
        );
    }
}

#[test]
fn a_newer_file_says_so_whatever_else_it_has() {
    for more in ["", "weather = 'fine'\n", "[[entity]]\nid = 'ent_1'\nsmell = {}\n"] {
        let error =
            load(&format!("downbeat = 9\nname = \"lab\"\n{more}")).err().expect("it is newer").to_string();
        assert_eq!(error, "lab.toml:1:12: format 9 is not known; this build reads 1 to 1, use a newer one");
    }
    let error = load("name = 'lab'\n").err().expect("it has no version").to_string();
    assert!(error.contains("missing field `downbeat`"), "{error}");
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.toml");
    let mut scene = full();
    scene.save_file(&path).unwrap();
    let first = std::fs::read_to_string(&path).unwrap();
    assert_eq!(first, scene.to_text().unwrap());
    let again = Scene::load_file(&path, Registry::builtin()).unwrap();
    assert_eq!(again.folder(), folder.path());
    // Native code cannot be written, so nothing is.
    let binding = Binding::new(RunnerId::ROBOT, Phase::Control);
    let nothing = |_: &mut World, _: &StepContext<'_>| -> Result<(), BoxError> { Ok(()) };
    scene.add_fn("own", binding, nothing).unwrap();
    assert!(matches!(scene.save_file(&path), Err(SceneFileError::Native { name }) if name == "own"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
    // A folder stands where the file should go.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    assert!(matches!(again.save_file(&taken), Err(SceneFileError::Write { .. })));
    assert!(matches!(
        again.save_file(&folder.path().join("no/where.toml")),
        Err(SceneFileError::Write { .. })
    ));
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lab.toml", "taken"], "nothing half-written is left");
    let error = Scene::load_file(&folder.path().join("none.toml"), Registry::builtin())
        .err()
        .expect("it is not there");
    assert!(matches!(error, SceneFileError::Read { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_saved_file_is_for_whom_it_was_before() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.toml");
    std::fs::write(&path, "").unwrap();
    let new = std::fs::metadata(&path).unwrap().permissions().mode();
    std::fs::remove_file(&path).unwrap();
    let scene = empty();
    scene.save_file(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode(), new, "as any new file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    scene.save_file(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

/// The file was written by hand when the format was new. It is never changed.
#[test]
fn a_file_of_the_first_version_loads_for_ever() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/world/data");
    let mut scene = Scene::load_file(&folder.join("version_1.toml"), Registry::builtin()).unwrap();
    let world = scene.world();
    assert_eq!((scene.name(), world.seed(), world.entities().len()), ("first", 42, 5));
    let runners: Vec<_> =
        scene.time().runners().map(|(_, runner)| (runner.name.clone(), runner.rate.to_string())).collect();
    assert_eq!(
        runners,
        [("Robot".to_owned(), "100 Hz".to_owned()), ("Film".to_owned(), "30000/1001 Hz".to_owned())]
    );
    let link = world.find("link").unwrap();
    assert_eq!(link.to_string(), "ent_4");
    let joint = world.components.joint.get(link).unwrap();
    let wanted = Joint {
        to: world.find("base"),
        to_frame: Pose::at(Vec3::new(0.0, 0.0, 0.1)),
        limits: Some([-1.5, 1.5]),
        ..Joint::new(JointKind::Hinge { axis: Vec3::Y })
    };
    assert_eq!(Joint { motor: None, ..*joint }, wanted);
    assert_eq!(joint.motor.unwrap().mode, MotorMode::Effort);
    assert_eq!(
        world.components.collider.get(link).unwrap().shape,
        Shape::Capsule { half_length: 0.1, radius: 0.03 }
    );
    assert_eq!(
        world.components.name.get(world.entities().iter().last().unwrap()),
        Some(&Name("arm".to_owned()))
    );
    assert_eq!(world.entities().next_id().to_string(), "ent_12");
    assert_eq!(scene.subsystems().count(), 3);
    scene.run_for(std::time::Duration::from_secs(1)).unwrap();
    assert!(scene.world().events.iter().any(|event| matches!(event, Event::EpisodeEnded { .. })));
}
