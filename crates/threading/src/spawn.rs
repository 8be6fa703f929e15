//! The one way to start a thread: with a name, a role, and somebody who joins it.

use std::io;

use crate::panic::{Panic, caught};
use crate::role::{Role, RoleScope};
use crate::sync::thread;

/// The operating system cuts longer names.
pub const THREAD_NAME_LEN_MAX: usize = 15;

/// Starts a thread that holds `role` for as long as it runs.
///
/// ```
/// use downbeat_threading::{Role, roles, spawn};
///
/// let thread = spawn("adder", Role::Worker, || (roles().to_string(), 1 + 2))?;
/// assert_eq!(thread.join()?, ("Worker".to_owned(), 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn spawn<T: Send + 'static>(
    name: &str,
    role: Role,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Thread<T>, SpawnError> {
    if role == Role::Main {
        return Err(SpawnError::RoleIsMain);
    }
    if name.is_empty() || name.len() > THREAD_NAME_LEN_MAX || name.contains('\0') {
        return Err(SpawnError::Name { name: name.to_owned() });
    }
    let in_role = move || {
        let _role = RoleScope::grant(role);
        caught(work)
    };
    let handle = thread::start(name, in_role)
        .map_err(|source| SpawnError::System { name: name.to_owned(), source })?;
    Ok(Thread { name: name.to_owned(), handle: Some(handle) })
}

/// Why a thread was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The name would be cut by the operating system, or it refuses it.
    #[error("the thread name `{name}` must have 1 to {THREAD_NAME_LEN_MAX} bytes and no zero byte")]
    Name {
        /// What was asked for.
        name: String,
    },
    /// Main is not started but claimed.
    #[error("a new thread cannot be Main; claim it with `Boot::claim` on the thread that is")]
    RoleIsMain,
    /// The operating system has no more threads to give.
    #[error("the system did not start thread `{name}`: {source}; run fewer jobs at once")]
    System {
        /// The thread's name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A running thread. Dropping it waits for the thread's end.
#[derive(Debug)]
#[must_use = "dropping a thread waits for its end"]
pub struct Thread<T> {
    name: String,
    /// Empty once joined.
    handle: Option<thread::JoinHandle<Result<T, Panic>>>,
}

impl<T> Thread<T> {
    /// The name it was started with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for its end: what it returned, or what it panicked with.
    pub fn join(mut self) -> Result<T, Panic> {
        wait(self.handle.take().expect("only joining takes it out, and joining ends this"))
    }
}

impl<T> Drop for Thread<T> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        // A thread that drops its own handle cannot wait for itself. It is on its way out.
        if handle.thread().id() != thread::current().id() {
            let _ = wait(handle);
        }
    }
}

fn wait<T>(handle: thread::JoinHandle<Result<T, Panic>>) -> Result<T, Panic> {
    handle.join().unwrap_or_else(|payload| Err(Panic::from_payload(&*payload)))
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_panic_is_a_value() {
        let thread = spawn("panics", Role::Worker, || -> u8 { panic!("no luck") }).unwrap();
        assert_eq!(thread.join().unwrap_err().message(), "no luck");
    }

    #[test]
    fn dropping_waits_for_the_end() {
        let ended = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&ended);
        drop(spawn("slow", Role::Worker, move || {
            thread::yield_now();
            set.store(true, Ordering::Release);
        }));
        assert!(ended.load(Ordering::Acquire));
    }

    #[test]
    fn the_system_sees_the_name() {
        let named = spawn("named", Role::Rpc, || thread::current().name().map(str::to_owned)).unwrap();
        assert_eq!(named.join().unwrap().as_deref(), Some("named"));
    }

    #[test]
    fn bad_names_and_main_are_refused() {
        for name in ["", "sixteen bytes ab", "zero\0byte"] {
            assert!(matches!(spawn(name, Role::Worker, || ()), Err(SpawnError::Name { .. })), "{name:?}");
        }
        assert!(spawn("fifteen bytes a", Role::Worker, || ()).is_ok());
        assert!(matches!(spawn("main", Role::Main, || ()), Err(SpawnError::RoleIsMain)));
    }
}
