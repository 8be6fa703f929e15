//! What commands are run against: a graphics device, or something that only takes notes.

/// Receives the commands of each frame, on the thread that renders.
///
/// It is made on main and comes back to main at shutdown; in between it belongs to the thread that renders.
pub trait Backend: Send + 'static {
    /// Comes before the commands of frame `number`, counted from 1.
    fn begin_frame(&mut self, number: u64);

    /// Comes after them: submit and present. A lost device is reported here, whenever it was noticed.
    fn end_frame(&mut self) -> Result<(), BackendLost>;
}

/// The device is gone. Nothing will be drawn until it is rebuilt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the graphics device was lost: {reason}")]
pub struct BackendLost {
    /// What the driver said.
    pub reason: String,
}
