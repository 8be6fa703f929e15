//! The plain peer: a list of boxed closures in a loop, what one writes before one needs rates, phases or an order.
//!
//! It is the floor for anything that calls closures it does not know. It keeps no time and checks nothing.

use std::hint::black_box;

use downbeat_time::Clock;

use crate::ours::{STEP_NANOS, World};

pub(crate) const NAME: &str = "boxed closures";

pub(crate) type Callback = Box<dyn FnMut(&mut World, u64)>;

/// `count` closures that add the step's length to the world.
pub(crate) fn adders(count: usize) -> Vec<Callback> {
    let one = || -> Callback { Box::new(|world, dt| world.nanos += dt) };
    // Seen through, the list would be a loop over one known function.
    black_box((0..count).map(|_| one()).collect())
}

/// A loop over the closures: calls all of them `steps` times and returns what they have added to the world.
pub(crate) type Loop = fn(callbacks: &mut [Callback], world: &mut World, steps: u64) -> u64;

/// The same loop at two places. It is so short that where it lies in a cache line makes it a fifth slower or
/// faster; the better placed one counts.
pub(crate) const LOOPS: [Loop; 2] = [run::<1>, run::<2>];

#[inline(never)]
pub(crate) fn run<const COPY: u8>(callbacks: &mut [Callback], world: &mut World, steps: u64) -> u64 {
    // Without a difference the compiler would merge the copies.
    black_box(COPY);
    let (dt, before) = (black_box(STEP_NANOS), world.nanos);
    for _ in 0..steps {
        for callback in &mut *callbacks {
            callback(world, dt);
        }
    }
    world.nanos - before
}

/// The same with a clock read after every closure: the least that a profiler could cost.
pub(crate) fn run_timed(callbacks: &mut [Callback], world: &mut World, steps: u64) -> u64 {
    let (clock, dt, before) = (Clock::system(), black_box(STEP_NANOS), world.nanos);
    for _ in 0..steps {
        for callback in &mut *callbacks {
            callback(world, dt);
            black_box(clock.elapsed());
        }
    }
    world.nanos - before
}
