//! Nor does the boot go to another thread, where dropping it would take the role from the wrong one.

use downbeat_threading::{Boot, Role, spawn};

fn main() {
    let boot = Boot::claim().unwrap();
    let _thread = spawn("worker", Role::Worker, move || drop(boot));
}
