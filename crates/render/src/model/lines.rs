//! The lines of a text format, numbered, for OBJ, MTL and ASCII STL. Knows no format.

use std::borrow::Cow;

use glam::Vec3;

use super::ModelError;
use super::reading::shortened;

pub(super) struct Line<'a> {
    file: &'a str,
    number: usize,
    text: Cow<'a, str>,
}

/// The lines that are not blank. Names may be in any encoding; what is not UTF-8 is replaced.
pub(super) fn lines<'a>(file: &'a str, bytes: &'a [u8]) -> impl Iterator<Item = Line<'a>> {
    let numbered = bytes.split(|byte| *byte == b'\n').zip(1..);
    let filled =
        numbered.map(|(line, number)| (line.trim_ascii(), number)).filter(|(line, _)| !line.is_empty());
    filled.map(move |(line, number)| Line { file, number, text: String::from_utf8_lossy(line) })
}

impl Line<'_> {
    /// The first word.
    pub(super) fn keyword(&self) -> &str {
        self.text.split_ascii_whitespace().next().unwrap_or_default()
    }

    /// All words after the first.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_ascii_whitespace().skip(1)
    }

    /// What comes after the first word: a name, which may have spaces.
    pub(super) fn rest(&self) -> &str {
        self.text[self.keyword().len()..].trim_ascii()
    }

    /// The next word as a number, which must be finite.
    pub(super) fn number<'w>(&self, words: &mut impl Iterator<Item = &'w str>) -> Result<f32, ModelError> {
        let word = words.next().ok_or_else(|| self.malformed("a number is missing"))?;
        match word.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.malformed(format!("`{}` is no finite number", shortened(word)))),
        }
    }

    /// The first three words after the keyword as numbers.
    pub(super) fn vector(&self) -> Result<Vec3, ModelError> {
        let mut words = self.words();
        Ok(Vec3::new(self.number(&mut words)?, self.number(&mut words)?, self.number(&mut words)?))
    }

    pub(super) fn malformed(&self, what: impl AsRef<str>) -> ModelError {
        let what = format!("line {}: {}", self.number, what.as_ref());
        ModelError::Malformed { file: self.file.to_owned(), what }
    }

    /// The line, as a message may show it.
    pub(super) fn shown(&self) -> String {
        shortened(&self.text)
    }
}
