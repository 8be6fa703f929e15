//! A log through several lives, each ended by a fault or in order, against a plain list of what was acknowledged.

use std::ops::ControlFlow;

use downbeat_threading::{BatchSender, batches};
use downbeat_world::{
    Entry, History, LogError, LogLayout, LogParcel, LogWriter, Random, RunIdentity, SnapshotParcel,
    StepHashes, StepRun, Storage, WorldCommand,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::simulated::{Faults, Simulated};

/// What a log must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    /// Everything that was acknowledged, with the position of its last entry.
    pub(crate) acknowledged: Vec<Entry>,
    /// The commit under way when the life ended, if one was.
    pub(crate) in_doubt: Vec<Entry>,
    pub(crate) step: u64,
    /// Whether all snapshots are kept.
    pub(crate) keeps_all: bool,
}

pub(crate) fn identity() -> RunIdentity {
    RunIdentity {
        scene: "crash".to_owned(),
        seed: 1,
        start: [7; 8],
        engine: "test".to_owned(),
        features: vec!["one".to_owned()],
    }
}

/// What the model knows of a snapshot's file: it is made from step and position.
pub(crate) fn snapshot_bytes(step: u64) -> Vec<u8> {
    let len = 64 + step as usize % 700;
    (0..len).map(|at| (at as u64 * 31 + step * 7 + 1) as u8).collect()
}

fn parcel(step: u64) -> SnapshotParcel {
    SnapshotParcel { step, now_nanos: step * 10, bytes: snapshot_bytes(step) }
}

/// Runs one life on this storage: opens or continues, commits, until something fails or it closes.
pub(crate) fn live(
    storage: &Simulated,
    layout: LogLayout,
    model: &mut Model,
    random: &mut Random,
) -> Result<(), LogError> {
    let mut writer = match History::read(storage) {
        Err(LogError::Missing) => {
            model.in_doubt = vec![start_entry()];
            let writer = LogWriter::create(storage.clone(), layout, identity(), &parcel(0))?;
            model.acknowledged = std::mem::take(&mut model.in_doubt);
            writer
        }
        history => LogWriter::continue_from(storage.clone(), layout, &history?)?,
    };
    let (sender, mut receiver) = batches::<LogParcel, String>(1 << 20);
    for _ in 0..random.below(12) {
        let group = group(model, random, &sender);
        model.in_doubt = group;
        let batch = receiver.take().expect("something was pushed");
        writer.commit(batch)?;
        receiver.settle();
        model.acknowledged.append(&mut model.in_doubt);
    }
    if random.below(3) == 0 { writer.close() } else { Ok(()) }
}

/// Pushes some entries and tells which.
fn group(model: &mut Model, random: &mut Random, sender: &BatchSender<LogParcel, String>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for _ in 0..=random.below(3) {
        let step = model.step;
        let entry = match random.below(10) {
            0..4 => {
                let settings = "x".repeat(random.below(900) as usize);
                let command = WorldCommand::Configure { subsystem: format!("{}", random.bits()), settings };
                Entry::Command { step, command }
            }
            4 => Entry::Skipped { step, nanos: random.bits() >> 40 },
            5 => {
                let snapshot = parcel(step);
                let weight = snapshot.bytes.len();
                sender
                    .push_parcel(LogParcel::Snapshot(snapshot), weight)
                    .expect("the queue and the log work");
                let position = 0; // Filled in when it is compared.
                let (len, hash) = (weight as u64, xxh3_64(&snapshot_bytes(step)).to_le_bytes());
                let snapshot =
                    downbeat_world::SnapshotRef { step, now_nanos: step * 10, position, len, hash };
                entries.push(Entry::Snapshot(snapshot));
                continue;
            }
            6 if random.below(4) == 0 => {
                // Where few snapshots are kept, none before the newest may be left to start from.
                let to = if model.keeps_all { u64::from(random.below(step as u32 + 1)) } else { step };
                sender.push_parcel(LogParcel::Rewound { to }, 16).expect("the queue and the log work");
                model.step = to;
                entries.push(Entry::Rewound { to });
                continue;
            }
            _ => {
                let hashes: Vec<_> =
                    (0..=random.below(20)).map(|_| StepHashes::new(random.bits(), random.bits())).collect();
                model.step += hashes.len() as u64;
                Entry::Steps(StepRun { first: step + 1, now_nanos: model.step * 10, hashes })
            }
        };
        sender
            .push(&postcard::to_stdvec(&entry).expect("the queue and the log work"))
            .expect("the queue and the log work");
        entries.push(entry);
    }
    entries
}

fn start_entry() -> Entry {
    let bytes = snapshot_bytes(0);
    let (len, hash) = (bytes.len() as u64, xxh3_64(&bytes).to_le_bytes());
    Entry::Snapshot(downbeat_world::SnapshotRef { step: 0, now_nanos: 0, position: 1, len, hash })
}

/// All entries of a log with their positions, as they were written.
pub(crate) fn written<S: Storage>(history: &History, storage: &S) -> Result<Vec<(u64, Entry)>, LogError> {
    let mut entries = Vec::new();
    history.for_each_written(storage, 0, |at, entry| {
        if !matches!(entry, Entry::Opened(_) | Entry::Closed) {
            entries.push((at, entry));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(entries)
}

impl Model {
    /// What the log holds must be what was acknowledged, with or without the commit in doubt, whole. The model goes on
    /// with what was found. Snapshots must be good: all that are live, or the newest ones when few are kept.
    pub(crate) fn check(&mut self, storage: &Simulated, layout: LogLayout) {
        let history = match History::read(storage) {
            Ok(history) => history,
            Err(LogError::Missing) if self.acknowledged.is_empty() => return,
            Err(error) => panic!("a crash must not make a log unreadable: {error}"),
        };
        let found = written(&history, storage).expect("the queue and the log work");
        let with_doubt: Vec<_> = self.acknowledged.iter().chain(&self.in_doubt).cloned().collect();
        let is = |expected: &[Entry]| {
            history.position as usize == expected.len()
                && found.iter().all(|(at, entry)| alike(&expected[*at as usize - 1], entry, *at))
                && (layout.snapshots_kept.is_some() || found.len() == expected.len())
        };
        if !is(&self.acknowledged) {
            assert!(
                is(&with_doubt),
                "acknowledged {}, in doubt {}, found {} up to {}",
                self.acknowledged.len(),
                self.in_doubt.len(),
                found.len(),
                history.position
            );
            self.acknowledged = with_doubt;
        }
        self.in_doubt.clear();
        self.step = history.step;
        for snapshot in &history.snapshots {
            let bytes = history.snapshot(storage, snapshot).expect("the queue and the log work");
            assert_eq!(bytes, snapshot_bytes(snapshot.step), "a snapshot of step {}", snapshot.step);
        }
        assert!(!history.snapshots.is_empty(), "there is always something to start from");
    }
}

/// Whether these are the same. A snapshot's position is known only when it is written: it is its place.
fn alike(expected: &Entry, found: &Entry, at: u64) -> bool {
    match (expected, found) {
        (Entry::Snapshot(expected), Entry::Snapshot(found)) => {
            let placed = downbeat_world::SnapshotRef { position: at, ..expected.clone() };
            placed == *found
        }
        (expected, found) => expected == found,
    }
}

/// One story: lives on one disk, each with another fault.
pub(crate) fn story(seed: u64, faults: impl Fn(&mut Random) -> Faults, is_crash: bool) {
    let mut random = Random::new(seed, "story");
    let kept = (random.below(2) == 0).then(|| 2 + random.below(2) as usize);
    let layout = LogLayout { segment_bytes_max: 1024 + u64::from(random.below(6000)), snapshots_kept: kept };
    let mut storage = Simulated::default();
    let mut model = Model { keeps_all: kept.is_none(), ..Model::default() };
    for _ in 0..1 + random.below(4) {
        let faults = faults(&mut random);
        storage = storage.with_faults(faults);
        let ended = live(&storage, layout, &mut model, &mut random);
        if ended.is_ok() && !is_crash {
            model.in_doubt.clear();
        }
        storage = if is_crash { storage.crashed(&mut random) } else { storage.copied() };
        model.check(&storage, layout);
    }
}
