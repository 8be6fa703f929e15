//! A panic as a value: what was thrown, in words. Does not print and does not abort.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What somebody panicked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct Panic {
    message: String,
}

impl Panic {
    /// The text of the panic.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Reads the text out of what `catch_unwind` returns.
    pub fn from_payload(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self { message: text.unwrap_or("a value that is no text").to_owned() }
    }
}

/// Runs `work` and returns its panic as an error.
///
/// What `work` had borrowed may be half changed after a panic; the caller must not trust it further.
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let panic = Panic::from_payload(&*payload);
        // A payload may panic in turn when it is dropped; that must not pass through here.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
        panic
    })
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_text() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| panic!("plain")).map(|()| 0).unwrap_err().message(), "plain");
        let number = 3;
        assert_eq!(caught(|| panic!("with {number}")).map(|()| 0).unwrap_err().message(), "with 3");
        let odd = caught(|| std::panic::panic_any(7_u8)).map(|()| 0).unwrap_err();
        assert_eq!(odd.to_string(), "panicked: a value that is no text");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("on drop");
            }
        }
        assert!(caught(|| std::panic::panic_any(Bomb)).map(|()| 0).is_err());
    }
}
