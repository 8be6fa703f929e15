//! A backend that draws nothing and remembers what it was asked.

use crate::backend::{Backend, BackendLost};

/// For tests, and for machines without a graphics device.
#[derive(Debug, Default)]
pub struct NullBackend {
    notes: Vec<String>,
    frames: Vec<u64>,
    lost: Option<BackendLost>,
}

impl NullBackend {
    /// Remembers what a command did.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// What commands have noted, in order.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The numbers of the frames that were begun, in order.
    pub fn frames(&self) -> &[u64] {
        &self.frames
    }

    /// Loses the device, as far as anybody can tell, at the end of this frame.
    pub fn lose(&mut self, reason: impl Into<String>) {
        self.lost = Some(BackendLost { reason: reason.into() });
    }
}

impl Backend for NullBackend {
    fn begin_frame(&mut self, number: u64) {
        self.frames.push(number);
    }

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        self.lost.clone().map_or(Ok(()), Err)
    }
}
