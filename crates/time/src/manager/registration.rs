//! Changing what runs: runners, callbacks, free callbacks, settings.
//!
//! Every change is checked before anything is touched: a refused one leaves the manager as it was.

use super::TimeManager;
use crate::callback::{
    Binding, CallbackId, CallbackResult, CallbackView, FreeCallback, FreeCallbackId, FreeCallbackView,
    check_name,
};
use crate::context::{FreeContext, StepContext};
use crate::edit::{Edit, EditError};
use crate::phase::FreePhase;
use crate::rate::Rate;
use crate::runner::{RunnerConfig, RunnerId};
use crate::sim_time::SimTime;
use crate::timeline::Runner;

impl<W, E> TimeManager<W, E> {
    /// Registers a callback. It runs from the next step that its binding names.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<u32>::default();
    /// let binding = Binding::new(RunnerId::ROBOT, Phase::Control).with_priority(-200);
    /// let id = time.register("controller", binding, |count, _ctx| *count += 1)?;
    /// assert_eq!(time.callback(id).unwrap().name, "controller");
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn register<F, R>(
        &mut self,
        name: impl Into<String>,
        binding: Binding,
        mut callback: F,
    ) -> Result<CallbackId, EditError>
    where
        F: FnMut(&mut W, &StepContext<'_>) -> R + Send + 'static,
        R: CallbackResult<E>,
    {
        self.check_binding(binding)?;
        let run =
            Box::new(move |world: &mut W, context: &StepContext<'_>| callback(world, context).into_result());
        let id = self.callbacks.insert(name.into(), binding, run)?;
        self.orders.insert(id.slot, &self.callbacks.infos);
        self.orders.invalidate(self.timeline.active());
        self.profiler.reset(id.slot);
        self.refresh_profiler();
        Ok(id)
    }

    /// Removes a callback.
    pub fn unregister(&mut self, id: CallbackId) -> Result<(), EditError> {
        self.callbacks.get(id)?;
        self.orders.remove(id.slot, &self.callbacks.infos);
        self.callbacks.remove(id)?;
        self.orders.invalidate(self.timeline.active());
        Ok(())
    }

    /// Gives a callback another binding. Its place among ties, its registration order, stays.
    pub fn rebind(&mut self, id: CallbackId, binding: Binding) -> Result<(), EditError> {
        self.callbacks.get(id)?;
        self.check_binding(binding)?;
        self.move_callback(id.slot, binding);
        self.orders.invalidate(self.timeline.active());
        Ok(())
    }

    /// Turns a callback on or off.
    pub fn set_enabled(&mut self, id: CallbackId, enabled: bool) -> Result<(), EditError> {
        self.callbacks.get(id)?;
        self.callbacks.infos[id.slot as usize].enabled = enabled;
        self.orders.invalidate(self.timeline.active());
        Ok(())
    }

    /// A callback's name and binding, or `None` when it is gone.
    pub fn callback(&self, id: CallbackId) -> Option<CallbackView<'_>> {
        let info = self.callbacks.get(id).ok()?;
        Some(CallbackView { id, name: &info.name, binding: info.binding, enabled: info.enabled })
    }

    /// All callbacks in the order they were registered.
    pub fn callbacks(&self) -> impl Iterator<Item = CallbackView<'_>> {
        self.callbacks.in_sequence().into_iter().map(|(id, info)| CallbackView {
            id,
            name: &info.name,
            binding: info.binding,
            enabled: info.enabled,
        })
    }

    /// Registers a callback that runs once per frame, outside the simulation clock.
    ///
    /// It stays silent until its phase is turned on with [`TimeManager::set_free_phase`].
    ///
    /// ```
    /// use downbeat_time::{FreePhase, TimeManager};
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<Duration>::default();
    /// time.register_free("frame timer", FreePhase::PostExport, 0, |sum, ctx| *sum += ctx.delta())?;
    /// time.set_free_phase(FreePhase::PostExport, true);
    /// let mut sum = Duration::ZERO;
    /// time.tick(&mut sum, Duration::from_millis(7))?;
    /// assert_eq!(sum, Duration::from_millis(7));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn register_free<F, R>(
        &mut self,
        name: impl Into<String>,
        phase: FreePhase,
        priority: i32,
        mut callback: F,
    ) -> Result<FreeCallbackId, EditError>
    where
        F: FnMut(&mut W, &FreeContext<'_>) -> R + Send + 'static,
        R: CallbackResult<E>,
    {
        let name = name.into();
        check_name(&name)?;
        self.free.retain(|free| free.live);
        if self.free.len() >= FREE_CALLBACKS_MAX {
            return Err(EditError::TooManyCallbacks { count: self.free.len() });
        }
        let id = FreeCallbackId(self.free_count);
        self.free_count += 1;
        let run =
            Box::new(move |world: &mut W, context: &FreeContext<'_>| callback(world, context).into_result());
        let at = self.free.partition_point(|other| (other.phase, other.priority) <= (phase, priority));
        self.free.insert(at, FreeCallback { id, name, phase, priority, enabled: true, live: true, run });
        Ok(id)
    }

    /// Removes a free callback.
    pub fn unregister_free(&mut self, id: FreeCallbackId) -> Result<(), EditError> {
        let index = self.find_free(id)?;
        self.free[index].live = false;
        self.free[index].run = Box::new(|_, _| Ok(()));
        Ok(())
    }

    /// Turns a free callback on or off.
    pub fn set_free_enabled(&mut self, id: FreeCallbackId, enabled: bool) -> Result<(), EditError> {
        let index = self.find_free(id)?;
        self.free[index].enabled = enabled;
        Ok(())
    }

    /// Turns a free phase on or off. Both are off in a new manager.
    pub fn set_free_phase(&mut self, phase: FreePhase, enabled: bool) {
        self.free_enabled[phase as usize] = enabled;
    }

    /// Whether a free phase is on.
    pub fn free_phase_is_enabled(&self, phase: FreePhase) -> bool {
        self.free_enabled[phase as usize]
    }

    /// All free callbacks in the order they run.
    pub fn free_callbacks(&self) -> impl Iterator<Item = FreeCallbackView<'_>> {
        self.free.iter().filter(|free| free.live).map(|free| FreeCallbackView {
            id: free.id,
            name: &free.name,
            phase: free.phase,
            priority: free.priority,
            enabled: free.enabled,
        })
    }

    /// Adds a runner. It starts on the first point of its grid that is not in the past and fires a step later.
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
    pub fn remove_runner(&mut self, id: RunnerId) -> Result<(), EditError> {
        self.remove_runner_moving(id, None)
    }

    /// Removes a runner and gives its callbacks, and its place in `on_shared` sets, to another.
    pub fn remove_runner_rebinding(&mut self, id: RunnerId, to: RunnerId) -> Result<(), EditError> {
        self.remove_runner_moving(id, Some(to))
    }

    fn remove_runner_moving(&mut self, id: RunnerId, to: Option<RunnerId>) -> Result<(), EditError> {
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

    /// Changes a rate at the runner's next boundary, where its origin moves; before the first step, at once.
    pub fn set_rate(&mut self, id: RunnerId, rate: Rate) -> Result<(), EditError> {
        self.known_runner(id)?;
        self.timeline.set_rate(id, rate);
        Ok(())
    }

    /// Moves a runner to the grid of another offset, at its next boundary; before the first step, at once.
    ///
    /// It waits for the first point of the new grid and fires one full step later, so it then keeps time with
    /// every other runner on that grid, whatever its rate was before.
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

    /// Applies a change now. The methods named alike do the same.
    pub fn apply(&mut self, edit: Edit) -> Result<(), EditError> {
        match edit {
            Edit::AddRunner(config) => self.add_runner(config).map(|_| ()),
            Edit::RemoveRunner { runner, rebind_to } => self.remove_runner_moving(runner, rebind_to),
            Edit::RenameRunner { runner, name } => self.rename_runner(runner, name),
            Edit::SetRate { runner, rate } => self.set_rate(runner, rate),
            Edit::SetOffset { runner, offset } => self.set_offset(runner, offset),
            Edit::CloseGate(runner) => self.close_gate(runner),
            Edit::OpenGate(runner) => self.open_gate(runner),
            Edit::Release { runner, steps } => self.release(runner, steps),
            Edit::Rebind { callback, binding } => self.rebind(callback, binding),
            Edit::SetEnabled { callback, enabled } => self.set_enabled(callback, enabled),
            Edit::Unregister(callback) => self.unregister(callback),
            Edit::SetFreeEnabled { callback, enabled } => self.set_free_enabled(callback, enabled),
            Edit::UnregisterFree(callback) => self.unregister_free(callback),
            Edit::SetFreePhase { phase, enabled } => {
                self.set_free_phase(phase, enabled);
                Ok(())
            }
            Edit::SetMode(mode) => {
                self.set_mode(mode);
                Ok(())
            }
            Edit::SetTimeScale(scale) => {
                self.set_time_scale(scale);
                Ok(())
            }
            Edit::Pause => {
                self.pause();
                Ok(())
            }
            Edit::Resume => {
                self.resume();
                Ok(())
            }
        }
    }

    fn move_callback(&mut self, slot: u32, binding: Binding) {
        self.orders.remove(slot, &self.callbacks.infos);
        self.callbacks.bind(slot, binding);
        self.orders.insert(slot, &self.callbacks.infos);
    }

    pub(super) fn known_runner(&self, id: RunnerId) -> Result<&Runner, EditError> {
        self.timeline.runner(id).ok_or(EditError::UnknownRunner { runner: id })
    }

    pub(super) fn runner_name(&self, id: RunnerId) -> &str {
        self.timeline.runner(id).map_or("", |runner| &runner.config.name)
    }

    fn check_binding(&self, binding: Binding) -> Result<(), EditError> {
        binding.needs().iter().try_for_each(|id| self.known_runner(id).map(|_| ()))
    }

    fn check_runner_name_is_new(&self, name: &str, but: Option<RunnerId>) -> Result<(), EditError> {
        match self.runner_id(name) {
            Some(id) if Some(id) != but => Err(EditError::DuplicateRunner { name: name.to_owned() }),
            _ => Ok(()),
        }
    }

    fn find_free(&self, id: FreeCallbackId) -> Result<usize, EditError> {
        self.free.iter().position(|free| free.id == id && free.live).ok_or(EditError::UnknownCallback)
    }
}

/// Free phases hold a handful of hooks; more is a sign of work that belongs on a runner.
const FREE_CALLBACKS_MAX: usize = 4096;
