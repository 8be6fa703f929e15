//! A job's result is main's to take.

use downbeat_threading::{Job, Stopped};

fn poll(job: &mut Job<u32, Stopped>) {
    let _outcome = job.take_result();
}

fn main() {}
