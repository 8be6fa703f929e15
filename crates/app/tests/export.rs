//! An exported run, read back with the container's own reader: every channel, every time, every pose.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::time::Duration;

use downbeat_app::{ExportError, ExportFile, ExportHead, McapExport, Pace, load_scene};
use downbeat_world::{Collider, Mesh, Name, Parent, StepHashes};
use downbeat_world::{LoadOptions, Pose, Scene, Shape, Surface, WorldCommand};
use foxglove::messages::{FrameTransforms, JointStates, SceneUpdate};
use glam::Vec3;
use mcap::MessageStream;
use prost::Message;

/// A message of the file: topic, time, bytes.
type Row = (String, u64, Vec<u8>);

fn head(scene: &Scene) -> ExportHead {
    ExportHead { scene: scene.name().to_owned(), seed: scene.world().seed(), build: "test".to_owned() }
}

fn begin(scene: &Scene, pace: Pace) -> McapExport<Cursor<Vec<u8>>> {
    McapExport::new(Cursor::new(Vec::new()), &head(scene), pace).expect("memory takes it")
}

fn scene(name: &str) -> Scene {
    load_scene(name, &LoadOptions::default()).expect("it is shipped")
}

/// Runs and shows every step.
fn run(scene: &mut Scene, export: &mut McapExport<Cursor<Vec<u8>>>, steps: u64) {
    export.step(scene).expect("memory takes it");
    for _ in 0..steps {
        scene.run_steps(1).expect("it runs");
        export.step(scene).expect("memory takes it");
    }
}

fn rows(file: &[u8]) -> Vec<Row> {
    let row = |message: mcap::Message<'_>| {
        (message.channel.topic.clone(), message.log_time, message.data.into_owned())
    };
    let messages = MessageStream::new(file).expect("it is an MCAP file");
    messages.map(|message| row(message.expect("it is whole"))).collect()
}

/// The messages of one topic, each with its time.
fn of<M: Message + Default>(rows: &[Row], topic: &str) -> Vec<(u64, M)> {
    let those = rows.iter().filter(|(there, ..)| there == topic);
    those.map(|(_, time, bytes)| (*time, M::decode(bytes.as_slice()).expect("it is of this kind"))).collect()
}

#[test]
fn every_channel_is_described_and_times_do_not_go_back() {
    let mut scene = scene("arm");
    let mut export = begin(&scene, Pace::EveryStep);
    run(&mut scene, &mut export, 200);
    let (file, summary) = export.finish(&scene).unwrap();
    let file = file.into_inner();
    assert_eq!(summary.bytes, file.len() as u64);

    let read = mcap::Summary::read(&file).unwrap().unwrap();
    let mut channels: Vec<_> = read
        .channels
        .values()
        .map(|channel| {
            let schema = channel.schema.as_ref().unwrap();
            assert_eq!(
                (channel.message_encoding.as_str(), schema.encoding.as_str()),
                ("protobuf", "protobuf")
            );
            let described = prost_types::FileDescriptorSet::decode(&*schema.data).unwrap();
            let package = schema.name.split('.').next();
            assert!(described.file.iter().any(|file| file.package.as_deref() == package), "{}", schema.name);
            (channel.topic.clone(), schema.name.clone())
        })
        .collect();
    channels.sort();
    let expected = [
        ("/commands", "downbeat.Command"),
        ("/hashes", "downbeat.Hashes"),
        ("/joints", "foxglove.JointStates"),
        ("/scene", "foxglove.SceneUpdate"),
        ("/tf", "foxglove.FrameTransforms"),
        ("/time", "downbeat.Time"),
    ];
    assert_eq!(channels, expected.map(|(topic, schema)| (topic.to_owned(), schema.to_owned())));

    let rows = rows(&file);
    assert!(rows.is_sorted_by_key(|(_, time, _)| *time));
    assert_eq!(rows.last().map(|(_, time, _)| *time), Some(scene.time().now().as_nanos()));
    for (topic, count) in summary.messages {
        assert_eq!(rows.iter().filter(|(there, ..)| there == topic).count() as u64, count, "{topic}");
    }
    assert_eq!(rows.iter().filter(|(topic, ..)| topic == "/tf").count(), 201, "the start and every step");
}

#[test]
fn transforms_and_joints_are_those_of_the_scene() {
    let mut scene = scene("arm");
    // Something that hangs on something that moves.
    let hand = scene.world().find("tool").unwrap();
    let components = vec![Name("lamp".to_owned()).into(), Parent(hand).into(), Pose::at(Vec3::Z).into()];
    scene.apply(WorldCommand::Spawn { components }).unwrap();
    let mut export = begin(&scene, Pace::EveryStep);
    let mut seen = Vec::new();
    for _ in 0..=100 {
        export.step(&scene).unwrap();
        let world = scene.world();
        let poses: Vec<_> = world
            .entities()
            .iter()
            .map(|id| world.components.pose.get(id).copied().unwrap_or_default())
            .collect();
        let joints: Vec<_> =
            world.components.joint_state.iter().map(|(_, joint)| f64::from(joint.position[0])).collect();
        seen.push((scene.time().now().as_nanos(), poses, joints));
        scene.run_steps(1).unwrap();
    }
    let rows = rows(&export.finish(&scene).unwrap().0.into_inner());
    let transforms = of::<FrameTransforms>(&rows, "/tf");
    let joints = of::<JointStates>(&rows, "/joints");
    for (at, (time, poses, positions)) in seen.iter().enumerate() {
        let (tf_time, tf) = &transforms[at];
        assert_eq!((tf_time, tf.transforms.len()), (time, poses.len()));
        for (frame, pose) in tf.transforms.iter().zip(poses) {
            let (translation, rotation) = (frame.translation.unwrap(), frame.rotation.unwrap());
            let exact =
                [translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z, rotation.w];
            let pose: Vec<_> = pose.position.to_array().into_iter().chain(pose.rotation.to_array()).collect();
            assert!(exact.iter().zip(pose).all(|(a, b)| a.to_bits() == f64::from(b).to_bits()));
            assert_eq!(frame.timestamp.unwrap().total_nanos(), *time);
        }
        let told: Vec<_> = joints[at].1.joints.iter().map(|joint| joint.position.unwrap()).collect();
        assert_eq!(told.len(), 8, "six hinges and two fingers");
        assert!(told.iter().zip(positions).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
    let lamp = transforms[0].1.transforms.last().unwrap();
    assert_eq!((lamp.parent_frame_id.as_str(), lamp.child_frame_id.as_str()), ("tool", "lamp"));
    assert_eq!(transforms[0].1.transforms[0].parent_frame_id, "world");
}

#[test]
fn the_pace_leaves_steps_out_but_never_the_last() {
    let mut scene = scene("arm");
    let mut export = begin(&scene, Pace::AtMost(Duration::from_millis(100)));
    export.step(&scene).unwrap();
    let end = downbeat_time::SimTime::from_nanos(1_050_000_000);
    while scene.time().next_step().is_some_and(|(next, _)| next <= end) {
        scene.run_steps(1).unwrap();
        export.step(&scene).unwrap();
    }
    let last = scene.time().now().as_nanos();
    let rows = rows(&export.finish(&scene).unwrap().0.into_inner());
    let times: Vec<_> = of::<FrameTransforms>(&rows, "/tf").into_iter().map(|(time, _)| time).collect();
    let mut expected: Vec<_> = (0..=10).map(|tenth| tenth * 100_000_000).collect();
    expected.push(last);
    assert_eq!(times, expected);
}

#[test]
fn the_scene_is_told_whole_and_again_when_its_cast_changes() {
    let mut scene = scene("arm");
    let mut export = begin(&scene, Pace::EveryStep);
    run(&mut scene, &mut export, 20);
    let ball = Collider::new(Shape::Sphere { radius: 0.1 });
    let look = Mesh::new(Surface::Collider, glam::Vec4::ONE);
    let command =
        WorldCommand::Spawn { components: vec![Pose::at(Vec3::Z).into(), ball.into(), look.into()] };
    export.command(&scene, &command).unwrap();
    let id = scene.apply(command).unwrap().unwrap();
    run(&mut scene, &mut export, 20);
    scene.apply(WorldCommand::Despawn { entity: id }).unwrap();
    run(&mut scene, &mut export, 20);
    let rows = rows(&export.finish(&scene).unwrap().0.into_inner());
    let updates = of::<SceneUpdate>(&rows, "/scene");
    let counts: Vec<_> =
        updates.iter().map(|(_, update)| (update.entities.len(), update.deletions.len())).collect();
    // Ground, table, eight links, two trays, six boxes.
    assert_eq!(counts, [(18, 0), (19, 0), (18, 1)]);
    let (_, first) = &updates[0];
    let cubes: usize = first.entities.iter().map(|entity| entity.cubes.len()).sum();
    let capsules: usize = first.entities.iter().map(|entity| entity.cylinders.len()).sum();
    let spheres: usize = first.entities.iter().map(|entity| entity.spheres.len()).sum();
    assert_eq!((cubes, spheres), (1 + 2 + 6 + (8 - capsules), 2 * capsules), "a capsule has two ends");
    assert!(first.entities.iter().all(|entity| entity.frame_locked));
    assert_eq!(updates[2].1.deletions[0].id, id.to_string());
    assert_eq!(updates[1].1.entities.last().unwrap().spheres.len(), 1);
}

/// As a reader would write it down from the description in the file.
#[derive(Clone, PartialEq, Message)]
struct Hashes {
    #[prost(uint64, tag = "1")]
    step: u64,
    #[prost(uint64, tag = "2")]
    now_ns: u64,
    #[prost(string, tag = "3")]
    state_hash: String,
    #[prost(string, tag = "4")]
    schedule_hash: String,
}

#[derive(Clone, PartialEq, Message)]
struct Command {
    #[prost(uint64, tag = "1")]
    step: u64,
    #[prost(string, tag = "2")]
    kind: String,
    #[prost(string, tag = "3")]
    json: String,
}

#[test]
fn commands_and_hashes_stand_at_their_step() {
    let mut scene = scene("pendulum");
    let mut export = begin(&scene, Pace::default());
    run(&mut scene, &mut export, 5);
    let (state, schedule) = (scene.state_hashes().total, scene.time().schedule_hash());
    let now = scene.time().now();
    export.hashes(&scene, StepHashes::new(state, schedule)).unwrap();
    let command = WorldCommand::Spawn { components: vec![Name("ärm \u{1f9be}".to_owned()).into()] };
    export.command(&scene, &command).unwrap();
    let rows = rows(&export.finish(&scene).unwrap().0.into_inner());
    let hex = |hash: u64| format!("{hash:#018x}");
    let expected =
        Hashes { step: 5, now_ns: now.as_nanos(), state_hash: hex(state), schedule_hash: hex(schedule) };
    assert_eq!(of::<Hashes>(&rows, "/hashes"), [(now.as_nanos(), expected)]);
    let (time, told) = &of::<Command>(&rows, "/commands")[0];
    assert_eq!((*time, told.step, told.kind.as_str()), (now.as_nanos(), 5, "spawn"));
    assert_eq!(serde_json::from_str::<WorldCommand>(&told.json).unwrap(), command);
}

/// A disk with room for so many bytes.
struct Disk {
    room: u64,
    file: Cursor<Vec<u8>>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.position() + bytes.len() as u64 > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn a_full_disk_is_told_and_no_later_than_at_the_end() {
    let mut scene = scene("arm");
    // More than a chunk, so that bytes must go out on the way.
    let steps = 700;
    for (room, at_step) in [(0, false), (100, false), (5_000, true), (50_000, true), (1_200_000, false)] {
        let disk = Disk { room, file: Cursor::new(Vec::new()) };
        let mut taken = 0;
        let export = McapExport::new(disk, &head(&scene), Pace::EveryStep);
        let written = export.and_then(|mut export| {
            for _ in 0..steps {
                scene.run_steps(1).unwrap();
                export.step(&scene)?;
                taken += 1;
            }
            export.finish(&scene).map(|_| ())
        });
        let error = written.expect_err("there is not enough room");
        assert!(matches!(error, ExportError::Write(_)), "{room}: {error}");
        assert!(error.to_string().contains("is there room on the disk?"), "{error}");
        assert!(!at_step || taken < steps, "with room for {room} bytes it went on to the end");
    }
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let scene = scene("pendulum");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let names = || -> Vec<_> {
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let export = |path| McapExport::new(ExportFile::create(path).unwrap(), &head(&scene), Pace::default());

    let mut dropped = export(&path).unwrap();
    dropped.step(&scene).unwrap();
    assert!(!path.exists());
    drop(dropped);
    assert!(names().is_empty(), "nothing is left of an export that did not end");

    std::fs::write(&path, "before").unwrap();
    let (file, summary) = export(&path).unwrap().finish(&scene).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"before");
    file.keep().unwrap();
    assert_eq!(names(), ["run.mcap"]);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), summary.bytes);

    let error = ExportFile::create(&folder.path().join("none/run.mcap")).unwrap_err().to_string();
    assert!(error.contains("none/run.mcap") && error.contains("folder that exists"), "{error}");
    assert!(ExportFile::create(folder.path()).is_err(), "a folder is no file");
}
