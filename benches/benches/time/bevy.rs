//! The engine peer: Bevy's schedules, set up the way that is fastest for it.
//!
//! The single-threaded executor is used throughout: all systems write one resource and are chained, so threads could
//! only add hand-overs. A system takes one resource, which also holds the length of the step: reading Bevy's time
//! would cost it a second parameter.

use std::time::Duration;

use bevy_app::{App, FixedUpdate, Update};
use bevy_ecs::prelude::{IntoScheduleConfigs, ResMut, Resource, Schedule, World as BevyWorld};
use bevy_ecs::schedule::{ScheduleConfigs, SingleThreadedExecutor};
use bevy_ecs::system::ScheduleSystem;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy, Virtual};

use crate::ours::STEP_NANOS;
use crate::shared::RATES_HZ;

pub(crate) const FIXED_UPDATE: &str = "bevy FixedUpdate";
pub(crate) const EIGHT_SCHEDULES: &str = "bevy, 8 schedules";

type Systems = ScheduleConfigs<ScheduleSystem>;

#[derive(Resource, Default)]
struct Sum {
    nanos: u64,
    /// The length of the step under way.
    step: u64,
}

fn add(mut sum: ResMut<'_, Sum>) {
    sum.nanos += sum.step;
}

pub(crate) fn ten_adders() -> Systems {
    (add, add, add, add, add, add, add, add, add, add).chain()
}

pub(crate) fn fifty_adders() -> Systems {
    (ten_adders(), ten_adders(), ten_adders(), ten_adders(), ten_adders()).chain()
}

/// An app that takes a fixed number of fixed steps in every update.
pub(crate) struct FixedApp {
    app: App,
}

impl FixedApp {
    pub(crate) fn new(steps_per_update: u64, systems: Systems) -> Self {
        let mut app = fixed_app(Duration::from_nanos(STEP_NANOS), systems);
        app.insert_resource(TimeUpdateStrategy::FixedTimesteps(steps_per_update as u32));
        // The first update only takes the time to count from.
        app.update();
        Self { app }
    }

    pub(crate) fn update(&mut self) -> u64 {
        sum_of(&mut self.app, App::update)
    }
}

/// An app whose updates are frames of a given length.
pub(crate) struct FrameApp {
    app: App,
}

impl FrameApp {
    pub(crate) fn new(step: Duration, systems: Systems) -> Self {
        let mut app = fixed_app(step, systems);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        app.update();
        Self { app }
    }

    pub(crate) fn frames(&mut self, frames: impl Iterator<Item = Duration>) -> u64 {
        sum_of(&mut self.app, |app| {
            for frame in frames {
                *app.world_mut().resource_mut::<TimeUpdateStrategy>() =
                    TimeUpdateStrategy::ManualDuration(frame);
                app.update();
            }
        })
    }
}

fn fixed_app(step: Duration, systems: Systems) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin).add_systems(FixedUpdate, systems);
    app.insert_resource(Sum { nanos: 0, step: step.as_nanos() as u64 });
    app.edit_schedule(FixedUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    app.insert_resource(Time::<Fixed>::from_duration(step));
    // Time beyond this would be dropped, and with it steps.
    app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(Duration::from_secs(1));
    app
}

fn sum_of(app: &mut App, run: impl FnOnce(&mut App)) -> u64 {
    let before = app.world().resource::<Sum>().nanos;
    run(app);
    app.world().resource::<Sum>().nanos - before
}

/// Eight rates in Bevy, which has one fixed rate only.
///
/// Of the two programs that come close, this is the faster: one schedule per rate, run by an exclusive system that
/// keeps the due times. The other, all systems in `FixedUpdate` at a common tick with a run condition per rate,
/// evaluates every condition in every tick, and these rates have no common tick of whole nanoseconds. The rates run
/// one after another where they meet; phases across rates would cost more.
pub(crate) struct MultiRateApp {
    app: App,
}

struct RateSchedule {
    schedule: Schedule,
    hz: u64,
    index: u64,
    last: u64,
    next: u64,
}

impl MultiRateApp {
    /// Every update runs `span`.
    pub(crate) fn new(span: Duration) -> Self {
        let mut app = App::new();
        app.init_resource::<Sum>();
        let mut rates: Vec<_> = RATES_HZ.iter().map(|&hz| RateSchedule::new(u64::from(hz))).collect();
        let mut until = 0;
        app.add_systems(Update, move |world: &mut BevyWorld| {
            until += span.as_nanos() as u64;
            run_until(world, &mut rates, until);
        });
        Self { app }
    }

    pub(crate) fn update(&mut self) -> u64 {
        sum_of(&mut self.app, App::update)
    }
}

impl RateSchedule {
    fn new(hz: u64) -> Self {
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.add_systems((add, add, add, add, add, add, add, add).chain());
        Self { schedule, hz, index: 0, last: 0, next: 1_000_000_000 / hz }
    }

    fn run(&mut self, world: &mut BevyWorld) {
        world.resource_mut::<Sum>().step = self.next - self.last;
        self.schedule.run(world);
        self.index += 1;
        self.last = self.next;
        self.next = (self.index + 1) * 1_000_000_000 / self.hz;
    }
}

fn run_until(world: &mut BevyWorld, rates: &mut [RateSchedule], until: u64) {
    loop {
        let due = rates.iter().map(|rate| rate.next).min().unwrap_or(u64::MAX);
        if due > until {
            return;
        }
        rates.iter_mut().filter(|rate| rate.next == due).for_each(|rate| rate.run(world));
    }
}
