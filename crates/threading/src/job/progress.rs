//! How far a job is.

/// Longer texts are cut: they are shown in one line.
const TEXT_CHARS_MAX: usize = 200;

/// How far a job is and what it is doing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// From 0 to 1; never goes back.
    pub fraction: f32,
    /// What it is doing, in a few words.
    pub text: String,
}

impl Progress {
    /// A fraction that lies behind, or is no number, leaves the fraction as it is.
    pub(super) fn advance(&mut self, fraction: f32, text: &str) {
        // `max` ignores what is not a number.
        self.fraction = self.fraction.max(fraction).min(1.0);
        self.text.clear();
        self.text.extend(text.chars().take(TEXT_CHARS_MAX));
    }
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_fraction_stays_in_range_and_never_goes_back() {
        let mut progress = Progress::default();
        let fractions = [0.25, 0.1, f32::NAN, -1.0, 0.5, f32::INFINITY, 0.75].map(|fraction| {
            progress.advance(fraction, "working");
            (progress.fraction * 100.0) as u32
        });
        assert_eq!(fractions, [25, 25, 25, 25, 50, 100, 100]);
        assert_eq!(progress.text, "working");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let mut progress = Progress::default();
        progress.advance(0.0, &"ü".repeat(1000));
        assert_eq!(progress.text, "ü".repeat(TEXT_CHARS_MAX));
    }
}
