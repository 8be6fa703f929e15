//! The built-in scene: a cart balances a pole while somebody pushes it, and who does what at which rate.
//!
//! Physics at 500 Hz, encoders and controller on Robot at 50 Hz, samples on Capture at 30 Hz. It shows nothing
//! and reads no clock: the same steps give the same bits.

use std::time::Duration;

use anyhow::Result;
use downbeat_time::{
    Binding, BoxError, Phase, Rate, RunnerConfig, RunnerId, RunnerSet, SimTime, TimeConfig, TimeManager,
    TimeMode,
};

use super::cart_pole::{CartPole, Forces};
use super::controller::View;
use super::state_hash::StateHash;

pub(super) const NAME: &str = "cart-pole";

/// Everything that the callbacks share.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) pole: CartPole,
    pub(super) view: View,
    pub(super) forces: Forces,
    /// The pole's angle at each step of Capture.
    pub(super) angle_samples_rad: Vec<f64>,
    pub(super) sync_points: SyncPoints,
}

/// What is compared where all three rates meet.
#[derive(Debug, Default)]
pub(super) struct SyncPoints {
    pub(super) count: u64,
    pub(super) angle_error_max_rad: f64,
}

/// A finger against the pole's end.
pub(super) struct Push {
    start: SimTime,
    force_n: f64,
}

impl Push {
    const LENGTH: Duration = Duration::from_millis(100);

    const fn new(start_s: u64, force_n: f64) -> Self {
        Self { start: SimTime::from_nanos(start_s * 1_000_000_000), force_n }
    }

    pub(super) const fn start(&self) -> SimTime {
        self.start
    }

    /// Whether it pushes during the step that ends `now`.
    fn acts_at(&self, now: SimTime) -> bool {
        self.start < now && now <= self.start.saturating_add(Self::LENGTH)
    }
}

/// Pushes at fixed times; the last two come before the pole has come to rest.
pub(super) const PUSHES: [Push; 5] =
    [Push::new(9, 2.0), Push::new(21, -4.0), Push::new(34, 3.0), Push::new(48, 4.0), Push::new(49, -4.0)];

const START_ANGLE_RAD: f64 = 0.1;
const ANGLE_MAX_RAD: f64 = 1.0;
const TRACK_MAX_M: f64 = 2.4;

impl Scene {
    pub(super) fn new() -> Self {
        let pole = CartPole::leaning(START_ANGLE_RAD);
        Self {
            pole,
            view: View::of(&pole),
            forces: Forces { motor_n: 0.0, push_n: 0.0 },
            angle_samples_rad: Vec::new(),
            sync_points: SyncPoints::default(),
        }
    }

    fn push(&mut self, now: SimTime) {
        self.forces.push_n = PUSHES.iter().filter(|push| push.acts_at(now)).map(|push| push.force_n).sum();
    }

    fn check(&self) -> Result<(), BoxError> {
        let CartPole { position_m, angle_rad, .. } = self.pole;
        // Asked this way round, a value that is not a number fails too.
        let (upright, on_track) = (angle_rad.abs() <= ANGLE_MAX_RAD, position_m.abs() <= TRACK_MAX_M);
        if !upright {
            return Err(format!("the pole fell: {:.1}° from upright", angle_rad.to_degrees()).into());
        }
        if !on_track {
            return Err(format!("the cart left its track: {position_m:.2} m from the middle").into());
        }
        Ok(())
    }

    /// All three rates are here at once, so the view and the pole are of the same instant.
    fn compare(&mut self) {
        let error = (self.view.angle_rad - self.pole.angle_rad).abs();
        let points = &mut self.sync_points;
        points.count += 1;
        points.angle_error_max_rad = points.angle_error_max_rad.max(error);
    }

    /// A hash over every bit of where the scene stands, and of what it has recorded.
    pub(super) fn state_hash(&self) -> u64 {
        let mut hash = StateHash::default();
        hash.fold_all(self.pole.bits());
        hash.fold_all(self.view.bits());
        hash.fold_all([self.forces.motor_n.to_bits(), self.forces.push_n.to_bits()]);
        hash.fold_all(self.angle_samples_rad.iter().map(|angle| angle.to_bits()));
        hash.finish()
    }
}

/// A new scene's Robot and Capture and a third runner for the physics, with everything bound.
pub(super) fn time_manager() -> Result<TimeManager<Scene>> {
    let config = TimeConfig { mode: TimeMode::SimHighPerformance, ..TimeConfig::default() };
    let mut time = TimeManager::<Scene>::new(config)?;
    let (robot, capture) = (RunnerId::ROBOT, RunnerId::CAPTURE);
    let physics = time.add_runner(RunnerConfig::new("Physics", Rate::hz(500)?))?;

    time.register("encoders", Binding::new(robot, Phase::Acquisition), |scene, ctx| {
        scene.view.read(&scene.pole, ctx.dt_secs());
    })?;
    let all_meet = Binding::new(capture, Phase::Acquisition)
        .with_priority(100)
        .on_shared(RunnerSet::from_iter([robot, physics]));
    time.register("sync point", all_meet, |scene, _| scene.compare())?;
    time.register("state feedback", Binding::new(robot, Phase::Control), |scene, _| {
        scene.forces.motor_n = scene.view.force_n();
    })?;
    let before_motion = Binding::new(physics, Phase::Physics).with_priority(-10);
    time.register("push", before_motion, |scene, ctx| scene.push(ctx.now()))?;
    time.register("motion", Binding::new(physics, Phase::Physics), |scene, ctx| {
        scene.pole.step(scene.forces, ctx.dt_secs());
    })?;
    time.register("limits", Binding::new(physics, Phase::Validation), |scene, _| scene.check())?;
    time.register("samples", Binding::new(capture, Phase::Export), |scene, _| {
        scene.angle_samples_rad.push(scene.pole.angle_rad);
    })?;
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(time: &mut TimeManager<Scene>, scene: &mut Scene, seconds: u64) -> Result<()> {
        time.step_to(scene, SimTime::ZERO.saturating_add(Duration::from_secs(seconds)))?;
        Ok(())
    }

    #[test]
    fn the_pole_is_upright_again_after_each_push() {
        let (mut time, mut scene) = (time_manager().unwrap(), Scene::new());
        for second in [8, 20, 33, 47, 60] {
            run(&mut time, &mut scene, second).unwrap();
            assert!(scene.pole.angle_rad.abs() < 0.002, "{second} s: {scene:?}");
        }
        assert_eq!(scene.angle_samples_rad.len(), 1_800);
        assert_eq!(scene.sync_points.count, 600);
    }

    #[test]
    fn without_its_controller_the_pole_falls_and_the_run_stops_there() {
        let (mut time, mut scene) = (time_manager().unwrap(), Scene::new());
        let controller = time.callbacks().find(|view| view.name == "state feedback").unwrap().id;
        time.set_enabled(controller, false).unwrap();
        let error = run(&mut time, &mut scene, 60).unwrap_err().to_string();
        assert!(
            error.starts_with("callback `limits` on runner `Physics` failed in Validation at "),
            "{error}"
        );
        assert!(error.contains("the pole fell: 57."), "{error}");
    }

    #[test]
    fn a_state_that_is_no_number_is_refused() {
        let mut scene = Scene::new();
        scene.pole.position_m = f64::NAN;
        assert!(scene.check().unwrap_err().to_string().contains("left its track"));
    }

    #[test]
    fn the_hash_sees_one_bit_of_any_number() {
        let mut hashes = vec![Scene::new().state_hash()];
        for change in [
            |scene: &mut Scene| scene.pole.angle_rad = scene.pole.angle_rad.next_up(),
            |scene: &mut Scene| scene.view.position_m = -0.0,
            |scene: &mut Scene| scene.forces.push_n = -0.0,
            |scene: &mut Scene| scene.angle_samples_rad.push(0.0),
        ] {
            let mut scene = Scene::new();
            change(&mut scene);
            hashes.push(scene.state_hash());
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 5);
    }
}
