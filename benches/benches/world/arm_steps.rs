//! Control and physics steps of the arm per second on one core, beside MuJoCo stepping an equivalent model, when its
//! Python package is there.

use std::cell::RefCell;
use std::process::Command;

use downbeat_benches::{Contestant, Figure, Suite, race};

use crate::scenes;

const BENCH: &str = "physics/arm_steps";
const STEPS: u64 = 1000;
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/arm.xml");

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants(BENCH) {
        return Ok(());
    }
    let mut scene = scenes::load("arm")?;
    scene.run_for(std::time::Duration::from_secs(1))?;
    let scene = RefCell::new(scene);
    let ours = race(
        STEPS,
        vec![Contestant::timed_within("engine", |watch| {
            watch.time(|| scene.borrow_mut().run_steps(STEPS).expect("the scene runs"));
            STEPS
        })],
    )?;
    let per_second = |nanos: f64| 1e9 / nanos;
    let figure = Figure::new(BENCH, "steps/s", per_second(ours[0].nanos));
    match mujoco() {
        Ok(nanos) => suite.print(&figure.against("MuJoCo", per_second(nanos))),
        Err(why) => {
            eprintln!("{BENCH}: without MuJoCo beside it: {why}; `pip install mujoco` brings it");
            suite.print(&figure)
        }
    }
}

/// Nanoseconds that MuJoCo needs for a step, its best of several runs.
fn mujoco() -> anyhow::Result<f64> {
    let script = r#"
import sys, time
import mujoco
model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
mujoco.mj_resetDataKeyframe(model, data, 0)
steps = 1000
mujoco.mj_step(model, data, nstep=steps)
best = 1e30
for _ in range(20):
    start = time.perf_counter_ns()
    mujoco.mj_step(model, data, nstep=steps)
    best = min(best, (time.perf_counter_ns() - start) / steps)
print(best)
"#;
    let output = Command::new("python3").args(["-c", script, MODEL]).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{}", told.lines().last().unwrap_or("python3 failed"));
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
