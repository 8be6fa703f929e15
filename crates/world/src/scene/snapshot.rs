//! Snapshots: everything that decides what comes, as bytes. Saved, loaded into a new scene and stepped, they give the
//! bytes of the scene that went on.
//!
//! Layout: eight bytes of mark, the format's version (u32), the payload's length (u64), the payload (postcard), and the
//! CRC32C of everything before it (u32); numbers little-endian.

use downbeat_time::{RestoreError, SimTime, TimeManager, TimeState};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::{AddError, Scene, Stage};
use crate::world::World;

/// The version that this build writes.
pub const SNAPSHOT_VERSION: u32 = 1;

const MARK: [u8; 8] = *b"DBTSNAP\n";
const HEAD_LEN: usize = MARK.len() + 4 + 8;

/// Why a snapshot could not be made or used. The scene is as it was.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// It is no snapshot.
    #[error("this is not a snapshot: {what}; it may be another file, or cut off")]
    Foreign {
        /// What does not fit.
        what: String,
    },
    /// A later build wrote it.
    #[error(
        "the snapshot has format {found}, and this build reads up to {SNAPSHOT_VERSION}; use a newer build"
    )]
    Newer {
        /// Its version.
        found: u32,
    },
    /// Its bytes have changed.
    #[error("the snapshot is damaged: {what}; use an older one")]
    Damaged {
        /// What does not fit.
        what: String,
    },
    /// A subsystem could not be saved or loaded.
    #[error("subsystem `{name}` cannot go through a snapshot: {reason}")]
    Subsystem {
        /// Which one.
        name: String,
        /// Why.
        reason: String,
    },
    /// A subsystem could not be made again.
    #[error(transparent)]
    Add(#[from] AddError),
    /// A subsystem is of no known kind, so it cannot be made from the snapshot alone.
    #[error("subsystem `{name}` is of no known kind; build the scene with it first, then restore")]
    Native {
        /// Which one.
        name: String,
    },
    /// The scene has other subsystems than the one that was saved.
    #[error(
        "subsystem {position} is {here} here but {saved} in the snapshot; add the same ones in the same order"
    )]
    OtherSubsystems {
        /// Place in registration order, counted from 1.
        position: usize,
        /// That of the scene.
        here: String,
        /// That of the snapshot.
        saved: String,
    },
    /// The time manager refused.
    #[error(transparent)]
    Time(#[from] RestoreError),
    /// The scene has a log.
    #[error("a scene with a log goes to a step of it by rewinding; close the log to restore something else")]
    Logged,
}

/// What a snapshot is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// The scene's name.
    pub scene: String,
    /// Where it stood.
    pub now: SimTime,
    /// Steps taken by then.
    pub steps: u64,
    /// Entities that lived.
    pub entities: usize,
}

#[derive(Serialize)]
struct SavedRef<'a> {
    scene: &'a str,
    folder: &'a str,
    subsystems: Vec<SavedSubsystem>,
    time: TimeState,
    world: &'a World,
}

#[derive(Deserialize)]
pub(super) struct Saved {
    pub(super) scene: String,
    pub(super) folder: String,
    pub(super) subsystems: Vec<SavedSubsystem>,
    pub(super) time: TimeState,
    pub(super) world: World,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedSubsystem {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) settings: String,
    pub(super) state: Vec<u8>,
}

impl Scene {
    /// Everything that decides what comes.
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        self.stage.save(&self.time)
    }

    /// A hash of everything that decides what comes, wherever its files are.
    pub(super) fn fingerprint(&self) -> Result<u64, SnapshotError> {
        Ok(xxh3_64(&self.stage.save_in("", &self.time)?))
    }

    /// The world of a snapshot, without a scene around it.
    pub(crate) fn world_of(bytes: &[u8]) -> Result<World, SnapshotError> {
        Saved::read(bytes).map(|saved| saved.world)
    }

    /// What a snapshot is of, without making a scene of it.
    pub fn inspect(bytes: &[u8]) -> Result<SnapshotSummary, SnapshotError> {
        let saved = Saved::read(bytes)?;
        let entities = saved.world.entities().len();
        Ok(SnapshotSummary { scene: saved.scene, now: saved.time.now(), steps: saved.time.steps(), entities })
    }
}

impl Stage {
    pub(super) fn save(&self, time: &TimeManager<Self>) -> Result<Vec<u8>, SnapshotError> {
        self.save_in(&self.folder.to_string_lossy(), time)
    }

    fn save_in(&self, folder: &str, time: &TimeManager<Self>) -> Result<Vec<u8>, SnapshotError> {
        let subsystems = self.slots.iter().zip(&self.subsystems).map(|(slot, subsystem)| {
            let refused = |reason| SnapshotError::Subsystem { name: slot.name.clone(), reason };
            Ok(SavedSubsystem {
                name: slot.name.clone(),
                kind: slot.kind.map(str::to_owned),
                settings: subsystem.settings().to_string(),
                state: subsystem.save().map_err(|error| refused(error.to_string()))?,
            })
        });
        let saved = SavedRef {
            scene: &self.name,
            folder,
            subsystems: subsystems.collect::<Result<_, SnapshotError>>()?,
            time: time.save(),
            world: &self.world,
        };
        let mut bytes = [&MARK[..], &SNAPSHOT_VERSION.to_le_bytes(), &[0; 8]].concat();
        bytes = postcard::to_extend(&saved, bytes)
            .map_err(|error| SnapshotError::Damaged { what: error.to_string() })?;
        let length = (bytes.len() - HEAD_LEN) as u64;
        bytes[HEAD_LEN - 8..HEAD_LEN].copy_from_slice(&length.to_le_bytes());
        let check = crc32c::crc32c(&bytes);
        bytes.extend(check.to_le_bytes());
        Ok(bytes)
    }
}

impl Saved {
    /// The content of a snapshot, checked.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let foreign = |what: &str| SnapshotError::Foreign { what: what.to_owned() };
        let damaged = |what: &str| SnapshotError::Damaged { what: what.to_owned() };
        let rest = bytes.strip_prefix(&MARK).ok_or_else(|| foreign("it does not begin like one"))?;
        let (version, rest) = rest.split_first_chunk::<4>().ok_or_else(|| foreign("it has no version"))?;
        let version = u32::from_le_bytes(*version);
        if version > SNAPSHOT_VERSION {
            return Err(SnapshotError::Newer { found: version });
        }
        let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(|| foreign("it has no length"))?;
        let (payload, check) = rest.split_last_chunk::<4>().ok_or_else(|| foreign("it has no content"))?;
        if u64::from_le_bytes(*length) != payload.len() as u64 {
            return Err(damaged("it is not as long as it says"));
        }
        if crc32c::crc32c(&bytes[..bytes.len() - 4]) != u32::from_le_bytes(*check) {
            return Err(damaged("its check sum does not fit"));
        }
        let (saved, rest): (Self, _) =
            postcard::take_from_bytes(payload).map_err(|error| damaged(&error.to_string()))?;
        if !rest.is_empty() {
            return Err(damaged("it has bytes too many"));
        }
        saved.world.problem().map_or(Ok(saved), |problem| Err(damaged(&problem)))
    }
}
