//! What a log holds, entry by entry. Entries are appended as postcard, one behind the other; new kinds come last, so
//! that what an older build wrote keeps its meaning.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::command::WorldCommand;
use crate::component::ComponentKind;
use crate::entity::EntityId;

/// No step, position or segment counts farther. It leaves room to count on.
pub(crate) const COUNT_MAX: u64 = 1 << 62;
/// How many steps are gathered into one entry.
pub(crate) const STEP_RUN_MAX: usize = 64;
/// How large the text of one command may be in a log.
pub const COMMAND_BYTES_MAX: usize = 16 << 20;

/// One entry of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A segment begins.
    Opened(Opening),
    /// A change from outside took effect between two steps.
    Command {
        /// Steps taken before it.
        step: u64,
        /// The change.
        command: WorldCommand,
    },
    /// Steps were taken, one after the other.
    Steps(StepRun),
    /// The hashes of parts of the state, to name the first difference by.
    Parts(PartHashes),
    /// The state was saved in a file of its own.
    Snapshot(SnapshotRef),
    /// Simulated time was jumped over.
    Skipped {
        /// Steps taken before.
        step: u64,
        /// How much time.
        nanos: u64,
    },
    /// The scene went back: what came after this step is not part of the run any more.
    Rewound {
        /// Where it went.
        to: u64,
    },
    /// The segment ends here.
    Closed,
}

/// What a segment begins with: enough to read on from it, and to tell whether a run may go on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// The segment's number, counted from 1.
    pub segment: u64,
    /// Entries before it that were acknowledged by position.
    pub position: u64,
    /// What the build that writes it is for, and how it is optimised. It makes no difference to the bits.
    pub build: String,
    /// What the run is of.
    pub run: RunIdentity,
}

/// What a run is of, and what made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The scene's name.
    pub scene: String,
    /// Its seed.
    pub seed: u64,
    /// A hash of everything that it started with.
    pub start: [u8; 8],
    /// The engine's version: another one may give other bits.
    pub engine: String,
    /// What the engine knows: the kinds of subsystems.
    pub features: Vec<String>,
}

/// The hashes of some steps in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRun {
    /// The number of the first one; the scene's first step is 1.
    pub first: u64,
    /// Where simulated time stood after the last one.
    pub now_nanos: u64,
    /// The hashes after each.
    pub hashes: Vec<StepHashes>,
}

/// The hashes after one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepHashes {
    state: [u8; 8],
    schedule: [u8; 8],
}

/// The hashes of parts of the state after a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartHashes {
    /// After which step.
    pub step: u64,
    /// Who lives, ids, signals, events, random numbers.
    pub bookkeeping: [u8; 8],
    /// Each subsystem, in the scene's order.
    pub subsystems: Vec<[u8; 8]>,
    /// Components by kind. Kinds that did not change since the last entry of this sort are left out; the first one
    /// behind a snapshot has them all.
    pub components: Vec<(ComponentKind, KindHashes)>,
}

/// The hashes of all components of a kind, in creation order.
pub type KindHashes = Vec<(EntityId, [u8; 8])>;

/// A snapshot in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotRef {
    /// Steps taken by then.
    pub step: u64,
    /// Where simulated time stood.
    pub now_nanos: u64,
    /// The position of this entry in the log: what stands before it is in the snapshot.
    pub position: u64,
    /// The file's length.
    pub len: u64,
    /// A hash of the file. Not a CRC: that of a file which ends in its own is always the same.
    pub hash: [u8; 8],
}

impl Opening {
    /// The opening of a segment that this build writes.
    pub(crate) fn new(segment: u64, position: u64, run: RunIdentity) -> Self {
        let optimised = if cfg!(debug_assertions) { "debug" } else { "release" };
        let build = format!("{}-{} {optimised}", std::env::consts::ARCH, std::env::consts::OS);
        Self { segment, position, build, run }
    }
}

impl StepHashes {
    /// The hashes of state and schedule.
    pub fn new(state: u64, schedule: u64) -> Self {
        Self { state: state.to_le_bytes(), schedule: schedule.to_le_bytes() }
    }

    /// The hash of the state.
    pub fn state(self) -> u64 {
        u64::from_le_bytes(self.state)
    }

    /// The hash of the schedule.
    pub fn schedule(self) -> u64 {
        u64::from_le_bytes(self.schedule)
    }
}

impl StepRun {
    /// The number of the last step.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(self.hashes.len() as u64).saturating_sub(1)
    }
}

impl SnapshotRef {
    /// The name of its file.
    pub fn file(&self) -> String {
        snapshot_file(self.step, self.position)
    }

    /// Whether these are its bytes.
    pub(crate) fn fits(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.len && hash_of(bytes) == self.hash
    }
}

/// The hash of a snapshot's file.
pub(crate) fn hash_of(bytes: &[u8]) -> [u8; 8] {
    xxh3_64(bytes).to_le_bytes()
}

/// The name of a snapshot's file: its step for people, its position because a step may come twice.
pub(crate) fn snapshot_file(step: u64, position: u64) -> String {
    format!("step-{step:012}-{position:x}.snap")
}

impl Entry {
    /// Whether it counts as a position that can be acknowledged.
    pub(crate) fn counts(&self) -> bool {
        !matches!(self, Self::Opened(_) | Self::Closed)
    }

    /// Appends it to bytes.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) -> Result<(), postcard::Error> {
        let (start, taken) = (bytes.len(), std::mem::take(bytes));
        match postcard::to_extend(self, taken) {
            Ok(whole) => {
                *bytes = whole;
                Ok(())
            }
            Err(error) => {
                bytes.truncate(start);
                Err(error)
            }
        }
    }

    /// The entries of a frame's content.
    pub(crate) fn read_all(mut content: &[u8]) -> Result<Vec<Self>, postcard::Error> {
        let mut entries = Vec::new();
        while !content.is_empty() {
            let (entry, rest) = postcard::take_from_bytes(content)?;
            entries.push(entry);
            content = rest;
        }
        Ok(entries)
    }
}
