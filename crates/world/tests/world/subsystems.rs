//! The built-in subsystems: what they publish, drive, refuse and say, and that each goes through a snapshot.

use crate::common::{add, add_unit_masses, arm, empty, settings};
use downbeat_time::{Binding, Phase, RunnerId, RunnerSet, SimTime};
use downbeat_world::subsystems::{Capture, Episode};
use downbeat_world::{
    Body, Event, JointState, MotorMode, Pose, Registry, Sampling, Scene, Velocity, WorldCommand,
};
use glam::{Quat, Vec3};

fn read(scene: &Scene, signal: &str, sampling: Sampling) -> Option<Vec<f32>> {
    let (key, width) = scene.world().signals.find(signal)?;
    let mut numbers = vec![0.0; width];
    scene.world().signals.read_array(key, sampling, scene.world().now(), &mut numbers)?;
    Some(numbers)
}

#[test]
fn a_joint_sensor_publishes_in_the_robots_order_with_steps() {
    let mut scene = empty();
    let (_, joints, _) = arm(scene.world_mut(), MotorMode::Effort);
    for (at, joint) in joints.iter().enumerate() {
        let mut state = JointState::default();
        (state.position[0], state.velocity[0]) = (0.11 * at as f32, 0.5 + at as f32);
        scene.world_mut().set(*joint, state);
    }
    add(&mut scene, "joint_sensor", "encoders", "robot = 'arm'\nposition_resolution = 0.25");
    scene.run_steps(2).unwrap();
    assert_eq!(read(&scene, "encoders/position", Sampling::Held).unwrap(), [0.0, 0.0, 0.25, 0.25, 0.5, 0.5]);
    assert_eq!(read(&scene, "encoders/velocity", Sampling::Held).unwrap(), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
}

#[test]
fn noise_has_its_deviation_and_is_the_same_for_a_seed_and_a_name() {
    let deviations = |name: &str| {
        let mut scene = empty();
        let (_, joints, _) = arm(scene.world_mut(), MotorMode::Effort);
        let text = format!("joints = ['{}']\nposition_noise = 0.5", joints[0]);
        scene.add("joint_sensor", name, &settings(&text), None).unwrap();
        let capture = format!("signals = ['{name}/position']\nframes_max = 4000");
        let export = Binding::new(RunnerId::ROBOT, Phase::Export);
        scene.add("capture", "tape", &settings(&capture), Some(export)).unwrap();
        scene.run_for(std::time::Duration::from_secs(80)).unwrap();
        let tape = scene.subsystem::<Capture>("tape").unwrap();
        tape.frames().map(|frame| frame.numbers[0]).collect::<Vec<_>>()
    };
    let first = deviations("a");
    let variance = first.iter().map(|number| number * number).sum::<f32>() / first.len() as f32;
    assert!(first.len() == 4000 && (variance.sqrt() - 0.5).abs() < 0.02, "{variance}");
    assert_eq!(first, deviations("a"));
    assert_ne!(first, deviations("b"));
}

#[test]
fn a_pose_sensor_sees_the_world_pose() {
    let mut scene = empty();
    let table = scene.world_mut().spawn("table", Pose::at(Vec3::Z));
    scene.world_mut().spawn_on(
        table,
        "cup",
        Pose { position: Vec3::X, rotation: Quat::from_rotation_z(0.5) },
    );
    add(&mut scene, "pose_sensor", "eye", "entity = 'cup'");
    scene.run_steps(2).unwrap();
    let seen = read(&scene, "eye/pose", Sampling::Held).unwrap();
    let turn = Quat::from_rotation_z(0.5).to_array();
    assert_eq!(seen[..3], [1.0, 0.0, 1.0]);
    assert!(seen[3..].iter().zip(turn).all(|(a, b)| (a - b).abs() < 1e-6), "{seen:?}");
}

/// Robot steps every 20 ms and Capture every 33.3 ms: they meet every 100 ms.
#[test]
fn a_sync_point_latches_what_was_published_in_its_own_step() {
    let mut scene = empty();
    let counter = scene.world_mut().spawn("counter", Pose::IDENTITY);
    let count = move |world: &mut downbeat_world::World, context: &downbeat_time::StepContext<'_>| {
        let millis = context.now().as_nanos() as f32 * 1e-6;
        world.set(counter, Pose::at(Vec3::X * millis));
        Ok(())
    };
    scene
        .add_fn("count", Binding::new(RunnerId::ROBOT, Phase::Acquisition).with_priority(-1), count)
        .unwrap();
    let mut shared = Binding::new(RunnerId::ROBOT, Phase::Acquisition).with_priority(1000);
    shared.on_shared = RunnerSet::EMPTY.with(RunnerId::ROBOT).with(RunnerId::CAPTURE);
    scene.add("sync_point", "sync", &settings(""), Some(shared)).unwrap();
    add(&mut scene, "pose_sensor", "eye", "entity = 'counter'");
    scene.step_to(SimTime::from_nanos(99_000_000)).unwrap();
    assert_eq!(read(&scene, "eye/pose", Sampling::Latched), None, "the runners have not met yet");
    scene.step_to(SimTime::from_nanos(170_000_000)).unwrap();
    assert_eq!(read(&scene, "eye/pose", Sampling::Held).unwrap()[0].to_bits(), 160.0_f32.to_bits());
    assert_eq!(read(&scene, "eye/pose", Sampling::Latched).unwrap()[0].to_bits(), 100.0_f32.to_bits());
}

fn controlled(text: &str) -> (Scene, Vec<downbeat_world::EntityId>) {
    let mut scene = empty();
    let (_, joints, _) = arm(scene.world_mut(), MotorMode::Effort);
    add(&mut scene, "joint_control", "control", text);
    add_unit_masses(&mut scene);
    (scene, joints)
}

#[test]
fn a_controller_brings_unit_masses_to_their_targets() {
    let (mut scene, joints) = controlled(
        "robot = 'arm'\nkp = 25.0\nkd = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0]\ntargets = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]",
    );
    scene.run_for(std::time::Duration::from_secs(4)).unwrap();
    for (at, joint) in joints.iter().enumerate() {
        let position = scene.world().components.joint_state.get(*joint).unwrap().position[0];
        assert!((position - 0.1 * (at + 1) as f32).abs() < 1e-3, "{at}: {position}");
    }
}

#[test]
fn a_setpoint_that_is_published_counts_before_the_settings() {
    let (mut scene, joints) = controlled(
        "robot = 'arm'\nmode = 'velocity'\nkp = 5.0\nsetpoint = 'wish'\ntargets = [0, 0, 0, 0, 0, 0]",
    );
    scene.run_steps(5).unwrap();
    let effort = |scene: &Scene| scene.world().components.motor_target.get(joints[2]).unwrap().effort;
    assert_eq!(effort(&scene).to_bits(), 0.0_f32.to_bits());
    let wish = scene.world_mut().signals.declare_array("wish", 6).unwrap();
    scene.world_mut().signals.publish_array(wish, SimTime::from_nanos(1), &[0.5; 6]);
    scene.run_for(std::time::Duration::from_secs(3)).unwrap();
    let speed = scene.world().components.joint_state.get(joints[2]).unwrap().velocity[0];
    assert!((speed - 0.5).abs() < 1e-3, "{speed}");
}

#[test]
fn efforts_keep_their_limit_and_the_integral_does_not_wind_up() {
    let (mut scene, joints) = controlled(
        "robot = 'arm'\nkp = 1.0\nki = 10.0\neffort_max = 2.0\ntargets = [100, 100, 100, 100, 100, 100]",
    );
    let target = |scene: &Scene| scene.world().components.motor_target.get(joints[0]).unwrap().effort;
    for _ in 0..50 {
        scene.run_steps(1).unwrap();
        assert!(target(&scene) <= 2.0);
    }
    assert_eq!(target(&scene).to_bits(), 2.0_f32.to_bits());
    // The goal is now behind: a wound-up integral would go on pushing forward for seconds.
    let change = "targets = [-100, -100, -100, -100, -100, -100]";
    let command = WorldCommand::Configure { subsystem: "control".to_owned(), settings: change.to_owned() };
    scene.apply(command).unwrap();
    scene.run_steps(3).unwrap();
    assert_eq!(target(&scene).to_bits(), (-2.0_f32).to_bits());
}

#[test]
fn a_controller_reads_a_sensor_and_waits_for_it() {
    let mut scene = empty();
    let (_, joints, _) = arm(scene.world_mut(), MotorMode::Effort);
    let text = "robot = 'arm'\nkp = 1.0\nsensor = 'encoders'\ntargets = [1, 1, 1, 1, 1, 1]";
    add(&mut scene, "joint_control", "control", text);
    scene.run_steps(3).unwrap();
    let effort = |scene: &Scene| scene.world().components.motor_target.get(joints[1]).unwrap().effort;
    assert_eq!(effort(&scene).to_bits(), 0.0_f32.to_bits(), "nothing was measured, so nothing is pushed");
    add(&mut scene, "joint_sensor", "encoders", "robot = 'arm'\nposition_resolution = 0.5");
    let mut state = JointState::default();
    state.position[0] = 0.4;
    scene.world_mut().set(joints[1], state);
    scene.run_steps(2).unwrap();
    assert_eq!(effort(&scene).to_bits(), 0.5_f32.to_bits(), "0.4 is measured as 0.5");
}

#[test]
fn keyframes_pass_through_their_keys_smoothly() {
    let mut scene = empty();
    let (_, joints, _) = arm(scene.world_mut(), MotorMode::Position);
    let text = "robot = 'arm'\nrepeat = true\nkeys = [{ at = 0, targets = [0, 0, 0, 0, 0, 0] }, \
                { at = 1, keyframe = 'home' }, { at = 2, targets = [0, 0, 0, 0, 0, 0] }]";
    add(&mut scene, "keyframes", "dance", text);
    let target = |scene: &Scene| *scene.world().components.motor_target.get(joints[5]).unwrap();
    let at = |scene: &mut Scene, millis: u64| {
        scene.step_to(SimTime::from_nanos(millis * 1_000_000)).unwrap();
        target(scene)
    };
    assert!((at(&mut scene, 500).position - 0.3).abs() < 1e-6);
    assert!((target(&scene).velocity - 0.6 * 1.875).abs() < 1e-5, "the curve's highest speed");
    let there = at(&mut scene, 1000);
    assert!((there.position - 0.6).abs() < 1e-6 && there.velocity.abs() < 1e-6);
    assert!((at(&mut scene, 2500).position - 0.3).abs() < 1e-6, "it has begun again");
}

#[test]
fn a_tool_follows_an_entity_no_faster_than_allowed() {
    let mut scene = empty();
    let (_, joints, tool) = arm(scene.world_mut(), MotorMode::Position);
    let chain = downbeat_world::Chain::to_tool(&scene.world().components, tool).unwrap();
    for joint in &joints {
        let target = downbeat_world::MotorTarget { position: 0.3, ..Default::default() };
        scene.world_mut().set(*joint, target);
    }
    let goal = scene.world_mut().spawn("goal", chain.forward(&[0.5, 0.6, 0.4, 0.2, 0.5, 0.1]));
    add(&mut scene, "ik", "follow", "tool = 'tool'\ntarget = 'goal'\nspeed_max = 0.5");
    let positions = |scene: &Scene| -> Vec<f32> {
        let targets = &scene.world().components.motor_target;
        joints.iter().map(|joint| targets.get(*joint).unwrap().position).collect()
    };
    let mut before = positions(&scene);
    for _ in 0..200 {
        scene.run_steps(1).unwrap();
        let now = positions(&scene);
        let fastest = now.iter().zip(&before).map(|(now, before)| (now - before).abs()).fold(0.0, f32::max);
        assert!(fastest <= 0.5 * 0.02 + 1e-6, "{fastest}");
        before = now;
    }
    let reached = chain.forward(&before);
    let wanted = scene.world().world_pose(goal);
    assert!((reached.position - wanted.position).length() < 1e-3, "{reached:?} is not {wanted:?}");
    assert!(reached.rotation.angle_between(wanted.rotation) < 1e-2);
    assert!(read(&scene, "follow/error", Sampling::Held).unwrap()[0] < 1e-3);
}

fn with_limits(text: &str) -> (Scene, downbeat_world::EntityId) {
    let mut scene = empty();
    let ball = scene.world_mut().spawn("ball", Pose::IDENTITY);
    scene.world_mut().set(ball, Body::default());
    scene.world_mut().set(ball, Velocity::default());
    add(&mut scene, "limits", "limits", text);
    (scene, ball)
}

#[test]
fn what_cannot_be_simulated_stops_the_scene_and_is_named() {
    let cases: [(Pose, Velocity, &str); 4] = [
        (Pose::at(Vec3::X * f32::NAN), Velocity::default(), "a position must be finite"),
        (Pose::at(Vec3::X * 11.0), Velocity::default(), "it is 11 m from its origin, and 10 is allowed"),
        (Pose::IDENTITY, Velocity { linear: Vec3::X * 3.5, angular: Vec3::ZERO }, "it moves with 3.5 m/s"),
        (Pose::IDENTITY, Velocity { linear: Vec3::ZERO, angular: Vec3::X * f32::INFINITY }, "must be finite"),
    ];
    for (pose, velocity, wanted) in cases {
        let (mut scene, ball) = with_limits("position_max = 10\nspeed_max = 3");
        scene.run_steps(2).unwrap();
        scene.world_mut().set(ball, pose);
        scene.world_mut().set(ball, velocity);
        let error = scene.run_steps(2).unwrap_err().to_string();
        assert!(error.contains("ent_1 `ball` cannot go on") && error.contains(wanted), "{error}");
        assert!(scene.time().is_paused());
    }
}

#[test]
fn leaving_the_workspace_or_a_joints_limits_is_an_event_while_it_lasts() {
    let (mut scene, ball) =
        with_limits("joint_tolerance = 0.1\nworkspace = { low = [-1, -1, -1], high = [1, 1, 1] }");
    let (_, joints, _) = arm(scene.world_mut(), MotorMode::Effort);
    let violated = |scene: &Scene| -> Vec<Option<downbeat_world::EntityId>> {
        let events = scene.world().events.iter();
        events
            .filter_map(|event| match event {
                Event::Violated { check, entity, .. } if check == "limits" => Some(*entity),
                _ => None,
            })
            .collect()
    };
    scene.run_steps(1).unwrap();
    assert!(violated(&scene).is_empty());
    scene.world_mut().set(ball, Pose::at(Vec3::Y * 2.0));
    let mut state = JointState::default();
    state.position[0] = 2.85;
    scene.world_mut().set(joints[0], state);
    state.position[0] = -2.95;
    scene.world_mut().set(joints[1], state);
    for _ in 0..2 {
        scene.step_to(SimTime::from_nanos(scene.time().now().as_nanos() + 20_000_000)).unwrap();
    }
    scene.step_to(SimTime::from_nanos(100_000_000)).unwrap();
    assert_eq!(violated(&scene), [Some(joints[1]), Some(ball)]);
    scene.world_mut().set(ball, Pose::IDENTITY);
    scene.world_mut().set(joints[1], JointState::default());
    scene.step_to(SimTime::from_nanos(200_000_000)).unwrap();
    assert!(violated(&scene).is_empty());
}

#[test]
fn an_episode_ends_once_by_the_first_term_that_holds() {
    let cases = [
        ("time_limit = 0.1", Pose::IDENTITY, ("time_limit", false)),
        (
            "time_limit = 9\nterms = [{ name = 'fell', entity = 'ball', condition = { below = -1 } }]",
            Pose::at(Vec3::Z * -2.0),
            ("fell", true),
        ),
        (
            "terms = [{ name = 'left', entity = 'ball', condition = { outside = { low = [-1, -1, -1], high = [1, 1, 1] } } }]",
            Pose::at(Vec3::X * 2.0),
            ("left", true),
        ),
        (
            "terms = [{ name = 'home', entity = 'ball', condition = { near = { target = 'goal', distance = 0.5 } } }]",
            Pose::at(Vec3::new(0.0, 3.0, 0.4)),
            ("home", true),
        ),
    ];
    for (text, then, (check, terminated)) in cases {
        let mut scene = empty();
        let ball = scene.world_mut().spawn("ball", Pose::IDENTITY);
        scene.world_mut().spawn("goal", Pose::at(Vec3::Y * 3.0));
        add(&mut scene, "episode", "episode", &format!("pause = true\n{text}"));
        let report = scene.step_to(SimTime::from_nanos(60_000_000)).unwrap();
        assert!(report.steps == 4 && !scene.subsystem::<Episode>("episode").unwrap().has_ended(), "{text}");
        scene.world_mut().set(ball, then);
        scene.step_to(SimTime::from_nanos(1_000_000_000)).unwrap();
        let wanted = Event::EpisodeEnded { check: check.to_owned(), terminated };
        assert!(scene.world().events.iter().any(|event| *event == wanted), "{text}");
        assert!(scene.time().is_paused() && scene.time().now().as_nanos() <= 100_000_000, "{text}");
        scene.run_for(std::time::Duration::from_secs(1)).unwrap();
        assert_eq!(scene.world().events.iter().count(), 0, "it is said once: {text}");
    }
}

#[test]
fn a_recorder_keeps_the_last_frames_and_says_where_things_stand_in_them() {
    let mut scene = empty();
    let (_, joints, _) = arm(scene.world_mut(), MotorMode::Effort);
    let mut state = JointState::default();
    (state.position[0], state.velocity[0]) = (0.5, 0.25);
    scene.world_mut().set(joints[3], state);
    let never = scene.world_mut().signals.declare::<Vec3>("never");
    assert!(never.is_ok());
    let text = "signals = ['never']\nposes = ['tool']\nrobots = ['arm']\nframes_max = 3";
    add(&mut scene, "capture", "tape", text);
    scene.run_for(std::time::Duration::from_secs(1)).unwrap();
    let tape = scene.subsystem::<Capture>("tape").unwrap();
    assert_eq!((tape.recorded(), tape.frames().len()), (30, 3));
    let times: Vec<u64> = tape.frames().map(|frame| frame.at.as_nanos()).collect();
    assert_eq!(times, [933_333_333, 966_666_666, 1_000_000_000]);
    let names: Vec<_> =
        tape.channels().iter().map(|channel| (channel.name.as_str(), channel.width)).collect();
    assert_eq!(names, [("never", 3), ("tool/pose", 7), ("arm/position", 6), ("arm/velocity", 6)]);
    let last = tape.frames().next_back().unwrap();
    assert!(tape.numbers(last, "never").unwrap().iter().all(|number| number.is_nan()));
    assert_eq!(tape.numbers(last, "arm/position").unwrap(), [0.0, 0.0, 0.0, 0.5, 0.0, 0.0]);
    assert_eq!(tape.numbers(last, "arm/velocity").unwrap(), [0.0, 0.0, 0.0, 0.25, 0.0, 0.0]);
    assert_eq!(tape.numbers(last, "arm/effort"), None);
}

#[test]
fn wrong_settings_are_refused_with_their_cure_and_leave_no_trace() {
    let cases = [
        ("joint_sensor", "robot = 'leg'", "there is no robot `leg`; there are `arm`"),
        ("joint_sensor", "", "give either `robot` or `joints`"),
        ("joint_sensor", "joints = ['tool']", "ent_7 has no hinge or slide"),
        ("joint_sensor", "robot = 'arm'\nposition_noise = -1", "`position_noise` must be 0 or more, not -1"),
        ("joint_sensor", "robot = 'arm'\nnoise = 1", "unknown field `noise`"),
        ("pose_sensor", "entity = 'twin'", "ent_9 and ent_10 are both called `twin`; name one by its id"),
        ("pose_sensor", "entity = 'ent_99'", "there is no entity `ent_99`"),
        (
            "joint_control",
            "robot = 'arm'",
            "ent_1 has a motor in Position mode; a controller needs motors in effort mode",
        ),
        ("joint_control", "robot = 'arm'\nmode = 'velocity'\nkd = 1", "`kd` is for positions"),
        ("keyframes", "robot = 'arm'\nkeys = []", "give 1 to 65536 `keys`"),
        ("keyframes", "robot = 'arm'\nkeys = [{ at = 1, targets = [1] }]", "has 1 targets for 6 motors"),
        (
            "keyframes",
            "robot = 'arm'\nkeys = [{ at = 1, keyframe = 'away' }]",
            "the robot has no keyframe `away`",
        ),
        (
            "keyframes",
            "robot = 'arm'\nkeys = [{ at = 2, keyframe = 'home' }, { at = 1, keyframe = 'home' }]",
            "the key at 2 s stands before the one at 1 s",
        ),
        ("ik", "tool = 'arm'\ntarget = 'twin'", "both called"),
        ("ik", "tool = 'arm'\ntarget = 'ent_9'", "no hinge or slide moves ent_8"),
        ("limits", "workspace = { low = [1, 1, 1], high = [0, 0, 0] }", "a box runs from low to high"),
        ("limits", "speed_max = 0", "`speed_max` must be above 0, not 0"),
        ("episode", "time_limit = -1", "`time_limit` must be above 0, not -1"),
        ("capture", "signals = ['sound']", "there is no signal `sound`; so far there are none"),
        ("capture", "poses = ['arm']\nframes_max = 10000000", "keep fewer frames"),
        ("sync_point", "often = true", "unknown field `often`"),
    ];
    for (kind, text, wanted) in cases {
        let mut scene = empty();
        arm(scene.world_mut(), MotorMode::Position);
        scene.world_mut().spawn("twin", Pose::IDENTITY);
        scene.world_mut().spawn("twin", Pose::IDENTITY);
        let before = scene.state_hashes();
        let error = scene.add(kind, "it", &settings(text), None).unwrap_err().to_string();
        assert!(error.contains(wanted), "{kind}: {error}");
        assert_eq!(scene.state_hashes(), before, "{kind}: {text}");
    }
}

#[test]
fn settings_refused_by_the_world_leave_the_old_ones() {
    let mut scene = empty();
    scene.world_mut().spawn("cup", Pose::IDENTITY);
    add(&mut scene, "pose_sensor", "eye", "entity = 'cup'\nposition_noise = 0.1");
    scene.run_steps(3).unwrap();
    let (before, text) = (scene.save().unwrap(), scene.to_text().unwrap());
    for change in ["entity = 'plate'", "position_noise = -1", "colour = 1", "entity = "] {
        let settings = change.to_owned();
        assert!(
            scene.apply(WorldCommand::Configure { subsystem: "eye".to_owned(), settings }).is_err(),
            "{change}"
        );
        assert!(scene.save().unwrap() == before && scene.to_text().unwrap() == text, "{change}");
    }
    assert!(text.contains("position_noise = 0.1\n"), "{text}");
}

/// Everything at once: every kind of subsystem, in one scene.
fn everything() -> Scene {
    let mut scene = empty();
    arm(scene.world_mut(), MotorMode::Position);
    let goal = scene.world_mut().spawn("goal", Pose::at(Vec3::new(0.4, 0.2, 0.5)));
    scene.world_mut().set(goal, Body::default());
    let both = "robot = 'arm'\nposition_noise = 0.01\nvelocity_noise = 0.02";
    add(&mut scene, "joint_sensor", "encoders", both);
    add(&mut scene, "pose_sensor", "eye", "entity = 'goal'\nrotation_noise = 0.1\nposition_noise = 0.1");
    add(&mut scene, "sync_point", "sync", "");
    add(&mut scene, "keyframes", "dance", "robot = 'arm'\nkeys = [{ at = 1, keyframe = 'home' }]");
    add(&mut scene, "ik", "follow", "tool = 'tool'\ntarget = 'goal'");
    add(&mut scene, "limits", "limits", "workspace = { low = [0, 0, 0], high = [0.1, 0.1, 0.1] }");
    add(&mut scene, "episode", "episode", "time_limit = 0.2");
    let tape =
        "signals = ['encoders/position', 'eye/pose']\nposes = ['tool']\nrobots = ['arm']\nframes_max = 5";
    add(&mut scene, "capture", "tape", tape);
    scene
}

#[test]
fn every_subsystem_goes_through_a_snapshot_at_every_step() {
    let mut scene = everything();
    for step in 0..40 {
        let saved = scene.save().unwrap();
        let mut again = Scene::from_snapshot(&saved, Registry::builtin()).unwrap();
        assert!(again.save().unwrap() == saved, "step {step}: loading changed something");
        scene.run_steps(1).unwrap();
        again.run_steps(1).unwrap();
        assert_eq!(scene.state_hashes().difference(&again.state_hashes()), None, "step {step}");
        assert!(scene.save().unwrap() == again.save().unwrap(), "step {step}: same hash, other bytes");
    }
}

#[test]
fn every_subsystem_goes_through_a_file() {
    let text = everything().to_text().unwrap();
    let again = Scene::from_text(&text, "it.toml", std::path::Path::new(""), Registry::builtin()).unwrap();
    assert_eq!(again.to_text().unwrap(), text);
}

/// A snapshot of a scene whose recorder has lost what it records must load all the same.
#[test]
fn a_scene_in_trouble_can_be_restored() {
    let mut scene = empty();
    let cup = scene.world_mut().spawn("cup", Pose::IDENTITY);
    add(&mut scene, "capture", "tape", "poses = ['cup']");
    scene.run_for(std::time::Duration::from_millis(100)).unwrap();
    scene.apply(WorldCommand::Despawn { entity: cup }).unwrap();
    let error = scene.run_for(std::time::Duration::from_millis(100)).unwrap_err().to_string();
    assert!(error.contains("there is no entity `cup`"), "{error}");
    let saved = scene.save().unwrap();
    let again = Scene::from_snapshot(&saved, Registry::builtin()).unwrap();
    assert!(again.save().unwrap() == saved);
    assert_eq!(again.subsystem::<Capture>("tape").unwrap().frames().count(), 3);
}
