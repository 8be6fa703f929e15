//! What a task takes along to main must be able to make the journey.

use std::rc::Rc;

use downbeat_threading::MainThreadHandle;

fn send(handle: &MainThreadHandle) {
    let count = Rc::new(1);
    let _ = handle.execute_async(move |_main| drop(count));
}

fn main() {}
