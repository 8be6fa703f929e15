//! Takes the steps: a time manager with one callback per runner that notes what the runner is told.
//!
//! It shows nothing. `json.rs` and `text.rs` do, one step at a time, so that any length of timeline fits in
//! memory.

use downbeat_time::{
    Binding, Cycle, EditError, Phase, RUNNERS_MAX, RunnerConfig, RunnerId, RunnerSet, SimTime, StepContext,
    StepError, TimeConfig, TimeManager, TimeMode,
};

/// What happened in one step.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Step {
    pub(super) time_nanos: u64,
    pub(super) fired: RunnerSet,
    dt_nanos: [u64; RUNNERS_MAX],
}

impl Step {
    /// Who fired, lowest id first, and the exact length of its own step.
    pub(super) fn firings(&self) -> impl Iterator<Item = (RunnerId, u64)> {
        self.fired.iter().map(|id| (id, self.dt_nanos[index(id)]))
    }

    /// The exact length of the runner's own step, if it fired.
    pub(super) fn dt_nanos(&self, id: RunnerId) -> Option<u64> {
        self.fired.contains(id).then(|| self.dt_nanos[index(id)])
    }

    fn note(&mut self, context: &StepContext<'_>) {
        self.time_nanos = context.now().as_nanos();
        self.fired = self.fired.with(context.runner());
        self.dt_nanos[index(context.runner())] = context.dt_nanos();
    }
}

/// The place of a runner in lists that go by id.
pub(super) fn index(id: RunnerId) -> usize {
    usize::from(id.number())
}

/// Steps along a timeline.
pub(super) struct Walk {
    time: TimeManager<Step>,
}

impl Walk {
    pub(super) fn new(runners: Vec<RunnerConfig>) -> Result<Self, EditError> {
        let mode = TimeMode::SimHighPerformance;
        let mut time = TimeManager::new(TimeConfig { runners, mode, ..TimeConfig::default() })?;
        let ids: Vec<RunnerId> = time.runners().map(|(id, _)| id).collect();
        for id in ids {
            time.register("note", Binding::new(id, Phase::Acquisition), Step::note)?;
        }
        Ok(Self { time })
    }

    pub(super) fn cycle(&self) -> Cycle {
        self.time.cycle()
    }

    pub(super) fn runners(&self) -> impl Iterator<Item = (RunnerId, &RunnerConfig)> {
        self.time.runners()
    }

    /// The next step that ends at or before `end`; `None` when there is no more.
    pub(super) fn next_until(&mut self, end: SimTime) -> Result<Option<Step>, Box<StepError>> {
        if self.time.next_step().is_none_or(|(time, _)| time > end) {
            return Ok(None);
        }
        let mut step = Step::default();
        self.time.step(&mut step)?;
        Ok(Some(step))
    }
}
