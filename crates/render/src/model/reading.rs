//! One file being read: what it may still take, the parts found so far, and the files beside it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path};

use super::part::RawPart;
use super::{Model, ModelError, ModelLimits, ModelPart};

pub(super) struct Reading<'a> {
    file: String,
    /// Where it may look for other files. Without one it may not.
    folder: Option<&'a Path>,
    limits: &'a ModelLimits,
    bytes: u64,
    vertices: u64,
    triangles: u64,
    parts: Vec<ModelPart>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(file: String, folder: Option<&'a Path>, limits: &'a ModelLimits) -> Self {
        Self { file, folder, limits, bytes: 0, vertices: 0, triangles: 0, parts: Vec::new() }
    }

    pub(super) fn file_name(&self) -> &str {
        &self.file
    }

    pub(super) fn limits(&self) -> &'a ModelLimits {
        self.limits
    }

    /// What a part is called that has no name of its own.
    pub(super) fn default_name(&self) -> String {
        let stem = Path::new(&self.file).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// The bytes of a file, as long as the limit allows. Its length is not believed: it may be a pipe or still grow.
    pub(super) fn file(&mut self, path: &Path) -> Result<Vec<u8>, ModelError> {
        let allowed = self.limits.bytes_max - self.bytes;
        let mut bytes = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(allowed.saturating_add(1)).read_to_end(&mut bytes));
        match read {
            Ok(_) => self.count_bytes(bytes.len() as u64).map(|()| bytes),
            Err(source) => Err(ModelError::Unreadable { file: path.display().to_string(), source }),
        }
    }

    /// The bytes of a file that the model refers to, and its name for messages. The name comes from the model and may
    /// not lead out of its folder.
    pub(super) fn file_beside(&mut self, target: &str) -> Result<(String, Vec<u8>), ModelError> {
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        let relative = Path::new(target);
        match self.folder {
            Some(folder) if !target.is_empty() && relative.components().all(inside) => {
                let path = folder.join(relative);
                Ok((path.display().to_string(), self.file(&path)?))
            }
            _ => Err(ModelError::OutOfReach { file: self.file.clone(), target: shortened(target) }),
        }
    }

    pub(super) fn count_bytes(&mut self, len: u64) -> Result<(), ModelError> {
        self.bytes = self.within("bytes", self.bytes + len, self.limits.bytes_max)?;
        Ok(())
    }

    /// Takes a part in, unless nothing of it is left to draw.
    pub(super) fn add(&mut self, raw: RawPart) -> Result<(), ModelError> {
        let (name, material) = (raw.name.clone(), raw.material);
        // Before the mesh is built: computed normals give every triangle its own corners.
        let triangles = raw.indices.len() as u64 / 3;
        self.within("triangles", self.triangles + triangles, self.limits.triangles_max)?;
        let mesh = raw.into_mesh().map_err(|what| self.malformed(what))?;
        if mesh.indices.is_empty() {
            return Ok(());
        }
        self.triangles += mesh.indices.len() as u64 / 3;
        self.vertices =
            self.within("vertices", self.vertices + mesh.vertices.len() as u64, self.limits.vertices_max)?;
        self.within("parts", self.parts.len() as u64 + 1, self.limits.parts_max)?;
        self.parts.push(ModelPart { name, mesh, material });
        Ok(())
    }

    pub(super) fn into_model(self) -> Result<Model, ModelError> {
        if self.parts.is_empty() {
            return Err(ModelError::Empty { file: self.file });
        }
        Ok(Model { parts: self.parts })
    }

    /// The count, if it is within the limit.
    pub(super) fn within(&self, what: &'static str, count: u64, max: u64) -> Result<u64, ModelError> {
        if count > max {
            return Err(ModelError::OverLimit { file: self.file.clone(), what, max });
        }
        Ok(count)
    }

    /// Triangles that a part under construction has on top of those already taken in.
    pub(super) fn check_triangles(&self, more: usize) -> Result<(), ModelError> {
        self.within("triangles", self.triangles + more as u64, self.limits.triangles_max).map(drop)
    }

    pub(super) fn malformed(&self, what: impl Into<String>) -> ModelError {
        ModelError::Malformed { file: self.file.clone(), what: what.into() }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> ModelError {
        ModelError::Unsupported { file: self.file.clone(), what: what.into() }
    }
}

/// Text from a file, short enough for a message and without what a terminal would act on.
pub(super) fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let mut short = String::new();
    for letter in text.chars().take(CHARS_MAX) {
        match letter.is_control() {
            true => short.extend(letter.escape_default()),
            false => short.push(letter),
        }
    }
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}
