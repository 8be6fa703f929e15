//! What can go wrong, each with what it means for the frames to come.

use std::fmt;
use std::panic::Location;

use downbeat_threading::{Panic, SpawnError};

use crate::backend::BackendLost;

/// Why there is no renderer.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The policy is reserved.
    #[error("the threading policy `None` is reserved; choose `SingleThreaded` or `MultiThreaded`")]
    PolicyIsReserved,
    /// There is no thread for it.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

/// Why a frame was not rendered as submitted. Each is reported once, by the next call on main.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A command panicked. The rest of its frame was dropped, and so are later ones until a rebuild.
    #[error("a render command {panic}{}; drawing stops until the backend is rebuilt", Place(*submitted_at))]
    Panicked {
        /// What it panicked with.
        panic: Panic,
        /// Where it was submitted. Known in debug builds only.
        submitted_at: Option<&'static Location<'static>>,
    },
    /// The device was lost. Frames are dropped until a rebuild.
    #[error("{0}; rebuild the backend")]
    Lost(#[from] BackendLost),
    /// A frame had more commands than memory for them. It was drawn without the rest.
    #[error("{commands} render commands were dropped: the frame is full; submit less, or raise `bytes_max`")]
    Overflow {
        /// How many.
        commands: usize,
    },
}

struct Place(Option<&'static Location<'static>>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |place| write!(f, " (submitted at {place})"))
    }
}

/// Whether frames are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderState {
    /// They are.
    Drawing,
    /// A command panicked or the device was lost: commands are dropped, frees still run.
    Dropping,
}

/// A command that was not taken, given back.
#[derive(thiserror::Error)]
#[error("the render queue takes no more commands for this frame, or has shut down")]
pub struct RefusedCommand<F> {
    /// The command.
    pub command: F,
}

impl<F> fmt::Debug for RefusedCommand<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefusedCommand")
    }
}
