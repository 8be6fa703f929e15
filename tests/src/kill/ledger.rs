//! What a log must hold, kept outside of it: every command that was acknowledged or found, with its position.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use downbeat_physics::registry;
use downbeat_world::{Disk, Entry, History, LogError, Player};

use super::{command, number_of, settings};

/// The commands of one log, as far as they are known to be there.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The position of every command that was found, by number.
    positions: BTreeMap<u64, u64>,
    /// The number of the last one.
    last: u64,
}

/// What a log was found to be.
#[derive(Debug)]
pub(super) struct Found {
    /// What it holds.
    pub(super) history: History,
    /// Commands that were there and had not been acknowledged.
    pub(super) unacknowledged: u64,
    /// Steps that were run again.
    pub(super) steps: u64,
}

impl Ledger {
    /// Holds a log against what was known of it and what was acknowledged since. `None` when there is none, which is
    /// right for as long as nothing was acknowledged.
    pub(super) fn check(&mut self, folder: &Path, seed: u64, acks: &[(u64, u64)]) -> Result<Option<Found>> {
        let disk = Disk::new(folder);
        // A writer goes on behind the last command that it found, and acknowledges in order.
        for ((number, _), expected) in acks.iter().zip(self.last + 1..) {
            ensure!(*number == expected, "command {number} was acknowledged when {expected} was due");
        }
        if !folder.is_dir() || matches!(History::read(&disk), Err(LogError::Missing)) {
            ensure!(self.last == 0 && acks.is_empty(), "the log is gone, with all {} commands", self.last);
            return Ok(None);
        }
        let history = History::read(&disk).context("a kill has made the log unreadable")?;
        let acknowledged = acks.last().map_or(self.last, |(number, _)| *number);
        self.compare(
            &commands(&history, &disk, seed)?,
            acks,
            settings(seed).layout.snapshots_kept.is_none(),
        )?;
        let unacknowledged = self.last - acknowledged;
        let steps = replay(folder)?;
        Ok(Some(Found { history, unacknowledged, steps }))
    }

    /// What is in the log must go on, without a gap, where it went on before, and hold what was acknowledged. What is
    /// missing before its first command was deleted with the segments before an old snapshot.
    fn compare(&mut self, found: &[(u64, u64)], acks: &[(u64, u64)], keeps_all: bool) -> Result<()> {
        let first = found.first().map_or(1, |(number, _)| *number);
        let last = found.last().map_or(0, |(number, _)| *number);
        ensure!(!keeps_all || first == 1, "the first command is {first}, and nothing may be deleted");
        for ((number, _), expected) in found.iter().zip(first..) {
            ensure!(*number == expected, "command {number} stands where {expected} should");
        }
        ensure!(last >= self.last, "the log ends at command {last}, and it had {}", self.last);
        self.last = last;
        for (number, position) in found {
            let before = self.positions.insert(*number, *position).unwrap_or(*position);
            ensure!(before == *position, "command {number} has moved from {before} to {position}");
        }
        for (number, position) in acks {
            ensure!(*number <= last, "command {number} was acknowledged at position {position} and is lost");
            let there = self.positions.get(number).copied().unwrap_or(*position);
            ensure!(
                there == *position,
                "command {number} was acknowledged at position {position} and stands at {there}"
            );
        }
        Ok(())
    }
}

/// The commands in a log, by number and position. Each must be the one that was given under its number.
fn commands(history: &History, disk: &Disk, seed: u64) -> Result<Vec<(u64, u64)>> {
    let (mut found, mut foreign) = (Vec::new(), None);
    history.for_each_written(disk, 0, |position, entry| {
        if let Entry::Command { command: there, .. } = entry {
            match number_of(&there).filter(|number| command(seed, *number) == there) {
                Some(number) => found.push((number, position)),
                None => foreign = Some(position),
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    ensure!(foreign.is_none(), "the command at position {foreign:?} was never given");
    Ok(found)
}

/// Runs the log from the oldest snapshot to its end and compares every hash. Returns how many steps that were.
fn replay(folder: &Path) -> Result<u64> {
    let mut player = Player::open(folder, registry())?;
    let mut steps = 0;
    player.verify(|_| steps += 1)?;
    let (first, last) = (player.history().snapshots[0].step, player.history().step);
    ensure!(steps == last - first, "{steps} steps were replayed of {first} to {last}");
    Ok(steps)
}
