//! What the commands of the figures carry: words from memory that the compiler does not know. Measures nothing.

use std::hint::black_box;

/// Captures of `WORDS` words, eight bytes each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Captures<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Captures<WORDS> {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|index| index as u64 + 1))
    }

    /// A copy from memory, as a command gets what it carries from whoever sends it.
    #[inline]
    pub(crate) fn copied(&self) -> Self {
        *black_box(self)
    }

    /// Uses every word, and differently for each kind of command: otherwise the compiler would merge the kinds.
    #[inline]
    pub(crate) fn sum<const KIND: u64>(&self) -> u64 {
        self.0.iter().fold(KIND, |sum, word| sum.wrapping_add(*word))
    }
}
