//! Eight rates on one timeline, from 30 to 1000 Hz, eight callbacks each: the case the manager is made for.

use std::time::Duration;

use downbeat_benches::{Contestant, Counted, Figure, Suite, race};
use downbeat_time::{Binding, Phase, Profiling, RunnerId, StepContext, TimeManager};

use crate::ours::{self, World};
use crate::{bevy, plain};

pub(crate) const RATES_HZ: [u32; 8] = [1000, 500, 400, 240, 120, 60, 50, 30];
pub(crate) const CALLBACKS_PER_RATE: usize = 8;

/// After this all rates meet again, and everything repeats.
const CYCLE: Duration = Duration::from_millis(100);
const CALLS_PER_CYCLE: u64 = 1920;
const CYCLES: u32 = 10;

pub(crate) const OURS: Counted = Counted { name: "shared/ours", run: count_ours };
pub(crate) const PLAIN: Counted = Counted { name: "shared/plain", run: count_plain };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("time/shared_8") {
        let (mut time, mut world) = (adders(), World::default());
        let (mut replay, mut replay_world) = (Replay::record(), World::default());
        let mut app = bevy::MultiRateApp::new(CYCLE * CYCLES);
        let results = race(
            CALLS_PER_CYCLE * u64::from(CYCLES),
            vec![
                Contestant::new("ours", || run(&mut time, &mut world, CYCLES)),
                Contestant::new(plain::NAME, || replay.run(&mut replay_world, CYCLES)),
                Contestant::new(bevy::EIGHT_SCHEDULES, || app.update()),
            ],
        )?;
        suite.print(&Figure::of_race("time/shared_8", "ns/callback", results[0], &results[1..]))?;
    }
    if suite.wants("time/shared_instructions") && suite.can_count()? {
        let per_call = |counted: Counted| counted.per_unit(10).map(|count| count / CALLS_PER_CYCLE as f64);
        let figure = Figure::new("time/shared_instructions", "instructions/callback", per_call(OURS)?);
        suite.print(&figure.against(plain::NAME, per_call(PLAIN)?))?;
    }
    Ok(())
}

fn count_ours(cycles: u64) {
    run(&mut adders(), &mut World::default(), cycles as u32);
}

fn count_plain(cycles: u64) {
    Replay::record().run(&mut World::default(), cycles as u32);
}

fn adders() -> TimeManager<World> {
    let mut time = ours::manager(&RATES_HZ, Profiling::Off);
    for (index, binding) in bindings().enumerate() {
        ours::add(&mut time, index, binding);
    }
    time
}

/// Eight callbacks per rate, spread over the phases: where rates meet, theirs interleave.
fn bindings() -> impl Iterator<Item = Binding> {
    let phases = || Phase::ALL.into_iter().cycle().take(CALLBACKS_PER_RATE);
    RunnerId::all().flat_map(move |runner| phases().map(move |phase| Binding::new(runner, phase)))
}

fn run(time: &mut TimeManager<World>, world: &mut World, cycles: u32) -> u64 {
    let before = world.nanos;
    time.run_for(world, CYCLE * cycles).expect("no callback fails");
    world.nanos - before
}

/// The harshest peer there is: it knows the whole cycle in advance, and for every step of it just which closures
/// to call and with what. It could not change a rate or a callback.
struct Replay {
    callbacks: Vec<plain::Callback>,
    steps: Vec<Vec<Call>>,
}

#[derive(Clone, Copy)]
struct Call {
    index: u32,
    dt: u64,
}

impl Replay {
    /// Takes the plan down from a manager with the same bindings.
    fn record() -> Self {
        let mut time = ours::manager::<Vec<Call>>(&RATES_HZ, Profiling::Off);
        for (index, binding) in (0_u32..).zip(bindings()) {
            let note = move |calls: &mut Vec<Call>, context: &StepContext<'_>| {
                calls.push(Call { index, dt: context.dt_nanos() });
            };
            time.register(format!("note {index}"), binding, note).expect("the runner exists");
        }
        let mut steps = Vec::new();
        while u128::from(time.now().as_nanos()) < CYCLE.as_nanos() {
            let mut calls = Vec::new();
            time.step(&mut calls).expect("no callback fails");
            steps.push(calls);
        }
        assert_eq!(steps.iter().map(Vec::len).sum::<usize>() as u64, CALLS_PER_CYCLE);
        Self { callbacks: plain::adders(RATES_HZ.len() * CALLBACKS_PER_RATE), steps }
    }

    fn run(&mut self, world: &mut World, cycles: u32) -> u64 {
        let before = world.nanos;
        for _ in 0..cycles {
            for step in &self.steps {
                for call in step {
                    self.callbacks[call.index as usize](world, call.dt);
                }
            }
        }
        world.nanos - before
    }
}
