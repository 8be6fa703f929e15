//! Scenes with logs: played, continued, rewound. What is compared is the hash of the whole state at every step.

use std::path::Path;
use std::time::Duration;

use downbeat_time::{Edit, Rate, RunnerId, TimeMode};
use downbeat_world::{
    AddError, EntityId, History, LogError, LogLayout, LogSettings, Player, Pose, Random, Registry, Scene,
    SnapshotError, UserData, WorldCommand,
};
use glam::Vec3;

/// A scene whose state is another one after every step: a tracker with noise draws random numbers.
fn scene() -> Scene {
    let mut scene = Scene::new("lab", 7, Registry::builtin());
    scene.world_mut().spawn("cup", Pose::IDENTITY);
    let settings = "entity = \"cup\"\nposition_noise = 0.1\n".parse().expect("the scene and its log work");
    scene.add("pose_sensor", "tracker", &settings, None).expect("the scene and its log work");
    scene
}

/// Small enough that a short run has several of everything.
fn settings() -> LogSettings {
    LogSettings {
        layout: LogLayout { segment_bytes_max: 2 << 10, snapshots_kept: None },
        snapshot_every: Duration::from_millis(300),
        parts_every: 16,
        ..LogSettings::default()
    }
}

/// A change of some kind.
fn command(random: &mut Random) -> WorldCommand {
    match random.below(6) {
        0 => WorldCommand::Spawn { components: vec![Pose::at(Vec3::X * random.unit() as f32).into()] },
        1 => WorldCommand::Time(Edit::SetRate {
            runner: RunnerId::CAPTURE,
            rate: Rate::hz(10 + random.below(90)).expect("the scene and its log work"),
        }),
        2 => WorldCommand::Configure {
            subsystem: "tracker".to_owned(),
            settings: format!("position_noise = {}", random.unit()),
        },
        3 => WorldCommand::Set { entity: EntityId::new(1), component: UserData::default().into() },
        _ => {
            let component = Pose::at(Vec3::Y * random.unit() as f32).into();
            WorldCommand::Set { entity: EntityId::new(1), component }
        }
    }
}

/// The hashes of every step of a log, found by playing it.
fn played(folder: &Path) -> (Vec<u64>, u64) {
    let mut player = Player::open(folder, Registry::builtin()).expect("the scene and its log work");
    let mut hashes = Vec::new();
    player.verify(|scene| hashes.push(scene.state_hashes().total)).expect("the scene and its log work");
    (hashes, player.history().commands)
}

#[test]
fn a_log_plays_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (mut scene, mut random) = (scene(), Random::new(1, "play"));
    scene.start_log(folder.path(), settings()).unwrap();
    let mut hashes = Vec::new();
    for turn in 0..200 {
        if turn % 7 == 0 {
            scene.apply(command(&mut random)).unwrap();
            scene.sync_log().unwrap();
        }
        scene.run_steps(1).unwrap();
        hashes.push(scene.state_hashes().total);
    }
    let saved = scene.save().unwrap();
    scene.close_log().unwrap();
    let (found, commands) = played(folder.path());
    assert_eq!((found, commands), (hashes, 29));
    let mut player = Player::open(folder.path(), Registry::builtin()).unwrap();
    player.verify(|_| ()).unwrap();
    assert_eq!(player.scene().save().unwrap(), saved, "every byte of the end");
    let history = player.history();
    assert!(history.snapshots.len() > 3 && history.segments.len() > 1, "{history:?}");
}

#[test]
fn a_log_changes_nothing_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (mut with, mut without) = (scene(), scene());
    with.start_log(folder.path(), settings()).unwrap();
    for scene in [&mut with, &mut without] {
        scene.run_steps(100).unwrap();
    }
    assert_eq!(with.time().schedule_hash(), without.time().schedule_hash());
    assert_eq!(with.save().unwrap(), without.save().unwrap());
}

#[test]
fn any_story_of_steps_commands_rewinds_and_restarts_plays_back() {
    for seed in 0..12 {
        let (folder, mut random) = (tempfile::tempdir().unwrap(), Random::new(seed, "story"));
        let mut scene = scene();
        scene.start_log(folder.path(), settings()).unwrap();
        // The hash after each step that is part of the run: step n is at n - 1.
        let mut hashes: Vec<u64> = Vec::new();
        for _ in 0..60 {
            match random.below(12) {
                0 => {
                    scene.apply(command(&mut random)).unwrap();
                }
                1 => {
                    let to = u64::from(random.below(hashes.len() as u32 + 1));
                    scene.rewind_to(to).unwrap();
                    assert_eq!(scene.time().steps(), to);
                    if random.below(2) == 0 {
                        // Only to look: forward again, and nothing has changed.
                        scene.rewind_to(hashes.len() as u64).unwrap();
                    } else {
                        scene.run_steps(1).unwrap();
                        hashes.truncate(to as usize);
                        hashes.push(scene.state_hashes().total);
                    }
                }
                2 => {
                    // The process ends, in order or not, and another one goes on.
                    if random.below(2) == 0 {
                        scene.close_log().unwrap();
                    }
                    drop(scene);
                    let (again, recovery) =
                        Scene::continue_log(folder.path(), Registry::builtin(), settings()).unwrap();
                    assert!(recovery.torn.is_none() && recovery.passed_over.is_empty());
                    scene = again;
                    assert_eq!(scene.time().steps(), hashes.len() as u64, "seed {seed}");
                }
                _ => {
                    for _ in 0..=random.below(20) {
                        scene.run_steps(1).unwrap();
                        hashes.push(scene.state_hashes().total);
                    }
                }
            }
        }
        scene.close_log().unwrap();
        assert_eq!(played(folder.path()).0, hashes, "seed {seed}");
    }
}

#[test]
fn time_that_was_skipped_is_skipped_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    scene.start_log(folder.path(), settings()).unwrap();
    scene.apply(WorldCommand::Time(Edit::SetMode(TimeMode::GameRealtime))).unwrap();
    for millis in [50, 900, 20, 20, 1700, 40] {
        scene.tick(Duration::from_millis(millis)).unwrap();
        scene.apply(WorldCommand::Spawn { components: Vec::new() }).unwrap();
    }
    assert!(scene.time().skipped_time() > Duration::from_secs(1), "the test skips");
    let (now, hash) = (scene.time().now(), scene.state_hashes().total);
    scene.close_log().unwrap();
    let mut player = Player::open(folder.path(), Registry::builtin()).unwrap();
    player.verify(|_| ()).unwrap();
    let scene = player.into_scene();
    assert_eq!((scene.time().now(), scene.state_hashes().total), (now, hash));
}

#[test]
fn an_acknowledged_command_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    scene.start_log(folder.path(), LogSettings::default()).unwrap();
    for _ in 0..20 {
        scene.run_steps(3).unwrap();
        scene.apply(WorldCommand::Spawn { components: Vec::new() }).unwrap();
        let log = scene.log().unwrap();
        log.wait(log.position()).unwrap();
        assert!(log.durable() >= log.position());
        // Another reader sees it while the log is being written.
        let history = History::read(&downbeat_world::Disk::new(folder.path())).unwrap();
        assert_eq!(history.position, log.position());
    }
}

#[test]
fn a_run_that_goes_another_way_is_named_by_step_entity_and_component() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    let second = scene.world_mut().spawn("plate", Pose::IDENTITY);
    scene.start_log(folder.path(), settings()).unwrap();
    scene.run_steps(20).unwrap();
    // Behind the log's back: played, the plate will not have moved.
    scene.world_mut().set(second, Pose::at(Vec3::Z));
    scene.run_steps(40).unwrap();
    scene.close_log().unwrap();
    let mut player = Player::open(folder.path(), Registry::builtin()).unwrap();
    let error = player.verify(|_| ()).unwrap_err();
    let LogError::Diverged { step, what } = &error else { panic!("{error}") };
    assert_eq!(*step, 21);
    assert!(what.contains("pose") && what.contains(&second.to_string()), "{what}");
}

#[test]
fn a_damaged_snapshot_is_passed_over_for_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    scene.start_log(folder.path(), settings()).unwrap();
    scene.run_steps(120).unwrap();
    let hash = scene.state_hashes().total;
    scene.close_log().unwrap();
    let history = History::read(&downbeat_world::Disk::new(folder.path())).unwrap();
    let newest = history.snapshots.last().unwrap();
    let file = folder.path().join(newest.file());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let (scene, recovery) = Scene::continue_log(folder.path(), Registry::builtin(), settings()).unwrap();
    assert_eq!(recovery.passed_over.len(), 1);
    assert_eq!(recovery.passed_over[0].0, *newest);
    assert!(recovery.snapshot.step < newest.step);
    assert_eq!(scene.state_hashes().total, hash);
}

#[test]
fn a_log_says_why_it_cannot_be_started_or_continued() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Scene::continue_log(&folder.path().join("none"), Registry::builtin(), settings());
    assert!(matches!(missing, Err(LogError::Missing)));
    let mut first = scene();
    first.start_log(folder.path(), settings()).unwrap();
    assert!(matches!(scene().start_log(folder.path(), settings()), Err(LogError::Busy)));
    let busy = Scene::continue_log(folder.path(), Registry::builtin(), settings());
    assert!(matches!(busy, Err(LogError::Busy)));
    first.run_steps(10).unwrap();
    first.close_log().unwrap();
    assert!(matches!(scene().start_log(folder.path(), settings()), Err(LogError::Occupied)));

    let history = History::read(&downbeat_world::Disk::new(folder.path())).unwrap();
    scene().check_log(&history).unwrap();
    let mut changed = scene();
    changed.world_mut().spawn("one more", Pose::IDENTITY);
    let reseeded = Scene::new("lab", 8, Registry::builtin());
    let other = Scene::new("another", 7, Registry::builtin());
    for (scene, word) in [(changed, "file has changed"), (reseeded, "seed"), (other, "another")] {
        let error = scene.check_log(&history).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn old_snapshots_and_segments_go_when_few_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    let layout = LogLayout { segment_bytes_max: 2 << 10, snapshots_kept: Some(2) };
    scene.start_log(folder.path(), LogSettings { layout, ..settings() }).unwrap();
    for _ in 0..50 {
        // Synced, so that commits stay small and segments many.
        scene.run_steps(20).unwrap();
        scene.sync_log().unwrap();
    }
    let hash = scene.state_hashes().total;
    scene.close_log().unwrap();
    let history = History::read(&downbeat_world::Disk::new(folder.path())).unwrap();
    assert_eq!(history.snapshots.len(), 2);
    assert!(history.segments[0].number > 5, "{:?}", history.segments[0]);
    let (mut scene, _) = Scene::continue_log(folder.path(), Registry::builtin(), settings()).unwrap();
    assert_eq!(scene.state_hashes().total, hash);
    let error = scene.rewind_to(1).unwrap_err();
    assert!(matches!(error, LogError::NoSuchStep { step: 1, .. }), "{error}");
    assert_eq!(scene.state_hashes().total, hash, "the scene is as it was");
}

#[test]
fn a_refused_command_is_not_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    scene.start_log(folder.path(), settings()).unwrap();
    let position = scene.log().unwrap().position();
    scene.apply(WorldCommand::Despawn { entity: EntityId::new(99) }).unwrap_err();
    assert_eq!(scene.log().unwrap().position(), position);
    scene.run_steps(5).unwrap();
    scene.close_log().unwrap();
    assert_eq!(played(folder.path()).1, 0);
}

#[test]
fn what_a_log_could_not_tell_of_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = scene();
    let saved = scene.save().unwrap();
    scene.start_log(folder.path(), settings()).unwrap();
    assert!(matches!(scene.restore(&saved), Err(SnapshotError::Logged)));
    let added = scene.add("sync_point", "late", &toml::Table::new(), None);
    assert!(matches!(added, Err(AddError::Logged { .. })));
    scene.close_log().unwrap();
    scene.restore(&saved).unwrap();
    scene.add("sync_point", "late", &toml::Table::new(), None).unwrap();
}
