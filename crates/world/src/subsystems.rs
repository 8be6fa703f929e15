//! The subsystems that this crate brings: sensors and sync points, controllers, checks, recorders.
//!
//! | kind | phase | what it does |
//! |---|---|---|
//! | `joint_sensor` | Acquisition | publishes where joints are, as a sensor with noise and steps would see it |
//! | `pose_sensor` | Acquisition | publishes where an entity is |
//! | `sync_point` | Acquisition | latches all signals, after the sensors; bind it with `on_shared` |
//! | `joint_control` | Control | drives joints by efforts: PID on positions, PI on speeds, or efforts as they come |
//! | `keyframes` | Control | moves a robot's motors through a list of timed targets |
//! | `pick_and_place` | Control | leads a tool from thing to place and works its gripper; `ik` after it does the rest |
//! | `ik` | Control | moves a robot's motors so that its tool follows an entity |
//! | `limits` | Validation | stops the scene when something is no longer a number or out of bounds |
//! | `episode` | Validation | says when an episode is over |
//! | `capture` | Export | keeps the last frames of signals, poses and joints |
//!
//! Settings are the structs below; in a file they stand under `[subsystem.settings]`. Entities are named by id or name
//! ([`EntityRef`]).
//!
//! ```
//! use downbeat_world::{Pose, Registry, Scene, settings_into};
//! use downbeat_world::subsystems::{Capture, CaptureSettings};
//!
//! let mut scene = Scene::new("lab", 1, Registry::builtin());
//! scene.world_mut().spawn("cup", Pose::IDENTITY);
//! let settings = CaptureSettings { poses: vec!["cup".into()], ..CaptureSettings::default() };
//! scene.add("capture", "tape", &settings_into(&settings), None)?;
//! scene.run_for(std::time::Duration::from_secs(1))?;
//! let tape = scene.subsystem::<Capture>("tape").ok_or("it was added")?;
//! assert_eq!(tape.frames().count(), 30);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod capture;
mod derived;
mod entity_ref;
mod episode;
mod ik;
mod joint_control;
mod joint_sensor;
mod keyframes;
mod limits;
mod pick_and_place;
mod pose_sensor;
mod sync_point;

pub use capture::{CAPTURE_FLOATS_MAX, Capture, CaptureSettings, Channel, Frame};
pub use entity_ref::EntityRef;
pub use episode::{Condition, Episode, EpisodeSettings, Term};
pub use ik::{Ik, IkFollowSettings};
pub use joint_control::{ControlMode, JointControl, JointControlSettings, PerJoint};
pub use joint_sensor::{JointSensor, JointSensorSettings};
pub use keyframes::{Key, Keyframes, KeyframesSettings};
pub use limits::{Limits, LimitsSettings, Workspace};
pub use pick_and_place::{PickAndPlace, PickAndPlaceSettings};
pub use pose_sensor::{PoseSensor, PoseSensorSettings};
pub use sync_point::SyncPoint;

use crate::subsystem::{SettingsError, SubsystemKind};

/// All of them.
pub(crate) const KINDS: &[SubsystemKind] = &[
    capture::KIND,
    episode::KIND,
    ik::KIND,
    joint_control::KIND,
    joint_sensor::KIND,
    keyframes::KIND,
    limits::KIND,
    pick_and_place::KIND,
    pose_sensor::KIND,
    sync_point::KIND,
];

/// Refuses settings unless `holds`.
fn require(holds: bool, refusal: impl FnOnce() -> String) -> Result<(), SettingsError> {
    if holds { Ok(()) } else { Err(SettingsError(refusal())) }
}

/// Refuses a number below zero or not finite, by name.
fn not_negative(what: &str, number: f64) -> Result<(), SettingsError> {
    require(number.is_finite() && number >= 0.0, || format!("`{what}` must be 0 or more, not {number}"))
}

/// Refuses a number that is not above zero, by name.
fn positive(what: &str, number: f64) -> Result<(), SettingsError> {
    require(number > 0.0, || format!("`{what}` must be above 0, not {number}"))
}
