//! The application: what the runtime and the editor are made of.
//!
//! It brings the shipped scenes. It draws nothing and listens nowhere.

mod shipped;

pub use downbeat_physics::registry;
pub use shipped::{SHIPPED, SceneError, Shipped, load_scene};
