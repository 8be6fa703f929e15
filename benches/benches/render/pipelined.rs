//! The whole pipeline per command: one thread submits frame after frame, another runs them meanwhile.
//!
//! Ours has at most one frame in flight. The channels have room for two frames and no boundary between them, so that
//! a peer waits no more often than ours.

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_render::ThreadingPolicy::MultiThreaded;
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher, Role, Thread, spawn};

use crate::captures::Captures;
use crate::queues::{Boxed, COMMANDS, CROSSBEAM, FLUME, Queue, Recorded, Sum, submit_all};

const FRAMES: u64 = 20;
const ROOM: usize = 2 * COMMANDS as usize;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("render/pipelined_16") {
        suite.print(&race_with::<2>("render/pipelined_16")?)?;
    }
    if suite.wants("render/pipelined_64") {
        suite.print(&race_with::<8>("render/pipelined_64")?)?;
    }
    Ok(())
}

fn race_with<const WORDS: usize>(bench: &'static str) -> anyhow::Result<Figure> {
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let captures = Captures::<WORDS>::new();
    let mut ours = Recorded::new(&dispatcher, MultiThreaded)?;
    let contestants = vec![
        Contestant::new("ours", move || {
            for _ in 0..FRAMES {
                submit_all(&mut ours, &captures);
                ours.queue.kick();
            }
            ours.queue.wait()
        }),
        over_channel::<WORDS, _>(FLUME, FlumeThread::start()?),
        over_channel::<WORDS, _>(CROSSBEAM, CrossbeamThread::start()?),
    ];
    let results = race(FRAMES * COMMANDS, contestants)?;
    Ok(Figure::of_race(bench, "ns/command", results[0], &results[1..]))
}

fn over_channel<'a, const WORDS: usize, Q: Queue + 'a>(name: &'static str, mut queue: Q) -> Contestant<'a> {
    let captures = Captures::<WORDS>::new();
    Contestant::new(name, move || {
        (0..FRAMES).for_each(|_| submit_all(&mut queue, &captures));
        queue.drain() / FRAMES
    })
}

/// A thread that runs what comes over a channel.
struct FlumeThread {
    // Before the thread, which ends when the sender has gone.
    sender: flume::Sender<Boxed>,
    _thread: Thread<()>,
}

impl FlumeThread {
    fn start() -> anyhow::Result<Self> {
        let (sender, receiver) = flume::bounded::<Boxed>(ROOM);
        let thread = spawn("flume", Role::Worker, move || {
            let mut sum = Sum::default();
            receiver.iter().for_each(|command| command(&mut sum));
        })?;
        Ok(Self { sender, _thread: thread })
    }
}

impl Queue for FlumeThread {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        assert!(self.sender.send(Box::new(command)).is_ok());
    }

    fn drain(&mut self) -> u64 {
        let (answer, answered) = flume::bounded(1);
        self.submit(move |sum| assert!(answer.send(std::mem::take(&mut sum.sum)).is_ok()));
        answered.recv().expect("the thread runs as long as there is a sender")
    }
}

/// As above.
struct CrossbeamThread {
    // Before the thread, which ends when the sender has gone.
    sender: crossbeam_channel::Sender<Boxed>,
    _thread: Thread<()>,
}

impl CrossbeamThread {
    fn start() -> anyhow::Result<Self> {
        let (sender, receiver) = crossbeam_channel::bounded::<Boxed>(ROOM);
        let thread = spawn("crossbeam", Role::Worker, move || {
            let mut sum = Sum::default();
            receiver.iter().for_each(|command| command(&mut sum));
        })?;
        Ok(Self { sender, _thread: thread })
    }
}

impl Queue for CrossbeamThread {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        assert!(self.sender.send(Box::new(command)).is_ok());
    }

    fn drain(&mut self) -> u64 {
        let (answer, answered) = crossbeam_channel::bounded(1);
        self.submit(move |sum| assert!(answer.send(std::mem::take(&mut sum.sum)).is_ok()));
        answered.recv().expect("the thread runs as long as there is a sender")
    }
}
