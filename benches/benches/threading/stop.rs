//! What it costs to ask a stop token, in time and in instructions, against a flag that means nothing else.
//!
//! The loop around the polls is in the figures, ours and the peer's alike.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use downbeat_benches::{Contestant, Counted, Figure, Suite, race};
use downbeat_threading::StopSource;

const FLAG: &str = "relaxed atomic load";
const POLLS: u64 = 10_000;

pub(crate) const OURS: Counted = Counted { name: "stop/ours", run: count_ours };
pub(crate) const RELAXED: Counted = Counted { name: "stop/relaxed", run: count_relaxed };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("threading/stop_poll") {
        let contestants = vec![
            Contestant::new("ours", ours(StopSource::new(), POLLS)),
            Contestant::new(FLAG, relaxed(flag(), POLLS)),
        ];
        let results = race(POLLS, contestants)?;
        suite.print(&Figure::of_race("threading/stop_poll", "ns/poll", results[0], &results[1..]))?;
    }
    if suite.wants("threading/stop_poll_instructions") && suite.can_count()? {
        let ours = OURS.per_unit(POLLS)?;
        let figure = Figure::new("threading/stop_poll_instructions", "instructions/poll", ours);
        suite.print(&figure.against(FLAG, RELAXED.per_unit(POLLS)?))?;
    }
    Ok(())
}

fn count_ours(polls: u64) {
    assert_eq!(ours(StopSource::new(), polls)(), polls);
}

fn count_relaxed(polls: u64) {
    assert_eq!(relaxed(flag(), polls)(), polls);
}

/// Counts the polls that said to go on. The token's place is fetched anew for each, as in work that does something
/// between two polls.
fn ours(source: StopSource, polls: u64) -> impl FnMut() -> u64 {
    let token = source.token();
    move || {
        let _alive = &source;
        (0..polls).map(|_| u64::from(!black_box(&token).is_stopped())).sum()
    }
}

fn relaxed(flag: Arc<AtomicBool>, polls: u64) -> impl FnMut() -> u64 {
    move || (0..polls).map(|_| u64::from(!black_box(&flag).load(Ordering::Relaxed))).sum()
}

fn flag() -> Arc<AtomicBool> {
    black_box(Arc::new(AtomicBool::new(false)))
}
