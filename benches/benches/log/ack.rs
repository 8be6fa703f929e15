//! From a command to its acknowledgement, one at a time, beside the disk's own write and sync of the same bytes. What
//! is above the disk's is ours: two threads that hand over, and the frame.

use downbeat_benches::{Figure, Suite};
use downbeat_world::{LogError, LogSettings, Pose, Registry, Scene};

use crate::logs::{self, Bare};

const BENCHES: [&str; 4] = ["log/ack_p50", "log/ack_p99", "log/ack_p50_above_disk", "log/ack_p99_above_disk"];
const COMMANDS: usize = 4000;
/// As long as a segment.
const FILE_BYTES: u64 = 32 << 20;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let folder = logs::folder()?;
    let mut scene = Scene::new("events", 1, Registry::builtin());
    let (command, _) = logs::event(scene.world_mut().spawn("noted", Pose::IDENTITY))?;
    scene.start_log(folder.path(), LogSettings::default())?;
    let frame = logs::EVENT_BYTES + 32;
    let mut bare = Bare::new(FILE_BYTES)?.with_longest(frame);
    let (mut ours, mut disk) = (Vec::new(), Vec::new());
    for _ in 0..COMMANDS {
        let command = command.clone();
        let (done, micros) = logs::micros(|| -> anyhow::Result<()> {
            scene.apply(command)?;
            let log = scene.log().ok_or(LogError::NoLog)?;
            Ok(log.wait(log.position())?)
        });
        done?;
        ours.push(micros);
        let (done, micros) = logs::micros(|| bare.write(frame));
        done?;
        disk.push(micros);
    }
    scene.close_log()?;
    let [p50, p99, p50_above, p99_above] = BENCHES;
    for (bench, above, share) in [(p50, p50_above, 0.5), (p99, p99_above, 0.99)] {
        let (ours, disk) = (logs::quantile(&ours, share), logs::quantile(&disk, share));
        suite.print(&Figure::new(bench, "us", ours).against("write, fdatasync", disk))?;
        suite.print(&Figure::new(above, "us", ours - disk))?;
    }
    Ok(())
}
