//! Durable events per second with a producer that never rests, beside a bare loop that writes and syncs groups of the
//! very same sizes: once the writer alone, once from the scene's door.
//!
//! Every round is ours and then the bare loop, in a file that grows and in one of full length; disks have moods, so
//! the median of the rounds counts.

use std::path::Path;
use std::sync::Arc;

use downbeat_benches::{Figure, Suite};
use downbeat_threading::{BatchSender, Role, batches, spawn};
use downbeat_world::{
    CommandError, Disk, LogError, LogLayout, LogParcel, LogSettings, LogWriter, Pose, Registry, RunIdentity,
    Scene, SnapshotParcel, WorldCommand,
};

use crate::logs::{self, Bare};

const EVENTS: u64 = 400_000;
const ROUNDS: usize = 9;
/// So many bytes may wait, as by default in a scene's log.
const WAITING_BYTES_MAX: usize = 8 << 20;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("log/append") {
        measure_one(suite, "log/append", entries)?;
    }
    if suite.wants("log/append_scene") {
        measure_one(suite, "log/append_scene", commands)?;
    }
    Ok(())
}

fn measure_one(
    suite: &mut Suite,
    bench: &'static str,
    mut ours: impl FnMut(&Path) -> anyhow::Result<f64>,
) -> anyhow::Result<()> {
    let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let folder = logs::folder()?;
        rounds[0].push(ours(folder.path())?);
        let commits = logs::commits(folder.path())?;
        rounds[1].push(bare(&commits, 0)?);
        rounds[2].push(bare(&commits, commits.iter().sum::<usize>() as u64)?);
    }
    let [ours, growing, full] = rounds.map(|micros| EVENTS as f64 / (logs::quantile(&micros, 0.5) / 1e6));
    let figure = Figure::new(bench, "events/s", ours);
    suite.print(&figure.against("bare, file grows", growing).against("bare, full length", full))
}

/// Microseconds for all events as records, straight to a writer on its thread.
fn entries(folder: &Path) -> anyhow::Result<f64> {
    let mut scene = Scene::new("events", 1, Registry::builtin());
    let (_, record) = logs::event(scene.world_mut().spawn("noted", Pose::IDENTITY))?;
    let run = RunIdentity {
        scene: "events".to_owned(),
        seed: 1,
        start: [0; 8],
        engine: "bench".to_owned(),
        features: Vec::new(),
    };
    let start = SnapshotParcel { step: 0, now_nanos: 0, bytes: scene.save()? };
    let mut writer = LogWriter::create(Disk::new(folder), LogLayout::default(), run, &start)?;
    let (sender, mut receiver) = batches::<LogParcel, Arc<LogError>>(WAITING_BYTES_MAX);
    let thread = spawn("bench log", Role::Worker, move || {
        while let Some(batch) = receiver.take() {
            if let Err(error) = writer.commit(batch) {
                receiver.fail(Arc::new(error));
                return;
            }
            receiver.settle();
        }
    })?;
    let (pushed, micros) = logs::micros(|| push_all(&sender, &record));
    sender.close();
    thread.join()?;
    pushed.map(|()| micros)
}

fn push_all(sender: &BatchSender<LogParcel, Arc<LogError>>, record: &[u8]) -> anyhow::Result<()> {
    for _ in 1..EVENTS {
        sender.push(record)?;
    }
    let last = sender.push(record)?;
    Ok(sender.wait(last)?)
}

/// Microseconds for all events as commands to a scene.
fn commands(folder: &Path) -> anyhow::Result<f64> {
    let mut scene = Scene::new("events", 1, Registry::builtin());
    let (command, _) = logs::event(scene.world_mut().spawn("noted", Pose::IDENTITY))?;
    scene.start_log(folder, LogSettings::default())?;
    let (applied, micros) = logs::micros(|| apply_all(&mut scene, &command));
    scene.close_log()?;
    applied.map(|()| micros)
}

fn apply_all(scene: &mut Scene, command: &WorldCommand) -> anyhow::Result<()> {
    for _ in 0..EVENTS {
        while let Err(refused) = scene.apply(command.clone()) {
            match (refused, scene.log()) {
                // What is on its way to the disk must get there before there is room.
                (CommandError::Log(LogError::Behind), Some(log)) => log.wait(log.durable() + 1)?,
                (refused, _) => return Err(refused.into()),
            }
        }
    }
    let log = scene.log().ok_or(LogError::NoLog)?;
    Ok(log.wait(log.position())?)
}

/// Microseconds for the bare loop.
fn bare(commits: &[usize], len: u64) -> anyhow::Result<f64> {
    let longest = commits.iter().copied().max().unwrap_or_default();
    let mut bare = Bare::new(len)?.with_longest(longest);
    let (written, micros) = logs::micros(|| commits.iter().try_for_each(|len| bare.write(*len)));
    written.map(|()| micros)
}
