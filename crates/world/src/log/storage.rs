//! Where a log's files are: a folder of a disk, or its twin in tests that loses what was not synced.
//!
//! Names are plain: letters, digits, dots and dashes, no folders. Nothing here knows what the files hold.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A folder of files whose changes last only once they are synced.
pub trait Storage: Send + 'static {
    /// A file to write.
    type File: StorageFile;

    /// The names of all files, in no order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// All bytes of a file.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// A new, empty file; one of that name is emptied.
    fn create(&self, name: &str) -> io::Result<Self::File>;
    /// A file that is there, to be written in place.
    fn open(&self, name: &str) -> io::Result<Self::File>;
    /// Gives a file another name; a file of that name is replaced.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes names last: those created, changed and removed so far.
    fn sync_names(&self) -> io::Result<()>;
}

/// A file that is being written.
pub trait StorageFile: Send {
    /// Writes at an offset; returns how many bytes were taken, which may be fewer.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file or fills it up with zeros.
    fn set_len(&mut self, len: u64) -> io::Result<()>;
    /// Makes the content and the length last.
    fn sync(&mut self) -> io::Result<()>;
}

/// Writes all bytes at an offset.
pub(crate) fn write_all_at<F: StorageFile>(file: &mut F, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(offset + done as u64, &bytes[done..]) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(taken) => done += taken,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A folder of the file system.
#[derive(Debug, Clone)]
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// A folder, which need not be there yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder if it is not there, so that it lasts.
    pub(crate) fn make_folder(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        match self.folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
            _ => sync_folder(Path::new(".")),
        }
    }

    /// A lock that one process holds at a time; `None` when another one does. It ends with the process.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Option<File>> {
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(self.folder.join(name))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Storage for Disk {
    type File = DiskFile;

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            // A name that is no text is none of ours.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.folder.join(name))
    }

    fn create(&self, name: &str) -> io::Result<DiskFile> {
        File::create(self.folder.join(name)).map(|file| DiskFile { file, at: Some(0) })
    }

    fn open(&self, name: &str) -> io::Result<DiskFile> {
        let file = OpenOptions::new().write(true).open(self.folder.join(name))?;
        Ok(DiskFile { file, at: None })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.folder.join(from), self.folder.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        sync_folder(&self.folder)
    }
}

/// A file of the file system.
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    /// Where the next write goes by itself, if that is known.
    at: Option<u64>,
}

impl StorageFile for DiskFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if self.at != Some(offset) {
            self.at = None;
            self.file.seek(SeekFrom::Start(offset))?;
        }
        let taken = self.file.write(bytes)?;
        self.at = Some(offset + taken as u64);
        Ok(taken)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Makes the names in a folder last. Elsewhere than on Unix a folder cannot be opened, and names last by themselves.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
