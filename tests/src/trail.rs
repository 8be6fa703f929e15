//! A trail of hashes: what a run leaves behind at every step, to be compared with that of another build or machine.

use std::fmt::Write as _;
use std::str::FromStr;

use anyhow::{Context as _, Result};
use downbeat_world::{Scene, component_hashes};

/// The schedule and state hashes after each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trail {
    /// One pair per step: schedule, state.
    pub hashes: Vec<(u64, u64)>,
}

impl Trail {
    /// Runs a scene and keeps its hashes.
    pub fn of(scene: &mut Scene, steps: u64) -> Result<Self> {
        let mut hashes = Vec::new();
        for _ in 0..steps {
            scene.run_steps(1)?;
            hashes.push((scene.time().schedule_hash(), scene.state_hashes().total));
        }
        Ok(Self { hashes })
    }

    /// The first step, counted from 1, at which two trails differ.
    pub fn first_difference(&self, other: &Self) -> Option<u64> {
        let at = self.hashes.iter().zip(&other.hashes).position(|(a, b)| a != b);
        let shorter = self.hashes.len().min(other.hashes.len());
        let lengths_differ = (self.hashes.len() != other.hashes.len()).then_some(shorter);
        at.or(lengths_differ).map(|at| at as u64 + 1)
    }

    /// One line per step.
    pub fn to_text(&self) -> String {
        self.hashes.iter().fold(String::new(), |mut text, (schedule, state)| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{schedule:016x} {state:016x}");
            text
        })
    }
}

impl FromStr for Trail {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let line = |line: &str| {
            let (schedule, state) =
                line.split_once(' ').with_context(|| format!("not two hashes: `{line}`"))?;
            Ok((u64::from_str_radix(schedule, 16)?, u64::from_str_radix(state, 16)?))
        };
        Ok(Self { hashes: text.lines().map(line).collect::<Result<_>>()? })
    }
}

/// After so many steps of a scene: one line per entity and component with its hash, to name a difference with.
pub fn rows_at(scene: &mut Scene, step: u64) -> Result<String> {
    scene.run_steps(step)?;
    let mut text = String::new();
    for (kind, entity, hash) in component_hashes(scene.world()) {
        let _ = writeln!(text, "the {} of {entity} {hash:016x}", kind.name());
    }
    for (name, hash) in scene.state_hashes().subsystems {
        let _ = writeln!(text, "subsystem `{name}` {hash:016x}");
    }
    Ok(text)
}
