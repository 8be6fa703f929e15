//! Lock-step with something outside: an agent decides, the simulation takes one control step, the agent looks.
//!
//! A gate on the control runner holds the timeline at its next boundary until released, in every mode. Here the
//! agent is a function; it could as well be a policy in another process.
//!
//! `cargo run -p downbeat-examples --example lock_step`

use downbeat_time::{
    Binding, BoxError, Phase, Rate, RunEnd, RunnerConfig, TimeConfig, TimeManager, TimeMode,
};

#[derive(Default)]
struct Env {
    height: f64,
    speed: f64,
    thrust: f64,
}

/// Aims for a height of 10 with what it has just seen.
fn agent(height: f64, speed: f64) -> f64 {
    (9.81 + 2.0 * (10.0 - height) - 2.5 * speed).clamp(0.0, 25.0)
}

fn main() -> Result<(), BoxError> {
    let mut time = TimeManager::<Env>::new(TimeConfig {
        runners: vec![
            RunnerConfig::new("Physics", Rate::hz(240)?),
            RunnerConfig::new("Control", Rate::hz(20)?),
        ],
        mode: TimeMode::SimHighPerformance,
        ..TimeConfig::default()
    })?;
    let id = |name: &str| time.runner_id(name).ok_or("no such runner");
    let (physics, control) = (id("Physics")?, id("Control")?);
    time.register("fall and fly", Binding::new(physics, Phase::Physics), |env, ctx| {
        env.speed += (env.thrust - 9.81) * ctx.dt_secs();
        env.height += env.speed * ctx.dt_secs();
    })?;
    time.close_gate(control)?;

    let mut env = Env::default();
    for decision in 0..100 {
        env.thrust = agent(env.height, env.speed);
        time.release(control, 1)?;
        // Runs until the gate holds again: exactly one control step, with all physics steps that belong to it.
        let report = time.run_steps(&mut env, 1_000)?;
        assert_eq!(report.end, RunEnd::Gate(control));
        assert_eq!(time.swarm().get(control).map(|state| state.index), Some(decision + 1));
        if decision % 10 == 9 {
            println!(
                "{:>8}  height {:6.3}  speed {:6.3}  thrust {:6.3}",
                time.now().to_string(),
                env.height,
                env.speed,
                env.thrust
            );
        }
    }
    println!("100 decisions, {} physics steps", time.swarm().get(physics).map_or(0, |state| state.index));
    Ok(())
}
