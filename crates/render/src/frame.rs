//! The commands and frees of one frame, and how they are run.
//!
//! Main's commands and those of others lie apart, because main adds to its own without a lock. Each of the others knows
//! how many of main's came before it, so that all of them have one order; it is the order in which they were submitted,
//! as far as anybody can tell: what was submitted before something else was begun runs before what that submits.

use std::cell::Cell;

use downbeat_threading::{CommandArena, caught};

use crate::backend::Backend;
use crate::failure::RenderError;

/// What was submitted between two kicks.
pub(crate) struct Frame<B> {
    /// Main's commands.
    pub(crate) main: CommandArena<B>,
    /// Those of others.
    pub(crate) others: Others<B>,
    /// Run after the commands, whatever became of them.
    pub(crate) frees: CommandArena<B>,
}

/// Commands that were submitted under the lock, each with its place among main's.
pub(crate) struct Others<B> {
    commands: CommandArena<B>,
    places: Vec<Place>,
}

/// So many commands in a row run when so many of main's have run.
struct Place {
    behind: usize,
    commands: usize,
}

impl<B> Others<B> {
    fn new(bytes_max: usize) -> Self {
        Self { commands: CommandArena::with_bytes_max(bytes_max), places: Vec::new() }
    }

    /// Adds what `add` adds, to run when so many of main's commands have run. That number never falls.
    pub(crate) fn add_behind<R>(&mut self, behind: usize, add: impl FnOnce(&mut CommandArena<B>) -> R) -> R {
        let before = self.commands.len();
        let result = add(&mut self.commands);
        let commands = self.commands.len() - before;
        match self.places.last_mut() {
            Some(last) if last.behind == behind => last.commands += commands,
            _ if commands > 0 => self.places.push(Place { behind, commands }),
            _ => {}
        }
        result
    }

    pub(crate) fn len(&self) -> usize {
        self.commands.len()
    }
}

impl<B: Backend> Frame<B> {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            main: CommandArena::with_bytes_max(bytes_max),
            others: Others::new(bytes_max),
            frees: CommandArena::with_bytes_max(bytes_max),
        }
    }

    /// Runs the frame: begin, commands, end, frees. In drop mode the commands are dropped and the frees run.
    ///
    /// The first failure ends the drawing of the frame; the frees run all the same. Leaves the frame empty.
    pub(crate) fn render(&mut self, backend: &mut B, number: u64, dropping: bool) -> Result<(), RenderError> {
        let drawn = if dropping { Ok(()) } else { self.draw(backend, number) };
        // All of them may run foreign code when they drop captures, which may panic; none may keep the frees from running.
        self.others.places.clear();
        let dropped = caught(|| self.main.recycle()).and(caught(|| self.others.commands.recycle()));
        let freed = self.free(backend);
        // The arena knows which was dropped last, not which one panicked.
        let dropped = dropped.map_err(|panic| RenderError::Panicked { panic, submitted_at: None });
        drawn.and(dropped).and(freed)
    }

    fn draw(&self, backend: &mut B, number: u64) -> Result<(), RenderError> {
        // Which commands are being run.
        let running = Cell::new(None);
        let ran = caught(|| {
            backend.begin_frame(number);
            let main_commands = self.main.len();
            for place in &self.others.places {
                running.set(Some(&self.main));
                while main_commands - self.main.len() < place.behind && self.main.run_next(backend) {}
                running.set(Some(&self.others.commands));
                (0..place.commands).for_each(|_| _ = self.others.commands.run_next(backend));
            }
            running.set(Some(&self.main));
            while self.main.run_next(backend) {}
            running.set(None);
            backend.end_frame()
        });
        match ran {
            Ok(ended) => ended.map_err(RenderError::Lost),
            Err(panic) => {
                // A panic of the backend's own has no command to blame.
                let submitted_at = running.get().and_then(CommandArena::last_run_pushed_at);
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
