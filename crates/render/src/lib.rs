//! One render command queue, two threading policies.
//!
//! Code that draws calls [`Renderer::submit`] with a closure. Under [`ThreadingPolicy::SingleThreaded`] main runs the
//! closures at the end of its frame; under [`ThreadingPolicy::MultiThreaded`] a render thread runs those of frame N
//! while main is at frame N + 1. The code is the same for both:
//!
//! ```
//! use downbeat_render::{NullBackend, RenderConfig, RenderThread, ThreadingPolicy};
//! use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
//!
//! let boot = Boot::claim()?;
//! let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
//! for policy in [ThreadingPolicy::SingleThreaded, ThreadingPolicy::MultiThreaded] {
//!     let config = RenderConfig { policy, ..RenderConfig::default() };
//!     let mut render = RenderThread::start(&dispatcher, NullBackend::default(), config)?;
//!     let renderer = render.renderer();
//!     for frame in 1..=3 {
//!         renderer.submit(move |backend| backend.note(format!("draw {frame}")));
//!         render.kick(&dispatcher)?; // the end of a frame
//!     }
//!     let backend = render.shut_down(&dispatcher)?;
//!     assert_eq!(backend.notes(), ["draw 1", "draw 2", "draw 3"]);
//! }
//! # Ok::<(), downbeat_threading::BoxError>(())
//! ```
//!
//! # What holds under both policies
//!
//! - Every command is run once or dropped once: across frames, panics, device loss, shutdown and drop.
//! - Commands of one thread run in the order it submitted them. So do those of two threads where one submits because of
//!   the other: after a join, a lock, a message. What they submit at the same time has some order, and only one.
//! - What is submitted after a kick, or inside a command, belongs to the next frame.
//! - At most one frame is in flight. Back-pressure is in [`RenderThread::kick`] and nowhere else.
//! - A free runs once, after the commands of the frame it was submitted in, and never before.
//! - While main waits for the render thread it runs the dispatcher's tasks, so a command may call main.
//!
//! It does not know what a world is, and nothing here opens a window: a backend may be given one to show its pictures in.

mod backend;
mod camera;
mod config;
mod failure;
mod frame;
#[cfg(feature = "gpu")]
mod gpu;
mod handshake;
mod label;
mod mesh;
#[cfg(feature = "models")]
mod model;
mod null;
mod packet;
mod recorder;
mod renderer;
mod thread;

pub use backend::{Backend, BackendLost};
pub use camera::{Camera, Projection};
pub use config::{RenderConfig, ThreadingPolicy};
pub use failure::{RefusedCommand, RenderError, RenderState, StartError};
#[cfg(feature = "gpu")]
pub use gpu::{Captured, GpuBackend, GpuError, Presented, WindowConfig};
pub use label::{Label, Occlusion};
pub use mesh::{Mesh, Vertex};
#[cfg(feature = "models")]
pub use model::{Model, ModelError, ModelLimits, ModelPart};
pub use null::NullBackend;
pub use packet::{FramePacket, Instance, Line, Material, MeshId, Pose, Shape, Sky, Sun};
pub use recorder::Recorder;
pub use renderer::Renderer;
pub use thread::RenderThread;

pub use downbeat_threading::is_render_thread;
