//! A folder in memory that loses what was not synced, as a machine does that loses power: whole sectors or the ends of
//! sectors, lengths and names, each by itself. It can also fill up, fail to sync and take only part of a write.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use downbeat_threading::sync::Mutex;
use downbeat_world::{Random, Storage, StorageFile};

const SECTOR: usize = 512;

/// What goes wrong, counted in operations from the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// From this operation on, nothing works: the machine is off.
    pub(crate) crash_at: Option<u64>,
    /// This and every later write finds the disk full.
    pub(crate) full_at: Option<u64>,
    /// This operation, if it syncs, fails.
    pub(crate) sync_fails_at: Option<u64>,
    /// Writes take at most so many bytes at once.
    pub(crate) write_bytes_max: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Simulated(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    files: Vec<Content>,
    names: BTreeMap<String, usize>,
    lasting_names: BTreeMap<String, usize>,
    pending: Vec<NameChange>,
    faults: Faults,
    operations: u64,
}

#[derive(Debug, Clone, Default)]
struct Content {
    seen: Vec<u8>,
    lasting: Vec<u8>,
    /// Sectors written since the last sync.
    dirty: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
enum NameChange {
    Set(String, usize),
    /// From, to, and the file: a name is an entry that says which.
    Move(String, String, usize),
    Remove(String),
}

#[derive(Debug)]
pub(crate) struct SimulatedFile {
    folder: Simulated,
    file: usize,
}

impl Simulated {
    pub(crate) fn with_faults(self, faults: Faults) -> Self {
        {
            let mut inner = self.0.lock();
            inner.faults = faults;
            inner.operations = 0;
        }
        self
    }

    /// What is on the disk after the power came back.
    pub(crate) fn crashed(&self, random: &mut Random) -> Self {
        let inner = self.0.lock();
        let files: Vec<Content> = inner.files.iter().map(|content| content.crashed(random)).collect();
        let mut names = inner.lasting_names.clone();
        for change in &inner.pending {
            if random.below(2) == 0 {
                change.apply(&mut names);
            }
        }
        let lasting_names = names.clone();
        Self(Arc::new(Mutex::new(Inner { files, names, lasting_names, ..Inner::default() })))
    }

    /// A copy as it is now, without a crash: everything lasts.
    pub(crate) fn copied(&self) -> Self {
        let inner = self.0.lock();
        let files = inner.files.iter().map(|content| Content::lasting(content.seen.clone())).collect();
        let (names, lasting_names) = (inner.names.clone(), inner.names.clone());
        Self(Arc::new(Mutex::new(Inner { files, names, lasting_names, ..Inner::default() })))
    }

    /// Changes the bytes of a file.
    pub(crate) fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut inner = self.0.lock();
        let file = inner.names[name];
        change(&mut inner.files[file].seen);
    }

    /// The names of files that end like this, in order.
    pub(crate) fn names_like(&self, end: &str) -> Vec<String> {
        self.0.lock().names.keys().filter(|name| name.ends_with(end)).cloned().collect()
    }
}

impl Content {
    fn lasting(bytes: Vec<u8>) -> Self {
        Self { seen: bytes.clone(), lasting: bytes, dirty: BTreeSet::new() }
    }

    fn crashed(&self, random: &mut Random) -> Self {
        let mut bytes = self.lasting.clone();
        let len = if random.below(2) == 0 { self.lasting.len() } else { self.seen.len() };
        bytes.resize(bytes.len().max(self.seen.len()), 0);
        for sector in &self.dirty {
            let start = sector * SECTOR;
            let end = (start + SECTOR).min(self.seen.len());
            if start >= end {
                continue;
            }
            let kept = match random.below(4) {
                0 => 0,
                // A write goes forwards, so what is torn is the rest of a sector.
                1 => random.below(64) as usize * 8,
                _ => SECTOR,
            };
            let kept = kept.min(end - start);
            bytes[start..start + kept].copy_from_slice(&self.seen[start..start + kept]);
        }
        bytes.resize(len, 0);
        Self::lasting(bytes)
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Set(name, file) => {
                names.insert(name.clone(), *file);
            }
            Self::Move(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl Inner {
    /// Counts an operation; fails when the machine is off.
    fn operate(&mut self) -> io::Result<u64> {
        self.operations += 1;
        match self.faults.crash_at {
            Some(at) if self.operations >= at => Err(io::Error::other("the machine is off")),
            _ => Ok(self.operations),
        }
    }

    fn file(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending.push(change);
    }
}

impl Storage for Simulated {
    type File = SimulatedFile;

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().names.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let inner = self.0.lock();
        Ok(inner.files[inner.file(name)?].seen.clone())
    }

    fn create(&self, name: &str) -> io::Result<SimulatedFile> {
        let mut inner = self.0.lock();
        let operation = inner.operate()?;
        if inner.faults.full_at.is_some_and(|at| operation >= at) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        inner.files.push(Content::default());
        let file = inner.files.len() - 1;
        inner.change_name(NameChange::Set(name.to_owned(), file));
        Ok(SimulatedFile { folder: self.clone(), file })
    }

    fn open(&self, name: &str) -> io::Result<SimulatedFile> {
        let file = self.0.lock().file(name)?;
        Ok(SimulatedFile { folder: self.clone(), file })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut inner = self.0.lock();
        inner.operate()?;
        let file = inner.file(from)?;
        inner.change_name(NameChange::Move(from.to_owned(), to.to_owned(), file));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut inner = self.0.lock();
        inner.operate()?;
        inner.file(name)?;
        inner.change_name(NameChange::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut inner = self.0.lock();
        let operation = inner.operate()?;
        if inner.faults.sync_fails_at == Some(operation) {
            return Err(io::Error::other("the disk does not answer"));
        }
        inner.lasting_names = inner.names.clone();
        inner.pending.clear();
        Ok(())
    }
}

impl StorageFile for SimulatedFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.folder.0.lock();
        let operation = inner.operate()?;
        if inner.faults.full_at.is_some_and(|at| operation >= at) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let taken = bytes.len().min(inner.faults.write_bytes_max.unwrap_or(usize::MAX));
        let content = &mut inner.files[self.file];
        let (start, end) = (offset as usize, offset as usize + taken);
        let len = content.seen.len().max(end);
        content.seen.resize(len, 0);
        content.seen[start..end].copy_from_slice(&bytes[..taken]);
        content.dirty.extend(start / SECTOR..end.div_ceil(SECTOR));
        Ok(taken)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let mut inner = self.folder.0.lock();
        inner.operate()?;
        inner.files[self.file].seen.resize(len as usize, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inner = self.folder.0.lock();
        let operation = inner.operate()?;
        if inner.faults.sync_fails_at == Some(operation) {
            return Err(io::Error::other("the disk does not answer"));
        }
        let content = &mut inner.files[self.file];
        content.lasting = content.seen.clone();
        content.dirty.clear();
        Ok(())
    }
}
