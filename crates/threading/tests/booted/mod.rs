//! The main thread for a test, and for one test at a time: a process has one main, and `cargo test` many threads.

use std::ops::Deref;

use downbeat_threading::Boot;
use downbeat_threading::sync::{Mutex, MutexGuard};

static ALONE: Mutex<()> = Mutex::new(());

/// The boot, for as long as the test holds it.
pub(crate) struct Booted {
    // Before the lock, or the next test would find the process booted.
    boot: Boot,
    _alone: MutexGuard<'static, ()>,
}

/// Makes the current thread main once no other test is.
pub(crate) fn booted() -> Booted {
    let alone = ALONE.lock();
    Booted { boot: Boot::claim().expect("every boot of this process is behind the lock"), _alone: alone }
}

impl Deref for Booted {
    type Target = Boot;

    fn deref(&self) -> &Boot {
        &self.boot
    }
}
