//! Runs a log again: the same commands at the same steps, and every hash compared with the one that was noted.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::LogError;
use super::entry::{Entry, PartHashes, SnapshotRef, StepHashes};
use super::history::{History, Torn};
use super::parts::NotedParts;
use super::storage::{Disk, Storage};
use crate::command::WorldCommand;
use crate::hash::first_difference;
use crate::scene::Scene;
use crate::subsystem::Registry;

/// A recorded run that is run again.
pub struct Player<S: Storage = Disk> {
    storage: S,
    history: History,
    scene: Scene,
    /// What stands up to here in the log has happened in the scene.
    position: u64,
}

/// How a scene was brought back from its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// The snapshot that it started from.
    pub snapshot: SnapshotRef,
    /// Newer ones that could not be used, and why.
    pub passed_over: Vec<(SnapshotRef, String)>,
    /// What a crash left unfinished. It was cut off.
    pub torn: Option<Torn>,
    /// Steps that were run again, from the snapshot to the end.
    pub steps: u64,
}

/// Something of a log that has happened again.
#[derive(Debug)]
pub enum Played<'a> {
    /// A change from outside.
    Command {
        /// Steps taken before it.
        step: u64,
        /// The change.
        command: &'a WorldCommand,
    },
    /// A step, with the hashes that it must have.
    Step {
        /// Its number.
        step: u64,
        /// From the log, and found again.
        hashes: StepHashes,
    },
}

impl Player<Disk> {
    /// A log in a folder, at its first snapshot.
    pub fn open(folder: &Path, registry: impl Into<Arc<Registry>>) -> Result<Self, LogError> {
        Self::over(Disk::new(folder), registry)
    }

    /// A log in a folder, at the newest good snapshot that is not after `step`.
    pub fn open_before(
        folder: &Path,
        registry: impl Into<Arc<Registry>>,
        step: u64,
    ) -> Result<Self, LogError> {
        Self::at_newest(Disk::new(folder), &registry.into(), step).map(|(player, _)| player)
    }
}

impl<S: Storage> Player<S> {
    /// A log in any storage, at its first snapshot.
    pub fn over(storage: S, registry: impl Into<Arc<Registry>>) -> Result<Self, LogError> {
        let history = History::read(&storage)?;
        let first = history
            .snapshots
            .first()
            .ok_or_else(|| LogError::NoSnapshot { why: "the log names none".to_owned() })?;
        let bytes = history.snapshot(&storage, first)?;
        let scene = Scene::from_snapshot(&bytes, registry)?;
        let position = first.position;
        Ok(Self { storage, history, scene, position })
    }

    /// A log, run up to its end from the newest snapshot that is good.
    pub fn recover(storage: S, registry: &Arc<Registry>) -> Result<(Self, Recovery), LogError> {
        let (mut player, recovery) = Self::at_newest(storage, registry, u64::MAX)?;
        player.verify(|_| ())?;
        Ok((player, recovery))
    }

    /// At the newest snapshot not after `step` that is good.
    fn at_newest(storage: S, registry: &Arc<Registry>, step: u64) -> Result<(Self, Recovery), LogError> {
        let history = History::read(&storage)?;
        let mut passed_over = Vec::new();
        for snapshot in history.snapshots.iter().rev().filter(|snapshot| snapshot.step <= step) {
            let made = history
                .snapshot(&storage, snapshot)
                .and_then(|bytes| Ok(Scene::from_snapshot(&bytes, Arc::clone(registry))?));
            match made {
                Ok(scene) => {
                    let (snapshot, torn) = (snapshot.clone(), history.torn.clone());
                    let (position, steps) = (snapshot.position, history.step - snapshot.step);
                    let player = Self { storage, history, scene, position };
                    return Ok((player, Recovery { snapshot, passed_over, torn, steps }));
                }
                Err(error) => passed_over.push((snapshot.clone(), error.to_string())),
            }
        }
        let why = passed_over.first().map_or("the log names none".to_owned(), |(_, why)| why.clone());
        Err(LogError::NoSnapshot { why })
    }

    /// What the log holds.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The scene, where it has come to.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The scene, to go on with.
    pub fn into_scene(self) -> Scene {
        self.scene
    }

    /// Runs to the end and compares every hash; `each` is told after every step.
    pub fn verify(&mut self, mut each: impl FnMut(&Scene)) -> Result<(), LogError> {
        self.play_to(self.history.step, |scene, played| {
            if matches!(played, Played::Step { .. }) {
                each(scene);
            }
            ControlFlow::Continue(())
        })
    }

    /// Runs to the state that step `step` + 1 started from, comparing every hash. `each` is told of commands before and of
    /// steps after they happen, and may have enough: then this ends there.
    pub fn play_to(
        &mut self,
        step: u64,
        each: impl FnMut(&Scene, Played<'_>) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let Self { storage, history, scene, position } = self;
        *position = play_to(history, storage, scene, *position, step, each)?;
        Ok(())
    }
}

/// Runs a scene, in which everything up to `position` has happened, to a later step. Returns the position it comes to.
pub(crate) fn play_to<S: Storage>(
    history: &History,
    storage: &S,
    scene: &mut Scene,
    position: u64,
    step: u64,
    each: impl FnMut(&Scene, Played<'_>) -> ControlFlow<()>,
) -> Result<u64, LogError> {
    let first = history.snapshots.first().map_or(0, |snapshot| snapshot.step);
    if step > history.step || step < scene.time().steps() {
        return Err(LogError::NoSuchStep { step, first, last: history.step });
    }
    let noted = NotedParts::default();
    let mut playing = Playing { history, scene, position, to: step, diverged: None, noted, each };
    history.for_each_from(storage, position, |at, entry| playing.entry(storage, at, entry))?;
    match playing.diverged {
        // Nothing came that could name it closer.
        Some(step) => Err(LogError::Diverged { step, what: "the state".to_owned() }),
        None => Ok(playing.position),
    }
}

struct Playing<'a, F> {
    history: &'a History,
    scene: &'a mut Scene,
    position: u64,
    to: u64,
    /// The first step whose hashes were others. Play goes on to the next entry that can name the difference.
    diverged: Option<u64>,
    noted: NotedParts,
    each: F,
}

impl<F> Playing<'_, F>
where
    F: FnMut(&Scene, Played<'_>) -> ControlFlow<()>,
{
    fn entry<S: Storage>(&mut self, storage: &S, at: u64, entry: Entry) -> Result<ControlFlow<()>, LogError> {
        if at <= self.position {
            return Ok(ControlFlow::Continue(()));
        }
        match entry {
            Entry::Command { step, .. } | Entry::Skipped { step, .. } if step > self.to => {
                return Ok(ControlFlow::Break(()));
            }
            Entry::Command { step, command } => {
                if self.command(step, command)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Entry::Skipped { nanos, .. } => self.scene.skip(Duration::from_nanos(nanos)),
            Entry::Steps(run) => {
                for (step, hashes) in (run.first..).zip(&run.hashes) {
                    if !self.history.step_is_live(at, step) {
                        break;
                    }
                    if step > self.to && self.diverged.is_none() {
                        return Ok(ControlFlow::Break(()));
                    }
                    // Where a run of steps was played in part, it goes on behind that part.
                    if step > self.scene.time().steps() && self.step(step, *hashes)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Entry::Parts(parts) => self.compare_parts(parts)?,
            Entry::Snapshot(snapshot) => self.compare_snapshot(storage, &snapshot)?,
            Entry::Opened(_) | Entry::Rewound { .. } | Entry::Closed => {}
        }
        self.position = at;
        Ok(ControlFlow::Continue(()))
    }

    fn command(&mut self, step: u64, command: WorldCommand) -> Result<ControlFlow<()>, LogError> {
        let flow = (self.each)(self.scene, Played::Command { step, command: &command });
        if flow.is_break() {
            return Ok(flow);
        }
        self.scene.apply(command).map(|_| flow).map_err(|refused| LogError::Diverged {
            step,
            what: format!("a command that was accepted then is refused now: {refused}"),
        })
    }

    fn step(&mut self, step: u64, hashes: StepHashes) -> Result<ControlFlow<()>, LogError> {
        // A step that failed then fails now, and its state is compared as well. What it said is not in the log.
        let ran = self.scene.run_steps(1);
        let stuck = match &ran {
            Err(_) => false,
            Ok(report) => report.steps == 0,
        };
        if stuck {
            let what = "the run took this step, and now a gate or the end of time is in its way".to_owned();
            return Err(LogError::Diverged { step, what });
        }
        let schedule = self.scene.time().schedule_hash();
        if self.diverged.is_none() && schedule != hashes.schedule() {
            return Err(LogError::Diverged { step, what: "the schedule: other callbacks ran".to_owned() });
        }
        if self.diverged.is_none() && self.scene.state_hash() != hashes.state() {
            self.diverged = Some(step);
        }
        Ok((self.each)(self.scene, Played::Step { step, hashes }))
    }

    /// Names a difference by the hashes of parts.
    fn compare_parts(&mut self, parts: PartHashes) -> Result<(), LogError> {
        let (step, noted) = (parts.step, &mut self.noted);
        noted.take_in(parts);
        let Some(diverged) = self.diverged.filter(|_| step == self.scene.time().steps()) else {
            return Ok(());
        };
        match noted.difference(self.scene) {
            Some(what) => {
                Err(LogError::Diverged { step: diverged, what: format!("{what} (as of step {step})") })
            }
            None => Ok(()),
        }
    }

    /// Names a difference by the state that was saved.
    fn compare_snapshot<S: Storage>(&mut self, storage: &S, snapshot: &SnapshotRef) -> Result<(), LogError> {
        let Some(diverged) = self.diverged else { return Ok(()) };
        let Ok(bytes) = self.history.snapshot(storage, snapshot) else { return Ok(()) };
        let Ok(world) = Scene::world_of(&bytes) else { return Ok(()) };
        match first_difference(self.scene.world(), &world) {
            Some((entity, kind)) => {
                let what = format!("the {} of {entity} (as of step {})", kind.name(), snapshot.step);
                Err(LogError::Diverged { step: diverged, what })
            }
            None => Ok(()),
        }
    }
}
