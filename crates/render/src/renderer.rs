//! The side that submits: from main, from other threads, and from inside commands.
//!
//! Main has an arena of its own, which no other thread can reach, and tells how many commands are in it. Whoever is not
//! main takes the lock, reads that number and puts its commands behind as many of main's. It does not order what two
//! threads submit at the same time in any way that could be foretold.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use downbeat_threading::sync::Mutex;
use downbeat_threading::sync::atomic::{AtomicUsize, Ordering};
use downbeat_threading::{CommandArena, ThreadBound, ThreadBoundHandle};

use crate::backend::Backend;
use crate::config::RenderConfig;
use crate::failure::RefusedCommand;
use crate::frame::{Frame, Others};
use crate::recorder::Recorder;

/// Submits commands to a renderer. Clones submit to the same one.
pub struct Renderer<B: 'static> {
    queue: Arc<Queue<B>>,
}

/// The frame that is being submitted.
pub(crate) struct Queue<B: 'static> {
    /// Main's part, which main reaches without the lock.
    main: ThreadBoundHandle<RefCell<Main<B>>>,
    /// Main's commands in this frame, for others to take their places among them. Nothing else is read by way of it,
    /// so it publishes nothing; who submits because main has submitted sees that number or a higher one.
    main_commands: AtomicUsize,
    front: Mutex<Front<B>>,
    config: RenderConfig,
}

/// What main submits.
pub(crate) struct Main<B> {
    commands: CommandArena<B>,
    /// Commands that found no room.
    overflowed: usize,
    /// Whether anything is taken: not after shutdown.
    open: bool,
}

/// What anybody submits.
struct Front<B> {
    others: Others<B>,
    frees: CommandArena<B>,
    overflowed: usize,
    open: bool,
}

impl<B: Backend> Queue<B> {
    /// Also main's part, which the caller keeps on main.
    pub(crate) fn new(config: RenderConfig) -> (ThreadBound<RefCell<Main<B>>>, Self) {
        let Frame { main: commands, others, frees } = Frame::new(config.bytes_max);
        let main = ThreadBound::new(RefCell::new(Main { commands, overflowed: 0, open: true }));
        let front = Mutex::new(Front { others, frees, overflowed: 0, open: true });
        let queue = Self { main: main.handle(), main_commands: AtomicUsize::new(0), front, config };
        (main, queue)
    }

    /// Exchanges what was submitted for an empty frame, on main; also how many commands found no room.
    pub(crate) fn swap(&self, empty: &mut Frame<B>) -> usize {
        let main = self.on_main();
        let mut main = main.borrow_mut();
        let mut front = self.front.lock();
        std::mem::swap(&mut main.commands, &mut empty.main);
        std::mem::swap(&mut front.others, &mut empty.others);
        std::mem::swap(&mut front.frees, &mut empty.frees);
        // Under the lock: who takes a place afterwards takes it in the new frame.
        self.main_commands.store(0, Ordering::Relaxed);
        std::mem::take(&mut main.overflowed) + std::mem::take(&mut front.overflowed)
    }

    /// Goes on in the memory of a frame that main has just rendered, which is still in the caches.
    pub(crate) fn reuse(&self, rendered: &mut Frame<B>) {
        let main = self.on_main();
        let mut main = main.borrow_mut();
        // Not if the frame's commands have submitted.
        if main.commands.is_empty() {
            std::mem::swap(&mut main.commands, &mut rendered.main);
        }
    }

    /// Takes nothing from now on. What was submitted stays for the last frame.
    pub(crate) fn close(&self) {
        self.on_main().borrow_mut().open = false;
        self.front.lock().open = false;
    }

    fn on_main(&self) -> Rc<RefCell<Main<B>>> {
        self.main.get().expect("the render thread's owner stays on main, and main's part with it")
    }

    /// Appends a recorder's commands in one go; false, and nothing appended, when there is no room.
    pub(crate) fn append(&self, commands: &mut CommandArena<B>) -> bool {
        if let Some(main) = self.main.get() {
            let mut main = main.borrow_mut();
            let appended = main.open && main.commands.append(commands);
            self.main_commands.store(main.commands.len(), Ordering::Relaxed);
            return appended;
        }
        let mut front = self.front.lock();
        front.open && self.add(&mut front, |others| others.append(commands))
    }

    /// Not after shutdown, which is no matter of room: the last frame would be reported as failed.
    pub(crate) fn note_overflow(&self, commands: usize) {
        let mut front = self.front.lock();
        front.overflowed += if front.open { commands } else { 0 };
    }

    /// Adds to what others submit, behind what main has submitted so far.
    fn add<R>(&self, front: &mut Front<B>, add: impl FnOnce(&mut CommandArena<B>) -> R) -> R {
        front.others.add_behind(self.main_commands.load(Ordering::Relaxed), add)
    }
}

impl<B: Backend> Renderer<B> {
    pub(crate) fn new(queue: Arc<Queue<B>>) -> Self {
        Self { queue }
    }

    /// Adds a command to the frame that is being submitted. Costs main no lock; others it does.
    ///
    /// A command that finds no room is dropped and reported by the next kick; after shutdown it is dropped.
    #[inline]
    #[track_caller]
    pub fn submit(&self, command: impl FnOnce(&mut B) + Send + 'static) {
        let Some(main) = self.queue.main.get() else { return self.submit_locked(command) };
        let mut main = main.borrow_mut();
        if !main.open {
            // What the command holds may run code when it goes, which may submit, so the borrow goes first.
            drop(main);
            return drop(command);
        }
        if let Err(full) = main.commands.push(command) {
            main.overflowed += 1;
            drop(main);
            return drop(full.command);
        }
        self.queue.main_commands.store(main.commands.len(), Ordering::Relaxed);
    }

    /// As other threads do it, and commands on the render thread.
    #[track_caller]
    fn submit_locked(&self, command: impl FnOnce(&mut B) + Send + 'static) {
        let mut front = self.queue.front.lock();
        if !front.open {
            // As above: the lock goes first.
            drop(front);
            return drop(command);
        }
        if let Err(full) = self.queue.add(&mut front, |others| others.push(command)) {
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
        let submitted = front.others.len() + self.queue.main_commands.load(Ordering::Relaxed);
        if !front.open || submitted >= self.queue.config.try_commands_max {
            return Err(RefusedCommand { command });
        }
        let pushed = self.queue.add(&mut front, |others| others.push(command));
        pushed.map_err(|full| RefusedCommand { command: full.command })
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
        if let Err(full) = front.frees.push(free) {
            drop(front);
            drop(full.command);
        }
    }

    /// Records a batch of commands without a lock for each, to be appended as one.
    pub fn recorder(&self) -> Recorder<B> {
        Recorder::new(Arc::clone(&self.queue), self.queue.config.bytes_max)
    }
}

impl<B: 'static> Clone for Renderer<B> {
    fn clone(&self) -> Self {
        Self { queue: Arc::clone(&self.queue) }
    }
}

impl<B: 'static> fmt::Debug for Renderer<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renderer").finish_non_exhaustive()
    }
}
