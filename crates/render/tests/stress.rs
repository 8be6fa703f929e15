//! A hundred thousand frames on real threads, with everything at random.
//!
//! The promise: every command is run once or dropped once, in the order of its thread and in its frame; every free of
//! main's runs; every failure is reported once. The method: each command and free holds a ticket with a number of its
//! own, which is entered in the books when it is made and again when it goes. Both must add up to the same.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;
mod quiet;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use booted::{BOTH, booted};
use downbeat_render::{
    Backend, BackendLost, Recorder, RenderConfig, RenderError, RenderState, RenderThread, Renderer,
    ThreadingPolicy,
};
use downbeat_threading::sync::thread::yield_now;
use downbeat_threading::{ExecuteError, MainThreadDispatcher, Role, Thread, spawn};
use quiet::{ON_PURPOSE, quiet_panics};

const FRAMES_PER_LIFE: u64 = 1000;
const LIVES_PER_POLICY: u64 = 50;
const WORKERS: usize = 2;

/// Who submits. Workers come after these.
const MAIN: usize = 0;
const NESTED: usize = 1;
const PRODUCERS: usize = 2 + WORKERS;

/// The same numbers in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }
}

/// Where every ticket is entered twice.
#[derive(Default)]
struct Books {
    made: AtomicU64,
    gone: AtomicU64,
    /// Grows by a hash of each ticket made, and shrinks by that of each one gone.
    balance: AtomicU64,
    run: AtomicU64,
    frees_run: AtomicU64,
    /// Panics and losses that commands have caused.
    failures: AtomicU64,
}

struct Ticket {
    books: Arc<Books>,
    hash: u64,
}

impl Ticket {
    fn new(books: &Arc<Books>) -> Self {
        let number = books.made.fetch_add(1, Ordering::Relaxed);
        // Odd multipliers keep numbers apart, and no few of them add up to another few.
        let hash = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) | 1;
        books.balance.fetch_add(hash, Ordering::Relaxed);
        Self { books: Arc::clone(books), hash }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.books.balance.fetch_sub(self.hash, Ordering::Relaxed);
        self.books.gone.fetch_add(1, Ordering::Relaxed);
    }
}

/// Knows the frame it is at, and the last command of each producer.
#[derive(Default)]
struct Screen {
    frame: u64,
    last: [u64; PRODUCERS],
    lost: bool,
}

impl Backend for Screen {
    fn begin_frame(&mut self, number: u64) {
        assert!(number > self.frame, "frame {number} after {}", self.frame);
        self.frame = number;
    }

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        if self.lost { Err(BackendLost { reason: ON_PURPOSE.to_owned() }) } else { Ok(()) }
    }
}

/// A command that checks its place. `frame` is where it belongs, if its producer can know.
fn command(
    books: &Arc<Books>,
    producer: usize,
    sequence: u64,
    frame: Option<u64>,
) -> impl FnOnce(&mut Screen) + Send + 'static {
    let ticket = Ticket::new(books);
    move |screen| {
        assert!(sequence > screen.last[producer], "{sequence} of {producer} after {:?}", screen.last);
        screen.last[producer] = sequence;
        assert!(frame.is_none_or(|frame| frame == screen.frame), "of {frame:?}, in {}", screen.frame);
        ticket.books.run.fetch_add(1, Ordering::Relaxed);
    }
}

/// Submits until told not to, and goes on with what it gets back.
fn worker(index: usize, renderer: Renderer<Screen>, books: Arc<Books>, stop: Arc<AtomicBool>) -> Thread<()> {
    let submits = move || {
        let mut sequence = 0;
        while !stop.load(Ordering::Relaxed) {
            sequence += 1;
            let mut next = Some(command(&books, 2 + index, sequence, None));
            while let Some(command) = next.take() {
                next = renderer.try_submit(command).err().map(|refused| refused.command);
                yield_now();
                if stop.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    };
    spawn("submits", Role::Worker, submits).expect("there is a thread for it")
}

/// One renderer from start to end.
struct Life<'a> {
    main: &'a MainThreadDispatcher,
    random: Random,
    books: Arc<Books>,
    render: RenderThread<Screen>,
    renderer: Renderer<Screen>,
    recorder: Recorder<Screen>,
    sequence: u64,
    frees: u64,
    errors: u64,
}

impl<'a> Life<'a> {
    fn start(main: &'a MainThreadDispatcher, policy: ThreadingPolicy, seed: u64) -> Self {
        let mut random = Random(seed);
        let full_sync = random.one_in(8);
        let config = RenderConfig { policy, full_sync, try_commands_max: 16, ..RenderConfig::default() };
        let render = RenderThread::start(main, Screen::default(), config).expect("a policy that renders");
        let (renderer, recorder) = (render.renderer(), render.renderer().recorder());
        let books = Arc::default();
        Self { main, random, books, render, renderer, recorder, sequence: 0, frees: 0, errors: 0 }
    }

    fn live(mut self) {
        let stop = Arc::new(AtomicBool::new(false));
        let workers = [0, 1]
            .map(|index| worker(index, self.renderer.clone(), Arc::clone(&self.books), Arc::clone(&stop)));
        for _ in 0..FRAMES_PER_LIFE {
            self.submit_frame();
            self.end_frame();
        }
        self.submit_frame();
        // Workers submit right through the end of every second renderer.
        let workers_first = self.random.one_in(2);
        stop.store(workers_first, Ordering::Relaxed);
        let books = Arc::clone(&self.books);
        let frees = self.frees;
        let errors = self.end();
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().for_each(|worker| worker.join().expect("workers do not panic"));
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!(read(&books.made), read(&books.gone), "every command goes");
        assert_eq!(read(&books.balance), 0, "and each exactly once");
        assert!(read(&books.run) <= read(&books.made) && read(&books.run) > FRAMES_PER_LIFE);
        assert_eq!(read(&books.frees_run), frees, "every free runs once");
        if let Some(errors) = errors {
            assert_eq!(errors, read(&books.failures), "every failure is one error");
        }
    }

    fn submit_frame(&mut self) {
        let frame = self.render.frames().0 + 1;
        for _ in 0..self.random.below(12) {
            self.sequence += 1;
            let next = command(&self.books, MAIN, self.sequence, Some(frame));
            match self.random.below(8) {
                0 => self.submit_nested(frame),
                1 => self.submit_free(frame),
                2..5 => self.recorder.submit(next),
                _ => {
                    // Or what was recorded before would come after it.
                    assert!(self.recorder.flush());
                    self.renderer.submit(next);
                }
            }
        }
        assert!(self.recorder.flush());
        match self.random.below(300) {
            0 => self.submit_failure(|_| panic!("{ON_PURPOSE}")),
            1 => self.submit_failure(|screen| screen.lost = true),
            2..6 => {
                let handle = self.main.handle();
                self.renderer.submit(move |_| {
                    let answer = handle.execute(|_| 7);
                    assert!(matches!(answer, Ok(7) | Err(ExecuteError::Stopped { .. })), "{answer:?}");
                });
            }
            _ => {}
        }
    }

    fn submit_nested(&mut self, frame: u64) {
        let (renderer, books, sequence) = (self.renderer.clone(), Arc::clone(&self.books), self.sequence);
        let ticket = Ticket::new(&self.books);
        self.renderer.submit(move |_| {
            renderer.submit(command(&books, NESTED, sequence, Some(frame + 1)));
            drop(ticket);
        });
    }

    /// A free of something that a command submitted behind it still uses.
    fn submit_free(&mut self, frame: u64) {
        self.frees += 1;
        let (ticket, freed) = (Ticket::new(&self.books), Arc::new(AtomicBool::new(false)));
        let used = Arc::clone(&freed);
        self.renderer.submit_resource_free(move |screen| {
            // A backend that draws nothing stays behind.
            assert!(screen.frame <= frame, "of frame {frame}, in {}", screen.frame);
            freed.store(true, Ordering::Relaxed);
            ticket.books.frees_run.fetch_add(1, Ordering::Relaxed);
        });
        self.renderer.submit(move |_| assert!(!used.load(Ordering::Relaxed), "freed under our hands"));
    }

    fn submit_failure(&self, fail: fn(&mut Screen)) {
        let ticket = Ticket::new(&self.books);
        self.renderer.submit(move |screen| {
            ticket.books.failures.fetch_add(1, Ordering::Relaxed);
            fail(screen);
        });
    }

    fn end_frame(&mut self) {
        let ended = match self.random.below(10) {
            0 => self.render.pump(self.main),
            1 => {
                let kicked = self.render.kick(self.main);
                self.note(kicked);
                self.render.block_until_render_complete(self.main)
            }
            _ => self.render.kick(self.main),
        };
        self.note(ended);
        let (kicked, completed) = self.render.frames();
        assert!(kicked - completed <= 1, "{completed} of {kicked}");
        // Not always at once: frames are dropped meanwhile.
        if self.render.state() == RenderState::Dropping && self.random.one_in(4) {
            let waited = self.render.block_until_render_complete(self.main);
            self.note(waited);
            self.render.rebuild(self.main, Screen::default()).expect("nothing is in flight");
        }
    }

    fn note(&mut self, ended: Result<(), RenderError>) {
        let Err(error) = ended else { return };
        self.errors += 1;
        assert!(error.to_string().contains(ON_PURPOSE), "{error}");
    }

    /// Shuts down, or drops; how many errors there were, if the last of them could be heard.
    fn end(mut self) -> Option<u64> {
        if self.random.one_in(3) {
            drop(self.render);
            return None;
        }
        let waited = self.render.block_until_render_complete(self.main);
        self.note(waited);
        let ended = self.render.shut_down(self.main).map(drop);
        if let Err(error) = &ended {
            assert!(error.to_string().contains(ON_PURPOSE), "{error}");
        }
        Some(self.errors + u64::from(ended.is_err()))
    }
}

#[test]
fn a_hundred_thousand_frames_account_for_every_command() {
    quiet_panics();
    let main = booted();
    for policy in BOTH {
        (1..=LIVES_PER_POLICY).for_each(|seed| Life::start(&main, policy, seed).live());
    }
}
