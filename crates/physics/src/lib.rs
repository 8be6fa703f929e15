//! Physics as subsystems of a scene: rapier in three dimensions and in a plane, and robots from URDF and MJCF files.
//!
//! ```
//! use downbeat_physics::registry;
//! use downbeat_world::{Body, Collider, Pose, Scene, Shape};
//! use glam::Vec3;
//!
//! let mut scene = Scene::new("drop", 1, registry());
//! let ball = scene.world_mut().spawn("ball", Pose::at(Vec3::Z * 10.0));
//! scene.world_mut().set(ball, Body::default());
//! scene.world_mut().set(ball, Collider::new(Shape::Sphere { radius: 0.1 }));
//! scene.add("rapier3d", "physics", &Default::default(), None)?;
//! scene.run_for(std::time::Duration::from_secs(1))?;
//! let fallen = 10.0 - scene.world().world_pose(ball).position.z;
//! assert!((fallen - 0.5 * 9.81).abs() < 0.11, "semi-implicit Euler at 50 Hz falls a little farther");
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! # What it does not do
//!
//! It keeps no time and starts no thread. Only the solvers' own files name rapier.

#![expect(
    clippy::duplicate_mod,
    reason = "what both solvers share is compiled against each of them, see `solver.rs`"
)]

mod import;
mod mirror;
mod rapier2d;
mod rapier3d;
mod solver;

use downbeat_world::Registry;

pub use import::{ImportError, ImportOptions, ImportReport, import_mjcf, import_urdf};
pub use rapier2d::{Rapier2d, Rapier2dSettings};
pub use rapier3d::{Rapier3d, Rapier3dSettings, hull_triangles};
pub use solver::RayHit;

/// The world's own kinds of subsystems and those of this crate, which also imports `.urdf`, `.xml` and `.mjcf` files.
pub fn registry() -> Registry {
    let mut registry = Registry::builtin();
    registry.add(rapier3d::KIND);
    registry.add(rapier2d::KIND);
    registry.add_importer("urdf", import::urdf_importer);
    registry.add_importer("xml", import::mjcf_importer);
    registry.add_importer("mjcf", import::mjcf_importer);
    registry
}
