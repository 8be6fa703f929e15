//! Work for the main thread: any thread sends it, main runs it once a frame.
//!
//! [`MainThreadDispatcher`] stays on main and runs what has come in; [`MainThreadHandle`] goes to everybody else.
//! Tasks run in the order they were sent. A caller who waits gets a value or a reason, and is never left hanging.
//!
//! While main waits for something else, it goes on running tasks: [`MainThreadDispatcher::pump_until`] sleeps on the
//! same lock and condition that tasks arrive under, so that a thread that main waits for may itself call main.
//!
//! It does not run tasks from two places at once, has no priorities, and holds no lock while a task runs.

mod handle;
mod inbox;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub use self::handle::{ExecuteError, MainThreadHandle, Refused, RefusedTask};
pub use self::inbox::WakeHook;
use self::inbox::{Inbox, Tasks};
use crate::boot::MainThread;
use crate::clock::Deadline;
use crate::panic::{Panic, caught};
use crate::role::assert_outside_step;

/// Limits of a dispatcher, and who is told when something comes in.
#[derive(Clone)]
pub struct DispatcherConfig {
    /// Tasks that may wait; one more is refused. Those that main has taken in for its round no longer count.
    pub tasks_max: usize,
    /// Bytes that waiting tasks may take.
    pub bytes_max: usize,
    /// Called after every task that comes in, on the thread that sent it: wakes an event loop that sleeps.
    pub wake: Option<WakeHook>,
}

impl Default for DispatcherConfig {
    fn default() -> Self {
        Self { tasks_max: 65_536, bytes_max: 16 << 20, wake: None }
    }
}

impl fmt::Debug for DispatcherConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatcherConfig")
            .field("tasks_max", &self.tasks_max)
            .field("bytes_max", &self.bytes_max)
            .field("wake", &self.wake.is_some())
            .finish()
    }
}

/// Main's end: runs what other threads send.
///
/// ```
/// use std::time::Duration;
/// use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher, Role, spawn};
///
/// let boot = Boot::claim()?;
/// let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
/// let handle = dispatcher.handle();
/// let worker = spawn("asks main", Role::Worker, move || handle.execute(|_main| 6 * 7))?;
/// let mut ran = 0;
/// while ran == 0 {
///     ran = dispatcher.process_pending(Duration::from_millis(2)).ran; // once a frame, from one place
/// }
/// assert_eq!(worker.join()??, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it closes it: whoever waits hears `Closed`.
pub struct MainThreadDispatcher {
    inbox: Arc<Inbox>,
    /// The tasks under way. Shared, because a task that waits goes on with the ones behind it.
    snapshot: RefCell<Rc<Tasks>>,
    /// Whether `process_pending` is running.
    processing: Cell<bool>,
    /// Panics that no round has reported: how many, and the first.
    panics: RefCell<(usize, Option<Panic>)>,
    main: MainThread,
}

/// What a round of tasks came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "a panic in a task is reported here and nowhere else"]
pub struct Pumped {
    /// Tasks run, those that panicked included.
    pub ran: usize,
    /// Tasks of this round that the budget left for the next.
    pub left: usize,
    /// Tasks sent with `execute_async` that panicked, in this round or in a wait since the one before.
    pub panics: usize,
    /// The first of those panics.
    pub first_panic: Option<Panic>,
}

impl MainThreadDispatcher {
    /// A dispatcher for the thread that proves to be main.
    pub fn new(main: MainThread, config: DispatcherConfig) -> Self {
        let snapshot = RefCell::new(Rc::new(Tasks::with_bytes_max(config.bytes_max)));
        let inbox = Arc::new(Inbox::new(config));
        Self { inbox, snapshot, processing: Cell::new(false), panics: RefCell::default(), main }
    }

    /// For other threads, to send tasks with.
    pub fn handle(&self) -> MainThreadHandle {
        MainThreadHandle::new(Arc::clone(&self.inbox))
    }

    /// Runs what had come in when it was called, for about as long as `budget`, but at least one task.
    ///
    /// A task that sends another leaves it for the next round. What the budget leaves runs first next time. Called
    /// inside a task it does nothing: the round outside goes on afterwards.
    ///
    /// # Panics
    ///
    /// Inside a simulation step, where tasks have no place.
    #[track_caller]
    pub fn process_pending(&self, budget: Duration) -> Pumped {
        assert_outside_step();
        if self.processing.replace(true) {
            return Pumped::default();
        }
        let _done = Resets(&self.processing);
        let deadline = Deadline::after(budget);
        let (mut ran, mut swapped) = (0, false);
        loop {
            let snapshot = Rc::clone(&self.snapshot.borrow());
            if self.run_one(&snapshot) {
                ran += 1;
                if deadline.has_passed() {
                    // Not of `snapshot`: a task that waited may have taken in more.
                    let taken_in = self.snapshot.borrow().len();
                    return self.pumped(ran, taken_in + if swapped { 0 } else { self.inbox.len() });
                }
                continue;
            }
            // Held any longer, it would look as if a task still ran from it, and its memory would not be reused.
            drop(snapshot);
            if swapped || !self.swap() {
                return self.pumped(ran, 0);
            }
            swapped = true;
        }
    }

    /// Runs tasks until `condition` holds, and sleeps while there are none. Works inside a task as well.
    ///
    /// Whoever makes the condition true calls [`MainThreadHandle::wake`] afterwards, or main may not look again.
    /// False when `timeout` was over first.
    #[track_caller]
    pub fn pump_until(&self, timeout: Duration, mut condition: impl FnMut() -> bool) -> bool {
        assert_outside_step();
        let deadline = Deadline::after(timeout);
        loop {
            // What is signalled after this line is not slept through, so the condition is looked at after it.
            let signals = self.inbox.signals();
            if condition() {
                return true;
            }
            let snapshot = Rc::clone(&self.snapshot.borrow());
            if self.run_one(&snapshot) {
                // Or tasks that send themselves again would keep main here for ever.
                if deadline.has_passed() {
                    return condition();
                }
                continue;
            }
            drop(snapshot);
            if !self.swap() {
                let Some(left) = deadline.left() else { return false };
                self.inbox.sleep(signals, left);
            }
        }
    }

    /// Refuses all further tasks and drops those that wait; their callers hear `Closed`.
    pub fn close(&self) {
        drop(self.inbox.close());
        let emptied = Rc::new(Tasks::with_bytes_max(0));
        drop(self.snapshot.replace(emptied));
    }

    /// One task of a snapshot; false when it has none left.
    fn run_one(&self, snapshot: &Tasks) -> bool {
        let mut main = self.main;
        caught(|| snapshot.run_next(&mut main)).unwrap_or_else(|panic| {
            let mut panics = self.panics.borrow_mut();
            panics.0 += 1;
            panics.1.get_or_insert(panic);
            true
        })
    }

    /// The report of a round, with every panic that no round has reported.
    fn pumped(&self, ran: usize, left: usize) -> Pumped {
        let (panics, first_panic) = self.panics.take();
        Pumped { ran, left, panics, first_panic }
    }

    /// Takes in what has come; only when the snapshot is used up. False when nothing has.
    fn swap(&self) -> bool {
        if self.inbox.is_empty() {
            return false;
        }
        let mut snapshot = self.snapshot.borrow_mut();
        match Rc::get_mut(&mut snapshot) {
            Some(tasks) => {
                tasks.recycle();
                self.inbox.swap(tasks);
            }
            // A task further out still runs from it: leave it to that one and start afresh.
            None => {
                let mut tasks = Tasks::with_bytes_max(self.inbox.bytes_max());
                self.inbox.swap(&mut tasks);
                *snapshot = Rc::new(tasks);
            }
        }
        !snapshot.is_empty()
    }
}

impl Drop for MainThreadDispatcher {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for MainThreadDispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MainThreadDispatcher").field("waiting", &self.inbox.len()).finish_non_exhaustive()
    }
}

/// Sets a flag back, also when a panic passes by.
struct Resets<'a>(&'a Cell<bool>);

impl Drop for Resets<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
