//! Bytes that a log of the arm takes, frames and all; snapshots, which are files of their own, apart.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use downbeat_benches::{Figure, Suite};
use downbeat_world::{LogError, LogSettings, Scene, WorldCommand};

use crate::logs;

const BENCHES: [&str; 4] = [
    "log/bytes_per_command",
    "log/bytes_per_command_alone",
    "log/bytes_per_step",
    "log/snapshot_bytes_per_step",
];
const SPAN: Duration = Duration::from_secs(60);
const COMMANDS: u64 = 1000;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let [together, alone, step, snapshot] = BENCHES;
    for (bench, wait) in [(together, false), (alone, true)] {
        let folder = logs::folder()?;
        let mut scene = logs::load("arm")?;
        let command = drive(&scene)?;
        scene.start_log(folder.path(), LogSettings::default())?;
        for _ in 0..COMMANDS {
            scene.apply(command.clone())?;
            if wait {
                let log = scene.log().ok_or(LogError::NoLog)?;
                log.wait(log.position())?;
            }
        }
        scene.close_log()?;
        suite.print(&Figure::new(bench, "bytes", bytes(folder.path(), "log")? / COMMANDS as f64))?;
    }
    let folder = logs::folder()?;
    let mut scene = logs::load("arm")?;
    scene.start_log(folder.path(), LogSettings::default())?;
    let steps = scene.run_for(SPAN)?.steps as f64;
    scene.close_log()?;
    suite.print(&Figure::new(step, "bytes", bytes(folder.path(), "log")? / steps))?;
    suite.print(&Figure::new(snapshot, "bytes", bytes(folder.path(), "snap")? / steps))
}

/// The command that a robot gets most often: targets for all of its motors.
fn drive(scene: &Scene) -> anyhow::Result<WorldCommand> {
    let components = &scene.world().components;
    let (robot, joints) = components
        .robot
        .iter()
        .map(|(id, robot)| (id, &robot.joints))
        .next()
        .context("the scene has no robot")?;
    let motors = joints
        .iter()
        .filter(|joint| components.joint.get(**joint).is_some_and(|joint| joint.motor.is_some()))
        .count();
    Ok(WorldCommand::Drive { robot, targets: vec![0.25; motors] })
}

fn bytes(folder: &Path, ending: &str) -> anyhow::Result<f64> {
    Ok(logs::files(folder, ending)?.iter().map(Vec::len).sum::<usize>() as f64)
}
