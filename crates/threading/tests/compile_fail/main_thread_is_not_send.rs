//! The proof of being main cannot go to another thread.

use downbeat_threading::{Boot, MainThread, Role, spawn};

fn set_title(_main: MainThread, _title: &str) {}

fn main() {
    let boot = Boot::claim().unwrap();
    let main = boot.main();
    let _thread = spawn("worker", Role::Worker, move || set_title(main, "Arm"));
}
