//! What it costs to call a callback: 50 on one runner, in time and in instructions.

use downbeat_benches::{Contestant, Counted, Figure, Suite, race};
use downbeat_time::Profiling;

use crate::ours::{self, STEP_NANOS, World};
use crate::{bevy, plain};

const CALLBACKS: usize = 50;

/// Steps of a batch. Bevy takes as many in one update, so that what a frame costs it does not count.
const STEPS: u64 = 200;

const CALLS: u64 = CALLBACKS as u64 * STEPS;

pub(crate) const OURS: Counted = Counted { name: "dispatch/ours", run: count_ours };
pub(crate) const PLAIN: Counted = Counted { name: "dispatch/plain", run: count_plain };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("time/dispatch_50") {
        let (mut time, mut world) = (ours::adders(CALLBACKS, Profiling::Off), World::default());
        let mut app = bevy::FixedApp::new(STEPS, bevy::fifty_adders());
        let mut contestants = vec![
            Contestant::new("ours", || ours::run(&mut time, &mut world, STEPS)),
            Contestant::new(bevy::FIXED_UPDATE, || app.update()),
        ];
        for run in plain::LOOPS {
            let (mut callbacks, mut world) = (plain::adders(CALLBACKS), World::default());
            let batch = move || run(&mut callbacks, &mut world, STEPS);
            contestants.insert(1, Contestant::new(plain::NAME, batch));
        }
        let results = race(CALLS, contestants)?;
        suite.print(&Figure::of_race("time/dispatch_50", "ns/callback", results[0], &results[1..]))?;
    }
    if suite.wants("time/dispatch_instructions") && suite.can_count()? {
        let per_call = |counted: Counted| counted.per_unit(STEPS).map(|count| count / CALLBACKS as f64);
        let figure = Figure::new("time/dispatch_instructions", "instructions/callback", per_call(OURS)?);
        suite.print(&figure.against(plain::NAME, per_call(PLAIN)?))?;
    }
    Ok(())
}

fn count_ours(steps: u64) {
    let mut world = World::default();
    let sum = ours::run(&mut ours::adders(CALLBACKS, Profiling::Off), &mut world, steps);
    assert_eq!(sum, steps * CALLBACKS as u64 * STEP_NANOS);
}

fn count_plain(steps: u64) {
    let mut world = World::default();
    let sum = plain::run::<1>(&mut plain::adders(CALLBACKS), &mut world, steps);
    assert_eq!(sum, steps * CALLBACKS as u64 * STEP_NANOS);
}
