//! Promise: a log that was ever written stays readable, and plays with the hashes it was written with.
//! Method: small logs that were committed when their format was new, never written again; why, and what to do when one
//! of them fails, is in `golden/logs/README.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use downbeat_time::{Edit, Rate, RunnerId, TimeMode};
use downbeat_world::{
    Disk, EntityId, History, LOG_VERSION, LogLayout, LogSettings, Player, Pose, Random, Registry, Scene,
    WorldCommand,
};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// What a log comes to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Totals {
    closed: bool,
    segments: u64,
    first_segment: u64,
    snapshots: u64,
    position: u64,
    first_step: u64,
    last_step: u64,
    commands: u64,
    now_nanos: u64,
    schedule_hash: String,
    state_hash: String,
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/logs")
}

/// Reads a log and plays it from its first snapshot, every hash compared.
fn totals(folder: &Path) -> Totals {
    let mut player =
        Player::open(folder, Registry::builtin()).expect("golden logs are made and read without an error");
    player.verify(|_| ()).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let (history, scene) = (player.history(), player.scene());
    assert_eq!((history.now_nanos, history.step), (scene.time().now().as_nanos(), scene.time().steps()));
    Totals {
        closed: history.segments.iter().all(|segment| segment.closed),
        segments: history.segments.len() as u64,
        first_segment: history.segments[0].number,
        snapshots: history.snapshots.len() as u64,
        position: history.position,
        first_step: history.snapshots[0].step,
        last_step: history.step,
        commands: history.commands,
        now_nanos: history.now_nanos,
        schedule_hash: format!("{:016x}", scene.time().schedule_hash()),
        state_hash: format!("{:016x}", scene.state_hashes().total),
    }
}

#[test]
fn every_log_that_was_ever_written_plays() {
    let names = folders();
    let file = golden().join("totals.toml");
    let known: BTreeMap<String, Totals> =
        toml::from_str(&fs::read_to_string(file).expect("golden logs are made and read without an error"))
            .expect("golden logs are made and read without an error");
    assert_eq!(names, known.keys().cloned().collect::<Vec<_>>(), "folders and totals.toml go together");
    for (name, expected) in known {
        assert_eq!(totals(&golden().join(&name)), expected, "{name}");
    }
}

#[test]
fn every_log_that_was_ever_written_can_be_continued() {
    for name in folders() {
        // A copy: to continue a log is to write to it.
        let copy = tempfile::tempdir().expect("golden logs are made and read without an error");
        copy_files(&golden().join(&name), copy.path());
        let before =
            History::read(&Disk::new(copy.path())).expect("golden logs are made and read without an error");
        let (mut scene, recovery) = Scene::continue_log(copy.path(), Registry::builtin(), settings(None))
            .expect("golden logs are made and read without an error");
        assert!(recovery.torn.is_none() && recovery.passed_over.is_empty(), "{name}: {recovery:?}");
        scene.run_steps(40).expect("golden logs are made and read without an error");
        scene.close_log().expect("golden logs are made and read without an error");
        assert_eq!(totals(copy.path()).last_step, before.step + 40, "{name}");
    }
}

#[test]
fn the_format_that_is_written_now_has_its_golden_logs() {
    for (story, _) in STORIES {
        let name = format!("v{LOG_VERSION}-{story}");
        assert!(folders().contains(&name), "{name} is missing; write it with UPDATE_GOLDEN=1");
    }
}

/// The logs that are there, after those that are missing were written, if that was asked for.
fn folders() -> Vec<String> {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(write_missing);
    let entries = fs::read_dir(golden())
        .expect("golden logs are made and read without an error")
        .map(|entry| entry.expect("the golden logs can be listed"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().expect("golden logs are made and read without an error"))
        .collect();
    names.sort();
    names
}

/// With `UPDATE_GOLDEN`: writes the logs that the current format does not have yet, and adds their totals. What is
/// there is never touched.
fn write_missing() {
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        return;
    }
    let file = golden().join("totals.toml");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let mut known: BTreeMap<String, Totals> =
        toml::from_str(&text).expect("golden logs are made and read without an error");
    for (story, tell) in STORIES {
        let name = format!("v{LOG_VERSION}-{story}");
        let folder = golden().join(&name);
        if folder.exists() {
            continue;
        }
        let made = tempfile::tempdir().expect("golden logs are made and read without an error");
        fs::create_dir_all(&folder).expect("golden logs are made and read without an error");
        tell(made.path(), &folder);
        known.insert(name, totals(&folder));
    }
    fs::write(&file, toml::to_string(&known).expect("golden logs are made and read without an error"))
        .expect("golden logs are made and read without an error");
}

/// Copies the files of a log, without its lock.
fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from)
        .expect("golden logs are made and read without an error")
        .map(|entry| entry.expect("the golden logs can be listed"))
    {
        if entry.file_name() != "lock" {
            fs::copy(entry.path(), to.join(entry.file_name()))
                .expect("golden logs are made and read without an error");
        }
    }
}

/// A story writes a log to its first folder and leaves what is to be kept in its second.
type Story = fn(&Path, &Path);

const STORIES: [(&str, Story); 4] =
    [("closed", closed), ("open", open), ("rewound", rewound), ("trimmed", trimmed)];

/// A scene of built-in subsystems whose state is another one after every step. There is no physics in it: another
/// version of a solver gives other bits, and that is not what these logs watch over.
fn scene() -> Scene {
    let mut scene = Scene::new("golden", 7, Registry::builtin());
    scene.world_mut().spawn("cup", Pose::IDENTITY);
    let settings = "entity = \"cup\"\nposition_noise = 0.1\n"
        .parse()
        .expect("golden logs are made and read without an error");
    scene
        .add("pose_sensor", "tracker", &settings, None)
        .expect("golden logs are made and read without an error");
    scene
}

fn settings(snapshots_kept: Option<usize>) -> LogSettings {
    LogSettings {
        layout: LogLayout { segment_bytes_max: 2 << 10, snapshots_kept },
        snapshot_every: Duration::from_millis(500),
        parts_every: 16,
        ..LogSettings::default()
    }
}

/// One command of each kind that needs no body.
fn commands() -> Vec<WorldCommand> {
    let cup = EntityId::new(1);
    let configure = |settings: &str| WorldCommand::Configure {
        subsystem: "tracker".to_owned(),
        settings: settings.to_owned(),
    };
    vec![
        WorldCommand::Spawn { components: vec![Pose::at(Vec3::X).into()] },
        WorldCommand::Set { entity: cup, component: Pose::at(Vec3::new(0.1, 0.2, 0.3)).into() },
        configure("position_noise = 0.25"),
        WorldCommand::Time(Edit::SetRate {
            runner: RunnerId::CAPTURE,
            rate: Rate::hz(40).expect("golden logs are made and read without an error"),
        }),
        WorldCommand::Remove { entity: EntityId::new(2), kind: downbeat_world::ComponentKind::Pose },
        WorldCommand::Despawn { entity: EntityId::new(2) },
    ]
}

/// Runs `rounds` short stretches with the commands in between, synced, so that there are many commits.
fn run(scene: &mut Scene, rounds: u64) {
    let mut random = Random::new(3, "golden");
    let mut commands = commands().into_iter();
    for round in 0..rounds {
        let moved = Pose::at(Vec3::Y * round as f32).into();
        let moved =
            (round % 4 == 0).then_some(WorldCommand::Set { entity: EntityId::new(1), component: moved });
        if let Some(command) = commands.next().or(moved) {
            scene.apply(command).expect("golden logs are made and read without an error");
        }
        scene
            .run_steps(1 + u64::from(random.below(12)))
            .expect("golden logs are made and read without an error");
        scene.sync_log().expect("golden logs are made and read without an error");
    }
}

/// Ended in order.
fn closed(made: &Path, kept: &Path) {
    let mut scene = scene();
    scene.start_log(made, settings(None)).expect("golden logs are made and read without an error");
    run(&mut scene, 20);
    scene.close_log().expect("golden logs are made and read without an error");
    copy_files(made, kept);
}

/// As a process leaves it that is killed: the last segment has the length that it was made with.
fn open(made: &Path, kept: &Path) {
    let mut scene = scene();
    scene.start_log(made, settings(None)).expect("golden logs are made and read without an error");
    run(&mut scene, 12);
    copy_files(made, kept);
}

/// With time that was skipped, gone back in twice, and continued by another process.
fn rewound(made: &Path, kept: &Path) {
    let mut first = scene();
    first.start_log(made, settings(None)).expect("golden logs are made and read without an error");
    run(&mut first, 8);
    first.rewind_to(20).expect("golden logs are made and read without an error");
    first
        .apply(WorldCommand::Time(Edit::SetMode(TimeMode::GameRealtime)))
        .expect("golden logs are made and read without an error");
    for millis in [50, 900, 20, 20, 700, 40] {
        first.tick(Duration::from_millis(millis)).expect("golden logs are made and read without an error");
    }
    assert!(first.time().skipped_time() > Duration::from_millis(500), "the story skips");
    drop(first);
    let (mut second, _) = Scene::continue_log(made, Registry::builtin(), settings(None))
        .expect("golden logs are made and read without an error");
    second.run_steps(15).expect("golden logs are made and read without an error");
    let back = second.time().steps() - 20;
    second.rewind_to(back).expect("golden logs are made and read without an error");
    second
        .apply(WorldCommand::Spawn { components: Vec::new() })
        .expect("golden logs are made and read without an error");
    second.run_steps(30).expect("golden logs are made and read without an error");
    second.close_log().expect("golden logs are made and read without an error");
    copy_files(made, kept);
}

/// With only two snapshots kept, and nothing of what came before them.
fn trimmed(made: &Path, kept: &Path) {
    let mut scene = scene();
    scene.start_log(made, settings(Some(2))).expect("golden logs are made and read without an error");
    run(&mut scene, 40);
    scene.close_log().expect("golden logs are made and read without an error");
    copy_files(made, kept);
}
