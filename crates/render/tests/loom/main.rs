//! Loom models of the render queue and its handshake: `cargo xtask loom` runs each in a process of its own.
//!
//! All of them run under the multi-threaded policy; the single-threaded one has nothing to interleave. Each has a
//! seeded fault in `xtask/mutants.toml` that it must catch.
#![cfg(downbeat_loom)]

mod frames;
mod trouble;

use std::sync::Arc;

use downbeat_render::{Backend, BackendLost, RenderConfig, RenderThread, ThreadingPolicy};
use downbeat_threading::sync::atomic::{AtomicUsize, Ordering};
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};

/// Knows the frame it is at.
#[derive(Default)]
struct Screen {
    frame: u64,
}

impl Backend for Screen {
    fn begin_frame(&mut self, number: u64) {
        assert_eq!(number, self.frame + 1, "frames come in order, and none is lost");
        self.frame = number;
    }

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        Ok(())
    }
}

fn start(boot: &Boot) -> (MainThreadDispatcher, RenderThread<Screen>) {
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let config = RenderConfig { policy: ThreadingPolicy::MultiThreaded, ..RenderConfig::default() };
    let render = RenderThread::start(&dispatcher, Screen::default(), config).unwrap();
    (dispatcher, render)
}

/// Counts itself when it goes, wherever that is.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn count() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}
