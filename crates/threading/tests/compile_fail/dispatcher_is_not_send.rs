//! Tasks for main are run on main: the end that runs them stays there.

use std::time::Duration;

use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher, Role, spawn};

fn main() {
    let boot = Boot::claim().unwrap();
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let _thread = spawn("worker", Role::Worker, move || dispatcher.process_pending(Duration::ZERO));
}
