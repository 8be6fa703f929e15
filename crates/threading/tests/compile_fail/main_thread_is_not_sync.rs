//! Nor can another thread look at it where it is.

use downbeat_threading::MainThread;

fn shared<T: Sync>() {}

fn main() {
    shared::<MainThread>();
}
