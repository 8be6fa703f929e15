//! What must not compile: main's things on another thread, and proofs that nobody gave.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

#[test]
fn the_wrong_thread_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
