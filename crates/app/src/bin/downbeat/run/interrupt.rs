//! Ctrl-C and SIGTERM end a run after the step under way; a second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

/// Whether somebody asked for an end.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on, once per process.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&came);
        ctrlc::set_handler(move || {
            if told.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Self(came))
    }

    pub(super) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
