//! What it costs to run a frame that was submitted, per command of 16 bytes.

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_render::ThreadingPolicy::SingleThreaded;
use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};

use crate::captures::Captures;
use crate::queues::{COMMANDS, CROSSBEAM, Crossbeam, FLUME, Flume, Queue, Submitted, submit_all};

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants("render/drain") {
        return Ok(());
    }
    let boot = Boot::claim()?;
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let contestants = vec![
        contestant("ours", Submitted::new(&dispatcher, SingleThreaded)?),
        contestant(FLUME, Flume::default()),
        contestant(CROSSBEAM, Crossbeam::default()),
    ];
    let results = race(COMMANDS, contestants)?;
    suite.print(&Figure::of_race("render/drain", "ns/command", results[0], &results[1..]))
}

fn contestant<'a>(name: &'static str, mut queue: impl Queue + 'a) -> Contestant<'a> {
    let captures = Captures::<2>::new();
    Contestant::timed_within(name, move |watch| {
        submit_all(&mut queue, &captures);
        watch.time(|| queue.drain())
    })
}
