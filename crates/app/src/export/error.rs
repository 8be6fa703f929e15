//! Why an export could not be written.

use std::io;
use std::path::PathBuf;

use downbeat_time::SimTime;
use mcap::McapError;
use thiserror::Error;

/// Why an export could not be written. Nothing is left under the file's name.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The file could not be begun.
    #[error("cannot make {}: {error}; name a file in a folder that exists and may be written to", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The disk or the folder said no, half-way.
    #[error("cannot write the export: {0}; is there room on the disk?")]
    Write(#[source] io::Error),
    /// The file is whole but could not be moved into place.
    #[error("cannot move the export to {}: {error}; may its folder be written to?", path.display())]
    Keep {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The container has no place for it.
    #[error("cannot write the export as MCAP: {0}")]
    Container(#[source] McapError),
    /// A command has no form as JSON.
    #[error("the command at step {step} has no form as JSON: {error}")]
    Command {
        /// After how many steps it came.
        step: u64,
        /// Why.
        #[source]
        error: serde_json::Error,
    },
    /// Foxglove's messages count seconds in 32 bits.
    #[error(
        "{now} is more than 136 years after the start, which the file's messages cannot say; export a shorter part"
    )]
    TooLate {
        /// The time.
        now: SimTime,
    },
}

impl From<McapError> for ExportError {
    /// What the system said is what the user must hear; the container's own words hide it.
    fn from(error: McapError) -> Self {
        match error {
            McapError::Io(error) => Self::Write(error),
            error => Self::Container(error),
        }
    }
}
