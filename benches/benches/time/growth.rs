//! Whether a callback costs the same among ten and among ten thousand.
//!
//! Each callback has state of its own, as real ones do, so the largest sizes also show where the cache ends.

use downbeat_benches::{Contestant, Figure, Measured, Suite, race};
use downbeat_time::{Binding, Phase, Profiling, RunnerId, StepContext};

use crate::ours::{self, World};
use crate::plain;

const SIZES: [(usize, &str); 4] = [
    (10, "time/growth_10"),
    (100, "time/growth_100"),
    (1000, "time/growth_1000"),
    (10_000, "time/growth_10000"),
];

/// Calls of a batch: one step of the largest size, a thousand of the smallest.
const CALLS: u64 = 10_000;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&SIZES.map(|(_, bench)| bench)) {
        return Ok(());
    }
    let [one_loop, other_loop] = plain::LOOPS;
    let contestants = |&(size, bench): &(usize, &'static str)| {
        [ours(size, bench), plain(size, one_loop), plain(size, other_loop)]
    };
    let contestants = SIZES.iter().flat_map(contestants).collect();
    let results = race(CALLS, contestants)?;
    let smallest = Measured { name: "10 callbacks", ..results[0] };
    for (of_size, (_, bench)) in results.chunks(3).zip(SIZES) {
        let peers = [smallest, of_size[1], of_size[2]];
        suite.print(&Figure::of_race(bench, "ns/callback", of_size[0], &peers))?;
    }
    Ok(())
}

fn ours(size: usize, bench: &'static str) -> Contestant<'static> {
    let mut time = ours::manager(&[ours::HZ], Profiling::Off);
    let mut world = World::default();
    for index in 0..size {
        let mut runs = 0_u64;
        let binding = Binding::new(RunnerId::ROBOT, Phase::Control);
        let callback = move |world: &mut World, context: &StepContext<'_>| {
            runs += 1;
            world.nanos += context.dt_nanos() + (runs >> 63);
        };
        time.register(format!("add {index}"), binding, callback).expect("the runner exists");
    }
    Contestant::new(bench, move || ours::run(&mut time, &mut world, CALLS / size as u64))
}

fn plain(size: usize, run: plain::Loop) -> Contestant<'static> {
    let one = |_| -> plain::Callback {
        let mut runs = 0_u64;
        Box::new(move |world, dt| {
            runs += 1;
            world.nanos += dt + (runs >> 63);
        })
    };
    let mut callbacks: Vec<_> = (0..size).map(one).collect();
    let mut world = World::default();
    Contestant::new(plain::NAME, move || run(&mut callbacks, &mut world, CALLS / size as u64))
}
