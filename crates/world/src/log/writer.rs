//! The writing side: commits, segments, snapshots and what may be deleted. One caller, no threads.
//!
//! A commit is one frame, written and synced before it counts as done, and before anything is written behind it. A
//! segment or a snapshot appears under its name only when it is whole and synced. After an error nothing more is
//! written: what is on the disk is what it was.

use downbeat_threading::{Batch, Placed};

use super::LogError;
use super::entry::{Entry, Opening, RunIdentity, SnapshotRef, hash_of, snapshot_file};
use super::frame::{self, Link, Seal, frame_len};
use super::history::History;
use super::segment::{self, HEAD_LEN};
use super::storage::{Storage, StorageFile as _, write_all_at};

/// How a log is laid out and what is kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLayout {
    /// How long a segment may become. A commit that is longer gets one of its own.
    pub segment_bytes_max: u64,
    /// How many snapshots are kept, with everything from the oldest of them on; at least two. `None` keeps all.
    pub snapshots_kept: Option<usize>,
}

impl Default for LogLayout {
    fn default() -> Self {
        Self { segment_bytes_max: 32 << 20, snapshots_kept: None }
    }
}

/// The state of the world on its way to a file.
#[derive(Debug)]
pub struct SnapshotParcel {
    /// Steps taken by then.
    pub step: u64,
    /// Where simulated time stood.
    pub now_nanos: u64,
    /// The snapshot.
    pub bytes: Vec<u8>,
}

/// What goes to a log beside plain entries, because the writer has to know of it.
#[derive(Debug)]
pub enum LogParcel {
    /// A snapshot, which gets a file of its own.
    Snapshot(SnapshotParcel),
    /// The scene went back to this step.
    Rewound {
        /// Where it went.
        to: u64,
    },
}

/// Writes a log.
#[derive(Debug)]
pub struct LogWriter<S: Storage> {
    storage: S,
    layout: LogLayout,
    run: RunIdentity,
    file: S::File,
    segment: u64,
    first_segment: u64,
    /// Where the next frame goes.
    at: u64,
    allotted: u64,
    link: Link,
    position: u64,
    /// The snapshots that are there, oldest first, with their segments.
    snapshots: Vec<(u64, SnapshotRef)>,
    /// What a frame is put together in.
    frame: Vec<u8>,
    content: Vec<u8>,
}

/// Where a log goes on.
#[derive(Debug, Clone)]
pub(crate) struct Resumption {
    pub(crate) run: RunIdentity,
    pub(crate) first_segment: u64,
    pub(crate) last_segment: u64,
    pub(crate) link: Link,
    pub(crate) position: u64,
    pub(crate) snapshots: Vec<(u64, SnapshotRef)>,
}

impl<S: Storage> LogWriter<S> {
    /// A new log that starts from a snapshot.
    pub fn create(
        storage: S,
        layout: LogLayout,
        run: RunIdentity,
        start: &SnapshotParcel,
    ) -> Result<Self, LogError> {
        let mut content = Vec::new();
        let snapshot = store_snapshot(&storage, start, 1)?;
        append_entry(&mut content, &Entry::Snapshot(snapshot.clone()))?;
        let resumption = Resumption {
            run,
            first_segment: 1,
            last_segment: 0,
            link: Link::START,
            position: 0,
            snapshots: vec![(1, snapshot)],
        };
        let mut writer = Self::begin(storage, layout, resumption, &content)?;
        writer.position = 1;
        Ok(writer)
    }

    /// Goes on with a log that was read: what a crash left unfinished is cut off, and a new segment begins.
    pub fn continue_from(storage: S, layout: LogLayout, history: &History) -> Result<Self, LogError> {
        let from = history.resume(&storage)?;
        Self::begin(storage, layout, from, &[])
    }

    fn begin(storage: S, layout: LogLayout, from: Resumption, more: &[u8]) -> Result<Self, LogError> {
        let Resumption { run, first_segment, last_segment, link, position, snapshots } = from;
        let opening = Opening::new(last_segment + 1, position, run.clone());
        let mut frame = Vec::new();
        let size = Size { usual: layout.segment_bytes_max, needed: END_LEN };
        let made = make_segment(&storage, size, &opening, link, more, &mut frame)?;
        let (file, at, allotted, link) = made;
        let (segment, content) = (opening.segment, Vec::new());
        Ok(Self {
            storage,
            layout,
            run,
            file,
            segment,
            first_segment,
            at,
            allotted,
            link,
            position,
            snapshots,
            frame,
            content,
        })
    }

    /// How many entries there are that can be acknowledged.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes a group of entries and makes them last.
    pub fn commit(&mut self, batch: &Batch<LogParcel>) -> Result<(), LogError> {
        if batch.parcels.is_empty() {
            // What is already one piece is not copied together first.
            self.append(&batch.bytes)?;
            self.position += batch.count;
            return Ok(());
        }
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        let (mut done, mut dead) = (0, Vec::new());
        for Placed { at, nth, parcel } in &batch.parcels {
            content.extend_from_slice(&batch.bytes[done..*at]);
            done = *at;
            match parcel {
                LogParcel::Snapshot(parcel) => {
                    let snapshot = store_snapshot(&self.storage, parcel, self.position + nth + 1)?;
                    append_entry(&mut content, &Entry::Snapshot(snapshot.clone()))?;
                    self.snapshots.push((self.segment, snapshot));
                }
                LogParcel::Rewound { to } => {
                    append_entry(&mut content, &Entry::Rewound { to: *to })?;
                    // They are of a future that will not be.
                    dead.extend(self.snapshots.extract_if(.., |(_, snapshot)| snapshot.step > *to));
                }
            }
        }
        content.extend_from_slice(&batch.bytes[done..]);
        self.append(&content)?;
        self.position += batch.count;
        self.content = content;
        self.remove_snapshots(&dead)?;
        self.forget_old()
    }

    /// Ends the last segment. A log that is not closed loses nothing; it is only longer.
    pub fn close(mut self) -> Result<(), LogError> {
        self.end_segment()
    }

    fn append(&mut self, content: &[u8]) -> Result<(), LogError> {
        // Room for the frame that ends the segment is always kept.
        let needed = frame_len(content.len()) as u64 + END_LEN;
        if self.at + needed > self.allotted {
            self.next_segment(needed)?;
        }
        self.write_frame(content)
    }

    /// One frame, on the disk when this returns.
    fn write_frame(&mut self, content: &[u8]) -> Result<(), LogError> {
        let (next, written) = if content.len() < COPIED_LEN_MAX {
            let next = frame::write(&mut self.frame, self.link, content);
            (next, write_all_at(&mut self.file, self.at, &self.frame))
        } else {
            let seal = Seal::new(self.link, content);
            let mut at = self.at;
            let written = [&seal.head, content, seal.tail()].into_iter().try_for_each(|part| {
                let written = write_all_at(&mut self.file, at, part);
                at += part.len() as u64;
                written
            });
            (seal.next, written)
        };
        written
            .and_then(|()| self.file.sync())
            .map_err(|error| LogError::write(&segment::file_name(self.segment), error))?;
        self.at += frame_len(content.len()) as u64;
        self.link = next;
        Ok(())
    }

    fn end_segment(&mut self) -> Result<(), LogError> {
        let mut closed = Vec::new();
        append_entry(&mut closed, &Entry::Closed)?;
        self.write_frame(&closed)?;
        let name = || segment::file_name(self.segment);
        self.file
            .set_len(self.at)
            .and_then(|()| self.file.sync())
            .map_err(|error| LogError::write(&name(), error))
    }

    fn next_segment(&mut self, needed: u64) -> Result<(), LogError> {
        self.end_segment()?;
        let opening = Opening::new(self.segment + 1, self.position, self.run.clone());
        let size = Size { usual: self.layout.segment_bytes_max, needed };
        let made = make_segment(&self.storage, size, &opening, self.link, &[], &mut self.frame)?;
        (self.file, self.at, self.allotted, self.link) = made;
        self.segment = opening.segment;
        // A snapshot of the commit under way is named by the segment that its entry goes into.
        for (segment, snapshot) in self.snapshots.iter_mut().rev() {
            if snapshot.position <= self.position {
                break;
            }
            *segment = self.segment;
        }
        Ok(())
    }

    /// Deletes what nobody needs to recover: snapshots before those that are kept, and segments before theirs.
    fn forget_old(&mut self) -> Result<(), LogError> {
        let Some(kept) = self.layout.snapshots_kept.map(|kept| kept.max(2)) else { return Ok(()) };
        let Some(surplus) = self.snapshots.len().checked_sub(kept) else { return Ok(()) };
        let oldest = self.snapshots[surplus].0;
        while self.first_segment < oldest {
            self.remove(&segment::file_name(self.first_segment))?;
            self.first_segment += 1;
        }
        let surplus: Vec<_> = self.snapshots.drain(..surplus).collect();
        self.remove_snapshots(&surplus)
    }

    fn remove_snapshots(&self, snapshots: &[(u64, SnapshotRef)]) -> Result<(), LogError> {
        snapshots.iter().try_for_each(|(_, snapshot)| self.remove(&snapshot.file()))
    }

    /// Files go oldest first, and each for good before the next one goes: so a crash leaves no gap.
    fn remove(&self, name: &str) -> Result<(), LogError> {
        let removed = self.storage.remove(name).and_then(|()| self.storage.sync_names());
        removed.map_err(|error| LogError::write(name, error))
    }
}

/// Content that is shorter is copied into its frame and written at once; what is longer is written as it lies there.
const COPIED_LEN_MAX: usize = 64 << 10;
/// Room for the frame that ends a segment.
const END_LEN: u64 = frame_len(1) as u64;

/// Ends a segment that a crash left open, behind its last whole commit.
pub(crate) fn seal<S: Storage>(storage: &S, number: u64, at: u64, link: Link) -> Result<Link, LogError> {
    let name = segment::file_name(number);
    let (mut frame, mut closed) = (Vec::new(), Vec::new());
    append_entry(&mut closed, &Entry::Closed)?;
    let next = frame::write(&mut frame, link, &closed);
    let written = storage.open(&name).and_then(|mut file| {
        // First the frame that says where it ends: cut before that, it would look as if somebody had cut it.
        write_all_at(&mut file, at, &frame)?;
        file.sync()?;
        file.set_len(at + frame.len() as u64)?;
        file.sync()
    });
    written.map_err(|error| LogError::write(&name, error))?;
    Ok(next)
}

/// Trims a segment that has ended.
pub(crate) fn trim<S: Storage>(storage: &S, number: u64, end: u64) -> Result<(), LogError> {
    let name = segment::file_name(number);
    let trimmed = storage.open(&name).and_then(|mut file| {
        file.set_len(end)?;
        file.sync()
    });
    trimmed.map_err(|error| LogError::write(&name, error))
}

/// How long a segment is to be, and how much must fit behind its opening.
#[derive(Clone, Copy)]
struct Size {
    usual: u64,
    needed: u64,
}

/// A segment with its opening, under its name once it is whole.
fn make_segment<S: Storage>(
    storage: &S,
    size: Size,
    opening: &Opening,
    link: Link,
    more: &[u8],
    frame: &mut Vec<u8>,
) -> Result<(S::File, u64, u64, Link), LogError> {
    let mut opened = Vec::new();
    append_entry(&mut opened, &Entry::Opened(opening.clone()))?;
    opened.extend_from_slice(more);
    let link = frame::write(frame, link, &opened);
    let end = (HEAD_LEN + frame.len()) as u64;
    let allotted = size.usual.max(end.saturating_add(size.needed));
    let name = segment::file_name(opening.segment);
    let temporary = format!("{name}{TEMPORARY}");
    let made = storage.create(&temporary).and_then(|mut file| {
        file.set_len(allotted)?;
        write_all_at(&mut file, 0, &segment::head(allotted))?;
        write_all_at(&mut file, HEAD_LEN as u64, frame)?;
        file.sync()?;
        storage.rename(&temporary, &name)?;
        storage.sync_names()?;
        Ok(file)
    });
    made.map(|file| (file, end, allotted, link)).map_err(|error| LogError::write(&name, error))
}

/// What unfinished files end with.
pub(crate) const TEMPORARY: &str = ".part";

/// Writes a snapshot to a file that appears whole.
fn store_snapshot<S: Storage>(
    storage: &S,
    parcel: &SnapshotParcel,
    position: u64,
) -> Result<SnapshotRef, LogError> {
    let SnapshotParcel { step, now_nanos, bytes } = parcel;
    let name = snapshot_file(*step, position);
    let temporary = format!("{name}{TEMPORARY}");
    let stored = storage.create(&temporary).and_then(|mut file| {
        write_all_at(&mut file, 0, bytes)?;
        file.sync()?;
        storage.rename(&temporary, &name)?;
        storage.sync_names()
    });
    stored.map_err(|error| LogError::write(&name, error))?;
    Ok(SnapshotRef {
        step: *step,
        now_nanos: *now_nanos,
        position,
        len: bytes.len() as u64,
        hash: hash_of(bytes),
    })
}

/// Appends an entry to bytes.
pub(super) fn append_entry(content: &mut Vec<u8>, entry: &Entry) -> Result<(), LogError> {
    entry.append_to(content).map_err(|error| LogError::Encode { what: error.to_string() })
}
