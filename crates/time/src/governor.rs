//! The frame governor's settings and its memory of what steps have cost.
//!
//! It decides how much of a frame is spent on stepping, never which steps there are.

use std::time::Duration;

use thiserror::Error;

use crate::runner::RunnerSet;
use crate::sim_time::nanos_of;

/// How a frame's stepping is limited. No setting changes a deterministic run, only how fast it goes.
///
/// ```
/// use downbeat_time::{Governor, TimeManager};
/// use std::time::Duration;
///
/// let mut time = TimeManager::<()>::default();
/// time.set_governor(Governor { budget: Duration::from_millis(4), ..Governor::default() })?;
/// # Ok::<(), downbeat_time::EditError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Governor {
    /// A frame's wall time counts up to this much; a longer stall is forgiven or skipped.
    pub elapsed_max: Duration,
    /// CPU time a frame may spend on stepping. One step that is due always runs.
    pub budget: Duration,
    /// Wall time that may be carried to the next frame; what is owed beyond is forgiven or skipped.
    pub owed_max: Duration,
    /// A limit on the steps of a frame, if any.
    pub max_steps_per_frame: Option<u32>,
}

/// The longest budget of a frame: above it a frame would look like a hang.
pub const BUDGET_MAX: Duration = Duration::from_secs(60);

/// Why settings were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GovernorError {
    /// The budget of a frame is limited.
    #[error(
        "a frame budget of {0:?} is above {BUDGET_MAX:?}; run steps with `run_steps` or `step_to` instead"
    )]
    BudgetTooLong(Duration),
    /// A frame that counts no time never steps.
    #[error("`elapsed_max` is zero, so no frame would ever step; pause the manager to stand still")]
    ElapsedMaxZero,
    /// A frame that may take no step never steps.
    #[error("`max_steps_per_frame` is zero, so no frame would ever step; pause the manager to stand still")]
    StepCapZero,
}

impl Default for Governor {
    /// Stalls count up to 250 ms, 12 ms of a frame go to stepping, up to 100 ms are carried over.
    fn default() -> Self {
        Self {
            elapsed_max: Duration::from_millis(250),
            budget: Duration::from_millis(12),
            owed_max: Duration::from_millis(100),
            max_steps_per_frame: None,
        }
    }
}

impl Governor {
    pub(crate) fn check(&self) -> Result<(), GovernorError> {
        if self.budget > BUDGET_MAX {
            return Err(GovernorError::BudgetTooLong(self.budget));
        }
        if self.elapsed_max.is_zero() {
            return Err(GovernorError::ElapsedMaxZero);
        }
        if self.max_steps_per_frame == Some(0) {
            return Err(GovernorError::StepCapZero);
        }
        Ok(())
    }

    pub(crate) fn budget_nanos(&self) -> u64 {
        nanos_of(self.budget)
    }
}

/// What each kind of step, told apart by who fires, is expected to cost.
#[derive(Debug, Clone)]
pub(crate) struct CostModel {
    expected_nanos: Box<[u64; 256]>,
}

impl CostModel {
    pub(crate) fn new() -> Self {
        Self { expected_nanos: Box::new([0; 256]) }
    }

    /// A kind of step that has never run is expected to cost nothing, so it gets its chance.
    #[inline]
    pub(crate) fn expected(&self, fires: RunnerSet) -> u64 {
        self.expected_nanos[fires.bits() as usize]
    }

    /// Rises at once and falls by an eighth of the way: passing the budget hurts more than stopping early.
    #[inline]
    pub(crate) fn record(&mut self, fires: RunnerSet, nanos: u64) {
        let expected = &mut self.expected_nanos[fires.bits() as usize];
        let fallen = *expected - (*expected).saturating_sub(nanos).div_ceil(8);
        *expected = fallen.max(nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::RunnerId;

    #[test]
    fn expectation_rises_at_once_and_falls_slowly() {
        let (mut model, set) = (CostModel::new(), RunnerSet::only(RunnerId::ROBOT));
        assert_eq!(model.expected(set), 0);
        model.record(set, 800);
        assert_eq!(model.expected(set), 800);
        model.record(set, 0);
        assert_eq!(model.expected(set), 700);
        for _ in 0..100 {
            model.record(set, 10);
        }
        assert_eq!(model.expected(set), 10);
    }

    #[test]
    fn settings_that_could_never_step_are_refused() {
        let base = Governor::default();
        assert_eq!(base.check(), Ok(()));
        let refused = [
            Governor { budget: Duration::MAX, ..base },
            Governor { elapsed_max: Duration::ZERO, ..base },
            Governor { max_steps_per_frame: Some(0), ..base },
        ];
        assert!(refused.iter().all(|governor| governor.check().is_err()));
    }
}
