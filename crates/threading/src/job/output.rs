//! A file that appears whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::JobContext;
use crate::stop::Stopped;

/// Writes beside the target and moves into place at the job's point of no return.
///
/// Dropped before that, by a failure, a cancel or a panic, it leaves nothing behind and the target as it was.
///
/// ```
/// use std::io::Write as _;
/// use downbeat_threading::{CommitError, Job, OutputFile, Outcome, task};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("report.txt");
/// let target = path.clone();
/// let job = Job::start(task("report", move |job| {
///     let mut file = OutputFile::create(&target)?;
///     file.write_all(b"all well")?;
///     file.commit(job)
/// }))?;
/// assert!(matches!(job.join(), Outcome::Done(())));
/// assert_eq!(std::fs::read_to_string(path)?, "all well");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    /// In the target's folder, because a file cannot be moved in one go from one disk to another.
    temporary: NamedTempFile,
    target: PathBuf,
}

/// Why a file is not in place.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A cancel came first. Nothing has changed.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The disk or the folder said no.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
}

impl OutputFile {
    /// Opens a file that will become `target`. The folder must exist.
    pub fn create(target: &Path) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", target.display()));
        if target.file_name().is_none() || target.is_dir() {
            return Err(named(io::Error::new(io::ErrorKind::InvalidInput, "names no file")));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".downbeat-").suffix(".part");
        // What any new file gets; a temporary one would be for its owner's eyes only.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder_of(target)).map_err(named)?;
        Ok(Self { temporary, target: target.to_owned() })
    }

    /// Brings everything to disk, passes the job's point of no return, and moves the file into place.
    pub fn commit(self, job: &JobContext) -> Result<(), CommitError> {
        self.temporary.as_file().sync_all()?;
        job.point_of_no_return()?;
        self.temporary.persist(&self.target).map_err(|error| error.error)?;
        // The name is in the folder, and the folder must reach the disk as well.
        File::open(folder_of(&self.target))?.sync_all()?;
        Ok(())
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}
