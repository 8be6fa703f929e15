//! Threads with roles: who may do what, how to reach the main thread, how to stop work, how to watch it.
//!
//! The parts stand alone. An engine, an editor or a tool can take this crate and nothing else of Downbeat.
//!
//! # Which thread may do what
//!
//! | role | may | must not |
//! |---|---|---|
//! | [`Role::Main`] | windows, user interface, scene and asset changes, starting jobs | anything longer than a frame: files, archives, network, waiting for a process |
//! | [`Role::Render`] | everything that talks to the GPU | call into the window system, change the scene |
//! | [`Role::Worker`] | files, network, archives, computation | user interface, GPU, anything main owns |
//! | [`Role::FileWatch`] | say that a file has changed | read it, reload it, touch anything else |
//! | [`Role::Rpc`] | read what the last steps captured, send requests to main | change the scene, wait for a future step on main's thread |
//! | inside a step ([`StepScope`]) | the work of its phase | user interface, pumping the dispatcher, scene edits from outside |
//!
//! Under the single-threaded policy one thread holds Main and Render at once: ask for the role, not for the thread.
//!
//! # When you are not sure
//!
//! Put the work in a [`Job`] and let main look at its result. If you do not know where a line of code runs, walk up
//! its callers until you meet one of: the main loop or an event of the window (main), [`Job::start`] (a worker), a callback of
//! the time manager (main today; write it as if it could move), an RPC handler (a thread of the server), a
//! [`Watcher`] (its own thread). Still not sure: put [`assert_role`] there and run it once; it names the role it
//! finds.
//!
//! # From a worker to main
//!
//! Best: return a result, and main polls [`Job::take_result`] once a frame. In the middle of the work:
//!
//! ```
//! use std::time::Duration;
//! use downbeat_threading::{Boot, BoxError, DispatcherConfig, JobBoard, MainThreadDispatcher, Outcome, task};
//!
//! let boot = Boot::claim()?;
//! let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
//! let board = JobBoard::new(dispatcher.handle(), 8);
//!
//! let main = dispatcher.handle();
//! let mut job = board.start(task("load arm", move |job| {
//!     job.progress(0.5, "reading");
//!     let title = main.execute(|_main| "Arm".to_owned())?; // runs on main, waits for the answer
//!     main.execute_async(|_main| { /* redraw */ }).map_err(|refused| refused.to_string())?;
//!     Ok::<_, BoxError>(title)
//! }))?;
//!
//! // Main's frame: tasks once, then the jobs.
//! let outcome = loop {
//!     let pumped = dispatcher.process_pending(Duration::from_millis(2));
//!     assert_eq!(pumped.panics, 0);
//!     if let Some(outcome) = job.take_result(boot.main()) {
//!         break outcome;
//!     }
//! };
//! assert!(matches!(outcome, Outcome::Done(title) if title == "Arm"));
//! # Ok::<(), BoxError>(())
//! ```
//!
//! # From main to a worker
//!
//! Start a job. Long-lived helpers get a thread from [`spawn`] and a [`StopToken`]:
//!
//! ```
//! use downbeat_threading::{Role, StopSource, spawn};
//!
//! let stop = StopSource::new();
//! let token = stop.token();
//! let thread = spawn("heartbeat", Role::Worker, move || token.wait())?;
//! stop.request_stop();
//! thread.join()?;
//! # Ok::<(), downbeat_threading::BoxError>(())
//! ```
//!
//! # What is checked how
//!
//! Everything that synchronises goes through [`sync`] and is explored by loom, one process per model
//! (`cargo xtask loom`); larger mixes run under shuttle. The one module with unsafe code, the [`CommandArena`], runs
//! under a memory checker.

mod arena;
mod batch;
mod boot;
mod bound;
mod clock;
mod dispatcher;
mod job;
mod latest;
mod panic;
mod reply;
mod role;
mod spawn;
mod stop;
pub mod sync;
#[cfg(feature = "watch")]
mod watcher;

pub use arena::{ArenaFull, CommandArena, INLINE_BYTES_MAX};
pub use batch::{Batch, BatchError, BatchReceiver, BatchSender, Placed, batches};
pub use boot::{AlreadyBooted, Boot, MainThread};
pub use bound::{ThreadBound, ThreadBoundHandle};
pub use dispatcher::{
    DispatcherConfig, ExecuteError, MainThreadDispatcher, MainThreadHandle, Pumped, Refused, RefusedTask,
    WakeHook,
};
pub use job::{
    CommitError, Job, JobBoard, JobContext, JobSlot, JobView, JobsStuck, Outcome, OutputFile, Progress,
    StartError, Started, Task, task,
};
pub use latest::{LatestReader, LatestWriter, Published, latest};
pub use panic::{Panic, caught};
pub use role::{
    Role, RoleScope, RoleSet, StepScope, assert_not_role, assert_outside_step, assert_role, is_in_step,
    is_main_thread, is_render_thread, roles,
};
pub use spawn::{SpawnError, THREAD_NAME_LEN_MAX, Thread, spawn};
pub use stop::{StopCallback, StopScope, StopSource, StopToken, Stopped};
#[cfg(feature = "watch")]
pub use watcher::{Changes, WatchConfig, WatchError, WatchState, Watcher};

/// Any error that can travel between threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The README's example, compiled and run with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
