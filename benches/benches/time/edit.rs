//! What it costs to change the order while running: a rebind among 1,000 callbacks, and the step after it.

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_time::{Binding, CallbackId, Phase, Profiling, RunnerId, TimeManager};

use crate::ours::{self, World};

const CALLBACKS: usize = 1000;
const REBINDS: u64 = 100;
const STEPS: u64 = 10;

/// All eight runners, so that every set of them has an order to renew. None of them meets another soon.
const RATES_HZ: [u32; 8] = [1000, 7, 11, 13, 17, 19, 23, 29];

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    let rates = [("time/edit", &[ours::HZ, 30][..]), ("time/edit_8_runners", &RATES_HZ[..])];
    for (bench, rates_hz) in rates {
        if suite.wants(bench) {
            let mut edited = Edited::new(rates_hz);
            let rebinding = Contestant::new("ours", move || edited.rebind(REBINDS));
            let results = race(REBINDS, vec![rebinding])?;
            suite.print(&Figure::of_race(bench, "ns/rebind", results[0], &[]))?;
        }
    }
    if suite.wants("time/edit_next_step") {
        let (mut edited, mut left_alone) = (Edited::new(&[ours::HZ]), Edited::new(&[ours::HZ]));
        let step_after_edit = Contestant::timed_within("ours", move |watch| {
            let edit_and_step = |_| {
                edited.rebind(1);
                watch.time(|| edited.step())
            };
            (0..STEPS).map(edit_and_step).sum()
        });
        let step = Contestant::timed_within("no edit before", move |watch| {
            (0..STEPS).map(|_| watch.time(|| left_alone.step())).sum()
        });
        let results = race(STEPS, vec![step_after_edit, step])?;
        suite.print(&Figure::of_race("time/edit_next_step", "ns/step", results[0], &results[1..]))?;
    }
    Ok(())
}

/// A manager under edit, with the callbacks to choose from.
struct Edited {
    time: TimeManager<World>,
    world: World,
    ids: Vec<CallbackId>,
    rebinds: u64,
}

impl Edited {
    fn new(rates_hz: &[u32]) -> Self {
        let mut time = ours::manager(rates_hz, Profiling::Off);
        for index in 0..CALLBACKS {
            ours::add(&mut time, index, Binding::new(RunnerId::ROBOT, Phase::Control));
        }
        let ids = time.callbacks().map(|callback| callback.id).collect();
        Self { time, world: World::default(), ids, rebinds: 0 }
    }

    /// Sends one callback after another to the front of the order and, a round later, to its end.
    fn rebind(&mut self, count: u64) -> u64 {
        for _ in 0..count {
            // A stride that has no divisor in common with the number of callbacks reaches all of them.
            let id = self.ids[(self.rebinds * 617) as usize % self.ids.len()];
            let to_the_end = (self.rebinds / self.ids.len() as u64) % 2 == 1;
            let binding =
                Binding::new(RunnerId::ROBOT, Phase::Control).with_priority(if to_the_end { 1 } else { -1 });
            self.time.rebind(id, binding).expect("the callback and the runner exist");
            self.rebinds += 1;
        }
        count
    }

    fn step(&mut self) -> u64 {
        ours::run(&mut self.time, &mut self.world, 1)
    }
}
