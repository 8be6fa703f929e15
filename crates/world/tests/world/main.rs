//! What the world crate promises, a theme in each file. Nothing here solves physics; that is tested where it is.

mod commands;
mod common;
mod files;
mod hashing;
mod hierarchy;
mod hostile;
mod kinematics;
mod scene_set;
mod snapshots;
mod spatial;
mod state;
mod subsystems;
