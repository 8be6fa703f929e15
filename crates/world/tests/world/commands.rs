//! Commands: every way to be refused, each without a trace, and what the others do.

use downbeat_time::{Binding, Edit, Phase, Rate, RunnerId};
use downbeat_world::{
    Articulation, Body, BodyKind, CommandError, Component, ComponentKind, DEPTH_MAX, ENTITIES_MAX, EntityId,
    Event, ExternalForce, Joint, JointKind, JointState, MotorMode, MotorTarget, Name, Parent, Pose,
    REQUESTS_MAX, Robot, Scene, Space, Velocity, WorldCommand,
};
use glam::{Quat, Vec3};

use crate::common::{arm, empty};

const HINGE: JointKind = JointKind::Hinge { axis: Vec3::Y };

fn set(entity: EntityId, component: impl Into<Component>) -> WorldCommand {
    WorldCommand::Set { entity, component: component.into() }
}

fn remove(entity: EntityId, kind: ComponentKind) -> WorldCommand {
    WorldCommand::Remove { entity, kind }
}

/// Applies a command that must be refused, and compares every byte of the scene.
fn refused(scene: &mut Scene, command: WorldCommand) -> CommandError {
    let before = scene.save().expect("it can be saved");
    let hashes = scene.state_hashes();
    let shown = format!("{command:?}");
    let error = scene.apply(command).expect_err(&shown);
    assert_eq!(scene.state_hashes(), hashes, "{shown}");
    assert!(scene.save().expect("it can be saved") == before, "{shown}");
    error
}

/// A base that does not move, and two bodies that hang on one another by hinges.
fn jointed() -> (Scene, [EntityId; 3]) {
    let mut scene = empty();
    let world = scene.world_mut();
    let [base, upper, lower] = ["base", "upper", "lower"].map(|name| world.spawn(name, Pose::IDENTITY));
    world.set(base, Body { kind: BodyKind::Fixed, ..Body::default() });
    world.set(upper, Body::default());
    world.set(lower, Body::default());
    for (id, to) in [(upper, base), (lower, upper)] {
        scene.apply(set(id, Joint { to: Some(to), ..Joint::new(HINGE) })).expect("they form a tree");
    }
    (scene, [base, upper, lower])
}

#[test]
fn entities_that_are_not_there_are_refused_by_every_command() {
    let (mut scene, [_, upper, _]) = jointed();
    let nobody = EntityId::new(99);
    let commands = [
        WorldCommand::Despawn { entity: nobody },
        set(nobody, Pose::IDENTITY),
        remove(nobody, ComponentKind::Pose),
        WorldCommand::Push { entity: nobody, linear: Vec3::X, angular: Vec3::ZERO },
        WorldCommand::Drive { robot: nobody, targets: vec![] },
        WorldCommand::Spawn { components: vec![Parent(nobody).into()] },
        set(upper, Joint { to: Some(nobody), ..Joint::new(HINGE) }),
        set(upper, Robot { tools: vec![nobody], ..Robot::default() }),
    ];
    for command in commands {
        let error = refused(&mut scene, command);
        assert!(matches!(error, CommandError::UnknownEntity { entity } if entity == nobody), "{error}");
    }
}

#[test]
fn unsound_components_are_refused_with_a_reason() {
    let (mut scene, [_, upper, _]) = jointed();
    let (robot, ..) = arm(scene.world_mut(), MotorMode::Position);
    let cases = [
        (set(upper, Pose::at(Vec3::X * f32::NAN)), "a position must be finite"),
        (set(upper, Pose::turned(Quat::from_xyzw(0.0, 0.0, 0.0, 2.0))), "unit quaternion"),
        (set(upper, Velocity { linear: Vec3::Y * f32::INFINITY, ..Velocity::default() }), "finite"),
        (set(upper, Name(String::new())), "a name must not be empty"),
        (set(upper, Joint { limits: Some([1.0, -1.0]), ..Joint::new(HINGE) }), "from low to high"),
        (set(upper, Joint::new(JointKind::Slide { axis: Vec3::ZERO })), "an axis must have a direction"),
        (
            WorldCommand::Push { entity: upper, linear: Vec3::X * f32::NAN, angular: Vec3::X },
            "a push must be finite",
        ),
        (WorldCommand::Drive { robot, targets: vec![1.0] }, "it has 6 motors, but 1 targets were given"),
        (WorldCommand::Drive { robot, targets: vec![f32::NAN; 6] }, "a target must be finite"),
        (WorldCommand::Spawn { components: vec![Pose::at(Vec3::X * f32::NAN).into()] }, "finite"),
    ];
    for (command, wanted) in cases {
        let error = refused(&mut scene, command);
        assert!(matches!(error, CommandError::Unsound { .. }), "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn a_joint_in_reduced_coordinates_has_a_dynamic_body() {
    let (mut scene, [base, upper, _]) = jointed();
    let kinematic = Body { kind: BodyKind::Kinematic, ..Body::default() };
    let fixed = Body { kind: BodyKind::Fixed, ..Body::default() };
    let reduced = Joint::new(HINGE);
    let commands = [
        set(upper, kinematic),
        set(upper, fixed),
        set(base, reduced),
        WorldCommand::Spawn { components: vec![reduced.into(), kinematic.into()] },
        WorldCommand::Spawn { components: vec![fixed.into(), reduced.into()] },
    ];
    for command in commands {
        let error = refused(&mut scene, command);
        assert!(error.to_string().contains("so that must be dynamic"), "{error}");
    }
    let impulse = Joint { articulation: Articulation::Impulse, ..reduced };
    scene.apply(set(base, impulse)).unwrap();
    assert!(refused(&mut scene, set(base, reduced)).to_string().contains("dynamic"));
    scene.apply(set(base, Joint::new(JointKind::Free))).unwrap();
    scene.apply(set(upper, impulse)).unwrap();
    scene.apply(set(upper, kinematic)).unwrap();
    scene.apply(WorldCommand::Spawn { components: vec![Body::default().into(), reduced.into()] }).unwrap();
}

#[test]
fn a_joint_holds_two_bodies_of_one_space() {
    let (mut scene, [base, upper, lower]) = jointed();
    let plane = Body { space: Space::Plane, ..Body::default() };
    let flat = scene.apply(WorldCommand::Spawn { components: vec![plane.into()] }).unwrap().unwrap();
    let across = Joint { to: Some(base), ..Joint::new(HINGE) };
    let commands = [
        set(flat, across),
        set(upper, plane),
        set(lower, plane),
        set(base, Body { kind: BodyKind::Fixed, ..plane }),
        WorldCommand::Spawn { components: vec![plane.into(), across.into()] },
    ];
    for command in commands {
        let error = refused(&mut scene, command);
        assert!(error.to_string().contains("another space"), "{error}");
    }
    scene.apply(set(flat, Body::default())).unwrap();
    scene.apply(set(flat, across)).unwrap();
}

#[test]
fn what_a_component_needs_must_be_there_and_stay() {
    let (mut scene, [base, upper, lower]) = jointed();
    let bare = scene.world_mut().spawn("bare", Pose::IDENTITY);
    let missing = [
        set(bare, Velocity::default()),
        set(bare, ExternalForce::default()),
        set(bare, Joint::new(HINGE)),
        set(bare, JointState::default()),
        set(base, MotorTarget::default()),
        set(upper, Joint { to: Some(bare), ..Joint::new(HINGE) }),
        set(bare, Robot { joints: vec![base], ..Robot::default() }),
        remove(bare, ComponentKind::Body),
        WorldCommand::Push { entity: bare, linear: Vec3::X, angular: Vec3::ZERO },
        WorldCommand::Drive { robot: bare, targets: vec![] },
        WorldCommand::Spawn { components: vec![Velocity::default().into()] },
    ];
    for command in missing {
        let error = refused(&mut scene, command);
        assert!(matches!(error, CommandError::Missing { .. }), "{error}");
    }
    scene.apply(set(lower, JointState::default())).unwrap();
    scene.apply(set(base, Velocity::default())).unwrap();
    let needed = [
        remove(lower, ComponentKind::Joint),
        remove(lower, ComponentKind::Body),
        remove(base, ComponentKind::Body),
        remove(upper, ComponentKind::Pose),
    ];
    for command in needed {
        let error = refused(&mut scene, command);
        assert!(matches!(error, CommandError::Needed { .. }), "{error}");
    }
    scene.apply(remove(base, ComponentKind::Velocity)).unwrap();
    let error = refused(&mut scene, remove(base, ComponentKind::Body));
    assert!(matches!(error, CommandError::InUse { by, .. } if by == upper), "{error}");
    scene.apply(remove(lower, ComponentKind::JointState)).unwrap();
    scene.apply(remove(lower, ComponentKind::Joint)).unwrap();
    scene.apply(remove(lower, ComponentKind::Body)).unwrap();
}

#[test]
fn what_others_name_may_not_go() {
    let (mut scene, [base, upper, lower]) = jointed();
    let robot = scene.world_mut().spawn("robot", Pose::IDENTITY);
    scene.apply(set(robot, Robot { joints: vec![lower], ..Robot::default() })).unwrap();
    for (entity, names) in [(base, upper), (upper, lower), (lower, robot)] {
        let error = refused(&mut scene, WorldCommand::Despawn { entity });
        assert!(matches!(error, CommandError::InUse { by, .. } if by == names), "{error}");
    }
    let error = refused(&mut scene, remove(lower, ComponentKind::Joint));
    assert!(matches!(error, CommandError::InUse { by, .. } if by == robot), "{error}");
    for entity in [robot, lower, upper, base] {
        scene.apply(WorldCommand::Despawn { entity }).unwrap();
    }
    assert!(scene.world().entities().is_empty());
}

#[test]
fn a_family_that_names_only_itself_may_go_together() {
    let (mut scene, [base, upper, lower]) = jointed();
    scene.apply(set(upper, Parent(base))).unwrap();
    scene.apply(set(lower, Parent(upper))).unwrap();
    scene.apply(WorldCommand::Push { entity: lower, linear: Vec3::X, angular: Vec3::ZERO }).unwrap();
    scene.apply(WorldCommand::Despawn { entity: base }).unwrap();
    assert!(scene.world().entities().is_empty() && scene.world().impulses.is_empty());
    assert!(ComponentKind::ALL.iter().all(|kind| !scene.world().components.contains(lower, *kind)));
}

#[test]
fn two_of_a_kind_cycles_and_depths_are_refused() {
    let (mut scene, [base, upper, lower]) = jointed();
    let twice = WorldCommand::Spawn { components: vec![Pose::IDENTITY.into(), Pose::IDENTITY.into()] };
    assert!(matches!(refused(&mut scene, twice), CommandError::Twice { component: "pose" }));
    scene.apply(set(lower, Parent(upper))).unwrap();
    scene.apply(set(upper, Parent(base))).unwrap();
    let cycles = [
        set(base, Parent(base)),
        set(base, Parent(lower)),
        set(upper, Joint { to: Some(lower), ..Joint::new(HINGE) }),
        set(upper, Joint { to: Some(upper), ..Joint::new(HINGE) }),
        set(upper, Joint { to: Some(upper), articulation: Articulation::Impulse, ..Joint::new(HINGE) }),
    ];
    for command in cycles {
        let error = refused(&mut scene, command);
        assert!(matches!(error, CommandError::Cycle { .. }), "{error}");
    }
    let mut below = lower;
    for _ in 3..DEPTH_MAX {
        below = scene.apply(WorldCommand::Spawn { components: vec![Parent(below).into()] }).unwrap().unwrap();
    }
    let deeper = WorldCommand::Spawn { components: vec![Parent(below).into()] };
    let last = scene.apply(deeper).unwrap().unwrap();
    let error = refused(&mut scene, WorldCommand::Spawn { components: vec![Parent(last).into()] });
    assert!(matches!(error, CommandError::TooDeep { .. }), "{error}");
}

/// Two hierarchies of allowed depth may be hung together; what comes of it must still go through a snapshot.
#[test]
fn a_deep_hierarchy_can_be_restored() {
    let mut scene = empty();
    let chain = |scene: &mut Scene| {
        let mut ids = vec![scene.world_mut().spawn("top", Pose::at(Vec3::X))];
        for _ in 0..200 {
            let below = ids[ids.len() - 1];
            ids.push(scene.world_mut().spawn_on(below, "next", Pose::at(Vec3::X)));
        }
        ids
    };
    let (first, second) = (chain(&mut scene), chain(&mut scene));
    scene.apply(set(second[0], Parent(first[200]))).unwrap();
    let saved = scene.save().unwrap();
    scene.restore(&saved).unwrap();
    let deepest = scene.world().world_pose(second[200]);
    assert!((deepest.position.x - 402.0).abs() < 1e-3, "{deepest:?}");
}

#[test]
fn settings_and_time_are_checked_by_whom_they_concern() {
    let mut scene = empty();
    scene.add("limits", "limits", &toml::Table::new(), None).unwrap();
    let configure = |subsystem: &str, settings: &str| WorldCommand::Configure {
        subsystem: subsystem.to_owned(),
        settings: settings.to_owned(),
    };
    let error = refused(&mut scene, configure("limit", "speed_max = 1"));
    assert_eq!(error.to_string(), "there is no subsystem `limit`; there are `limits`");
    for settings in ["speed_max = -1", "speed = 1", "speed_max = ", "speed_max = 'fast'"] {
        let error = refused(&mut scene, configure("limits", settings));
        assert!(matches!(error, CommandError::Settings { .. }), "{error}");
    }
    let rate = Edit::SetRate { runner: RunnerId::new(7).unwrap(), rate: Rate::hz(10).unwrap() };
    let error = refused(&mut scene, WorldCommand::Time(rate));
    assert!(matches!(error, CommandError::Time(_)), "{error}");
    scene.apply(configure("limits", "speed_max = 12")).unwrap();
    assert!(scene.to_text().unwrap().contains("speed_max = 12.0\n"));
    assert!(scene.to_text().unwrap().contains("position_max = 100000.0\n"), "the others stay");
}

#[test]
fn a_world_has_room_for_so_many_and_no_more() {
    let mut scene = empty();
    for _ in 0..ENTITIES_MAX {
        scene.apply(WorldCommand::Spawn { components: Vec::new() }).unwrap();
    }
    let before = scene.world().entities().version();
    let error = scene.apply(WorldCommand::Spawn { components: Vec::new() }).unwrap_err();
    assert!(matches!(error, CommandError::TooManyEntities), "{error}");
    assert_eq!(scene.world().entities().version(), before);
}

#[test]
fn pushes_wait_for_physics_up_to_a_limit() {
    let (mut scene, [_, upper, _]) = jointed();
    let push = WorldCommand::Push { entity: upper, linear: Vec3::X, angular: Vec3::Z };
    for _ in 0..1 << 16 {
        scene.apply(push.clone()).unwrap();
    }
    assert!(matches!(scene.apply(push).unwrap_err(), CommandError::TooManyRequests));
    assert_eq!(scene.world().impulses.len(), 1 << 16);
}

#[test]
fn a_drive_goes_to_what_each_motor_asks_for() {
    for mode in [MotorMode::Position, MotorMode::Velocity, MotorMode::Effort] {
        let mut scene = empty();
        let (robot, joints, _) = arm(scene.world_mut(), mode);
        let targets = vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        scene.apply(WorldCommand::Drive { robot, targets }).unwrap();
        let there = scene.world().components.motor_target.get(joints[2]).copied().unwrap();
        let wanted = match mode {
            MotorMode::Position => MotorTarget { position: 0.3, ..MotorTarget::default() },
            MotorMode::Velocity => MotorTarget { velocity: 0.3, ..MotorTarget::default() },
            MotorMode::Effort => MotorTarget { effort: 0.3, ..MotorTarget::default() },
        };
        assert_eq!(there, wanted);
    }
}

#[test]
fn requests_of_a_step_are_done_at_the_next_one_or_become_events() {
    let mut scene = empty();
    let victim = scene.world_mut().spawn("victim", Pose::IDENTITY);
    let control = Binding::new(RunnerId::ROBOT, Phase::Control);
    scene
        .add_fn("ask", control, move |world, context| {
            if context.step_index() == 1 {
                world.request(WorldCommand::Spawn { components: vec![Name("new".to_owned()).into()] })?;
                assert!(world.find("new").is_none(), "not in this step");
                world.request(WorldCommand::Despawn { entity: victim })?;
                // It can be done now, but not any more when its turn comes.
                world.request(WorldCommand::Set { entity: victim, component: Pose::IDENTITY.into() })?;
                let unsound = WorldCommand::Despawn { entity: EntityId::new(77) };
                assert!(matches!(world.request(unsound), Err(CommandError::UnknownEntity { .. })));
            }
            Ok(())
        })
        .unwrap();
    scene.run_steps(1).unwrap();
    assert!(scene.world().entities().contains(victim));
    // The snapshot carries what was asked for.
    let saved = scene.save().unwrap();
    scene.restore(&saved).unwrap();
    scene.run_for(std::time::Duration::from_millis(20)).unwrap();
    assert!(!scene.world().entities().contains(victim));
    assert_eq!(scene.world().find("new"), Some(EntityId::new(2)));
    let events: Vec<_> = scene.world().events.iter().collect();
    assert!(
        matches!(&events[..], [Event::Refused { reason }] if reason.contains("there is no ent_1")),
        "{events:?}"
    );
    scene.run_for(std::time::Duration::from_millis(20)).unwrap();
    assert_eq!(scene.world().events.iter().count(), 0, "events live for one step");
}

#[test]
fn requests_have_a_limit_and_are_the_worlds_alone() {
    let mut scene = empty();
    let world = scene.world_mut();
    let time = WorldCommand::Time(Edit::Pause);
    assert!(matches!(world.request(time), Err(CommandError::NotTheWorlds)));
    let configure = WorldCommand::Configure { subsystem: "x".to_owned(), settings: String::new() };
    assert!(matches!(world.request(configure), Err(CommandError::NotTheWorlds)));
    for _ in 0..REQUESTS_MAX {
        world.request(WorldCommand::Spawn { components: Vec::new() }).unwrap();
    }
    let one_more = world.request(WorldCommand::Spawn { components: Vec::new() });
    assert!(matches!(one_more, Err(CommandError::TooManyRequests)));
}
