//! A scene and its log: what is noted when, going on with a log, and going back in one.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use downbeat_time::TimeManager;

use super::{Scene, Stage};
use crate::command::{CommandError, WorldCommand};
use crate::entity::EntityId;
use crate::log::{
    Disk, History, LogError, LogSettings, Played, Player, Recovery, RunIdentity, SnapshotParcel, Standing,
    StepHashes, WorldLog, lock, play_to,
};
use crate::subsystem::Registry;

impl Scene {
    /// Starts a log of this scene in a folder that has none. From now on every command and every step is noted; what
    /// is done to the world directly, by [`Scene::world_mut`], is not, and would be missed when the log is played.
    pub fn start_log(&mut self, folder: &Path, settings: LogSettings) -> Result<(), LogError> {
        let (bytes, standing) = (self.save()?, self.standing());
        let start = SnapshotParcel { step: standing.step, now_nanos: standing.now.as_nanos(), bytes };
        let log = WorldLog::create(folder, settings, self.run_identity()?, &start, standing)?;
        self.attach_log(log);
        Ok(())
    }

    /// The scene of a log, as it stood when the log ended, with the log going on. Every step behind the newest good
    /// snapshot is run again and must have the hashes that were noted.
    pub fn continue_log(
        folder: &Path,
        registry: impl Into<Arc<Registry>>,
        settings: LogSettings,
    ) -> Result<(Self, Recovery), LogError> {
        let disk = Disk::new(folder);
        if !folder.is_dir() {
            return Err(LogError::Missing);
        }
        let lock = lock(&disk)?;
        let (player, recovery) = Player::recover(disk.clone(), &registry.into())?;
        let history = player.history().clone();
        let mut scene = player.into_scene();
        let log = WorldLog::resume(disk, lock, &history, settings, scene.standing())?;
        scene.attach_log(log);
        Ok((scene, recovery))
    }

    /// Whether a log is of a run that started as this scene is now, and was written by this version of the engine.
    pub fn check_log(&self, history: &History) -> Result<(), LogError> {
        let (here, there) = (self.run_identity()?, &history.run);
        let why = if here.scene != there.scene {
            format!("it is of the scene `{}`, and this is `{}`", there.scene, here.scene)
        } else if here.engine != there.engine {
            format!(
                "version {} wrote it, and this is {}, which may give other bits",
                there.engine, here.engine
            )
        } else if here.seed != there.seed {
            format!("its seed is {}, and this one's {}", there.seed, here.seed)
        } else if here.start != there.start {
            "the scene's file has changed since it was started".to_owned()
        } else {
            return Ok(());
        };
        Err(LogError::OtherRun { why })
    }

    /// The log, if there is one.
    pub fn log(&self) -> Option<&WorldLog> {
        self.stage.log.as_deref()
    }

    /// Hands everything that was noted to the disk and waits until it is there.
    pub fn sync_log(&mut self) -> Result<(), LogError> {
        self.stage.log.as_mut().ok_or(LogError::NoLog)?.sync()
    }

    /// Ends the log. The scene goes on without one.
    pub fn close_log(&mut self) -> Result<(), LogError> {
        self.time.watch_steps(None);
        self.stage.log.take().ok_or(LogError::NoLog)?.close()
    }

    /// Goes to the state that step `step` + 1 started from, forward or back, by the nearest snapshot before it.
    ///
    /// Going to and fro changes nothing in the log. As soon as the scene is stepped or changed there, the run goes on
    /// from there, and what came after in the log is no longer part of it. When this fails, the scene is as it was.
    ///
    /// ```
    /// use downbeat_world::{LogSettings, Registry, Scene};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let mut scene = Scene::new("lab", 7, Registry::builtin());
    /// scene.start_log(folder.path(), LogSettings::default())?;
    /// scene.run_steps(50)?;
    /// let there = scene.state_hash();
    /// scene.rewind_to(20)?;
    /// assert_eq!(scene.time().steps(), 20);
    /// scene.rewind_to(50)?; // and back again
    /// assert_eq!(scene.state_hash(), there);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn rewind_to(&mut self, step: u64) -> Result<(), LogError> {
        let mut log = self.stage.log.take().ok_or(LogError::NoLog)?;
        let gone = log.sync().and_then(|()| self.go_to_step(log.disk(), step));
        if let Ok(is_the_end) = &gone {
            log.rewound_to(self.standing(), *is_the_end);
        }
        self.stage.log = Some(log);
        gone.map(|_| ())
    }

    /// Returns whether that is where the log ends.
    fn go_to_step(&mut self, disk: &Disk, step: u64) -> Result<bool, LogError> {
        let history = History::read(disk)?;
        let first = history.snapshots.first().map_or(0, |snapshot| snapshot.step);
        if step < first || step > history.step {
            return Err(LogError::NoSuchStep { step, first, last: history.step });
        }
        let before = self.save()?;
        let watcher = self.time.watch_steps(None);
        let gone = self.play_from_snapshot(disk, &history, step);
        self.time.watch_steps(watcher);
        if gone.is_err() {
            self.restore(&before)?;
        }
        gone.map(|()| step == history.step)
    }

    fn play_from_snapshot(&mut self, disk: &Disk, history: &History, step: u64) -> Result<(), LogError> {
        let mut why = "the log names none".to_owned();
        for snapshot in history.snapshots.iter().rev().filter(|snapshot| snapshot.step <= step) {
            let restored = history.snapshot(disk, snapshot).and_then(|bytes| Ok(self.restore(&bytes)?));
            match restored {
                Ok(()) => {
                    let nothing = |_: &Self, _: Played<'_>| ControlFlow::Continue(());
                    return play_to(history, disk, self, snapshot.position, step, nothing).map(|_| ());
                }
                Err(error) => why = error.to_string(),
            }
        }
        Err(LogError::NoSnapshot { why })
    }

    pub(super) fn apply_logged(&mut self, command: WorldCommand) -> Result<Option<EntityId>, CommandError> {
        let step = self.time.steps();
        let Some(mut log) = self.stage.log.take() else { return self.apply_unlogged(command) };
        let applied = match log.prepare(step, &command) {
            Ok(()) => self.apply_unlogged(command),
            Err(error) => Err(error.into()),
        };
        if applied.is_ok() {
            log.commit_prepared(self.time.skipped_time());
        }
        self.stage.log = Some(log);
        applied
    }

    fn attach_log(&mut self, log: WorldLog) {
        self.stage.log = Some(Box::new(log));
        self.time.watch_steps(Some(after_step));
    }

    fn standing(&self) -> Standing {
        Standing { step: self.time.steps(), now: self.time.now(), skipped: self.time.skipped_time() }
    }

    fn run_identity(&self) -> Result<RunIdentity, LogError> {
        Ok(RunIdentity {
            scene: self.name().to_owned(),
            seed: self.world().seed(),
            start: self.fingerprint()?.to_le_bytes(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            features: self.registry.iter().map(|kind| kind.name.to_owned()).collect(),
        })
    }
}

/// Notes a step: its hashes, now and then those of all parts, and now and then the whole state.
fn after_step(stage: &mut Stage, time: &TimeManager<Stage>) {
    let Some(mut log) = stage.log.take() else { return };
    let (step, now) = (time.steps(), time.now());
    let hashes = StepHashes::new(stage.state_hash(), time.schedule_hash());
    // Made before anything is handed over, so that both go to the disk together: every commit costs a sync.
    let parts = log.wants_parts(step).then(|| log.part_hashes(step, stage.memo.parts(), &stage.world));
    log.step(step, now, time.skipped_time(), hashes);
    if let Some(parts) = parts {
        log.parts(parts);
    }
    if log.wants_snapshot(now) {
        log.snapshot(now, stage.save(time).map_err(LogError::from));
    }
    stage.log = Some(log);
}
