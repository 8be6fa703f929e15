//! Our contestant: managers with the runners and callbacks that a figure asks for. Measures nothing.

use downbeat_time::{
    Binding, Phase, Profiling, Rate, RunnerConfig, RunnerId, StepContext, TimeConfig, TimeManager, TimeMode,
};

/// What all contestants work on. The sum proves that the work was done.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) nanos: u64,
}

/// The runner that the figures with a single rate use.
pub(crate) const HZ: u32 = 1000;
pub(crate) const STEP_NANOS: u64 = 1_000_000_000 / HZ as u64;

/// A manager with one runner per rate, as fast as it goes.
pub(crate) fn manager<W>(rates_hz: &[u32], profiling: Profiling) -> TimeManager<W> {
    let runner = |&hz: &u32| {
        let rate = Rate::hz(hz).expect("the figures use rates between 1 Hz and 1 GHz");
        RunnerConfig::new(format!("{hz} Hz"), rate)
    };
    let config = TimeConfig {
        runners: rates_hz.iter().map(runner).collect(),
        mode: TimeMode::SimHighPerformance,
        profiling,
        ..TimeConfig::default()
    };
    TimeManager::new(config).expect("one to eight runners with different names")
}

/// A manager with `count` callbacks on one runner, each adding its step's length to the world.
pub(crate) fn adders(count: usize, profiling: Profiling) -> TimeManager<World> {
    let mut time = manager(&[HZ], profiling);
    let binding = Binding::new(RunnerId::ROBOT, Phase::Control);
    for index in 0..count {
        add(&mut time, index, binding);
    }
    time
}

/// Registers one callback that adds its step's length to the world.
pub(crate) fn add(time: &mut TimeManager<World>, index: usize, binding: Binding) {
    let add = |world: &mut World, context: &StepContext<'_>| world.nanos += context.dt_nanos();
    time.register(format!("add {index}"), binding, add).expect("the runner exists and the name is good");
}

/// Takes `steps` steps and returns what they have added to the world.
pub(crate) fn run(time: &mut TimeManager<World>, world: &mut World, steps: u64) -> u64 {
    let before = world.nanos;
    time.run_steps(world, steps).expect("no callback fails");
    world.nanos - before
}
