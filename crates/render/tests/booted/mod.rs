//! The main thread for a test, and for one test at a time: a process has one main, and `cargo test` many threads.

use std::ops::Deref;

use downbeat_render::ThreadingPolicy;
use downbeat_threading::sync::{Mutex, MutexGuard};
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};

static ALONE: Mutex<()> = Mutex::new(());

/// The policies that render.
pub(crate) const BOTH: [ThreadingPolicy; 2] =
    [ThreadingPolicy::SingleThreaded, ThreadingPolicy::MultiThreaded];

/// Main's dispatcher, for as long as the test holds it.
pub(crate) struct Booted {
    dispatcher: MainThreadDispatcher,
    // Before the lock, or the next test would find the process booted.
    _boot: Boot,
    _alone: MutexGuard<'static, ()>,
}

/// Makes the current thread main once no other test is.
pub(crate) fn booted() -> Booted {
    let alone = ALONE.lock();
    let boot = Boot::claim().expect("every boot of this process is behind the lock");
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    Booted { dispatcher, _boot: boot, _alone: alone }
}

impl Deref for Booted {
    type Target = MainThreadDispatcher;

    fn deref(&self) -> &MainThreadDispatcher {
        &self.dispatcher
    }
}
