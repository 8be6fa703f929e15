//! The log of a running scene: what happens is noted at once and written by a thread of its own.
//!
//! Steps are gathered and handed over in runs; a command is handed over at once. The thread writes all that has come in
//! as one commit, syncs it, and acknowledges it by its position.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use downbeat_threading::{BatchError, BatchReceiver, BatchSender, Role, Thread, batches, spawn};
use downbeat_time::SimTime;

use super::LogError;
use super::entry::{COMMAND_BYTES_MAX, Entry, PartHashes, RunIdentity, STEP_RUN_MAX, StepHashes, StepRun};
use super::history::{self, History};
use super::parts::PartsMemo;
use super::storage::Disk;
use super::writer::{LogLayout, LogParcel, LogWriter, SnapshotParcel, append_entry};
use crate::command::WorldCommand;
use crate::hash::StateHashParts;
use crate::world::World;

/// How a log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSettings {
    /// Segments, and what is kept.
    pub layout: LogLayout,
    /// Simulated time between two snapshots.
    pub snapshot_every: Duration,
    /// Steps between two notes of the hashes of every component.
    pub parts_every: u64,
    /// Bytes that may wait to be written. Commands beyond are refused, steps wait.
    pub waiting_bytes_max: usize,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            layout: LogLayout::default(),
            snapshot_every: Duration::from_secs(10),
            parts_every: 64,
            waiting_bytes_max: 8 << 20,
        }
    }
}

/// The log of a running scene.
#[derive(Debug)]
pub struct WorldLog {
    sender: BatchSender<LogParcel, Arc<LogError>>,
    /// Empty once it was joined.
    thread: Option<Thread<()>>,
    disk: Disk,
    settings: LogSettings,
    /// Entries before the queue's first.
    base: u64,
    /// Steps that were not handed over yet.
    run: StepRun,
    record: Vec<u8>,
    /// Entries that were put together and not handed over yet: how many they are, and since how many steps.
    gathered: Vec<u8>,
    gathered_count: u64,
    gathered_steps: usize,
    parts_memo: PartsMemo,
    step: u64,
    skipped: Duration,
    next_snapshot: SimTime,
    /// The scene went back to this step, and nothing has happened since.
    rewound: Option<u64>,
    /// Why nothing is noted any more.
    broken: Option<Arc<LogError>>,
    /// Held for as long as the log is written.
    _lock: std::fs::File,
}

/// Where a scene stands when its log begins or goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) step: u64,
    pub(crate) now: SimTime,
    pub(crate) skipped: Duration,
}

/// The file that says that somebody writes.
const LOCK: &str = "lock";

impl WorldLog {
    /// A new log in a folder that has none.
    pub(crate) fn create(
        folder: &Path,
        settings: LogSettings,
        run: RunIdentity,
        start: &SnapshotParcel,
        standing: Standing,
    ) -> Result<Self, LogError> {
        let disk = Disk::new(folder);
        disk.make_folder().map_err(LogError::Folder)?;
        let lock = lock(&disk)?;
        match History::read(&disk) {
            Err(LogError::Missing) => {}
            Ok(_) => return Err(LogError::Occupied),
            // Something is there: whatever it is, it is not to be written over.
            Err(_) => return Err(LogError::Occupied),
        }
        // What is left of a start that did not get as far as its first commit.
        history::sweep(&disk, |_| false)?;
        let writer = LogWriter::create(disk.clone(), settings.layout, run, start)?;
        Self::over(writer, disk, lock, settings, standing)
    }

    /// Goes on with a log that was read under its lock.
    pub(crate) fn resume(
        disk: Disk,
        lock: std::fs::File,
        history: &History,
        settings: LogSettings,
        standing: Standing,
    ) -> Result<Self, LogError> {
        let writer = LogWriter::continue_from(disk.clone(), settings.layout, history)?;
        Self::over(writer, disk, lock, settings, standing)
    }

    fn over(
        writer: LogWriter<Disk>,
        disk: Disk,
        lock: std::fs::File,
        settings: LogSettings,
        standing: Standing,
    ) -> Result<Self, LogError> {
        let base = writer.position();
        let (sender, receiver) = batches(settings.waiting_bytes_max);
        let thread = spawn("world log", Role::Worker, move || write(writer, receiver))?;
        let Standing { step, now, skipped } = standing;
        Ok(Self {
            sender,
            thread: Some(thread),
            disk,
            settings,
            base,
            run: StepRun::default(),
            record: Vec::new(),
            gathered: Vec::new(),
            gathered_count: 0,
            gathered_steps: 0,
            parts_memo: PartsMemo::default(),
            step,
            skipped,
            next_snapshot: now.saturating_add(settings.snapshot_every),
            rewound: None,
            broken: None,
            _lock: lock,
        })
    }

    /// The position of what was noted last. It is durable once [`WorldLog::durable`] has reached it.
    pub fn position(&self) -> u64 {
        self.base + self.sender.position()
    }

    /// Everything up to this position is on the disk.
    pub fn durable(&self) -> u64 {
        self.base + self.sender.settled()
    }

    /// Waits until everything up to a position is on the disk.
    pub fn wait(&self, position: u64) -> Result<(), LogError> {
        if let Some(broken) = &self.broken {
            return Err(LogError::Ended(Arc::clone(broken)));
        }
        self.sender.wait(position.saturating_sub(self.base)).map_err(ended)
    }

    /// Why nothing is acknowledged any more, if so.
    pub fn failure(&self) -> Option<Arc<LogError>> {
        self.sender.failure().or_else(|| self.broken.clone())
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.disk.folder()
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Hands over all steps that were noted, and waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), LogError> {
        self.hand_over()?;
        self.wait(self.position())
    }

    /// Whether a command can be noted: refused now, it is not applied either.
    pub(crate) fn prepare(&mut self, step: u64, command: &WorldCommand) -> Result<(), LogError> {
        if let Some(failure) = self.failure() {
            return Err(LogError::Ended(failure));
        }
        self.record.clear();
        // The entry is what will be noted; the command is cloned because an entry owns what it holds.
        let entry = Entry::Command { step, command: command.clone() };
        append_entry(&mut self.record, &entry)?;
        if self.record.len() > COMMAND_BYTES_MAX {
            let what = format!("a command of {} bytes, more than {COMMAND_BYTES_MAX}", self.record.len());
            return Err(LogError::Encode { what });
        }
        if !self.sender.has_room(self.record.len() + self.gathered.len() + RUN_BYTES_MAX) {
            return Err(LogError::Behind);
        }
        Ok(())
    }

    /// Notes the command that was prepared, now that it has taken effect. Should that fail, the log has failed: whoever
    /// waits for its position hears of it.
    pub(crate) fn commit_prepared(&mut self, skipped: Duration) {
        let record = std::mem::take(&mut self.record);
        let noted = self.go_on(skipped).and_then(|()| self.gather(&record)).and_then(|()| self.hand_over());
        self.record = record;
        self.note(noted);
    }

    /// Notes a step.
    pub(crate) fn step(&mut self, step: u64, now: SimTime, skipped: Duration, hashes: StepHashes) {
        let noted = self.go_on(skipped).and_then(|()| {
            if step != self.step + 1 {
                let why = format!("step {step} followed, because a step had panicked");
                return Err(LogError::BrokenOff { step: self.step, why });
            }
            if self.run.hashes.is_empty() {
                self.run.first = step;
            }
            self.step = step;
            self.run.now_nanos = now.as_nanos();
            self.run.hashes.push(hashes);
            if self.run.hashes.len() >= STEP_RUN_MAX { self.gather(&[]) } else { Ok(()) }
        });
        self.note(noted);
    }

    /// Whether the hashes of all parts are to be noted after this step.
    pub(crate) fn wants_parts(&self, step: u64) -> bool {
        self.broken.is_none() && step.is_multiple_of(self.settings.parts_every.max(1))
    }

    /// The hashes of what has changed since they were noted last.
    pub(crate) fn part_hashes<I: Iterator<Item = u64>>(
        &mut self,
        step: u64,
        parts: StateHashParts<'_, I>,
        world: &World,
    ) -> PartHashes {
        self.parts_memo.note(step, parts, world)
    }

    pub(crate) fn parts(&mut self, parts: PartHashes) {
        if self.broken.is_some() {
            return;
        }
        let noted = self.push(&Entry::Parts(parts));
        self.note(noted);
    }

    /// Whether a snapshot is due.
    pub(crate) fn wants_snapshot(&self, now: SimTime) -> bool {
        self.broken.is_none() && now >= self.next_snapshot
    }

    pub(crate) fn snapshot(&mut self, now: SimTime, saved: Result<Vec<u8>, LogError>) {
        self.next_snapshot = now.saturating_add(self.settings.snapshot_every);
        let noted = saved.and_then(|bytes| {
            self.hand_over()?;
            self.parts_memo.forget();
            let weight = bytes.len();
            let parcel = SnapshotParcel { step: self.step, now_nanos: now.as_nanos(), bytes };
            self.sender.push_parcel(LogParcel::Snapshot(parcel), weight).map_err(ended).map(|_| ())
        });
        self.note(noted);
    }

    /// The scene stands at an earlier step; whatever happens next takes the place of what came after.
    pub(crate) fn rewound_to(&mut self, standing: Standing, is_the_end: bool) {
        self.rewound = (!is_the_end).then_some(standing.step);
        self.parts_memo.forget();
        (self.step, self.skipped) = (standing.step, standing.skipped);
        self.next_snapshot = standing.now.saturating_add(self.settings.snapshot_every);
    }

    /// Writes what is left and ends the log.
    pub(crate) fn close(mut self) -> Result<(), LogError> {
        let handed_over = self.hand_over();
        self.end();
        handed_over?;
        self.failure().map_or(Ok(()), |failure| Err(LogError::Ended(failure)))
    }

    /// Before something new is noted: where the scene went back to, and what time was jumped over.
    fn go_on(&mut self, skipped: Duration) -> Result<(), LogError> {
        if let Some(broken) = &self.broken {
            return Err(LogError::Ended(Arc::clone(broken)));
        }
        if let Some(to) = self.rewound.take() {
            self.sender.push_parcel(LogParcel::Rewound { to }, 16).map_err(ended)?;
        }
        if skipped != self.skipped {
            let nanos = u64::try_from((skipped.saturating_sub(self.skipped)).as_nanos()).unwrap_or(u64::MAX);
            self.skipped = skipped;
            self.push(&Entry::Skipped { step: self.step, nanos })?;
        }
        Ok(())
    }

    /// Puts the steps that were noted and the entry behind them, if there is one, with what waits to be handed over.
    ///
    /// Steps alone are handed over some hundreds at a time: nobody waits for them, and what a crash takes of them is run
    /// again to the same bits. Waking the writer for each would cost more than noting them.
    fn gather(&mut self, behind: &[u8]) -> Result<(), LogError> {
        if !self.run.hashes.is_empty() {
            let steps = Entry::Steps(std::mem::take(&mut self.run));
            let appended = append_entry(&mut self.gathered, &steps);
            if let Entry::Steps(mut run) = steps {
                self.gathered_steps += run.hashes.len();
                run.hashes.clear();
                self.run = run;
            }
            appended?;
            self.gathered_count += 1;
        }
        self.gathered.extend_from_slice(behind);
        self.gathered_count += u64::from(!behind.is_empty());
        if self.gathered_steps >= GATHERED_STEPS_MAX { self.hand_over() } else { Ok(()) }
    }

    /// Hands over all that was noted, for one commit: a sync is what everything else waits for.
    fn hand_over(&mut self) -> Result<(), LogError> {
        if !self.run.hashes.is_empty() {
            self.gather(&[])?;
        }
        // Nothing was noted, or it was so much that it went by itself.
        if self.gathered_count == 0 {
            return Ok(());
        }
        let pushed = self.sender.push_together(&self.gathered, self.gathered_count);
        self.gathered.clear();
        (self.gathered_count, self.gathered_steps) = (0, 0);
        pushed.map(|_| ()).map_err(ended)
    }

    /// An entry, behind the steps before it.
    fn push(&mut self, entry: &Entry) -> Result<(), LogError> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        let pushed = append_entry(&mut record, entry).and_then(|()| self.gather(&record));
        self.record = record;
        pushed
    }

    /// A step cannot be refused, so that it could not be noted is kept for whoever asks.
    fn note(&mut self, noted: Result<(), LogError>) {
        if let Err(error) = noted {
            self.broken.get_or_insert(Arc::new(error));
        }
    }

    fn end(&mut self) {
        self.sender.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the writer has been told to whoever waits: the queue is deserted.
            let _ = thread.join();
        }
    }
}

impl Drop for WorldLog {
    fn drop(&mut self) {
        let _ = self.hand_over();
        self.end();
    }
}

/// How many steps are handed over at once, when nothing else is.
const GATHERED_STEPS_MAX: usize = 256;
/// More than a run of steps takes.
const RUN_BYTES_MAX: usize = 64 + STEP_RUN_MAX * 16;

/// The lock of a log.
pub(crate) fn lock(disk: &Disk) -> Result<std::fs::File, LogError> {
    disk.lock(LOCK).map_err(LogError::Folder)?.ok_or(LogError::Busy)
}

fn ended(error: BatchError<Arc<LogError>>) -> LogError {
    match error {
        BatchError::Failed(failure) => LogError::Ended(failure),
        BatchError::Closed => LogError::NoLog,
    }
}

/// The writing thread.
fn write(mut writer: LogWriter<Disk>, mut receiver: BatchReceiver<LogParcel, Arc<LogError>>) {
    while let Some(batch) = receiver.take() {
        if let Err(error) = writer.commit(batch) {
            receiver.fail(Arc::new(error));
            return;
        }
        receiver.settle();
    }
    if let Err(error) = writer.close() {
        receiver.fail(Arc::new(error));
    }
}
