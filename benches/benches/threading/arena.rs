//! What a command costs in the arena: pushing it and running it, against a list of boxed closures.

use std::hint::black_box;

use downbeat_benches::{Contestant, Counted, Figure, Suite, race};
use downbeat_threading::CommandArena;

use crate::captures::Captures;

const BOXES: &str = "Vec<Box<dyn FnOnce>>";

/// Commands of a round, in groups of four: one of each kind.
const COMMANDS: u64 = 1000;
const KINDS: u64 = 4;

pub(crate) const OURS: Counted = Counted { name: "arena/ours", run: count::<Ours> };
pub(crate) const BOXED: Counted = Counted { name: "arena/boxed", run: count::<Boxed> };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("threading/arena_16") {
        suite.print(&race_with::<2>("threading/arena_16")?)?;
    }
    if suite.wants("threading/arena_64") {
        suite.print(&race_with::<8>("threading/arena_64")?)?;
    }
    if suite.wants("threading/arena_allocations") && suite.can_count()? {
        let per_command = |counted: Counted| counted.allocations_per_unit(10 * COMMANDS);
        let figure = Figure::new("threading/arena_allocations", "allocations/command", per_command(OURS)?);
        suite.print(&figure.against(BOXES, per_command(BOXED)?))?;
    }
    Ok(())
}

fn race_with<const WORDS: usize>(bench: &'static str) -> anyhow::Result<Figure> {
    let (mut ours, mut boxed) = (Ours::default(), Boxed::default());
    let captures = Captures::<WORDS>::new();
    let contestants = vec![
        Contestant::new("ours", move || round(&mut ours, &captures)),
        Contestant::new(BOXES, move || round(&mut boxed, &captures)),
    ];
    let results = race(COMMANDS, contestants)?;
    Ok(Figure::of_race(bench, "ns/command", results[0], &results[1..]))
}

/// The largest captures that the figures have, and as many commands as it takes.
fn count<L: List + Default>(commands: u64) {
    let (mut list, captures) = (L::default(), Captures::<8>::new());
    for _ in 0..commands / COMMANDS {
        black_box(round(&mut list, &captures));
    }
}

/// Somewhere to put commands and to run them from, in order.
trait List {
    fn push(&mut self, command: impl FnOnce(&mut u64) + Send + 'static);
    fn run_all(&mut self, sum: &mut u64);
}

#[inline(never)]
fn round<const WORDS: usize>(list: &mut impl List, captures: &Captures<WORDS>) -> u64 {
    for _ in 0..COMMANDS / KINDS {
        list.push(adds::<1, WORDS>(captures));
        list.push(adds::<2, WORDS>(captures));
        list.push(adds::<3, WORDS>(captures));
        list.push(adds::<4, WORDS>(captures));
    }
    let mut sum = 0;
    // Seen through, a list could be run without ever being written.
    black_box(&mut *list).run_all(&mut sum);
    sum
}

#[inline]
fn adds<const KIND: u64, const WORDS: usize>(
    captures: &Captures<WORDS>,
) -> impl FnOnce(&mut u64) + Send + 'static {
    let captures = captures.copied();
    move |sum| *sum = sum.wrapping_add(captures.sum::<KIND>())
}

struct Ours(CommandArena<u64>);

impl Default for Ours {
    fn default() -> Self {
        Self(CommandArena::with_bytes_max(1 << 20))
    }
}

impl List for Ours {
    #[inline]
    fn push(&mut self, command: impl FnOnce(&mut u64) + Send + 'static) {
        self.0.push(command).expect("a round is far from the limit");
    }

    #[inline]
    fn run_all(&mut self, sum: &mut u64) {
        while self.0.run_next(sum) {}
        self.0.recycle();
    }
}

type BoxedCommand = Box<dyn FnOnce(&mut u64) + Send>;

#[derive(Default)]
struct Boxed(Vec<BoxedCommand>);

impl List for Boxed {
    #[inline]
    fn push(&mut self, command: impl FnOnce(&mut u64) + Send + 'static) {
        self.0.push(Box::new(command));
    }

    #[inline]
    fn run_all(&mut self, sum: &mut u64) {
        for command in self.0.drain(..) {
            command(sum);
        }
    }
}
