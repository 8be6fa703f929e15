//! The timeline as JSON lines: one per step, in order, and a last one for the cycle.
//!
//! Lines are written as the steps are taken: a pipe that is closed early costs no more than it read. The cycle is
//! counted when all of them are out, because that may take a second.

use std::io::Write;

use downbeat_time::{Cycle, SimTime};
use serde::{Serialize, Serializer};

use super::steps::{Step, Walk, index};
use super::window::Window;
use crate::failure::Failure;
use crate::object;

#[derive(Serialize)]
struct StepLine<'a> {
    t_ns: u64,
    dt_ns: Deltas<'a>,
    fired: Fired<'a>,
    shared: bool,
}

/// The cycle, whatever the window: `null` where it does not fit in 64 bits or is too long to walk.
#[derive(Serialize)]
struct CycleLine {
    cycle_ns: Option<u64>,
    steps: Option<u64>,
    shared_steps: Option<u64>,
}

/// Names of runners by their place, and a step.
#[derive(Clone, Copy)]
struct Named<'a> {
    names: &'a [String],
    step: &'a Step,
}

/// An object: name of a runner that fired → length of its step.
struct Deltas<'a>(Named<'a>);

/// A list: names of the runners that fired.
struct Fired<'a>(Named<'a>);

impl Serialize for Deltas<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Named { names, step } = self.0;
        serializer.collect_map(step.firings().map(|(id, dt_nanos)| (&names[index(id)], dt_nanos)))
    }
}

impl Serialize for Fired<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Named { names, step } = self.0;
        serializer.collect_seq(step.firings().map(|(id, _)| &names[index(id)]))
    }
}

pub(super) fn write(out: &mut impl Write, mut walk: Walk, window: Window) -> Result<(), Failure> {
    let names: Vec<String> = walk.runners().map(|(_, config)| config.name.clone()).collect();
    let end = SimTime::from_nanos(window.end_nanos);
    while let Some(step) = walk.next_until(end).map_err(|error| Failure::Run(error.into()))? {
        let named = Named { names: &names, step: &step };
        let line = StepLine {
            t_ns: step.time_nanos,
            dt_ns: Deltas(named),
            fired: Fired(named),
            shared: step.fired.is_shared(),
        };
        object::write(out, &line).map_err(Failure::Output)?;
    }
    out.flush().map_err(Failure::Output)?;
    let Cycle { cycle_nanos: cycle_ns, steps, shared_steps, .. } = walk.cycle();
    object::write(out, &CycleLine { cycle_ns, steps, shared_steps }).map_err(Failure::Output)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use downbeat_time::RunnerConfig;

    /// Keeps what is written, and what of it was out at each flush.
    #[derive(Default)]
    struct Pipe {
        text: Vec<u8>,
        flushed: Vec<usize>,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.text.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.flushed.push(self.text.len());
            Ok(())
        }
    }

    #[test]
    fn all_steps_are_out_before_the_cycle_is_counted() {
        let walk = Walk::new(RunnerConfig::defaults()).unwrap();
        let mut pipe = Pipe::default();
        write(&mut pipe, walk, Window { end_nanos: 40_000_000 }).unwrap();
        let text = String::from_utf8(pipe.text).unwrap();
        let cycle = text.find(r#"{"cycle_ns""#).unwrap();
        assert_eq!((text.lines().count(), pipe.flushed), (4, vec![cycle]));
    }
}
