//! Claiming the main thread, and the token that proves it.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::role::{Role, RoleScope, is_main_thread};

/// Whether some thread of the process is main. Not part of any model: it is swapped once per boot.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Holds the Main role for the thread that booted, until it is dropped. One at a time per process.
///
/// ```
/// use downbeat_threading::{Boot, is_main_thread};
///
/// assert!(!is_main_thread(), "nobody is main before boot");
/// let boot = Boot::claim()?;
/// assert!(is_main_thread());
/// assert!(Boot::claim().is_err(), "there is one main thread");
/// drop(boot);
/// let again = Boot::claim()?; // a process may boot and shut down as often as it likes
/// # Ok::<(), downbeat_threading::AlreadyBooted>(())
/// ```
#[derive(Debug)]
#[must_use = "the thread stops being main when this is dropped"]
pub struct Boot {
    _role: RoleScope,
}

impl Boot {
    /// Makes the current thread the main thread.
    pub fn claim() -> Result<Self, AlreadyBooted> {
        if CLAIMED.swap(true, Ordering::Acquire) {
            return Err(AlreadyBooted);
        }
        Ok(Self { _role: RoleScope::grant(Role::Main) })
    }

    /// The proof that this is the main thread.
    pub fn main(&self) -> MainThread {
        MainThread { not_send: PhantomData }
    }
}

impl Drop for Boot {
    fn drop(&mut self) {
        // The role itself goes with the field, a moment later and on this same thread.
        CLAIMED.store(false, Ordering::Release);
    }
}

/// There is a main thread already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a thread of this process is main already; drop its `Boot` before booting again")]
pub struct AlreadyBooted;

/// Proof that the current thread is main: zero bytes, and it cannot leave the thread.
///
/// Functions that only main may call take one, so that calling them elsewhere does not compile:
///
/// ```compile_fail
/// use downbeat_threading::{Boot, MainThread, Role, spawn};
///
/// fn set_title(_: MainThread, title: &str) {}
///
/// let boot = Boot::claim().unwrap();
/// let main = boot.main();
/// spawn("worker", Role::Worker, move || set_title(main, "Arm")); // error: cannot be sent between threads
/// ```
///
/// It is as good as its [`Boot`]: keep it no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MainThread {
    not_send: PhantomData<*mut ()>,
}

impl MainThread {
    /// The proof, if the current thread is main; for code that is called from many places.
    ///
    /// ```
    /// use downbeat_threading::{Boot, MainThread};
    ///
    /// assert_eq!(MainThread::current(), None);
    /// let boot = Boot::claim()?;
    /// assert_eq!(MainThread::current(), Some(boot.main()));
    /// # Ok::<(), downbeat_threading::AlreadyBooted>(())
    /// ```
    pub fn current() -> Option<Self> {
        is_main_thread().then_some(Self { not_send: PhantomData })
    }
}
