//! A run with a log: started or continued, watched for failure, closed.

use std::path::{Path, PathBuf};

use downbeat_app::registry;
use downbeat_world::{Disk, History, LogError, LogLayout, LogSettings, Recovery, Scene, WorldLog};
use serde::Serialize;

use crate::failure::Failure;

/// What became of a log. Stable: scripts read it.
#[derive(Debug, Serialize)]
pub(super) struct Logged {
    folder: PathBuf,
    /// Steps that were in it before this process.
    continued_from_step: Option<u64>,
    /// Entries that are on the disk.
    durable_position: u64,
    /// Bytes of a commit that a crash had left unfinished, cut off.
    torn_bytes: u64,
    /// Snapshots that could not be used, and why.
    damaged_snapshots: Vec<String>,
    /// Steps that are in it now.
    #[serde(skip)]
    steps: u64,
}

pub(super) fn settings(kept: Option<u32>) -> LogSettings {
    let layout = LogLayout { snapshots_kept: kept.map(|kept| kept as usize), ..LogLayout::default() };
    LogSettings { layout, ..LogSettings::default() }
}

/// Starts a log of a scene, or continues the one that is there, if it is of this scene.
pub(super) fn open(
    mut scene: Scene,
    folder: &Path,
    settings: LogSettings,
) -> Result<(Scene, Logged), Failure> {
    let mut logged = Logged {
        folder: folder.to_owned(),
        continued_from_step: None,
        durable_position: 0,
        torn_bytes: 0,
        damaged_snapshots: Vec::new(),
        steps: 0,
    };
    match History::read(&Disk::new(folder)) {
        Err(LogError::Missing) => scene.start_log(folder, settings).map_err(failed(folder))?,
        history => {
            scene.check_log(&history.map_err(failed(folder))?).map_err(failed(folder))?;
            let (mut again, recovery) =
                Scene::continue_log(folder, registry(), settings).map_err(failed(folder))?;
            again.set_folder(scene.folder());
            logged.take(&again, recovery);
            scene = again;
        }
    }
    Ok((scene, logged))
}

/// An error with the folder that it is about.
fn failed(folder: &Path) -> impl Fn(LogError) -> Failure + '_ {
    move |error| Failure::of_log(folder, error)
}

/// Fails when nothing is acknowledged any more.
pub(super) fn check(scene: &Scene) -> Result<(), LogError> {
    match scene.log().and_then(WorldLog::failure) {
        Some(failure) => Err(LogError::Ended(failure)),
        None => Ok(()),
    }
}

impl Logged {
    fn take(&mut self, scene: &Scene, recovery: Recovery) {
        self.continued_from_step = Some(scene.time().steps());
        self.torn_bytes = recovery.torn.map_or(0, |torn| torn.bytes);
        let damaged = recovery.passed_over.into_iter();
        self.damaged_snapshots =
            damaged.map(|(snapshot, why)| format!("{}: {why}", snapshot.file())).collect();
    }

    /// Ends the log; all that was noted is on the disk then.
    pub(super) fn close(&mut self, scene: &mut Scene) -> anyhow::Result<()> {
        self.steps = scene.time().steps();
        let synced = scene.sync_log();
        self.durable_position = scene.log().map_or(0, WorldLog::durable);
        let closed = scene.close_log();
        Ok(synced.and(closed)?)
    }

    /// What a person should know.
    pub(super) fn line(&self) -> String {
        let mut line = format!("log {} · {} entries", self.folder.display(), self.durable_position);
        if let Some(step) = self.continued_from_step {
            line += &format!(" · continued from step {step}");
            if step >= self.steps {
                line += ", where it already was: ask for more steps or time to go on";
            }
        }
        if self.torn_bytes > 0 {
            line += &format!(" · {} bytes of an unfinished commit cut off", self.torn_bytes);
        }
        for damaged in &self.damaged_snapshots {
            line += &format!("\npassed over {damaged}");
        }
        line
    }
}
