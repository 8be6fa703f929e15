//! The side that submits: from main, from other threads, and from inside commands.

use std::fmt;
use std::sync::Arc;

use downbeat_threading::CommandArena;
use downbeat_threading::sync::Mutex;

use crate::backend::Backend;
use crate::config::RenderConfig;
use crate::failure::RefusedCommand;
use crate::frame::Frame;
use crate::recorder::Recorder;

/// Submits commands to a renderer. Clones submit to the same one.
pub struct Renderer<B> {
    queue: Arc<Queue<B>>,
}

/// The frame that is being submitted.
pub(crate) struct Queue<B> {
    front: Mutex<Front<B>>,
    config: RenderConfig,
}

struct Front<B> {
    frame: Frame<B>,
    /// Commands that found no room.
    overflowed: usize,
    /// Whether anything is taken: not after shutdown.
    open: bool,
}

impl<B: Backend> Queue<B> {
    pub(crate) fn new(config: RenderConfig) -> Self {
        let front = Front { frame: Frame::new(config.bytes_max), overflowed: 0, open: true };
        Self { front: Mutex::new(front), config }
    }

    /// Exchanges what was submitted for an empty frame; also how many commands found no room.
    pub(crate) fn swap(&self, empty: &mut Frame<B>) -> usize {
        let mut front = self.front.lock();
        std::mem::swap(&mut front.frame, empty);
        std::mem::take(&mut front.overflowed)
    }

    /// Takes nothing from now on. What was submitted stays for the last frame.
    pub(crate) fn close(&self) {
        self.front.lock().open = false;
    }

    /// Appends a recorder's commands in one go; false, and nothing appended, when there is no room.
    pub(crate) fn append(&self, commands: &mut CommandArena<B>) -> bool {
        let mut front = self.front.lock();
        front.open && front.frame.commands.append(commands)
    }

    /// Not after shutdown, which is no matter of room: the last frame would be reported as failed.
    pub(crate) fn note_overflow(&self, commands: usize) {
        let mut front = self.front.lock();
        front.overflowed += if front.open { commands } else { 0 };
    }
}

impl<B: Backend> Renderer<B> {
    pub(crate) fn new(queue: Arc<Queue<B>>) -> Self {
        Self { queue }
    }

    /// Adds a command to the frame that is being submitted.
    ///
    /// A command that finds no room is dropped and reported by the next kick; after shutdown it is dropped.
    #[inline]
    #[track_caller]
    pub fn submit(&self, command: impl FnOnce(&mut B) + Send + 'static) {
        let mut front = self.queue.front.lock();
        if !front.open {
            // What the command holds may run code when it goes, so the lock goes first.
            drop(front);
            return drop(command);
        }
        if let Err(full) = front.frame.commands.push(command) {
            front.overflowed += 1;
            drop(front);
            drop(full.command);
        }
    }

    /// As [`Renderer::submit`], but gives the command back when the frame is full or the renderer has shut down.
    #[inline]
    #[track_caller]
    pub fn try_submit<F>(&self, command: F) -> Result<(), RefusedCommand<F>>
    where
        F: FnOnce(&mut B) + Send + 'static,
    {
        let mut front = self.queue.front.lock();
        if !front.open || front.frame.commands.len() >= self.queue.config.try_commands_max {
            return Err(RefusedCommand { command });
        }
        front.frame.commands.push(command).map_err(|full| RefusedCommand { command: full.command })
    }

    /// Runs `free` once, after the commands of the frame that is being submitted: nothing submitted so far can still
    /// use what it frees. It runs also at shutdown, after a panic and after device loss.
    ///
    /// When there is no room, or the renderer has shut down, it is dropped at once, which frees what it holds.
    #[track_caller]
    pub fn submit_resource_free(&self, free: impl FnOnce(&mut B) + Send + 'static) {
        let mut front = self.queue.front.lock();
        if !front.open {
            drop(front);
            return drop(free);
        }
        if let Err(full) = front.frame.frees.push(free) {
            drop(front);
            drop(full.command);
        }
    }

    /// Records a batch of commands without a lock for each, to be appended as one.
    pub fn recorder(&self) -> Recorder<B> {
        Recorder::new(Arc::clone(&self.queue), self.queue.config.bytes_max)
    }
}

impl<B> Clone for Renderer<B> {
    fn clone(&self) -> Self {
        Self { queue: Arc::clone(&self.queue) }
    }
}

impl<B> fmt::Debug for Renderer<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renderer").finish_non_exhaustive()
    }
}
