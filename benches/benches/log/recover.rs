//! How fast a run comes back: a scene of 10,000 entities, 1,000 of them bodies, from its snapshot alone and with ten
//! seconds behind it; the arm, which is run again many times faster than it went by; and bytes of a log, checked.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use downbeat_benches::{Figure, Suite};
use downbeat_physics::registry;
use downbeat_world::{LogSettings, Pose, Scene};

use crate::logs;

const BENCHES: [&str; 5] = [
    "log/recover_snapshot",
    "log/recover_snapshot_rate",
    "log/recover",
    "log/recover_rate",
    "log/replay_arm",
];
const ENTITIES: usize = 10_000;
const TAIL: Duration = Duration::from_secs(10);
/// Of one recovery, the best counts: whatever else the machine does only adds.
const ROUNDS: usize = 5;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    let [snapshot, snapshot_rate, tail, tail_rate, replay] = BENCHES;
    if suite.wants_any(&[snapshot, snapshot_rate, tail, tail_rate]) {
        let folder = logs::folder()?;
        let mut scene = large()?;
        scene.start_log(folder.path(), without_snapshots())?;
        scene.close_log()?;
        let (millis, megabytes) = recovered(folder.path(), &mut scene, ROUNDS)?;
        suite.print(&Figure::new(snapshot, "ms", millis))?;
        suite.print(&Figure::new(snapshot_rate, "MB/s", megabytes / (millis / 1e3)))?;

        let folder = logs::folder()?;
        scene.start_log(folder.path(), without_snapshots())?;
        scene.run_for(TAIL)?;
        scene.close_log()?;
        let (millis, megabytes) = recovered(folder.path(), &mut scene, 1)?;
        suite.print(&Figure::new(tail, "ms", millis))?;
        suite.print(&Figure::new(tail_rate, "MB/s", megabytes / (millis / 1e3)))?;
    }
    if suite.wants(replay) {
        let folder = logs::folder()?;
        let mut scene = logs::load("arm")?;
        scene.run_for(Duration::from_secs(2))?;
        scene.start_log(folder.path(), without_snapshots())?;
        let (ran, live) = logs::micros(|| scene.run_for(TAIL));
        ran?;
        scene.close_log()?;
        let (millis, _) = recovered(folder.path(), &mut scene, ROUNDS)?;
        let figure = Figure::new(replay, "times real time", TAIL.as_secs_f64() / (millis / 1e3));
        suite.print(&figure.against("the run itself", TAIL.as_secs_f64() / (live / 1e6)))?;
    }
    Ok(())
}

/// Contacts in a pile, and many that only stand there.
fn large() -> anyhow::Result<Scene> {
    let mut scene = logs::load("pile")?;
    while scene.world().entities().len() < ENTITIES {
        let number = scene.world().entities().len();
        scene.world_mut().spawn(format!("marker {number}"), Pose::at(glam::Vec3::splat(number as f32)));
    }
    scene.run_for(Duration::from_secs(2))?;
    Ok(scene)
}

/// One at the start only, so that everything after it has to be run again.
fn without_snapshots() -> LogSettings {
    LogSettings { snapshot_every: Duration::from_secs(3600), ..LogSettings::default() }
}

/// Milliseconds to bring a scene back from its log, and the megabytes that were read for it.
fn recovered(folder: &Path, scene: &mut Scene, rounds: usize) -> anyhow::Result<(f64, f64)> {
    let bytes =
        |ending| -> anyhow::Result<usize> { Ok(logs::files(folder, ending)?.iter().map(Vec::len).sum()) };
    let megabytes = (bytes("log")? + bytes("snap")?) as f64 / 1e6;
    let mut readings = Vec::new();
    for _ in 0..rounds {
        let (again, micros) =
            logs::micros(|| Scene::continue_log(folder, registry(), LogSettings::default()));
        let (mut again, _) = again?;
        ensure!(again.state_hash() == scene.state_hash(), "another scene has come back");
        again.close_log()?;
        readings.push(micros / 1e3);
    }
    Ok((logs::quantile(&readings, 0.0), megabytes))
}
