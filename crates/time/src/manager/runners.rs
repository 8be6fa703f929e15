//! Changing who fires: runners are added, removed, renamed and moved to other rates and offsets.
//!
//! Every change is checked before anything is touched. When runners fire is kept by `timeline.rs`.

use super::TimeManager;
use crate::callback::check_name;
use crate::edit::EditError;
use crate::rate::Rate;
use crate::runner::{RunnerConfig, RunnerId};
use crate::sim_time::SimTime;
use crate::timeline::Runner;

impl<W, E> TimeManager<W, E> {
    /// Adds a runner. It starts on the first point of its grid that is not in the past and fires a step later.
    ///
    /// ```
    /// use downbeat_time::{Rate, RunnerConfig, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// let lidar = time.add_runner(RunnerConfig::new("Lidar", Rate::hz(100)?))?;
    /// assert_eq!(lidar.number(), 2); // after Robot and Capture
    /// assert_eq!(time.swarm().get(lidar).unwrap().next.as_nanos(), 10_000_000);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn add_runner(&mut self, config: RunnerConfig) -> Result<RunnerId, EditError> {
        check_name(&config.name)?;
        self.check_runner_name_is_new(&config.name, None)?;
        let Some(id) = self.timeline.vacant() else {
            return Err(EditError::TooManyRunners { name: config.name });
        };
        self.timeline.add(id, config);
        self.orders.invalidate(self.timeline.active());
        Ok(id)
    }

    /// Removes a runner that no callback uses.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.register("drive", Binding::new(RunnerId::ROBOT, Phase::Control), |_, _| ())?;
    /// assert!(time.remove_runner(RunnerId::ROBOT).is_err()); // `drive` would be lost
    /// time.remove_runner(RunnerId::CAPTURE)?;
    /// assert_eq!(time.runners().count(), 1);
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn remove_runner(&mut self, id: RunnerId) -> Result<(), EditError> {
        self.remove_runner_moving(id, None)
    }

    /// Removes a runner and gives its callbacks, and its place in `on_shared` sets, to another.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// let id = time.register("drive", Binding::new(RunnerId::ROBOT, Phase::Control), |_, _| ())?;
    /// time.remove_runner_rebinding(RunnerId::ROBOT, RunnerId::CAPTURE)?;
    /// assert_eq!(time.callback(id).unwrap().binding.runner, RunnerId::CAPTURE);
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn remove_runner_rebinding(&mut self, id: RunnerId, to: RunnerId) -> Result<(), EditError> {
        self.remove_runner_moving(id, Some(to))
    }

    pub(super) fn remove_runner_moving(
        &mut self,
        id: RunnerId,
        to: Option<RunnerId>,
    ) -> Result<(), EditError> {
        let name = self.known_runner(id)?.config.name.clone();
        if self.timeline.active().len() == 1 {
            return Err(EditError::LastRunner { name });
        }
        let live = self.callbacks.in_sequence();
        let users: Vec<u32> = live
            .iter()
            .filter(|(_, info)| info.binding.needs().contains(id))
            .map(|(user, _)| user.slot)
            .collect();
        match to {
            Some(to) if to == id => return Err(EditError::RebindToItself { name }),
            Some(to) => {
                self.known_runner(to)?;
                users.iter().for_each(|&slot| self.replace_runner(slot, id, to));
            }
            None => {
                if let Some(&first) = users.first() {
                    let first = self.callbacks.infos[first as usize].name.clone();
                    return Err(EditError::RunnerInUse { name, count: users.len(), first });
                }
            }
        }
        self.timeline.remove(id);
        self.orders.invalidate(self.timeline.active());
        Ok(())
    }

    fn replace_runner(&mut self, slot: u32, from: RunnerId, to: RunnerId) {
        let mut binding = self.callbacks.infos[slot as usize].binding;
        if binding.runner == from {
            binding.runner = to;
        }
        if binding.on_shared.contains(from) {
            binding.on_shared = binding.on_shared.without(from).with(to);
        }
        self.move_callback(slot, binding);
    }

    /// Renames a runner.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.rename_runner(RunnerId::CAPTURE, "Camera")?;
    /// assert_eq!(time.runner_id("Camera"), Some(RunnerId::CAPTURE));
    /// assert!(time.rename_runner(RunnerId::ROBOT, "Camera").is_err()); // names are unique
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn rename_runner(&mut self, id: RunnerId, name: impl Into<String>) -> Result<(), EditError> {
        let name = name.into();
        self.known_runner(id)?;
        check_name(&name)?;
        self.check_runner_name_is_new(&name, Some(id))?;
        if let Some(runner) = self.timeline.runner_mut(id) {
            runner.config.name = name;
        }
        Ok(())
    }

    /// Changes a rate at the runner's next boundary, where its origin moves; before the first step, and when there
    /// is no boundary ahead, at once.
    ///
    /// ```
    /// use downbeat_time::{Rate, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.step(&mut ())?; // Robot at 20 ms
    /// time.set_rate(RunnerId::ROBOT, Rate::hz(100)?)?;
    /// time.run_steps(&mut (), 2)?; // Capture at 33.3 ms, Robot at 40 ms: its step under way keeps its length
    /// assert_eq!(time.next_step().unwrap().0.as_nanos(), 50_000_000);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn set_rate(&mut self, id: RunnerId, rate: Rate) -> Result<(), EditError> {
        self.known_runner(id)?;
        self.timeline.set_rate(id, rate);
        Ok(())
    }

    /// Moves a runner to the grid of another offset, at its next boundary; before the first step, and when there
    /// is no boundary ahead, at once.
    ///
    /// It waits for the first point of the new grid and fires one full step later, so it then keeps time with
    /// every other runner on that grid, whatever its rate was before.
    ///
    /// ```
    /// use downbeat_time::{RunnerId, SimTime, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.set_offset(RunnerId::ROBOT, SimTime::from_nanos(5_000_000))?;
    /// assert_eq!(time.next_step().unwrap().0.as_nanos(), 25_000_000);
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn set_offset(&mut self, id: RunnerId, offset: SimTime) -> Result<(), EditError> {
        self.known_runner(id)?;
        self.timeline.set_offset(id, offset);
        Ok(())
    }

    /// The runner of this name.
    pub fn runner_id(&self, name: &str) -> Option<RunnerId> {
        RunnerId::all().find(|&id| self.timeline.runner(id).is_some_and(|r| r.config.name == name))
    }

    /// A runner's settings, or `None` when there is no such runner.
    pub fn runner(&self, id: RunnerId) -> Option<&RunnerConfig> {
        self.timeline.runner(id).map(|runner| &runner.config)
    }

    /// All runners with their settings, lowest id first.
    pub fn runners(&self) -> impl Iterator<Item = (RunnerId, &RunnerConfig)> {
        RunnerId::all().filter_map(|id| Some((id, self.runner(id)?)))
    }

    pub(super) fn known_runner(&self, id: RunnerId) -> Result<&Runner, EditError> {
        self.timeline.runner(id).ok_or(EditError::UnknownRunner { runner: id })
    }

    pub(super) fn runner_name(&self, id: RunnerId) -> &str {
        self.timeline.runner(id).map_or("", |runner| &runner.config.name)
    }

    fn check_runner_name_is_new(&self, name: &str, but: Option<RunnerId>) -> Result<(), EditError> {
        match self.runner_id(name) {
            Some(id) if Some(id) != but => Err(EditError::DuplicateRunner { name: name.to_owned() }),
            _ => Ok(()),
        }
    }
}
