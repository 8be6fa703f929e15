//! What a simulation is made of: entities and their components, commands that change them, scenes that run them, and
//! snapshots that bring them back with the same bits.
//!
//! - [`World`] holds who lives and what they are made of, in creation order.
//! - [`WorldCommand`] is every change from outside, checked before it happens.
//! - [`Subsystem`] is whatever moves the world: physics, controllers, sensors, recorders.
//! - [`Scene`] ties a world and its subsystems to a time manager, loads from and saves to files that people read.
//! - [`WorldLog`] writes down what decides a run, durably, and [`Player`] runs it again.
//! - [`SceneSet`] steps many scenes at once, for training.
//! - [`subsystems`] has the sensors, controllers, checks and recorders that come with the crate.
//! - [`Chain`] is the kinematics of a robot's arm, forward and inverse.
//!
//! # What it does not do
//!
//! It solves no physics and draws nothing. It reads no clock: time is what the time manager says.

mod column;
mod command;
mod component;
mod coordinates;
mod entity;
mod event;
mod hash;
mod kinematics;
mod log;
mod origin;
mod random;
mod scene;
mod scene_set;
mod signal;
mod spatial;
mod subsystem;
pub mod subsystems;
mod world;

pub use column::Column;
pub use command::{CommandError, WorldCommand};
pub use component::{
    Articulation, Body, BodyKind, Camera, Collider, Component, ComponentKind, Components, Datum,
    ExternalForce, Groups, Joint, JointKind, JointState, Lens, Light, MassProperties, Mesh, Motor, MotorMode,
    MotorTarget, Name, Outputs, Parent, Part, Pose, Refusal, Robot, Shape, Space, Surface, Tags, UserData,
    Velocity,
};
pub use coordinates::{Coordinates, JointAddress, NotARobot};
pub use entity::{ENTITIES_MAX, EntityId, EntityIdError, EntityTable};
pub use event::{EVENTS_MAX, Event, Events};
pub use hash::{StateHasher, StateHashes, component_hashes, first_difference};
pub use kinematics::{CHAIN_LEN_MAX, Chain, ChainError, IkSettings, Reach};
pub use log::{
    COMMAND_BYTES_MAX, Disk, DiskFile, Entry, History, KindHashes, LOG_VERSION, LogError, LogLayout,
    LogParcel, LogSettings, LogWriter, Opening, PartHashes, Played, Player, Recovery, RunIdentity,
    SegmentSummary, SnapshotParcel, SnapshotRef, StepHashes, StepRun, Storage, StorageFile, Torn, WorldLog,
};
pub use random::Random;
pub use scene::{
    AddError, LoadOptions, SNAPSHOT_VERSION, SUBSYSTEMS_MAX, Scene, SceneFileError, SnapshotError,
    SnapshotSummary, Stage,
};
pub use scene_set::{SceneError, SceneSet, WORKERS_MAX};
pub use signal::{
    Reading, SIGNAL_WIDTH_MAX, SIGNALS_MAX, Sampling, SignalError, SignalKey, SignalValue, Signals, Tap,
};
pub use subsystem::{
    Birth, Importer, Registry, SettingsError, Subsystem, SubsystemKind, settings_from, settings_into,
    state_from, state_into,
};
pub use world::{DEPTH_MAX, Impulse, REQUESTS_MAX, World, world_pose};
