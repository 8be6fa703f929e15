//! The process that is killed: it gives numbered commands, steps in between, and acknowledges what is durable.
//!
//! It says `opening`, then `ready` with what it found, then `ack NUMBER POSITION` for each command, in order. A line is
//! one write to the pipe, so it is there whole or not at all.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, Result};
use downbeat_physics::registry;
use downbeat_world::{CommandError, Disk, Entry, History, LogError, Random, Scene, WorldCommand, WorldLog};

use super::{SCENE, command, number_of, settings};
use crate::shipped;

/// How many commands may wait for their acknowledgement.
const WAITING_MAX: usize = 12;
/// How many steps may lie between two commands; a snapshot is due after about a hundred.
const STEPS_MAX: u32 = 60;

/// What a writer does if nobody kills it.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    /// Decides the log's settings and what each command is, and is the same for all that write it.
    pub seed: u64,
    /// Decides how many steps lie between commands.
    pub life: u64,
    /// How many commands are given.
    pub commands: u64,
}

/// Goes on with the log in a folder, or starts one.
pub fn write(folder: &Path, script: Script) -> Result<()> {
    let Script { seed, life, commands } = script;
    say("opening")?;
    let (mut scene, ready) = open(folder, seed)?;
    let first = 1 + last_number(folder)?;
    say(&ready)?;
    let mut random = Random::new(life, "life");
    let mut waiting = VecDeque::new();
    for number in first..first + commands {
        give(&mut scene, &command(seed, number))?;
        let log = scene.log().context("the scene has lost its log")?;
        waiting.push_back((number, log.position()));
        if waiting.len() > WAITING_MAX || random.below(3) == 0 {
            log.wait(log.position())?;
        }
        acknowledge(&mut waiting, log.durable())?;
        scene.run_steps(u64::from(random.below(STEPS_MAX)))?;
    }
    scene.sync_log()?;
    acknowledge(&mut waiting, scene.log().map_or(0, WorldLog::durable))?;
    scene.close_log()?;
    Ok(())
}

/// Gives a command, again if the disk was too far behind for it.
fn give(scene: &mut Scene, command: &WorldCommand) -> Result<()> {
    loop {
        match scene.apply(command.clone()) {
            Err(CommandError::Log(LogError::Behind)) => scene.sync_log()?,
            given => return Ok(given.map(|_| ())?),
        }
    }
}

/// The scene, and the line that says how it came to be.
fn open(folder: &Path, seed: u64) -> Result<(Scene, String)> {
    match Scene::continue_log(folder, registry(), settings(seed)) {
        Ok((scene, recovery)) => Ok((scene, format!("ready {}", recovery.passed_over.len()))),
        // Killed before its first commit, a log has never begun.
        Err(LogError::Missing) => {
            let mut scene = shipped(SCENE)?;
            scene.start_log(folder, settings(seed))?;
            Ok((scene, "ready 0".to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The number of the last command. Fewer steps lie between two commands than between two snapshots, so what is kept of a
/// log always holds one.
fn last_number(folder: &Path) -> Result<u64> {
    let (disk, mut last) = (Disk::new(folder), 0);
    History::read(&disk)?.for_each_written(&disk, 0, |_, entry| {
        if let Entry::Command { command, .. } = entry {
            last = number_of(&command).unwrap_or(last);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(last)
}

fn acknowledge(waiting: &mut VecDeque<(u64, u64)>, durable: u64) -> Result<()> {
    while let Some((number, position)) = waiting.pop_front_if(|(_, position)| *position <= durable) {
        say(&format!("ack {number} {position}"))?;
    }
    Ok(())
}

/// One line, in one write.
fn say(line: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(format!("{line}\n").as_bytes())?;
    stdout.flush().context("nobody listens any more")
}
