//! What the figures of the log share: folders on a real disk, events of one size, the bare loop, and quantiles.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use downbeat_benches::Stopwatch;
use downbeat_physics::registry;
use downbeat_world::{Datum, EntityId, Entry, Scene, UserData, WorldCommand};
use tempfile::TempDir;

/// How long an event is in a log.
pub(crate) const EVENT_BYTES: usize = 256;

/// A folder beside the build: where temporary files go is often memory, and memory syncs nothing.
pub(crate) fn folder() -> anyhow::Result<TempDir> {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("cannot make a folder for a log")
}

/// A shipped scene.
pub(crate) fn load(name: &str) -> anyhow::Result<Scene> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    Ok(Scene::load_file(&folder.join(name).with_extension("toml"), registry())?)
}

/// A command whose entry takes [`EVENT_BYTES`] before the first step, and that entry.
pub(crate) fn event(entity: EntityId) -> anyhow::Result<(WorldCommand, Vec<u8>)> {
    let command = |len: usize| {
        let data = BTreeMap::from([("note".to_owned(), Datum::Text("x".repeat(len)))]);
        WorldCommand::Set { entity, component: UserData(data).into() }
    };
    let record =
        |command: &WorldCommand| postcard::to_stdvec(&Entry::Command { step: 0, command: command.clone() });
    let fixed = record(&command(EVENT_BYTES / 2))?.len() - EVENT_BYTES / 2;
    let command = command(EVENT_BYTES - fixed);
    let record = record(&command)?;
    ensure!(record.len() == EVENT_BYTES, "an event takes {} bytes, not {EVENT_BYTES}", record.len());
    Ok((command, record))
}

/// The lengths of all commits of a log, in order, as its format has them: a segment begins with 32 bytes, and a frame
/// with its mark and the length of its content, which stands between 24 bytes and 8.
pub(crate) fn commits(folder: &Path) -> anyhow::Result<Vec<usize>> {
    let mut lens = Vec::new();
    for bytes in files(folder, "log")? {
        let mut at = 32;
        while let Some(len) = bytes.get(at + 4..).and_then(|rest| rest.first_chunk()) {
            let len = u32::from_le_bytes(*len) as usize;
            if len == 0 {
                break;
            }
            let len = 24 + len.next_multiple_of(8) + 8;
            lens.push(len);
            at += len;
        }
    }
    Ok(lens)
}

/// The content of all files of a log with this ending, in the order of their names.
pub(crate) fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.iter().map(fs::read).collect::<Result<_, _>>()?)
}

/// A file that is written and synced, and nothing else.
pub(crate) struct Bare {
    file: File,
    bytes: Vec<u8>,
    _folder: TempDir,
}

impl Bare {
    /// A file that grows, or one that has had its length from the start, as segments have.
    pub(crate) fn new(len: u64) -> anyhow::Result<Self> {
        let folder = folder()?;
        let file = File::create(folder.path().join("bare"))?;
        file.set_len(len)?;
        file.sync_all()?;
        Ok(Self { file, bytes: Vec::new(), _folder: folder })
    }

    /// Has the bytes of the longest write at hand.
    pub(crate) fn with_longest(mut self, len: usize) -> Self {
        self.bytes = vec![b'x'; len];
        self
    }

    /// One write of so many bytes, made to last.
    pub(crate) fn write(&mut self, len: usize) -> anyhow::Result<()> {
        self.file.write_all(&self.bytes[..len])?;
        Ok(self.file.sync_data()?)
    }
}

/// Microseconds that some work takes.
pub(crate) fn micros<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let mut watch = Stopwatch::default();
    let done = watch.time(work);
    (done, watch.spent().as_secs_f64() * 1e6)
}

/// The value that a share of all readings does not exceed.
pub(crate) fn quantile(readings: &[f64], share: f64) -> f64 {
    let mut readings = readings.to_vec();
    readings.sort_by(f64::total_cmp);
    readings[((readings.len() - 1) as f64 * share).round() as usize]
}
