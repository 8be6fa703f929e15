//! How long a worker waits for an answer from a main thread that is looking for work, against a pair of channels.
//!
//! The three ways take turns of a few hundred calls. Both threads know how many that are, so in a turn nothing but
//! the calls passes between them.

use std::time::Duration;

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use downbeat_benches::{Figure, Suite};
use downbeat_threading::{
    Boot, DispatcherConfig, MainThread, MainThreadDispatcher, MainThreadHandle, Role, spawn,
};
use downbeat_time::Clock;

/// How long it takes, to the end of a round.
const TIME: Duration = Duration::from_secs(3);
const CALLS_PER_TURN: u64 = 300;

/// Each round goes to another set of queues: where they lie in memory makes a call a fifth slower or faster.
const SETS: usize = 16;

/// No answer takes as long when each thread has a core.
const BUSY_NANOS: f64 = 50_000.0;

/// What main gives tasks at a time; in a turn there is never more than one.
const BUDGET: Duration = Duration::from_millis(1);

type BoxedTask = Box<dyn FnOnce(MainThread) -> u64 + Send>;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants("threading/execute") {
        return Ok(());
    }
    let boot = Boot::claim()?;
    let (asking, answering): (Vec<_>, Vec<_>) = (0..SETS).map(|_| queues(boot.main())).unzip();
    let (starts_round, round_started) = bounded(0);

    let worker = spawn("asks main", Role::Worker, move || -> anyhow::Result<[Waits; 3]> {
        let [mut ours, mut plain, mut boxed] = [const { Waits(Vec::new()) }; 3];
        let clock = Clock::system();
        for ask in asking.iter().cycle() {
            if clock.elapsed() > TIME {
                break;
            }
            starts_round.send(())?;
            ours.take_turn(&clock, |number| Ok(ask.ours.execute(move |_main| number + 1)?))?;
            plain.take_turn(&clock, |number| ask.plain.ask(number))?;
            boxed.take_turn(&clock, |number| ask.boxed.ask(Box::new(move |_main| number + 1)))?;
        }
        Ok([ours, plain, boxed])
    })?;
    // The worker's end of the channel goes with the worker.
    for answer in answering.iter().cycle() {
        if round_started.recv().is_err() {
            break;
        }
        let mut ran = 0;
        while ran < CALLS_PER_TURN {
            ran += answer.ours.process_pending(BUDGET).ran as u64;
        }
        answer.plain.answer_turn(|number| number + 1)?;
        answer.boxed.answer_turn(|task| task(boot.main()))?;
    }
    let [ours, plain, boxed] = worker.join()??.map(Waits::p50);
    if ours.max(plain).max(boxed) > BUSY_NANOS {
        eprintln!(
            "threading/execute: the two threads did not have a core each; run it again on a quiet machine"
        );
    }
    let figure = Figure::new("threading/execute", "ns", ours);
    suite.print(&figure.against("crossbeam channel pair", plain).against("crossbeam, boxed task", boxed))
}

/// The worker's ends of the three ways.
struct Asking {
    ours: MainThreadHandle,
    plain: Asks<u64>,
    boxed: Asks<BoxedTask>,
}

/// Main's ends.
struct Answering {
    ours: MainThreadDispatcher,
    plain: Answers<u64>,
    boxed: Answers<BoxedTask>,
}

fn queues(main: MainThread) -> (Asking, Answering) {
    let ours = MainThreadDispatcher::new(main, DispatcherConfig::default());
    let (asks_plain, plain) = pair();
    let (asks_boxed, boxed) = pair();
    let asking = Asking { ours: ours.handle(), plain: asks_plain, boxed: asks_boxed };
    (asking, Answering { ours, plain, boxed })
}

/// How long each call of one way took, in nanoseconds.
struct Waits(Vec<u64>);

impl Waits {
    fn take_turn(
        &mut self,
        clock: &Clock,
        mut call: impl FnMut(u64) -> anyhow::Result<u64>,
    ) -> anyhow::Result<()> {
        let mut before = clock.elapsed();
        for number in 0..CALLS_PER_TURN {
            let answer = call(number)?;
            let now = clock.elapsed();
            anyhow::ensure!(answer == number + 1, "{number} was answered with {answer}");
            self.0.push((now - before).as_nanos() as u64);
            before = now;
        }
        Ok(())
    }

    fn p50(mut self) -> f64 {
        let middle = self.0.len() / 2;
        *self.0.select_nth_unstable(middle).1 as f64
    }
}

/// The worker's end of a pair of channels.
struct Asks<T> {
    ask: Sender<T>,
    answer: Receiver<u64>,
}

/// Main's end.
struct Answers<T> {
    asked: Receiver<T>,
    answer: Sender<u64>,
}

fn pair<T>() -> (Asks<T>, Answers<T>) {
    let (ask, asked) = bounded(1);
    let (answer, answered) = bounded(1);
    (Asks { ask, answer: answered }, Answers { asked, answer })
}

impl<T> Asks<T> {
    fn ask(&self, question: T) -> anyhow::Result<u64> {
        self.ask.send(question).ok().context("main has gone")?;
        self.answer.recv().context("main has gone")
    }
}

impl<T> Answers<T> {
    fn answer_turn(&self, mut work: impl FnMut(T) -> u64) -> anyhow::Result<()> {
        let mut answered = 0;
        while answered < CALLS_PER_TURN {
            match self.asked.try_recv() {
                Ok(question) => {
                    self.answer.send(work(question)).context("the worker has gone")?;
                    answered += 1;
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => anyhow::bail!("the worker has gone"),
            }
        }
        Ok(())
    }
}
