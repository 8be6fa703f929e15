//! The command arena, case by case: order, limits, memory, panics, threads. Random sequences are in `random.rs`.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod random;

use std::cell::Cell;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use downbeat_threading::{CommandArena, INLINE_BYTES_MAX, Role, caught, spawn};

type Log = Vec<usize>;

const ROOMY: usize = 1 << 20;

fn drained(arena: &CommandArena<Log>) -> Log {
    let mut log = Log::new();
    while arena.run_next(&mut log) {}
    log
}

/// Counts in `dropped` when it goes, and panics then if it is told to.
struct Witness {
    dropped: Arc<AtomicUsize>,
    panics: bool,
}

impl Witness {
    fn new(dropped: &Arc<AtomicUsize>) -> Self {
        Self { dropped: Arc::clone(dropped), panics: false }
    }

    fn that_panics(dropped: &Arc<AtomicUsize>) -> Self {
        Self { dropped: Arc::clone(dropped), panics: true }
    }

    fn touch(&self) {}
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        if self.panics {
            // Past the panic hook, so that a passing test prints nothing.
            resume_unwind(Box::new("dropped with a bang"));
        }
    }
}

#[test]
fn commands_run_in_the_order_they_were_pushed() {
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    for number in 0..1000 {
        arena.push(move |log| log.push(number)).unwrap();
    }
    assert_eq!((arena.len(), arena.is_empty()), (1000, false));
    assert_eq!(drained(&arena), (0..1000).collect::<Log>());
    assert_eq!((arena.len(), arena.is_empty()), (0, true));
    assert!(!arena.run_next(&mut Log::new()));
}

#[test]
fn a_full_arena_gives_the_command_back_and_keeps_what_it_has() {
    let mut arena = CommandArena::<Log>::with_bytes_max(4096);
    let mut pushed = 0;
    let refused = loop {
        let pattern = [pushed; 8];
        match arena.push(move |log| log.extend(pattern)) {
            Ok(()) => pushed += 1,
            Err(full) => break full,
        }
        assert!(pushed < 4096 / 64, "more commands than bytes");
    };
    assert!(refused.to_string().contains("full"), "{refused}");
    assert!(pushed >= 4096 / 128 && arena.len() == pushed, "{pushed} of 64 bytes each");
    assert!(arena.capacity_bytes() <= 4096);
    let mut log = Log::new();
    (refused.command)(&mut log);
    assert_eq!(log, [pushed; 8], "what comes back is whole");
    let whole: Log = (0..pushed).flat_map(|number| [number; 8]).collect();
    assert_eq!(drained(&arena), whole);
    // Run or not, a record takes its room until the next round.
    let pattern = [pushed; 8];
    assert!(arena.push(move |log| log.extend(pattern)).is_err());
    arena.recycle();
    assert!(arena.push(|log| log.push(7)).is_ok());
    assert_eq!(drained(&arena), [7]);
}

#[test]
fn an_arena_without_room_takes_nothing() {
    let mut arena = CommandArena::<Log>::with_bytes_max(0);
    assert!(arena.push(|log| log.push(1)).is_err());
    let large = [0_u8; 2 * INLINE_BYTES_MAX];
    assert!(arena.push(move |log| log.push(large.len())).is_err());
    assert_eq!((arena.len(), arena.capacity_bytes()), (0, 0));
}

#[test]
fn large_captures_take_little_of_the_limit() {
    let mut arena = CommandArena::<Log>::with_bytes_max(1024);
    for number in 0..10 {
        let large = [number; INLINE_BYTES_MAX];
        arena.push(move |log| log.extend([large[0], large[INLINE_BYTES_MAX - 1]])).unwrap();
    }
    assert_eq!(drained(&arena), (0..10).flat_map(|number| [number; 2]).collect::<Log>());
}

#[test]
fn captures_of_high_alignment_are_boxed() {
    /// Inline it would lie at a multiple of 16. Nobody sees that on this machine, but the room it takes shows it.
    #[repr(align(32))]
    struct Wide([usize; 4]);
    const BOXED_BYTES_MAX: usize = 48;
    let mut arena = CommandArena::<Log>::with_bytes_max(10 * BOXED_BYTES_MAX);
    for number in 0..10 {
        let wide = Wide([number; 4]);
        let command = move |log: &mut Log| {
            let wide = &wide;
            assert!(std::ptr::from_ref(wide).addr().is_multiple_of(32));
            log.push(wide.0[3]);
        };
        assert!(align_of_val(&command) == 32 && size_of_val(&command) == 32);
        arena.push(command).unwrap();
    }
    assert_eq!(drained(&arena), (0..10).collect::<Log>());
}

#[test]
fn capacity_is_kept_over_rounds() {
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    let mut capacity = None;
    for _ in 0..1000 {
        for number in 0..100 {
            arena.push(move |log| log.push(number)).unwrap();
        }
        let held = arena.capacity_bytes();
        assert_eq!(*capacity.get_or_insert(held), held);
        assert_eq!(drained(&arena).len(), 100);
        arena.recycle();
        assert_eq!(arena.capacity_bytes(), held);
    }
}

#[test]
fn memory_is_given_back_after_long_low_use_and_not_before() {
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    let mut round = |commands: usize| {
        for number in 0..commands {
            arena.push(move |log| log.push(number)).expect("far from the limit");
        }
        assert_eq!(drained(&arena).len(), commands);
        arena.recycle();
        arena.capacity_bytes()
    };
    let high = round(5000);
    // A high round every hundred is use enough to keep it all.
    for number in 1..2000 {
        assert_eq!(round(if number % 100 == 0 { 5000 } else { 1 }), high);
    }
    let rounds = (1..=1000).find(|_| round(10) < high).expect("given back at last");
    assert!(rounds > 100, "after {rounds} rounds");
    let low = round(10);
    assert!(0 < low && low <= high / 100, "{high} bytes became {low}");
    assert!((0..1000).all(|_| round(10) == low), "then it stays");
    assert!(round(5000) > low, "and grows again");
}

#[test]
fn steady_rounds_allocate_nothing() {
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    let mut log = Log::with_capacity(3000);
    let mut round = || {
        log.clear();
        for number in 0..500 {
            let (small, medium, inline) = ([number; 2], [number; 8], [number; INLINE_BYTES_MAX / 8]);
            arena.push(|log| log.push(0)).expect("room");
            arena.push(move |log| log.push(small[1])).expect("room");
            arena.push(move |log| log.push(medium[7])).expect("room");
            arena.push(move |log| log.push(inline[100])).expect("room");
        }
        while arena.run_next(&mut log) {}
        assert_eq!(log.len(), 2000);
        arena.recycle();
    };
    round();
    // More rounds than it takes until memory is looked over.
    let info = allocation_counter::measure(|| (0..600).for_each(|_| round()));
    assert_eq!(info.count_total, 0);
}

#[test]
fn debug_builds_know_where_a_command_was_pushed() {
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    assert!(arena.last_run_pushed_at().is_none());
    let first = line!() + 1;
    arena.push(|_| ()).unwrap();
    let large = [0_u8; 2000];
    arena.push(move |log| log.push(large.len())).unwrap();
    let lines = [first, first + 2];
    for line in lines {
        assert!(arena.run_next(&mut Log::new()));
        let seen = arena.last_run_pushed_at().map(|at| (at.file().ends_with("main.rs"), at.line()));
        assert_eq!(seen, cfg!(debug_assertions).then_some((true, line)));
    }
}

#[test]
fn captures_without_size_run_or_drop_once() {
    thread_local!(static DROPS: Cell<usize> = const { Cell::new(0) });
    struct Nothing;
    impl Nothing {
        fn touch(&self) {}
    }
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    for _ in 0..5 {
        let nothing = Nothing;
        let command = move |log: &mut Log| {
            nothing.touch();
            log.push(1);
        };
        assert_eq!(size_of_val(&command), 0);
        arena.push(command).unwrap();
    }
    let mut log = Log::new();
    assert!(arena.run_next(&mut log) && arena.run_next(&mut log));
    assert_eq!((log.len(), DROPS.get()), (2, 2));
    arena.recycle();
    assert_eq!((arena.len(), DROPS.get()), (0, 5));
}

#[test]
fn it_moves_to_another_thread_with_commands_inside() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    for number in 0..10 {
        let witness = Witness::new(&dropped);
        arena
            .push(move |log| {
                witness.touch();
                log.push(number);
            })
            .unwrap();
    }
    assert!(arena.run_next(&mut Log::new()));
    let elsewhere = spawn("arena", Role::Worker, move || {
        let mut log = Log::new();
        while log.len() < 5 && arena.run_next(&mut log) {}
        arena.push(|log| log.push(100)).expect("room");
        log
    });
    assert_eq!(elsewhere.unwrap().join().unwrap(), [1, 2, 3, 4, 5]);
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}

#[test]
fn a_command_that_panics_is_used_up_and_the_rest_stay() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
    for number in 0..3 {
        let witness = Witness::new(&dropped);
        arena
            .push(move |log| {
                witness.touch();
                log.push(number);
                if number == 1 {
                    resume_unwind(Box::new("one"));
                }
            })
            .unwrap();
    }
    let mut log = Log::new();
    assert_eq!(caught(|| arena.run_next(&mut log)), Ok(true));
    assert!(caught(|| arena.run_next(&mut log)).is_err());
    assert_eq!((arena.len(), dropped.load(Ordering::Relaxed)), (1, 2));
    assert_eq!(caught(|| arena.run_next(&mut log)), Ok(true));
    assert_eq!(caught(|| arena.run_next(&mut log)), Ok(false));
    assert_eq!((log, dropped.load(Ordering::Relaxed)), (vec![0, 1, 2], 3));
}

/// An arena of ten commands, of which those at `panicking` panic when dropped.
fn with_panicking_drops(dropped: &Arc<AtomicUsize>, panicking: &[usize]) -> CommandArena<Log> {
    let mut arena = CommandArena::with_bytes_max(ROOMY);
    for number in 0..10 {
        let panics = panicking.contains(&number);
        let witness = if panics { Witness::that_panics(dropped) } else { Witness::new(dropped) };
        arena.push(move |_: &mut Log| witness.touch()).expect("room");
    }
    arena
}

#[test]
fn dropping_an_arena_drops_every_command_also_past_a_panic() {
    for panicking in [&[3][..], &[0, 4, 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let arena = with_panicking_drops(&dropped, panicking);
        let panic = caught(|| drop(arena)).unwrap_err();
        assert!(panic.message().contains("dropped with a bang"), "{panic}");
        assert_eq!(dropped.load(Ordering::Relaxed), 10, "{panicking:?}");
    }
}

#[test]
fn an_arena_is_ready_for_use_after_a_drop_panicked() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut arena = with_panicking_drops(&dropped, &[2, 7]);
    assert!(caught(|| arena.recycle()).is_err());
    assert_eq!((arena.len(), dropped.load(Ordering::Relaxed)), (0, 10));
    arena.push(|log| log.push(5)).unwrap();
    assert_eq!(drained(&arena), [5]);
}

#[test]
fn an_arena_dropped_by_a_panic_lets_no_second_panic_out() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let arena = with_panicking_drops(&dropped, &[2, 7]);
    // A panic that leaves a drop while another one passes by would end the process.
    let panic = caught(|| {
        let _arena = arena;
        resume_unwind(Box::new("the first"));
    });
    assert_eq!(panic.map(|()| 0).unwrap_err().message(), "the first");
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}

#[test]
fn appended_commands_run_behind_and_only_there() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let numbered = |numbers: std::ops::Range<usize>| {
        let mut arena = CommandArena::<Log>::with_bytes_max(ROOMY);
        for number in numbers {
            let witness = Witness::new(&dropped);
            let large = [number; 2 * INLINE_BYTES_MAX];
            arena.push(move |log| log.push(number)).expect("room");
            arena
                .push(move |log| {
                    witness.touch();
                    log.push(large[number]);
                })
                .expect("room");
        }
        arena
    };
    let (mut front, mut back) = (numbered(0..2), numbered(2..4));
    assert!(back.run_next(&mut Log::new()));
    assert!(front.append(&mut back));
    assert_eq!((front.len(), back.len()), (7, 0));
    assert!(!back.run_next(&mut Log::new()));
    drop(back);
    assert_eq!(dropped.load(Ordering::Relaxed), 0, "they are not its own any more");
    assert_eq!(drained(&front), [0, 0, 1, 1, 2, 3, 3]);
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
    // Nor is any of them run or dropped a second time.
    assert!(front.append(&mut numbered(0..1)));
    front.recycle();
    assert_eq!(dropped.load(Ordering::Relaxed), 5);
}

#[test]
fn an_append_past_the_limit_moves_nothing() {
    let mut small = CommandArena::<Log>::with_bytes_max(256);
    small.push(|log| log.push(0)).unwrap();
    let mut other = CommandArena::<Log>::with_bytes_max(ROOMY);
    for number in 1..20 {
        other.push(move |log| log.push(number)).unwrap();
    }
    assert!(!small.append(&mut other));
    assert_eq!((small.len(), other.len()), (1, 19));
    assert_eq!(drained(&small), [0]);
    assert_eq!(drained(&other), (1..20).collect::<Log>());
}

#[test]
fn an_append_leaves_both_arenas_their_limits() {
    for limits in [[256, ROOMY], [ROOMY, 256]] {
        let [mut front, mut recorder] = limits.map(CommandArena::<Log>::with_bytes_max);
        recorder.push(|log| log.push(1)).unwrap();
        recorder.push(|log| log.push(2)).unwrap();
        assert!(front.append(&mut recorder));
        assert_eq!(drained(&front), [1, 2]);
        recorder.recycle();
        for (arena, bytes_max) in [(&mut front, limits[0]), (&mut recorder, limits[1])] {
            arena.recycle();
            let taken = (0..100).take_while(|number| {
                let number = *number;
                arena.push(move |log| log.push(number)).is_ok()
            });
            assert_eq!(taken.count() < 100, bytes_max == 256);
            assert!(arena.capacity_bytes() <= bytes_max);
        }
    }
}

#[test]
fn a_command_can_run_the_commands_behind_it() {
    /// A command reaches the arena through its context.
    #[derive(Default)]
    struct Nest {
        log: Log,
        arena: Option<Rc<CommandArena<Nest>>>,
    }
    let mut arena = CommandArena::<Nest>::with_bytes_max(ROOMY);
    arena
        .push(|nest| {
            nest.log.push(0);
            let arena = nest.arena.clone().expect("set before the run");
            assert!(arena.run_next(nest) && arena.run_next(nest));
            assert_eq!(arena.len(), 1);
            nest.log.push(100);
        })
        .unwrap();
    for number in 1..4 {
        arena.push(move |nest| nest.log.push(number)).unwrap();
    }
    let arena = Rc::new(arena);
    let mut nest = Nest { log: Log::new(), arena: Some(Rc::clone(&arena)) };
    while arena.run_next(&mut nest) {}
    assert_eq!(nest.log, [0, 1, 2, 100, 3]);
    nest.arena = None;
}
