//! What a submit costs: main, a recorder, and under the lock that other threads take; and what it allocates.
//!
//! One thread submits a frame, which is timed, and then runs it, which is not.

use downbeat_benches::{Contestant, Counted, Figure, Stopwatch, Suite, race};
use downbeat_render::ThreadingPolicy::{MultiThreaded, SingleThreaded};
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};

use crate::captures::Captures;
use crate::queues::{self, COMMANDS, Crossbeam, Flume, Locked, Queue, Recorded, Submitted, submit_all};

pub(crate) const OURS: Counted = Counted { name: "submit/ours", run: count_ours };
pub(crate) const FLUME: Counted = Counted { name: "submit/flume", run: count::<Flume> };
pub(crate) const CROSSBEAM: Counted = Counted { name: "submit/crossbeam", run: count::<Crossbeam> };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    race_with::<2>(suite, ["render/submit_16", "render/record_16", "render/try_submit_16"])?;
    race_with::<8>(suite, ["render/submit_64", "render/record_64", "render/try_submit_64"])?;
    if suite.wants("render/allocations") && suite.can_count()? {
        let per_command = |counted: Counted| counted.allocations_per_unit(40 * COMMANDS);
        let figure = Figure::new("render/allocations", "allocations/command", per_command(OURS)?);
        let figure = figure.against(queues::FLUME, per_command(FLUME)?);
        suite.print(&figure.against(queues::CROSSBEAM, per_command(CROSSBEAM)?))?;
    }
    Ok(())
}

fn race_with<const WORDS: usize>(suite: &mut Suite, benches: [&'static str; 3]) -> anyhow::Result<()> {
    if !suite.wants_any(&benches) {
        return Ok(());
    }
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let contestants = vec![
        contestant::<WORDS>("submitted", Submitted::new(&dispatcher, SingleThreaded)?),
        contestant::<WORDS>("recorded", Recorded::new(&dispatcher, SingleThreaded)?),
        contestant::<WORDS>("locked", Locked(Submitted::new(&dispatcher, SingleThreaded)?)),
        contestant::<WORDS>(queues::FLUME, Flume::default()),
        contestant::<WORDS>(queues::CROSSBEAM, Crossbeam::default()),
    ];
    let results = race(COMMANDS, contestants)?;
    for (bench, ours) in benches.into_iter().zip(&results) {
        suite.print(&Figure::of_race(bench, "ns/submit", *ours, &results[3..]))?;
    }
    Ok(())
}

fn contestant<'a, const WORDS: usize>(name: &'static str, mut queue: impl Queue + 'a) -> Contestant<'a> {
    Contestant::timed_within(name, move |watch| round::<WORDS>(&mut queue, watch))
}

fn round<const WORDS: usize>(queue: &mut impl Queue, watch: &mut Stopwatch) -> u64 {
    let captures = Captures::<WORDS>::new();
    watch.time(|| submit_all(queue, &captures));
    queue.drain()
}

/// Both ways of ours under both policies; the commands are shared out among the four.
fn count_ours(commands: u64) {
    let boot = Boot::claim().expect("this process claims main once");
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    for policy in [SingleThreaded, MultiThreaded] {
        let started = "there is a thread for it";
        frames(&mut Submitted::new(&dispatcher, policy).expect(started), commands / 4);
        frames(&mut Recorded::new(&dispatcher, policy).expect(started), commands / 4);
    }
}

fn count<Q: Queue + Default>(commands: u64) {
    frames(&mut Q::default(), commands);
}

/// The largest captures of the figures.
fn frames(queue: &mut impl Queue, commands: u64) {
    for _ in 0..commands / COMMANDS {
        round::<8>(queue, &mut Stopwatch::default());
    }
}
