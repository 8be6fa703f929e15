//! The application: what the runtime and the editor are made of.
//!
//! It brings the shipped scenes, and runs as files for other programs. It draws nothing and listens nowhere.

mod export;
mod shipped;

pub use downbeat_physics::registry;
pub use export::{ExportError, ExportFile, ExportHead, ExportSummary, McapExport, Pace};
pub use shipped::{SHIPPED, SceneError, Shipped, load_scene};
