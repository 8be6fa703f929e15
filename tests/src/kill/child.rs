//! One life of the writing process: started, listened to, killed at a moment, and listened to until its pipe is empty.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use downbeat_threading::{Role, Thread, spawn};
use downbeat_time::Clock;
use downbeat_world::Random;

use super::writer::Script;

/// Lines that may wait for us. The process waits when they are more, as it would for a full pipe.
const LINES_MAX: usize = 64;
/// A process that says nothing for so long hangs.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// What a process is killed after.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moment {
    /// So long after it was started.
    Started(Duration),
    /// So long after its first line: it opens its log.
    Opening(Duration),
    /// So long after so many lines.
    Lines(u32, Duration),
}

/// What came of a life.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// The lines that it said, all of them whole.
    pub(super) opened: bool,
    /// It had its log, and so many snapshots were passed over for that.
    pub(super) ready: Option<u64>,
    /// What it acknowledged: numbers and positions.
    pub(super) acks: Vec<(u64, u64)>,
    /// Whether it came to its end before it was killed.
    pub(super) ended: bool,
}

impl Moment {
    /// A moment; a log that is not there yet is more often killed before it is.
    pub(super) fn random(random: &mut Random, is_new: bool) -> Self {
        let mut within = |micros| Duration::from_micros(u64::from(random.below(micros)));
        let (long, middling, short) = (within(30_000), within(10_000), within(3_000));
        let at_once = within(800);
        match random.below(if is_new { 4 } else { 9 }) {
            0 => Self::Started(at_once),
            1 => Self::Opening(short),
            2 => Self::Opening(middling),
            3 => Self::Started(long),
            4 => Self::Lines(2, long),
            5 => Self::Lines(2 + random.below(5), short),
            6 => Self::Lines(2 + random.below(9), at_once),
            _ => Self::Lines(2 + random.below(40), short),
        }
    }

    /// How many lines come first, and how long to wait then.
    fn parts(self) -> (u32, Duration) {
        match self {
            Self::Started(after) => (0, after),
            Self::Opening(after) => (1, after),
            Self::Lines(lines, after) => (lines, after),
        }
    }
}

/// Starts the writer, kills it at that moment and returns all that it had said by then.
pub(super) fn live_and_die(program: &Path, folder: &Path, script: Script, moment: Moment) -> Result<Life> {
    let Script { seed, life, commands } = script;
    let mut child = Command::new(program)
        .arg("write")
        .arg(folder)
        .args([seed, life, commands].map(|number| number.to_string()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let pipe = child.stdout.take().context("the process has no pipe")?;
    let (lines, reader) = listen(pipe)?;
    let mut life = Life::default();
    let heard = life.hear_until(&lines, moment);
    // Whatever came of listening, the process must not outlive its round.
    let killed = kill(&mut child);
    heard?;
    life.ended = killed?;
    // What was said before the kill counts, also what we had not read yet.
    for line in &lines {
        life.hear(&line)?;
    }
    reader.join().map_err(|panic| anyhow::anyhow!("the reader panicked: {panic}"))?;
    Ok(life)
}

/// Reads lines on a thread of its own, because a pipe cannot be read with a deadline.
fn listen(pipe: ChildStdout) -> Result<(Receiver<String>, Thread<()>)> {
    let (sender, lines) = bounded(LINES_MAX);
    let reader = spawn("kill listener", Role::Worker, move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        while pipe.read_line(&mut line).is_ok_and(|len| len > 0) {
            // A line without an end was never said.
            if line.pop() != Some('\n') || sender.send(std::mem::take(&mut line)).is_err() {
                break;
            }
        }
    })?;
    Ok((lines, reader))
}

/// Returns whether it had ended by itself, in order.
fn kill(child: &mut Child) -> Result<bool> {
    // `SIGKILL` on Unix: it cannot be caught, and nothing is cleaned up.
    child.kill().context("cannot kill the process")?;
    let status = child.wait().context("cannot wait for the process")?;
    if let Some(code) = status.code() {
        ensure!(code == 0, "the writer failed by itself with {code}; its error is above");
    }
    Ok(status.success())
}

impl Life {
    fn hear_until(&mut self, lines: &Receiver<String>, moment: Moment) -> Result<()> {
        let (count, after) = moment.parts();
        for _ in 0..count {
            match lines.recv_timeout(SILENCE_MAX) {
                Ok(line) => self.hear(&line)?,
                Err(RecvTimeoutError::Timeout) => bail!("the writer has said nothing for {SILENCE_MAX:?}"),
                // It has ended by itself.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        let clock = Clock::system();
        while let Ok(line) = lines.recv_timeout(after.saturating_sub(clock.elapsed())) {
            self.hear(&line)?;
        }
        Ok(())
    }

    fn hear(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["opening"] => self.opened = true,
            ["ready", passed_over] => self.ready = Some(passed_over.parse()?),
            ["ack", number, position] => self.acks.push((number.parse()?, position.parse()?)),
            _ => bail!("the writer said `{line}`, which nobody understands"),
        }
        Ok(())
    }
}
