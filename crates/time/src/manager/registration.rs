//! Changing what runs: callbacks, free callbacks, and every other change by way of `apply`.
//!
//! Runners are added and changed in `manager/runners.rs`. Every change is checked before anything is touched: a refused one leaves the manager as it was.

use super::TimeManager;
use crate::callback::{
    Binding, CallbackId, CallbackResult, CallbackView, FreeCallback, FreeCallbackId, FreeCallbackView, Info,
    check_name,
};
use crate::context::{FreeContext, StepContext};
use crate::edit::{Edit, EditError};
use crate::phase::FreePhase;
use crate::state::FreeSave;

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
    ///
    /// ```
    /// use downbeat_time::{Binding, EditError, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<u32>::default();
    /// let id = time.register("count", Binding::new(RunnerId::ROBOT, Phase::Control), |n, _| *n += 1)?;
    /// time.unregister(id)?;
    /// assert_eq!(time.callbacks().count(), 0);
    /// assert_eq!(time.unregister(id), Err(EditError::UnknownCallback)); // an id is never valid again
    /// # Ok::<(), EditError>(())
    /// ```
    pub fn unregister(&mut self, id: CallbackId) -> Result<(), EditError> {
        self.callbacks.get(id)?;
        self.orders.remove(id.slot, &self.callbacks.infos);
        let (_gone, namesakes_moved) = self.callbacks.remove(id)?;
        if namesakes_moved {
            self.orders.rebuild(&self.callbacks.infos);
        }
        self.orders.invalidate(self.timeline.active());
        Ok(())
    }

    /// Gives a callback another name to be shown by.
    ///
    /// Nothing that runs depends on it: the schedule hash, shuffled ties and saved states know a callback by the
    /// name it was registered with.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// let id = time.register("imu", Binding::new(RunnerId::ROBOT, Phase::Acquisition), |_, _| ())?;
    /// time.rename(id, "left imu")?;
    /// assert_eq!(time.callback(id).unwrap().name, "left imu");
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn rename(&mut self, id: CallbackId, name: impl Into<String>) -> Result<(), EditError> {
        let name = name.into();
        self.callbacks.get(id)?;
        check_name(&name)?;
        self.callbacks.infos[id.slot as usize].name = name;
        Ok(())
    }

    /// Gives a callback another binding. Its place among ties, its registration order, stays.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<Vec<u64>>::default();
    /// let id = time.register("log", Binding::new(RunnerId::ROBOT, Phase::Export), |log, ctx| {
    ///     log.push(ctx.now().as_nanos());
    /// })?;
    /// time.rebind(id, Binding::new(RunnerId::CAPTURE, Phase::Export))?;
    /// let mut log = Vec::new();
    /// time.run_steps(&mut log, 5)?;
    /// assert_eq!(log, [33_333_333, 66_666_666]);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn rebind(&mut self, id: CallbackId, binding: Binding) -> Result<(), EditError> {
        self.callbacks.get(id)?;
        self.check_binding(binding)?;
        self.move_callback(id.slot, binding);
        self.orders.invalidate(self.timeline.active());
        Ok(())
    }

    /// Turns a callback on or off.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<u32>::default();
    /// let id = time.register("count", Binding::new(RunnerId::ROBOT, Phase::Control), |n, _| *n += 1)?;
    /// time.set_enabled(id, false)?;
    /// let mut n = 0;
    /// time.run_steps(&mut n, 7)?;
    /// assert_eq!(n, 0);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
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

    /// The same for the saved state, which knows callbacks by the names they were registered with.
    pub(crate) fn registrations(&self) -> Vec<(CallbackId, &Info)> {
        self.callbacks.in_sequence()
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
        let registered_as = name.clone();
        let free = FreeCallback { id, name, registered_as, phase, priority, enabled: true, live: true, run };
        self.free.insert(at, free);
        Ok(id)
    }

    /// Removes a free callback.
    pub fn unregister_free(&mut self, id: FreeCallbackId) -> Result<(), EditError> {
        let index = self.find_free(id)?;
        self.free[index].live = false;
        self.free[index].run = Box::new(|_, _| Ok(()));
        Ok(())
    }

    /// Gives a free callback another name to be shown by, as [`TimeManager::rename`].
    pub fn rename_free(&mut self, id: FreeCallbackId, name: impl Into<String>) -> Result<(), EditError> {
        let name = name.into();
        let index = self.find_free(id)?;
        check_name(&name)?;
        self.free[index].name = name;
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

    pub(crate) fn save_free(&self) -> Vec<FreeSave> {
        let save = |free: &FreeCallback<W, E>| FreeSave {
            registered_as: free.registered_as.clone(),
            phase: free.phase,
            name: free.name.clone(),
            enabled: free.enabled,
        };
        self.free.iter().filter(|free| free.live).map(save).collect()
    }

    /// Namesakes of a phase are told apart by the order they run in.
    pub(crate) fn restore_free(&mut self, saves: &[FreeSave]) {
        let mut saves: Vec<_> = saves.iter().collect();
        for free in self.free.iter_mut().filter(|free| free.live) {
            let known =
                |save: &&FreeSave| (save.phase, &save.registered_as) == (free.phase, &free.registered_as);
            if let Some(at) = saves.iter().position(known) {
                let save = saves.remove(at);
                free.name.clone_from(&save.name);
                free.enabled = save.enabled;
            }
        }
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
            Edit::Rename { callback, name } => self.rename(callback, name),
            Edit::SetEnabled { callback, enabled } => self.set_enabled(callback, enabled),
            Edit::Unregister(callback) => self.unregister(callback),
            Edit::RenameFree { callback, name } => self.rename_free(callback, name),
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

    pub(super) fn move_callback(&mut self, slot: u32, binding: Binding) {
        self.orders.remove(slot, &self.callbacks.infos);
        self.callbacks.bind(slot, binding);
        self.orders.insert(slot, &self.callbacks.infos);
    }

    fn check_binding(&self, binding: Binding) -> Result<(), EditError> {
        binding.needs().iter().try_for_each(|id| self.known_runner(id).map(|_| ()))
    }

    fn find_free(&self, id: FreeCallbackId) -> Result<usize, EditError> {
        self.free.iter().position(|free| free.id == id && free.live).ok_or(EditError::UnknownCallback)
    }
}

/// Free phases hold a handful of hooks; more is a sign of work that belongs on a runner.
const FREE_CALLBACKS_MAX: usize = 4096;
