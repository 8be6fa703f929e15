//! The schedule hash: what ran when, in 64 bits, folded in once per step.
//!
//! It detects differences between runs; it does not resist someone who forges one.

/// Two multiplications per step keep this cheap enough to be always on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScheduleHash(u64);

/// An odd constant with well-spread bits (the fraction of the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl ScheduleHash {
    pub(crate) const START: Self = Self(SPREAD);

    /// Stands for a callback that panicked: it is not known which.
    pub(crate) const PANICKED: u64 = u64::MAX;

    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn fold(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(29) ^ value).wrapping_mul(SPREAD);
    }

    /// The hash with its bits stirred once more, so that the last values folded reach every bit.
    pub(crate) const fn finish(self) -> u64 {
        let stirred = (self.0 ^ self.0 >> 32).wrapping_mul(SPREAD);
        stirred ^ stirred >> 29
    }
}

/// A hash of a text, the same on every machine and in every build.
pub(crate) fn of_text(text: &str) -> u64 {
    let mut hash = ScheduleHash::START;
    hash.fold(text.len() as u64);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash.fold(u64::from_le_bytes(word));
    }
    hash.finish()
}

/// The finalised mix of two numbers, used to shuffle ties by a seed.
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let mut hash = ScheduleHash(a ^ SPREAD);
    hash.fold(b);
    hash.fold(a);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_length_matter() {
        let fold = |values: &[u64]| {
            let mut hash = ScheduleHash::START;
            values.iter().for_each(|&value| hash.fold(value));
            hash.finish()
        };
        assert_ne!(fold(&[1, 2]), fold(&[2, 1]));
        assert_ne!(fold(&[0]), fold(&[0, 0]));
        assert_ne!(of_text("a"), of_text("a\0"));
        assert_ne!(of_text("abcdefgh1"), of_text("abcdefgh2"));
    }

    #[test]
    fn the_hash_is_the_same_in_every_build() {
        assert_eq!(of_text("Robot"), 16_946_890_630_859_031_196);
    }
}
