//! Deterministic multi-rate time: several fixed-rate clocks on one nanosecond-exact timeline.
//!
//! A [`TimeManager`] runs callbacks over a world of yours. Each is bound to a runner (how often), a phase (where
//! in a step) and a priority (before or after whom):
//!
//! ```
//! use downbeat_time::{Binding, Phase, RunnerId, SimTime, TimeManager};
//!
//! let mut time = TimeManager::<Vec<String>>::default(); // Robot at 50 Hz, Capture at 30 Hz
//! time.register("control", Binding::new(RunnerId::ROBOT, Phase::Control), |log, ctx| {
//!     log.push(format!("control {}", ctx.now()));
//! })?;
//! time.register("record", Binding::new(RunnerId::CAPTURE, Phase::Export), |log, ctx| {
//!     log.push(format!("record  {}", ctx.now()));
//! })?;
//! let mut log = Vec::new();
//! time.step_to(&mut log, SimTime::from_nanos(40_000_000))?;
//! assert_eq!(log, ["control 20 ms", "record  33.333333 ms", "control 40 ms"]);
//! # Ok::<(), downbeat_time::BoxError>(())
//! ```
//!
//! # What holds in every step
//!
//! 1. All runners share one timeline: time advances by the same amount for every runner.
//! 2. Only runners that have reached a boundary fire.
//! 3. Phases run in order: Acquisition, Control, Physics, Validation, Export.
//! 4. Where runners meet, callbacks interleave by phase, then by priority, then by registration.
//!
//! In `SimRealtime` and `SimHighPerformance` the sequence of steps is a function of the registrations alone: not
//! of frame rate, load, budget or thread count. [`TimeManager::schedule_hash`] is the proof to compare.
//!
//! # Ways to run it
//!
//! - [`TimeManager::tick`] once per frame of a loop of yours, with the wall time that has passed.
//! - [`TimeManager::run_steps`], [`TimeManager::step_to`] and [`TimeManager::run_for`], as fast as steps go.
//! - [`Pacer`] with [`TimeManager::until_due`] where no other loop sets the pace.
//!
//! # What it does not do
//!
//! It starts no thread, takes no lock, and reads the system clock only to keep frame budgets, to profile and to
//! pace. It does not run callbacks in parallel and does not integrate anything.

mod callback;
mod clock;
mod context;
mod cycle;
mod edit;
mod failure;
mod governor;
mod grid;
mod hash;
mod ledger;
mod manager;
mod mode;
mod order;
mod pacer;
mod phase;
mod profile;
mod rate;
mod ratio;
mod report;
mod runner;
mod sim_time;
mod state;
mod timeline;

pub use callback::{
    Binding, CALLBACKS_MAX, CallbackId, CallbackResult, CallbackView, FreeCallbackId, FreeCallbackView,
};
pub use clock::{Clock, ManualClock};
pub use context::{FreeContext, RunnerState, StepContext, Swarm};
pub use cycle::{Cycle, CycleRunner, HeaviestStep};
pub use edit::{Edit, EditError, EditQueueFull};
pub use failure::{BoxError, Cause, Site, StepError};
pub use governor::{BUDGET_MAX, Governor, GovernorError};
pub use grid::Grid;
pub use manager::{StepWatcher, TimeConfig, TimeManager};
pub use mode::{TimeMode, TimeScale, TimeScaleError, UnknownMode};
pub use order::OrderEntry;
pub use pacer::Pacer;
pub use phase::{FreePhase, Phase, UnknownPhase};
pub use profile::{CallbackCost, Profiling};
pub use rate::{Rate, RateError};
pub use ratio::RatioError;
pub use report::{FrameReport, RunEnd, RunReport};
pub use runner::{NAME_LEN_MAX, RUNNERS_MAX, RunnerConfig, RunnerId, RunnerSet};
pub use sim_time::{BeyondTheEnd, SimTime};
pub use state::{RestoreError, TimeState};

/// The README's example, compiled and run with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
