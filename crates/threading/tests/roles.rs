//! A wrong role is reported at the line that was wrong. One test, because it borrows the process's panic hook.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

use std::panic::{set_hook, take_hook};

use downbeat_threading::sync::Mutex;
use downbeat_threading::{
    Role, RoleScope, StepScope, assert_not_role, assert_outside_step, assert_role, caught,
};

/// Line and file of the last panic.
static PANICKED_AT: Mutex<(u32, String)> = Mutex::new((0, String::new()));

/// The message of the panic of `check`, which must happen at `line` of this file.
fn panic_at(line: u32, check: impl FnOnce()) -> String {
    let before = take_hook();
    set_hook(Box::new(|info| {
        let at = info.location().expect("every panic has a place");
        *PANICKED_AT.lock() = (at.line(), at.file().to_owned());
    }));
    let panic = caught(check);
    set_hook(before);
    let (at, file) = PANICKED_AT.lock().clone();
    assert!(file.ends_with("tests/roles.rs") && at == line, "{file}:{at}, not line {line}");
    panic.expect_err("a panic").message().to_owned()
}

#[test]
fn a_wrong_role_panics_at_the_callers_line_and_names_both_roles() {
    let message = panic_at(line!(), || assert_role(Role::Main));
    assert!(message.contains("needs the Main role") && message.contains("holds no role"), "{message}");
    let _worker = RoleScope::enter(Role::Worker);
    let message = panic_at(line!(), || assert_role(Role::Render));
    assert!(message.contains("needs the Render role") && message.contains("holds Worker"), "{message}");
    let message = panic_at(line!(), || assert_not_role(Role::Worker));
    assert!(message.contains("must not hold the Worker role"), "{message}");
    let _step = StepScope::enter();
    let message = panic_at(line!(), || assert_outside_step());
    assert!(message.contains("inside a simulation step"), "{message}");
}
