//! What the world crate promises, a theme in each file. Nothing here solves physics; that is tested where it is.

mod common;
mod kinematics;
mod scene_set;
mod subsystems;
