//! What a log holds, read from its files: checked from the first byte to the last, and summed up.
//!
//! Reading changes nothing. A torn end is told of and left out; any other damage is an error with its place.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;

use super::LogError;
use super::entry::{COUNT_MAX, Entry, Opening, RunIdentity, SnapshotRef};
use super::frame::Link;
use super::segment::{self, EndState, Scanned};
use super::storage::Storage;
use super::writer::{self, Resumption, TEMPORARY};

/// A log that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// What the run is of.
    pub run: RunIdentity,
    /// The segments, oldest first.
    pub segments: Vec<SegmentSummary>,
    /// Snapshots that are part of the run, oldest first.
    pub snapshots: Vec<SnapshotRef>,
    /// Entries that were, or could have been, acknowledged.
    pub position: u64,
    /// Steps that the run has come to.
    pub step: u64,
    /// Where simulated time stood then.
    pub now_nanos: u64,
    /// Commands that are part of the run, as far as they are still there.
    pub commands: u64,
    /// What a crash left unfinished, if one did.
    pub torn: Option<Torn>,
    rewinds: Vec<Rewind>,
    snapshot_segments: Vec<u64>,
    end: Option<Scanned>,
}

/// A segment of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentSummary {
    /// Its number, counted from 1.
    pub number: u64,
    /// Its file.
    pub file: String,
    /// Bytes of whole commits in it.
    pub bytes: u64,
    /// Steps taken before it.
    pub step: u64,
    /// Entries before it.
    pub position: u64,
    /// Whether it was ended in order.
    pub closed: bool,
    link: Link,
}

/// The end of a log that a crash left unfinished. Nothing in it was ever acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The file.
    pub file: String,
    /// Where the last whole commit ends.
    pub offset: u64,
    /// How many bytes follow that are of no use.
    pub bytes: u64,
}

/// The scene went back: entries before this position that concern later steps are void.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rewind {
    position: u64,
    to: u64,
}

impl History {
    /// Reads a log.
    pub fn read<S: Storage>(storage: &S) -> Result<Self, LogError> {
        match Self::read_what_can_be(storage)? {
            (history, None) => Ok(history),
            (_, Some(damage)) => Err(damage),
        }
    }

    /// Reads a log up to the first damage, and tells what that is. Fails when there is nothing before it.
    pub fn read_what_can_be<S: Storage>(storage: &S) -> Result<(Self, Option<LogError>), LogError> {
        let (numbers, mut damage) = segment_numbers(storage)?;
        let mut reading = Reading::default();
        for (nth, number) in numbers.iter().enumerate() {
            let is_last = nth + 1 == numbers.len() && damage.is_none();
            if let Err(error) = reading.segment(storage, *number, is_last) {
                damage = Some(error);
                break;
            }
        }
        reading.forget_deleted(storage)?;
        match reading.finish() {
            Some(history) => Ok((history, damage)),
            None => Err(damage.unwrap_or(LogError::Missing)),
        }
    }

    /// Hands out the entries that are part of the run, in order and with their positions, from the segment that holds
    /// `position` on, until `each` has enough.
    pub fn for_each_from<S: Storage>(
        &self,
        storage: &S,
        position: u64,
        mut each: impl FnMut(u64, Entry) -> Result<ControlFlow<()>, LogError>,
    ) -> Result<(), LogError> {
        let start = self.segments.partition_point(|segment| segment.position < position).saturating_sub(1);
        self.for_each_written(storage, start, |at, entry| {
            if self.is_live(at, &entry) { each(at, entry) } else { Ok(ControlFlow::Continue(())) }
        })
    }

    /// Hands out all entries as they were written, also those that a rewind made void, from the `start`th segment that
    /// is there on.
    pub fn for_each_written<S: Storage>(
        &self,
        storage: &S,
        start: usize,
        mut each: impl FnMut(u64, Entry) -> Result<ControlFlow<()>, LogError>,
    ) -> Result<(), LogError> {
        for segment in &self.segments[start..] {
            let bytes = read(storage, &segment.file)?;
            let (mut at, mut flow) = (segment.position, ControlFlow::Continue(()));
            segment::scan(&segment.file, &bytes, Some(segment.link), &mut |_, entry| {
                at += u64::from(entry.counts());
                // A log that is being written may have grown since it was read.
                if flow.is_continue() && at <= self.position {
                    flow = each(at, entry)?;
                }
                Ok(())
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The bytes of a snapshot, if they are there and whole.
    pub fn snapshot<S: Storage>(&self, storage: &S, snapshot: &SnapshotRef) -> Result<Vec<u8>, LogError> {
        let file = snapshot.file();
        let bytes = read(storage, &file)?;
        if snapshot.fits(&bytes) {
            return Ok(bytes);
        }
        Err(LogError::Damaged { file, offset: 0, what: "a snapshot whose bytes have changed".to_owned() })
    }

    /// Mends what a crash left unfinished, deletes what belongs to nobody, and tells where to go on.
    pub(crate) fn resume<S: Storage>(&self, storage: &S) -> Result<Resumption, LogError> {
        let last = self.segments.last().ok_or(LogError::Missing)?.number;
        let end = self.end.as_ref().ok_or(LogError::Missing)?;
        let link = match end.end_state {
            EndState::Closed => end.link,
            EndState::Untrimmed => {
                writer::trim(storage, last, end.end)?;
                end.link
            }
            EndState::Open | EndState::Torn(_) => writer::seal(storage, last, end.end, end.link)?,
        };
        let names: BTreeSet<_> = self.snapshots.iter().map(SnapshotRef::file).collect();
        sweep(storage, |name| names.contains(name))?;
        Ok(Resumption {
            run: self.run.clone(),
            first_segment: self.segments[0].number,
            last_segment: last,
            link,
            position: self.position,
            snapshots: self.snapshot_segments.iter().copied().zip(self.snapshots.iter().cloned()).collect(),
        })
    }

    fn is_live(&self, position: u64, entry: &Entry) -> bool {
        let voided =
            |step: u64| self.rewinds.iter().any(|rewind| position < rewind.position && step > rewind.to);
        match entry {
            Entry::Command { step, .. } | Entry::Skipped { step, .. } => !voided(*step),
            Entry::Parts(parts) => !voided(parts.step),
            Entry::Snapshot(snapshot) => !voided(snapshot.step),
            // Cut where it is played: some of its steps may be void.
            Entry::Steps(_) => true,
            Entry::Opened(_) | Entry::Closed | Entry::Rewound { .. } => false,
        }
    }

    /// Whether a step that stands at this position is part of the run.
    pub(crate) fn step_is_live(&self, position: u64, step: u64) -> bool {
        !self.rewinds.iter().any(|rewind| position < rewind.position && step > rewind.to)
    }
}

/// Deletes unfinished files, and snapshots that no entry names.
pub(crate) fn sweep<S: Storage>(storage: &S, is_named: impl Fn(&str) -> bool) -> Result<(), LogError> {
    let names = storage.list().map_err(LogError::Folder)?;
    let stray: Vec<_> = names
        .iter()
        .filter(|name| {
            let ours = name.starts_with("segment-") || name.starts_with("step-");
            ours && (name.ends_with(TEMPORARY) || name.ends_with(".snap") && !is_named(name))
        })
        .collect();
    if stray.is_empty() {
        return Ok(());
    }
    for name in stray {
        storage.remove(name).map_err(|error| LogError::write(name, error))?;
    }
    storage.sync_names().map_err(LogError::Folder)
}

/// The numbers of the segments that are there, up to the first gap, which is damage.
fn segment_numbers<S: Storage>(storage: &S) -> Result<(Vec<u64>, Option<LogError>), LogError> {
    let names = match storage.list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(LogError::Missing),
        names => names.map_err(LogError::Folder)?,
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number_of(name)).collect();
    numbers.sort_unstable();
    let Some(gap) = numbers.windows(2).position(|pair| pair[1] != pair[0] + 1) else {
        return Ok((numbers, None));
    };
    let file = segment::file_name(numbers[gap] + 1);
    numbers.truncate(gap + 1);
    Ok((numbers, Some(LogError::Damaged { file, offset: 0, what: "it is missing".to_owned() })))
}

fn read<S: Storage>(storage: &S, file: &str) -> Result<Vec<u8>, LogError> {
    storage.read(file).map_err(|source| LogError::Read { file: file.to_owned(), source })
}

/// What has been read of a log so far.
#[derive(Default)]
struct Reading {
    run: Option<RunIdentity>,
    segments: Vec<SegmentSummary>,
    snapshots: Vec<(u64, SnapshotRef)>,
    rewinds: Vec<Rewind>,
    /// The steps that commands took effect at.
    commands: Vec<u64>,
    position: u64,
    /// Unknown until an entry says it: the first segments of a log may be gone.
    step: Option<u64>,
    now_nanos: u64,
    torn: Option<Torn>,
    end: Option<Scanned>,
}

impl Reading {
    fn segment<S: Storage>(&mut self, storage: &S, number: u64, is_last: bool) -> Result<(), LogError> {
        let file = segment::file_name(number);
        let bytes = read(storage, &file)?;
        let link = self.end.as_ref().map(|end| end.link);
        let known = link.is_some();
        let step = self.step.unwrap_or(0);
        let scanned = segment::scan(&file, &bytes, link, &mut |offset, entry| {
            if let Entry::Opened(opening) = &entry {
                self.opened(&file, number, opening, known)?;
            }
            self.entry(&file, offset, number, entry)
        })?;
        let closed = matches!(scanned.end_state, EndState::Closed);
        if !is_last && !closed {
            let what = "it does not end as a segment does that another one follows".to_owned();
            return Err(LogError::Damaged { file, offset: scanned.end, what });
        }
        if let EndState::Torn(bytes) = scanned.end_state {
            self.torn = Some(Torn { file: file.clone(), offset: scanned.end, bytes });
        }
        let (bytes, link, position) = (scanned.end, scanned.first, scanned.opening.position);
        self.segments.push(SegmentSummary { number, file, bytes, step, position, closed, link });
        self.end = Some(scanned);
        Ok(())
    }

    fn opened(&mut self, file: &str, number: u64, opening: &Opening, known: bool) -> Result<(), LogError> {
        let damaged = |what: &str| LogError::Damaged {
            file: file.to_owned(),
            offset: segment::HEAD_LEN as u64,
            what: what.to_owned(),
        };
        if opening.segment != number {
            return Err(damaged("it is another segment than its name says"));
        }
        if known && (opening.position != self.position || self.run.as_ref() != Some(&opening.run)) {
            return Err(damaged("it does not go on where the one before it ends"));
        }
        if !known {
            self.position = opening.position;
        }
        if self.position > COUNT_MAX {
            return Err(damaged("it counts more entries than there can be"));
        }
        self.run = Some(opening.run.clone());
        Ok(())
    }

    fn entry(&mut self, file: &str, offset: u64, segment: u64, entry: Entry) -> Result<(), LogError> {
        let damaged = |what: String| LogError::Damaged { file: file.to_owned(), offset, what };
        self.position += u64::from(entry.counts());
        match entry {
            Entry::Command { step, .. } => {
                self.check_step(step).map_err(damaged)?;
                self.commands.push(step);
            }
            Entry::Skipped { step, nanos } => {
                self.check_step(step).map_err(damaged)?;
                self.now_nanos = self.now_nanos.saturating_add(nanos);
            }
            Entry::Steps(run) => {
                if run.hashes.is_empty() || run.first == 0 || run.first > COUNT_MAX {
                    return Err(damaged("steps that are none".to_owned()));
                }
                self.check_step(run.first - 1).map_err(damaged)?;
                (self.step, self.now_nanos) = (Some(run.last()), run.now_nanos);
            }
            Entry::Snapshot(snapshot) => {
                self.check_step(snapshot.step).map_err(damaged)?;
                if snapshot.position != self.position {
                    return Err(damaged("a snapshot that belongs elsewhere".to_owned()));
                }
                self.now_nanos = snapshot.now_nanos;
                self.snapshots.push((segment, snapshot));
            }
            Entry::Rewound { to } => {
                if let Some(step) = self.step.filter(|step| *step < to) {
                    return Err(damaged(format!("it goes back from step {step} to {to}")));
                }
                self.step = Some(to);
                self.commands.retain(|step| *step <= to);
                self.snapshots.retain(|(_, snapshot)| snapshot.step <= to);
                self.rewinds.push(Rewind { position: self.position, to });
            }
            Entry::Parts(_) | Entry::Opened(_) | Entry::Closed => {}
        }
        Ok(())
    }

    /// Entries stand in the order of steps.
    fn check_step(&mut self, step: u64) -> Result<(), String> {
        let here = *self.step.get_or_insert(step);
        if step == here { Ok(()) } else { Err(format!("an entry of step {step} after step {here}")) }
    }

    /// Old snapshots are deleted before the segments that name them. One that is missing behind others was lost.
    fn forget_deleted<S: Storage>(&mut self, storage: &S) -> Result<(), LogError> {
        let names: BTreeSet<String> = storage.list().map_err(LogError::Folder)?.into_iter().collect();
        let deleted =
            self.snapshots.iter().take_while(|(_, snapshot)| !names.contains(&snapshot.file())).count();
        // When none is left, none was deleted on purpose.
        if deleted < self.snapshots.len() {
            self.snapshots.drain(..deleted);
        }
        Ok(())
    }

    /// `None` when not even an opening was read.
    fn finish(self) -> Option<History> {
        let Self { run, segments, snapshots, rewinds, commands, position, step, now_nanos, torn, end } = self;
        let (snapshot_segments, snapshots) = snapshots.into_iter().unzip();
        Some(History {
            run: run?,
            segments,
            snapshots,
            position,
            step: step.unwrap_or(0),
            now_nanos,
            commands: commands.len() as u64,
            torn,
            rewinds,
            snapshot_segments,
            end,
        })
    }
}
