//! Roles: what the current thread may do. A role is held by a thread for a scope; it is not the thread itself.
//!
//! In the editor one thread is both Main and Render; in the runtime they are two. Code therefore never asks
//! "which thread is this" but "does this thread hold the role". Checks read one thread-local byte.
//!
//! The Main role is granted by [`Boot`](crate::Boot) alone.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use crate::sync;

/// What a thread may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Window, user interface, scene and asset changes.
    Main = 1,
    /// Everything that talks to the GPU.
    Render = 1 << 1,
    /// Long work: files, archives, network, computation.
    Worker = 1 << 2,
    /// Reports that a file has changed, and nothing else.
    FileWatch = 1 << 3,
    /// Serves remote calls from what the last steps have captured.
    Rpc = 1 << 4,
}

impl Role {
    const ALL: [Self; 5] = [Self::Main, Self::Render, Self::Worker, Self::FileWatch, Self::Rpc];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The roles of one thread at one moment.
///
/// ```
/// use downbeat_threading::{Role, RoleScope, roles};
///
/// assert_eq!(roles().to_string(), "no role");
/// let _render = RoleScope::enter(Role::Render);
/// assert!(roles().contains(Role::Render));
/// assert_eq!(roles().to_string(), "Render");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RoleSet(u8);

impl RoleSet {
    /// Whether the role is among them.
    #[inline]
    pub const fn contains(self, role: Role) -> bool {
        self.0 & role as u8 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        !Role::ALL.iter().any(|role| self.contains(*role))
    }
}

impl fmt::Display for RoleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no role");
        }
        let held: Vec<String> =
            Role::ALL.iter().filter(|role| self.contains(**role)).map(ToString::to_string).collect();
        f.write_str(&held.join(" + "))
    }
}

impl fmt::Debug for RoleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RoleSet({self})")
    }
}

/// Beside the roles in the same byte: the thread is inside a simulation step.
const IN_STEP: u8 = 1 << 7;

sync::local! {
    static HELD: Cell<u8> = Cell::new(0);
}

#[inline]
fn held() -> u8 {
    HELD.with(Cell::get)
}

/// Adds bits for a scope. Takes away what it added and no more, so scopes may end in any order.
struct Bits {
    added: u8,
    /// The byte belongs to the thread that set it.
    not_send: PhantomData<*mut ()>,
}

impl Bits {
    fn add(bits: u8) -> Self {
        let before = held();
        HELD.with(|held| held.set(before | bits));
        Self { added: bits & !before, not_send: PhantomData }
    }
}

impl Drop for Bits {
    fn drop(&mut self) {
        HELD.with(|held| held.set(held.get() & !self.added));
    }
}

/// The roles of the current thread.
#[inline]
pub fn roles() -> RoleSet {
    RoleSet(held() & !IN_STEP)
}

/// Whether the current thread is the main thread. False before [`Boot::claim`](crate::Boot::claim).
#[inline]
pub fn is_main_thread() -> bool {
    held() & Role::Main as u8 != 0
}

/// Whether the current thread may talk to the GPU. In the single-threaded policy that is the main thread.
#[inline]
pub fn is_render_thread() -> bool {
    held() & Role::Render as u8 != 0
}

/// Panics at the caller's line unless the current thread holds `role`.
///
/// ```should_panic
/// use downbeat_threading::{Role, assert_role};
///
/// assert_role(Role::Main); // needs the Main role, but this thread holds no role
/// ```
#[inline]
#[track_caller]
pub fn assert_role(role: Role) {
    if !roles().contains(role) {
        wrong_role("needs", role);
    }
}

/// Panics at the caller's line if the current thread holds `role`.
#[inline]
#[track_caller]
pub fn assert_not_role(role: Role) {
    if roles().contains(role) {
        wrong_role("must not hold", role);
    }
}

#[cold]
#[track_caller]
fn wrong_role(needs: &str, role: Role) -> ! {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    panic!("this call {needs} the {role} role, but thread `{name}` holds {}", roles());
}

/// Gives the current thread a role until it is dropped.
#[must_use = "the role ends when the scope is dropped"]
pub struct RoleScope {
    _bits: Bits,
}

impl RoleScope {
    /// Enters a role.
    ///
    /// # Panics
    ///
    /// For [`Role::Main`], which is claimed with [`Boot::claim`](crate::Boot::claim).
    #[track_caller]
    pub fn enter(role: Role) -> Self {
        assert!(role != Role::Main, "the Main role is claimed with `Boot::claim`, not entered");
        Self::grant(role)
    }

    pub(crate) fn grant(role: Role) -> Self {
        Self { _bits: Bits::add(role as u8) }
    }
}

impl fmt::Debug for RoleScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RoleScope({})", RoleSet(self._bits.added))
    }
}

/// Marks the current thread as inside a simulation step until it is dropped.
///
/// The user interface, pumping of the dispatcher and scene edits have no place there: they assert against it, so
/// that steps can move to a thread of their own one day.
///
/// ```
/// use downbeat_threading::{StepScope, is_in_step};
///
/// let step = StepScope::enter();
/// assert!(is_in_step());
/// drop(step);
/// assert!(!is_in_step());
/// ```
#[must_use = "the step ends when the scope is dropped"]
pub struct StepScope {
    _bits: Bits,
}

impl StepScope {
    /// Enters a step. Steps within a step are one step.
    pub fn enter() -> Self {
        Self { _bits: Bits::add(IN_STEP) }
    }
}

impl fmt::Debug for StepScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StepScope")
    }
}

/// Whether the current thread is inside a simulation step.
#[inline]
pub fn is_in_step() -> bool {
    held() & IN_STEP != 0
}

/// Panics at the caller's line when called inside a simulation step.
#[inline]
#[track_caller]
pub fn assert_outside_step() {
    assert!(!is_in_step(), "this call has no place inside a simulation step; do it between steps, on main");
}

#[cfg(all(test, not(any(downbeat_loom, downbeat_shuttle))))]
mod tests {
    use super::*;
    use crate::panic::caught;

    #[test]
    fn a_role_lasts_as_long_as_its_scope() {
        assert!(!is_render_thread());
        let render = RoleScope::enter(Role::Render);
        let worker = RoleScope::enter(Role::Worker);
        assert_eq!(roles().to_string(), "Render + Worker");
        drop(render);
        assert_eq!(roles().to_string(), "Worker", "scopes may end in any order");
        drop(worker);
        assert!(roles().is_empty());
    }

    #[test]
    fn an_inner_scope_of_the_same_role_takes_nothing_away() {
        let _outer = RoleScope::enter(Role::Render);
        drop(RoleScope::enter(Role::Render));
        assert!(is_render_thread());
    }

    #[test]
    fn a_failed_assertion_names_both_roles() {
        let _worker = RoleScope::enter(Role::Worker);
        let message = caught(|| assert_role(Role::Main)).unwrap_err().to_string();
        assert!(message.contains("needs the Main role"), "{message}");
        assert!(message.contains("holds Worker"), "{message}");
        let message = caught(|| assert_not_role(Role::Worker)).unwrap_err().to_string();
        assert!(message.contains("must not hold the Worker role"), "{message}");
        assert_role(Role::Worker);
        assert_not_role(Role::Main);
    }

    #[test]
    fn a_step_is_no_role() {
        let step = StepScope::enter();
        assert!(is_in_step() && roles().is_empty());
        assert!(caught(assert_outside_step).is_err());
        drop(step);
        assert_outside_step();
    }

    #[test]
    fn main_cannot_be_entered() {
        assert!(caught(|| RoleScope::enter(Role::Main)).is_err());
        assert!(!is_main_thread());
    }
}
