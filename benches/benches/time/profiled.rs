//! What timing every callback costs: the profiler on against off, and against the clock reads alone.

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_time::Profiling;

use crate::ours::{self, World};
use crate::plain;

const CALLBACKS: usize = 50;
const STEPS: u64 = 20;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants("time/profiled_50") {
        return Ok(());
    }
    let contestant = |name, profiling| {
        let (mut time, mut world) = (ours::adders(CALLBACKS, profiling), World::default());
        Contestant::new(name, move || ours::run(&mut time, &mut world, STEPS))
    };
    let (mut callbacks, mut plain_world) = (plain::adders(CALLBACKS), World::default());
    let contestants = vec![
        contestant("ours", Profiling::On),
        contestant("profiling off", Profiling::Off),
        Contestant::new("closures + clock", move || {
            plain::run_timed(&mut callbacks, &mut plain_world, STEPS)
        }),
    ];
    let results = race(CALLBACKS as u64 * STEPS, contestants)?;
    suite.print(&Figure::of_race("time/profiled_50", "ns/callback", results[0], &results[1..]))
}
