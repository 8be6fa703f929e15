//! The file of an export: it appears whole or not at all.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::ExportError;

/// Writes beside the target. [`ExportFile::keep`] moves it into place; dropped before that, it leaves nothing behind
/// and the target as it was.
#[derive(Debug)]
pub struct ExportFile {
    /// In the target's folder, because a file cannot be moved in one go from one disk to another.
    temporary: BufWriter<NamedTempFile>,
    target: PathBuf,
}

impl ExportFile {
    /// Opens a file that will become `target`. The folder must exist.
    pub fn create(target: &Path) -> Result<Self, ExportError> {
        let refused = |error| ExportError::Create { path: target.to_owned(), error };
        if target.file_name().is_none() || target.is_dir() {
            return Err(refused(io::Error::new(io::ErrorKind::InvalidInput, "it names no file")));
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".downbeat-").suffix(".part");
        // What any new file gets; a temporary one would be for its owner's eyes only.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder.unwrap_or_else(|| Path::new("."))).map_err(refused)?;
        Ok(Self { temporary: BufWriter::new(temporary), target: target.to_owned() })
    }

    /// Brings everything to disk and moves the file into place.
    pub fn keep(self) -> Result<(), ExportError> {
        let Self { temporary, target } = self;
        let temporary = temporary.into_inner().map_err(|error| ExportError::Write(error.into_error()))?;
        temporary.as_file().sync_all().map_err(ExportError::Write)?;
        match temporary.persist(&target) {
            Ok(_) => Ok(()),
            Err(error) => Err(ExportError::Keep { path: target, error: error.error }),
        }
    }
}

impl Write for ExportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

impl Seek for ExportFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.temporary.seek(to)
    }
}
