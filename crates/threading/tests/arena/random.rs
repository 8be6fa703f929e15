//! Random pushes, runs, panics and drops against a queue that says what should come of each command.
//!
//! The promise: a command that was taken runs once or is dropped once, in the order of the pushes, with its captures
//! as they were, whatever panics on the way. The method: every command has a number; its captures carry a pattern made
//! from it, and a ledger notes when the command runs and when the captures go.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use downbeat_threading::{ArenaFull, CommandArena, caught};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use proptest::prop_oneof;

/// What one command does.
#[derive(Debug, Clone, Copy)]
struct Script {
    size: usize,
    align: usize,
    /// Commands it runs from inside.
    runs_next: u8,
    panics: bool,
    drop_panics: bool,
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Push(Script),
    RunNext,
    /// Goes on in a new arena that has taken over what was left.
    MoveOver,
    Recycle,
    DropArena,
}

const OPS_MAX: usize = 120;

fn op() -> impl Strategy<Value = Op> {
    let runs_next = prop_oneof![4 => Just(0_u8), 1 => 1..4_u8];
    let rarely = || prop_oneof![7 => Just(false), 1 => Just(true)];
    let script = (0..SIZES.len(), 0..ALIGNS, runs_next, rarely(), rarely()).prop_map(
        |(size, align, runs_next, panics, drop_panics)| Script {
            size,
            align,
            runs_next,
            panics,
            drop_panics,
        },
    );
    prop_oneof![
        12 => script.prop_map(Op::Push),
        8 => Just(Op::RunNext),
        1 => Just(Op::MoveOver),
        1 => Just(Op::Recycle),
        1 => Just(Op::DropArena),
    ]
}

/// How often each command ran and how often its captures went.
struct Ledger {
    runs: [AtomicCount; OPS_MAX],
    drops: [AtomicCount; OPS_MAX],
    /// Captures that were no longer as they had been pushed.
    spoilt: AtomicCount,
}

impl Ledger {
    fn new() -> Self {
        let zeros = || std::array::from_fn(|_| AtomicCount::default());
        Self { runs: zeros(), drops: zeros(), spoilt: AtomicCount::default() }
    }
}

#[derive(Default)]
struct AtomicCount(AtomicU32);

impl AtomicCount {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the commands work on: their numbers in the order they began, and the way back into the arena.
#[derive(Default)]
struct World {
    begun: Vec<usize>,
    arena: Option<Rc<CommandArena<World>>>,
}

/// The captures of a command: `N` bytes of pattern, at least as aligned as `A`.
struct Captures<A, const N: usize> {
    align: [A; 0],
    pattern: [u8; N],
    number: usize,
    script: Script,
    ledger: Arc<Ledger>,
}

/// A type of no other use than its alignment.
#[repr(align(32))]
struct Aligned32;
#[repr(align(64))]
struct Aligned64;

fn pattern_byte(number: usize, at: usize) -> u8 {
    (number * 31 + at * 7 + 1) as u8
}

impl<A: Send + 'static, const N: usize> Captures<A, N> {
    fn push(
        arena: &mut CommandArena<World>,
        number: usize,
        script: Script,
        ledger: &Arc<Ledger>,
    ) -> Result<(), Box<dyn FnOnce()>> {
        let pattern = std::array::from_fn(|at| pattern_byte(number, at));
        let captures = Self { align: [], pattern, number, script, ledger: Arc::clone(ledger) };
        let pushed = arena.push(move |world: &mut World| captures.run(world));
        pushed.map_err(|ArenaFull { command }| Box::new(move || drop(command)) as Box<dyn FnOnce()>)
    }

    fn run(self, world: &mut World) {
        self.ledger.runs[self.number].add();
        world.begun.push(self.number);
        for _ in 0..self.script.runs_next {
            let arena = world.arena.clone().expect("set before the run");
            arena.run_next(world);
        }
        if self.script.panics {
            resume_unwind(Box::new("a command that panics"));
        }
    }
}

impl<A, const N: usize> Drop for Captures<A, N> {
    fn drop(&mut self) {
        self.ledger.drops[self.number].add();
        let aligned = std::ptr::from_ref(&self.align).addr().is_multiple_of(align_of::<A>());
        let whole = (0..N).all(|at| self.pattern[at] == pattern_byte(self.number, at));
        if !aligned || !whole {
            self.ledger.spoilt.add();
        }
        // A second panic on top of one that passes by would end the process: that is Rust's rule, not the arena's.
        if self.script.drop_panics && !std::thread::panicking() {
            resume_unwind(Box::new("captures that panic"));
        }
    }
}

type Push = fn(&mut CommandArena<World>, usize, Script, &Arc<Ledger>) -> Result<(), Box<dyn FnOnce()>>;

const ALIGNS: usize = 7;

/// One `push` for every size and alignment.
macro_rules! pushes {
    ($($size:literal)*) => {
        [$([
            Captures::<u8, $size>::push as Push,
            Captures::<u16, $size>::push,
            Captures::<u32, $size>::push,
            Captures::<u64, $size>::push,
            Captures::<u128, $size>::push,
            Captures::<Aligned32, $size>::push,
            Captures::<Aligned64, $size>::push,
        ]),*]
    };
}

/// Around the size of a record's block, around the limit up to which captures lie inline, and far above.
const SIZES: [[Push; ALIGNS]; 16] = pushes!(0 1 7 8 15 16 17 40 64 100 255 960 984 1024 1025 2000);

/// The arena, and the commands it should hold.
struct Bench {
    arena: Rc<CommandArena<World>>,
    bytes_max: usize,
    world: World,
    waiting: VecDeque<(usize, Script)>,
    /// Numbers that should have begun, in order.
    begun: Vec<usize>,
    ledger: Arc<Ledger>,
    taken: Vec<usize>,
}

impl Bench {
    fn new(bytes_max: usize) -> Self {
        Self {
            arena: Rc::new(CommandArena::with_bytes_max(bytes_max)),
            bytes_max,
            world: World::default(),
            waiting: VecDeque::new(),
            begun: Vec::new(),
            ledger: Arc::new(Ledger::new()),
            taken: Vec::new(),
        }
    }

    /// Does it, and checks whether what should panic does and what should not does not.
    fn apply(&mut self, number: usize, op: Op) -> (bool, bool) {
        match op {
            Op::Push(script) => {
                let arena = Rc::get_mut(&mut self.arena).expect("no command is running");
                match SIZES[script.size][script.align](arena, number, script, &self.ledger) {
                    Ok(()) => {
                        self.waiting.push_back((number, script));
                        self.taken.push(number);
                        (false, false)
                    }
                    Err(drop_it) => (caught(drop_it).is_err(), script.drop_panics),
                }
            }
            Op::RunNext => {
                self.world.arena = Some(Rc::clone(&self.arena));
                let ran = caught(|| self.arena.run_next(&mut self.world));
                self.world.arena = None;
                let (waits, panics) = self.model_run();
                assert!(ran.is_err() || ran == Ok(waits), "{ran:?}");
                (ran.is_err(), panics)
            }
            Op::MoveOver => {
                let mut new = CommandArena::with_bytes_max(self.bytes_max);
                let old = Rc::get_mut(&mut self.arena).expect("no command is running");
                assert!(new.append(old), "what had room before has room");
                let old = std::mem::replace(&mut self.arena, Rc::new(new));
                (caught(|| drop(old)).is_err(), false)
            }
            Op::Recycle => {
                let arena = Rc::get_mut(&mut self.arena).expect("no command is running");
                (caught(|| arena.recycle()).is_err(), self.model_clear())
            }
            Op::DropArena => {
                let new = Rc::new(CommandArena::with_bytes_max(self.bytes_max));
                let old = std::mem::replace(&mut self.arena, new);
                (caught(|| drop(old)).is_err(), self.model_clear())
            }
        }
    }

    /// Whether there is one to run, and whether it will panic.
    fn model_run(&mut self) -> (bool, bool) {
        let Some((number, script)) = self.waiting.pop_front() else { return (false, false) };
        self.begun.push(number);
        // A panic further in passes through the commands further out.
        let panics_inside = (0..script.runs_next).any(|_| self.model_run().1);
        (true, panics_inside || script.panics || script.drop_panics)
    }

    fn model_clear(&mut self) -> bool {
        self.waiting.drain(..).fold(false, |panics, (_, script)| panics || script.drop_panics)
    }
}

/// `DOWNBEAT_SOAK=100` makes it 100 times as many cases; `PROPTEST_CASES` says how many there are before that.
fn cases(count: u32) -> ProptestConfig {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u32>().ok());
    let cases = number("PROPTEST_CASES").unwrap_or(count) * number("DOWNBEAT_SOAK").unwrap_or(1);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn every_command_runs_once_or_is_dropped_once(
        ops in vec(op(), 1..OPS_MAX),
        tight in any::<bool>(),
    ) {
        let mut bench = Bench::new(if tight { 3000 } else { 1 << 20 });
        for (number, op) in ops.iter().enumerate() {
            let (panicked, should) = bench.apply(number, *op);
            prop_assert_eq!(panicked, should, "{} {:?}", number, op);
            prop_assert_eq!(bench.arena.len(), bench.waiting.len());
            prop_assert_eq!(&bench.world.begun, &bench.begun);
        }
        let end = bench.apply(0, Op::DropArena);
        prop_assert_eq!(end.0, end.1);
        for (number, op) in ops.iter().enumerate() {
            let runs = u32::from(bench.begun.contains(&number));
            prop_assert_eq!(bench.ledger.runs[number].get(), runs);
            let drops = u32::from(matches!(op, Op::Push(_)));
            prop_assert_eq!(bench.ledger.drops[number].get(), drops, "captures of {}", number);
        }
        prop_assert_eq!(bench.ledger.spoilt.get(), 0);
        prop_assert_eq!(Arc::strong_count(&bench.ledger), 1);
        if !tight {
            let pushes = ops.iter().filter(|op| matches!(op, Op::Push(_))).count();
            prop_assert_eq!(bench.taken.len(), pushes, "nothing is refused far from the limit");
        }
    }
}
