//! The commands and frees of one frame, and how they are run.

use std::cell::Cell;

use downbeat_threading::{CommandArena, caught};

use crate::backend::Backend;
use crate::failure::RenderError;

/// What was submitted between two kicks.
pub(crate) struct Frame<B> {
    pub(crate) commands: CommandArena<B>,
    /// Run after the commands, whatever became of them.
    pub(crate) frees: CommandArena<B>,
}

impl<B: Backend> Frame<B> {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            commands: CommandArena::with_bytes_max(bytes_max),
            frees: CommandArena::with_bytes_max(bytes_max),
        }
    }

    /// Runs the frame: begin, commands, end, frees. In drop mode the commands are dropped and the frees run.
    ///
    /// The first failure ends the drawing of the frame; the frees run all the same. Leaves the frame empty.
    pub(crate) fn render(&mut self, backend: &mut B, number: u64, dropping: bool) -> Result<(), RenderError> {
        let drawn = if dropping { Ok(()) } else { self.draw(backend, number) };
        // Both may run foreign code when they drop captures, which may panic; neither may keep the frees from running.
        let dropped = caught(|| self.commands.recycle());
        let freed = self.free(backend);
        // The arena knows which was dropped last, not which one panicked.
        let dropped = dropped.map_err(|panic| RenderError::Panicked { panic, submitted_at: None });
        drawn.and(dropped).and(freed)
    }

    fn draw(&self, backend: &mut B, number: u64) -> Result<(), RenderError> {
        let in_commands = Cell::new(false);
        let ran = caught(|| {
            backend.begin_frame(number);
            in_commands.set(true);
            while self.commands.run_next(backend) {}
            in_commands.set(false);
            backend.end_frame()
        });
        match ran {
            Ok(ended) => ended.map_err(RenderError::Lost),
            Err(panic) => {
                // A panic of the backend's own has no command to blame.
                let submitted_at = if in_commands.get() { self.commands.last_run_pushed_at() } else { None };
                Err(RenderError::Panicked { panic, submitted_at })
            }
        }
    }

    /// Runs every free, also those behind one that panics.
    pub(crate) fn free(&mut self, backend: &mut B) -> Result<(), RenderError> {
        let mut first = Ok(());
        while !self.frees.is_empty() {
            let ran = caught(|| while self.frees.run_next(backend) {});
            if let (Err(panic), Ok(())) = (ran, &first) {
                first = Err(RenderError::Panicked { panic, submitted_at: self.frees.last_run_pushed_at() });
            }
        }
        self.frees.recycle();
        first
    }
}
