//! A game loop: logic at 60 Hz, pictures whenever the display asks, motion smooth in between.
//!
//! The display here is uneven on purpose. The logic runs the same steps anyway, and the picture blends the last
//! two states by `alpha`, so the ball moves evenly from one picture to the next.
//!
//! `cargo run -p downbeat-examples --example game_loop`

use std::time::Duration;

use downbeat_time::{
    Binding, BoxError, FreePhase, Phase, Rate, RunnerConfig, TimeConfig, TimeManager, TimeMode,
};

#[derive(Default)]
struct Game {
    previous: f64,
    position: f64,
    frames: u32,
}

fn main() -> Result<(), BoxError> {
    let mut time = TimeManager::<Game>::new(TimeConfig {
        runners: vec![RunnerConfig::new("Logic", Rate::hz(60)?)],
        mode: TimeMode::GameRealtime,
        ..TimeConfig::default()
    })?;
    let logic = time.runner_id("Logic").ok_or("no such runner")?;
    time.register("move", Binding::new(logic, Phase::Physics), |game, ctx| {
        game.previous = game.position;
        game.position += 30.0 * ctx.dt_secs();
    })?;
    time.register_free("count frames", FreePhase::PostExport, 0, |game, _| game.frames += 1)?;
    time.set_free_phase(FreePhase::PostExport, true);

    let mut game = Game::default();
    println!("  frame  steps  alpha  picture");
    // Milliseconds between pictures: 144 Hz, 60 Hz, a hiccup, and a stall long enough to be skipped.
    for frame_millis in [7, 7, 7, 7, 16, 17, 16, 45, 7, 7, 900, 7, 7, 16] {
        let report = time.tick(&mut game, Duration::from_millis(frame_millis))?;
        let alpha = time.alpha(logic);
        let drawn = game.previous + (game.position - game.previous) * alpha;
        print!(
            "{frame_millis:4} ms  {:5}  {alpha:5.2}  {:>width$}",
            report.steps,
            "o",
            width = 1 + (drawn * 2.0) as usize
        );
        if report.skipped.is_zero() {
            println!();
        } else {
            println!("   skipped {:?}, {} steps of Logic", report.skipped, report.runner_skips[0]);
        }
    }
    println!("{} pictures of {} steps", game.frames, time.steps());
    Ok(())
}
