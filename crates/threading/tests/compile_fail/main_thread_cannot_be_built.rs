//! Nobody makes a proof by hand.

use std::marker::PhantomData;

use downbeat_threading::MainThread;

fn main() {
    let _main = MainThread { not_send: PhantomData };
}
