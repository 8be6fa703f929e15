//! The durable log of a run: everything that decided what happened, so that it happens again.
//!
//! A log is a folder. **Segments** hold commits, each a frame that is whole or not there; **snapshots** are files of
//! their own. Every command stands in it with the step that it took effect at, and every step with the hashes of state
//! and schedule after it. What is acknowledged is on the disk.
//!
//! - [`WorldLog`] writes, on a thread of its own, and never makes the simulation wait for the disk.
//! - [`History`] reads and checks a log; [`Player`] runs it again and compares every hash.
//! - [`crate::Scene::start_log`], [`crate::Scene::continue_log`] and [`crate::Scene::rewind_to`] tie them to a scene.
//!
//! ```
//! use downbeat_world::{LogSettings, Player, Pose, Registry, Scene, WorldCommand};
//!
//! let folder = tempfile::tempdir()?;
//! let mut scene = Scene::new("lab", 7, Registry::builtin());
//! scene.start_log(folder.path(), LogSettings::default())?;
//! scene.apply(WorldCommand::Spawn { components: vec![Pose::IDENTITY.into()] })?;
//! let position = scene.log().map(|log| log.position()); // durable once `durable()` has reached it
//! scene.run_steps(100)?;
//! scene.close_log()?;
//!
//! let mut player = Player::open(folder.path(), Registry::builtin())?;
//! player.verify(|_| ())?;
//! assert_eq!((player.scene().time().steps(), position), (100, Some(2)));
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! # After a crash
//!
//! A commit that was being written is cut off behind the last whole one, and that is told: nothing in it was ever
//! acknowledged. Any other damage is refused with its file and offset. A snapshot that is damaged is passed over for
//! the one before it.

mod entry;
mod frame;
mod history;
mod parts;
mod player;
mod segment;
mod storage;
mod world_log;
mod writer;

use std::io;
use std::sync::Arc;

use thiserror::Error;

pub use entry::{
    COMMAND_BYTES_MAX, Entry, KindHashes, Opening, PartHashes, RunIdentity, SnapshotRef, StepHashes, StepRun,
};
pub use history::{History, SegmentSummary, Torn};
pub(crate) use player::play_to;
pub use player::{Played, Player, Recovery};
pub use segment::LOG_VERSION;
pub use storage::{Disk, DiskFile, Storage, StorageFile};
pub use world_log::{LogSettings, WorldLog};
pub(crate) use world_log::{Standing, lock};
pub use writer::{LogLayout, LogParcel, LogWriter, SnapshotParcel};

use crate::scene::SnapshotError;

/// Why a log could not be written, read or followed.
#[derive(Debug, Error)]
pub enum LogError {
    /// There is no log.
    #[error("there is no log here; name the folder that `downbeat run --log` wrote")]
    Missing,
    /// There is one already.
    #[error("there is a log here already; continue it, or choose another folder")]
    Occupied,
    /// Somebody else writes it.
    #[error("another process is writing this log; wait for it to end, or choose another folder")]
    Busy,
    /// The folder cannot be used.
    #[error("the log's folder cannot be used: {0}")]
    Folder(#[source] io::Error),
    /// A file could not be read.
    #[error("cannot read {file}: {source}")]
    Read {
        /// Which.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written or synced.
    #[error(
        "cannot write {file}: {source}; nothing is acknowledged any more, and all that was is on the disk; \
         {cure}"
    )]
    Write {
        /// Which.
        file: String,
        /// What to do.
        cure: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Bytes have changed.
    #[error("{file} is damaged at byte {offset}: {what}; `downbeat inspect` shows what can still be read")]
    Damaged {
        /// Which file.
        file: String,
        /// Where.
        offset: u64,
        /// What does not fit.
        what: String,
    },
    /// Another build wrote it.
    #[error(
        "{file} has log format {found}, and this build reads 1 to {LOG_VERSION}; use the build that wrote it"
    )]
    OtherFormat {
        /// Which file.
        file: String,
        /// Its version.
        found: u32,
    },
    /// Nothing to start from.
    #[error("no snapshot of the log can be used, so there is nothing to start from: {why}")]
    NoSnapshot {
        /// Why the newest was not good.
        why: String,
    },
    /// The log is of something else.
    #[error("this log cannot be continued: {why}; choose another folder")]
    OtherRun {
        /// What differs.
        why: String,
    },
    /// The run went another way than its log.
    #[error("step {step} is not what the log says: {what}")]
    Diverged {
        /// The first step that differs.
        step: u64,
        /// What differs, by entity and component as far as the log tells.
        what: String,
    },
    /// A step that the log does not have.
    #[error("the log has steps {first} to {last}, not {step}")]
    NoSuchStep {
        /// What was asked for.
        step: u64,
        /// The first that can be gone to.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// The scene could not be saved or loaded.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Something has no form in the log.
    #[error("it cannot be written down: {what}")]
    Encode {
        /// What.
        what: String,
    },
    /// The disk cannot follow.
    #[error("the disk is behind with the log; give the command again in a moment")]
    Behind,
    /// A thread could not be started.
    #[error(transparent)]
    Thread(#[from] downbeat_threading::SpawnError),
    /// The log has ended, after an earlier error or because it was closed.
    #[error("{0}")]
    Ended(Arc<LogError>),
    /// The log was closed, or its scene has none.
    #[error("the scene has no log; start one first")]
    NoLog,
    /// A step could not be written down.
    #[error("the log ends at step {step}: {why}; continue it in a new process to go on from there")]
    BrokenOff {
        /// The last step in it.
        step: u64,
        /// What happened.
        why: String,
    },
}

impl LogError {
    fn write(file: &str, source: io::Error) -> Self {
        let cure = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space and continue the log"
            }
            io::ErrorKind::PermissionDenied => "check who may write there and continue the log",
            _ => "check the disk before you continue the log",
        };
        Self::Write { file: file.to_owned(), cure, source }
    }
}
