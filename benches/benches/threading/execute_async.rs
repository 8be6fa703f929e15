//! What it costs to send main a task and go on, against a locked list of boxed closures.
//!
//! One thread sends a thousand, which is timed, and then runs them, which is not.

use std::cell::Cell;
use std::time::Duration;

use downbeat_benches::{Contestant, Counted, Figure, Stopwatch, Suite, race};
use downbeat_threading::{Boot, DispatcherConfig, MainThread, MainThreadDispatcher, MainThreadHandle};
use parking_lot::Mutex;

use crate::captures::Captures;

const LOCKED_BOXES: &str = "locked Vec of boxes";

/// Tasks of a round, in groups of four: one of each kind.
const TASKS: u64 = 1000;
const KINDS: u64 = 4;

pub(crate) const OURS: Counted = Counted { name: "execute_async/ours", run: count_ours };
pub(crate) const LOCKED: Counted = Counted { name: "execute_async/locked", run: count_locked };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("threading/execute_async_16") {
        suite.print(&race_with::<2>("threading/execute_async_16")?)?;
    }
    if suite.wants("threading/execute_async_64") {
        suite.print(&race_with::<8>("threading/execute_async_64")?)?;
    }
    if suite.wants("threading/execute_async_allocations") && suite.can_count()? {
        let per_push = |counted: Counted| counted.allocations_per_unit(10 * TASKS);
        let figure = Figure::new("threading/execute_async_allocations", "allocations/push", per_push(OURS)?);
        suite.print(&figure.against(LOCKED_BOXES, per_push(LOCKED)?))?;
    }
    Ok(())
}

fn race_with<const WORDS: usize>(bench: &'static str) -> anyhow::Result<Figure> {
    let boot = Boot::claim()?;
    let (mut ours, mut locked) = (Ours::new(boot.main()), Locked::new(boot.main()));
    let captures = Captures::<WORDS>::new();
    let contestants = vec![
        Contestant::timed_within("ours", move |watch| round(&mut ours, &captures, watch)),
        Contestant::timed_within(LOCKED_BOXES, move |watch| round(&mut locked, &captures, watch)),
    ];
    let results = race(TASKS, contestants)?;
    Ok(Figure::of_race(bench, "ns/push", results[0], &results[1..]))
}

fn count_ours(tasks: u64) {
    let boot = Boot::claim().expect("this process claims main once");
    count(&mut Ours::new(boot.main()), tasks);
}

fn count_locked(tasks: u64) {
    let boot = Boot::claim().expect("this process claims main once");
    count(&mut Locked::new(boot.main()), tasks);
}

/// The largest captures that may not allocate.
fn count(queue: &mut impl Queue, tasks: u64) {
    let captures = Captures::<8>::new();
    for _ in 0..tasks / TASKS {
        round(queue, &captures, &mut Stopwatch::default());
    }
}

/// Takes tasks from any thread, runs them on main.
trait Queue {
    fn push(&self, task: impl FnOnce(MainThread) + Send + 'static);
    fn run_all(&mut self);
}

fn round<const WORDS: usize>(
    queue: &mut impl Queue,
    captures: &Captures<WORDS>,
    watch: &mut Stopwatch,
) -> u64 {
    SUM.set(0);
    watch.time(|| push_all(queue, captures));
    queue.run_all();
    SUM.get()
}

#[inline(never)]
fn push_all<const WORDS: usize>(queue: &impl Queue, captures: &Captures<WORDS>) {
    for _ in 0..TASKS / KINDS {
        queue.push(adds::<1, WORDS>(captures));
        queue.push(adds::<2, WORDS>(captures));
        queue.push(adds::<3, WORDS>(captures));
        queue.push(adds::<4, WORDS>(captures));
    }
}

thread_local! {
    /// Not among the captures, whose size is what the figures are about.
    static SUM: Cell<u64> = const { Cell::new(0) };
}

#[inline]
fn adds<const KIND: u64, const WORDS: usize>(
    captures: &Captures<WORDS>,
) -> impl FnOnce(MainThread) + Send + 'static {
    let captures = captures.copied();
    move |_main| SUM.set(SUM.get().wrapping_add(captures.sum::<KIND>()))
}

struct Ours {
    dispatcher: MainThreadDispatcher,
    handle: MainThreadHandle,
}

impl Ours {
    fn new(main: MainThread) -> Self {
        let dispatcher = MainThreadDispatcher::new(main, DispatcherConfig::default());
        Self { handle: dispatcher.handle(), dispatcher }
    }
}

impl Queue for Ours {
    #[inline]
    fn push(&self, task: impl FnOnce(MainThread) + Send + 'static) {
        self.handle.execute_async(task).expect("a round is far from the limit");
    }

    fn run_all(&mut self) {
        let pumped = self.dispatcher.process_pending(Duration::MAX);
        assert_eq!((pumped.ran as u64, pumped.panics), (TASKS, 0));
    }
}

type BoxedTask = Box<dyn FnOnce(MainThread) + Send>;

struct Locked {
    tasks: Mutex<Vec<BoxedTask>>,
    /// Exchanged for the full one, so that both keep their memory and no lock is held while a task runs.
    spare: Vec<BoxedTask>,
    main: MainThread,
}

impl Locked {
    fn new(main: MainThread) -> Self {
        Self { tasks: Mutex::default(), spare: Vec::new(), main }
    }
}

impl Queue for Locked {
    #[inline]
    fn push(&self, task: impl FnOnce(MainThread) + Send + 'static) {
        // Boxed before the lock is taken, as whoever cares about the lock does.
        let task = Box::new(task);
        self.tasks.lock().push(task);
    }

    fn run_all(&mut self) {
        std::mem::swap(&mut *self.tasks.lock(), &mut self.spare);
        for task in self.spare.drain(..) {
            task(self.main);
        }
    }
}
