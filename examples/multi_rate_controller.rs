//! A motor simulated at 500 Hz, controlled at 50 Hz and captured at 30 Hz, on one timeline.
//!
//! Where control and capture meet, every 100 ms, a sync point latches a consistent pair. The run is the same, bit
//! for bit, however often you start it: compare the two schedule hashes at the end.
//!
//! `cargo run -p downbeat-examples --example multi_rate_controller`

use std::time::Duration;

use downbeat_time::{
    Binding, BoxError, Phase, Rate, RunnerConfig, RunnerSet, SimTime, TimeConfig, TimeManager, TimeMode,
};

/// Everything the callbacks share. The manager hands it to each of them in turn, so it needs no cell or lock.
#[derive(Default)]
struct Motor {
    angle: f64,
    speed: f64,
    measured: f64,
    torque: f64,
    captured: Vec<(SimTime, f64)>,
    latched: Vec<(SimTime, f64, f64)>,
}

const TARGET: f64 = 1.0;

fn manager() -> Result<TimeManager<Motor>, BoxError> {
    let mut time = TimeManager::<Motor>::new(TimeConfig {
        runners: vec![
            RunnerConfig::new("Physics", Rate::hz(500)?),
            RunnerConfig::new("Control", Rate::hz(50)?),
            RunnerConfig::new("Capture", Rate::hz(30)?),
        ],
        mode: TimeMode::SimHighPerformance,
        ..TimeConfig::default()
    })?;
    let id = |name: &str| time.runner_id(name).ok_or("no such runner");
    let (physics, control, capture) = (id("Physics")?, id("Control")?, id("Capture")?);

    time.register("encoder", Binding::new(control, Phase::Acquisition), |motor, _| {
        motor.measured = motor.angle;
    })?;
    time.register("pd controller", Binding::new(control, Phase::Control), |motor, _| {
        motor.torque = 40.0 * (TARGET - motor.measured) - 9.0 * motor.speed;
    })?;
    time.register("motor", Binding::new(physics, Phase::Physics), |motor, ctx| {
        motor.speed += motor.torque * ctx.dt_secs();
        motor.angle += motor.speed * ctx.dt_secs();
    })?;
    time.register("limits", Binding::new(physics, Phase::Validation), |motor, ctx| {
        if motor.angle.abs() > 3.0 {
            return Err(format!("angle {:.2} left the range at {}", motor.angle, ctx.now()).into());
        }
        Ok(())
    })?;
    time.register("recorder", Binding::new(capture, Phase::Export), |motor, ctx| {
        motor.captured.push((ctx.now(), motor.angle));
    })?;
    let when_they_meet = Binding::new(control, Phase::Export).on_shared(RunnerSet::only(capture));
    time.register("sync point", when_they_meet, |motor, ctx| {
        motor.latched.push((ctx.now(), motor.angle, motor.torque));
    })?;
    Ok(time)
}

fn run() -> Result<(Motor, u64), BoxError> {
    let (mut time, mut motor) = (manager()?, Motor::default());
    time.run_for(&mut motor, Duration::from_secs(1))?;
    Ok((motor, time.schedule_hash()))
}

fn main() -> Result<(), BoxError> {
    let (motor, hash) = run()?;
    println!("the angle as captured at 30 Hz:");
    for (time, angle) in motor.captured.iter().step_by(3) {
        let bar = "█".repeat((angle * 40.0).max(0.0) as usize);
        println!("{time:>16} {angle:6.3} {bar}");
    }
    println!("\nlatched where control and capture meet:");
    for (time, angle, torque) in &motor.latched {
        println!("{time:>16} angle {angle:6.3} torque {torque:7.3}");
    }
    let (_, again) = run()?;
    assert_eq!(hash, again, "a run is a function of its registrations");
    println!("\nschedule hash {hash:#018x}, and again {again:#018x}");
    Ok(())
}
