//! Looking at a manager: resolved order, costs, hashes, reports.
//!
//! Nothing here changes what runs, except the seeded shuffle of ties, which exists to find hidden dependences.

use super::TimeManager;
use crate::callback::CallbackId;
use crate::context::Swarm;
use crate::cycle::{Cycle, CycleRunner};
use crate::order::{self, OrderEntry};
use crate::profile::CallbackCost;
use crate::report::FrameReport;
use crate::runner::{RunnerId, RunnerSet};

impl<W, E> TimeManager<W, E> {
    /// The order in which callbacks run when the runners of `fires` meet.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, RunnerSet, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.register("record", Binding::new(RunnerId::CAPTURE, Phase::Control), |_, _| ())?;
    /// time.register("control", Binding::new(RunnerId::ROBOT, Phase::Control).with_priority(-200), |_, _| ())?;
    /// let both = RunnerSet::from_iter([RunnerId::ROBOT, RunnerId::CAPTURE]);
    /// let names: Vec<_> = time.order(both).into_iter().map(|entry| entry.name).collect();
    /// assert_eq!(names, ["control", "record"]);
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn order(&self, fires: RunnerSet) -> Vec<OrderEntry> {
        self.entries(|slot| order::runs_in(&self.callbacks.infos[slot as usize], fires))
    }

    /// Every callback in resolved order, those that are turned off included.
    pub fn order_of_all(&self) -> Vec<OrderEntry> {
        self.entries(|_| true)
    }

    fn entries(&self, wanted: impl Fn(u32) -> bool) -> Vec<OrderEntry> {
        let entry = |slot: u32| {
            let info = &self.callbacks.infos[slot as usize];
            let config = self.runner(info.binding.runner)?;
            Some(OrderEntry {
                id: self.callbacks.id_of(slot),
                name: info.name.clone(),
                binding: info.binding,
                runner_name: config.name.clone(),
                rate: config.rate,
                enabled: info.enabled,
            })
        };
        self.orders.sorted().iter().copied().filter(|&slot| wanted(slot)).filter_map(entry).collect()
    }

    /// The cycle in which the steps repeat, weighed by the callbacks that run in each.
    ///
    /// ```
    /// use downbeat_time::TimeManager;
    ///
    /// let cycle = TimeManager::<()>::default().cycle();
    /// assert_eq!((cycle.cycle_nanos, cycle.steps, cycle.shared_steps), (Some(100_000_000), Some(7), Some(1)));
    /// ```
    pub fn cycle(&self) -> Cycle {
        let runners = RunnerId::all().filter_map(|id| {
            // After a live rate change the grid starts elsewhere than the configured offset.
            let grid = self.timeline.runner(id)?.grid;
            Some(CycleRunner { id, rate: grid.rate(), offset: grid.origin() })
        });
        Cycle::analyse(runners, |fires| {
            self.callbacks.infos.iter().filter(|info| info.live && order::runs_in(info, fires)).count() as u64
        })
    }

    /// Every runner's live state.
    pub fn swarm(&self) -> Swarm<'_> {
        Swarm { timeline: &self.timeline }
    }

    /// A hash over every step so far: its time, who fired and which callbacks ran in which order.
    ///
    /// Two runs with equal hashes have, but for a chance of one in 2⁶⁴, taken the same steps.
    pub fn schedule_hash(&self) -> u64 {
        self.timeline.hash.finish()
    }

    /// What a callback has cost while profiling was on; `None` when it is gone.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, Profiling, RunnerId, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.set_profiling(Profiling::On);
    /// let id = time.register("idle", Binding::new(RunnerId::ROBOT, Phase::Control), |_, _| ())?;
    /// time.run_steps(&mut (), 7)?;
    /// assert_eq!(time.cost(id).unwrap().count, 5);
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn cost(&self, id: CallbackId) -> Option<CallbackCost> {
        self.callbacks.get(id).ok().map(|_| self.profiler.cost(id.slot))
    }

    /// Forgets what callbacks have cost so far.
    pub fn reset_costs(&mut self) {
        self.profiler.reset_all();
    }

    /// The report of the last frame, also of one in which a callback failed or panicked.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunEnd, RunnerId, TimeManager};
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// time.register("imu", Binding::new(RunnerId::ROBOT, Phase::Control), |_, _| Err("no reading".into()))?;
    /// assert!(time.tick(&mut (), Duration::from_millis(50)).is_err());
    /// assert_eq!((time.last_frame().steps, time.last_frame().end), (1, RunEnd::Paused));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn last_frame(&self) -> &FrameReport {
        &self.last_frame
    }

    /// Simulated over wall time in the last 64 frames; `None` before any wall time has passed.
    ///
    /// ```
    /// use downbeat_time::TimeManager;
    /// use std::time::Duration;
    ///
    /// let mut time = TimeManager::<()>::default();
    /// assert_eq!(time.real_time_factor(), None);
    /// time.tick(&mut (), Duration::from_secs(1))?; // a frame counts up to 250 ms: 240 ms of steps
    /// assert_eq!(time.real_time_factor(), Some(0.24));
    /// # Ok::<(), downbeat_time::BoxError>(())
    /// ```
    pub fn real_time_factor(&self) -> Option<f64> {
        self.factor.value()
    }

    /// The real-time factor aimed at; `None` in `SimHighPerformance`, which aims at the most.
    pub fn real_time_factor_target(&self) -> Option<f64> {
        self.mode.is_realtime().then(|| self.time_scale().as_f64())
    }

    /// Runs callbacks of equal phase and priority in an order drawn from `seed` instead of registration order.
    ///
    /// For tests: what changes with the seed depends on an order that nobody asked for.
    ///
    /// ```
    /// use downbeat_time::{Binding, Phase, RunnerId, RunnerSet, TimeManager};
    ///
    /// let mut time = TimeManager::<()>::default();
    /// for name in ["a", "b", "c"] {
    ///     time.register(name, Binding::new(RunnerId::ROBOT, Phase::Control), |_, _| ())?;
    /// }
    /// let mut first = |seed| {
    ///     time.set_tie_shuffle(Some(seed));
    ///     time.order(RunnerSet::only(RunnerId::ROBOT)).remove(0).name
    /// };
    /// assert!((0..50).any(|seed| first(seed) == "c"));
    /// assert_eq!(first(7), first(7));
    /// # Ok::<(), downbeat_time::EditError>(())
    /// ```
    pub fn set_tie_shuffle(&mut self, seed: Option<u64>) {
        self.orders.set_shuffle_seed(seed);
        self.orders.rebuild(&self.callbacks.infos);
        self.orders.invalidate(self.timeline.active());
    }

    /// The seed that ties are shuffled by, if they are.
    pub fn tie_shuffle(&self) -> Option<u64> {
        self.orders.shuffle_seed()
    }
}
