//! How a window's surface stands between frames: what each attempt to show a picture means for the next.
//! Decides only; the window acts.

/// Failures in a row after which the window's surface counts as lost.
const FAILURES_MAX: u32 = 3;

/// What became of an attempt to show a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    Good,
    /// Shown, but the surface does not quite fit the window.
    Suboptimal,
    /// There is no image for now: the window is hidden, or the screen is slow.
    Hidden,
    /// The surface has changed.
    Outdated,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Shown,
    /// With a new configuration.
    Again,
    Skip,
    GiveUp,
}

/// What is known of a surface between frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// Whether it must be configured before it is used.
    pub(super) stale: bool,
    /// Whether it has given no image since it was configured: to configure it again would not help.
    fresh: bool,
    failures: u32,
}

impl Default for Standing {
    fn default() -> Self {
        Self { stale: true, fresh: false, failures: 0 }
    }
}

impl Standing {
    pub(super) fn configured(&mut self) {
        (self.stale, self.fresh) = (false, true);
    }

    /// What to do about an attempt. `Again` never comes twice in a row: a fresh surface that is outdated can wait.
    pub(super) fn judge(&mut self, attempt: Attempt) -> Verdict {
        let fresh = self.fresh;
        match attempt {
            Attempt::Good | Attempt::Suboptimal => {
                // The size that makes it fit may be on its way; a surface that never fits is not configured forever.
                *self = Self { stale: attempt == Attempt::Suboptimal && !fresh, fresh: false, failures: 0 };
                Verdict::Shown
            }
            Attempt::Hidden => Verdict::Skip,
            Attempt::Outdated => {
                self.stale = true;
                if fresh { Verdict::Skip } else { Verdict::Again }
            }
            Attempt::Failed => {
                self.stale = true;
                self.failures += 1;
                if self.failures < FAILURES_MAX { Verdict::Skip } else { Verdict::GiveUp }
            }
        }
    }
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    /// A surface that has shown a picture.
    fn settled() -> Standing {
        let mut standing = Standing::default();
        assert!(standing.stale, "a new surface is configured first");
        standing.configured();
        assert_eq!(standing.judge(Attempt::Good), Verdict::Shown);
        standing
    }

    #[test]
    fn an_outdated_surface_is_configured_once_and_asked_again() {
        let mut standing = settled();
        assert_eq!(standing.judge(Attempt::Outdated), Verdict::Again);
        assert!(standing.stale);
        standing.configured();
        assert_eq!(standing.judge(Attempt::Outdated), Verdict::Skip, "the frame is not worth a loop");
        assert!(standing.stale, "the next frame tries again");
    }

    #[test]
    fn a_suboptimal_picture_is_shown_and_the_surface_configured_once() {
        let mut standing = settled();
        assert_eq!(standing.judge(Attempt::Suboptimal), Verdict::Shown);
        assert!(standing.stale);
        standing.configured();
        assert_eq!(standing.judge(Attempt::Suboptimal), Verdict::Shown);
        assert!(!standing.stale, "configuring did not help");
    }

    #[test]
    fn a_hidden_window_costs_its_frames_and_nothing_else() {
        let mut standing = settled();
        for _ in 0..100 {
            assert_eq!(standing.judge(Attempt::Hidden), Verdict::Skip);
        }
        assert_eq!(standing, settled());
    }

    #[test]
    fn failures_in_a_row_lose_the_surface_and_single_ones_do_not() {
        let mut standing = settled();
        for _ in 0..10 {
            assert_eq!(standing.judge(Attempt::Failed), Verdict::Skip);
            assert!(standing.stale);
            standing.configured();
            assert_eq!(standing.judge(Attempt::Good), Verdict::Shown);
        }
        let verdicts: Vec<Verdict> = (0..FAILURES_MAX).map(|_| standing.judge(Attempt::Failed)).collect();
        assert_eq!(verdicts, [Verdict::Skip, Verdict::Skip, Verdict::GiveUp]);
    }
}
