//! Rounds: one kill and one check of the log each, many in the same folder, so that what one leaves is what the next
//! one recovers.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use downbeat_world::Random;

use super::child::{Life, Moment, live_and_die};
use super::ledger::{Found, Ledger};
use super::writer::Script;

/// How many rounds share a folder at most. More would make every replay longer without any new moment to be killed at.
const FOLDER_ROUNDS_MAX: u32 = 30;
/// How many commands a process gives that nobody kills.
const COMMANDS_MAX: u32 = 60;

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many processes are killed.
    pub rounds: u64,
    /// What decides the moments. They still differ from run to run, because processes are not equally fast.
    pub seed: u64,
    /// The program that writes when it is called with `write`.
    pub program: PathBuf,
    /// Where the logs go. Only that of a failure is kept.
    pub folder: PathBuf,
}

/// What the rounds came to.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Rounds done.
    pub rounds: u64,
    /// Killed before they had said anything.
    pub unborn: u64,
    /// Killed while the log's first commit was being written.
    pub before_first_commit: u64,
    /// Killed while the log was being recovered.
    pub in_recovery: u64,
    /// Killed while they were running.
    pub running: u64,
    /// Came to their end before they were killed.
    pub ended: u64,
    /// Commands that were acknowledged.
    pub acks: u64,
    /// Commands that were on the disk before anybody was told.
    pub unacknowledged: u64,
    /// Logs that ended in the middle of a commit.
    pub torn: u64,
    /// Logs with files that had not got their names yet.
    pub unfinished: u64,
    /// Segments that were written.
    pub segments: u64,
    /// Snapshots that could not be used and were passed over.
    pub passed_over: u64,
    /// Steps that were run again, with every hash compared.
    pub replayed: u64,
}

/// Kills so many processes; `each` is told after every round. The first thing that is wrong ends it.
pub fn rounds(plan: &Plan, mut each: impl FnMut(&Totals)) -> Result<Totals> {
    let mut totals = Totals::default();
    let mut random = Random::new(plan.seed, "rounds");
    while totals.rounds < plan.rounds {
        let log = tempfile::Builder::new().prefix("log-").tempdir_in(&plan.folder)?;
        // A log makes its own folder, and a kill may come before it has.
        let (folder, seed) = (log.path().join("log"), random.bits() >> 16);
        let (mut ledger, mut segments) = (Ledger::default(), 0);
        let count = u64::from(2 + random.below(FOLDER_ROUNDS_MAX - 1));
        for _ in 0..count.min(plan.rounds - totals.rounds) {
            let is_new = !has(&folder, ".log");
            let (life, commands) = (random.bits() >> 16, u64::from(1 + random.below(COMMANDS_MAX)));
            let script = Script { seed, life, commands };
            let moment = Moment::random(&mut random, is_new);
            let round = Round { program: &plan.program, folder: &folder, is_new, script, moment };
            match round.run(&mut ledger, &mut totals) {
                Ok(newest) => segments = newest.max(segments),
                Err(error) => {
                    let (number, kept) = (totals.rounds + 1, log.keep());
                    let what = format!("round {number} of seed {}, {round:?}", plan.seed);
                    return Err(error.context(format!("{what}; the log is kept in {}", kept.display())));
                }
            }
            each(&totals);
        }
        totals.segments += segments;
    }
    Ok(totals)
}

/// One life and what it leaves.
#[derive(Debug)]
struct Round<'a> {
    program: &'a Path,
    folder: &'a Path,
    /// There is no log in it yet.
    is_new: bool,
    script: Script,
    moment: Moment,
}

impl Round<'_> {
    /// Returns the number of the newest segment.
    fn run(&self, ledger: &mut Ledger, totals: &mut Totals) -> Result<u64> {
        let life = live_and_die(self.program, self.folder, self.script, self.moment)?;
        let found = ledger.check(self.folder, self.script.seed, &life.acks)?;
        totals.count(&life, self.is_new);
        totals.unfinished += u64::from(has(self.folder, ".part"));
        Ok(found.map_or(0, |found| totals.count_found(&found)))
    }
}

/// Whether a folder has a file whose name ends like this.
fn has(folder: &Path, end: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).any(|name| name.ends_with(end))
}

impl Totals {
    fn count(&mut self, life: &Life, is_new: bool) {
        self.rounds += 1;
        self.acks += life.acks.len() as u64;
        self.passed_over += life.ready.unwrap_or(0);
        let place = match life {
            Life { ended: true, .. } => &mut self.ended,
            Life { ready: Some(_), .. } => &mut self.running,
            Life { opened: false, .. } => &mut self.unborn,
            _ if is_new => &mut self.before_first_commit,
            _ => &mut self.in_recovery,
        };
        *place += 1;
    }

    fn count_found(&mut self, found: &Found) -> u64 {
        self.torn += u64::from(found.history.torn.is_some());
        self.unacknowledged += found.unacknowledged;
        self.replayed += found.steps;
        found.history.segments.last().map_or(0, |segment| segment.number)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, unborn, before_first_commit, in_recovery, running, ended, .. } = self;
        write!(
            f,
            "{rounds} rounds: killed {unborn} before the first word, {before_first_commit} before the first commit, \
             {in_recovery} in recovery, {running} while running; {ended} ended first"
        )?;
        let Self { acks, unacknowledged, torn, unfinished, segments, passed_over, replayed, .. } = self;
        write!(
            f,
            "; {acks} acknowledged and {unacknowledged} not yet, {segments} segments, {torn} torn ends, {unfinished} \
             unfinished files, {passed_over} snapshots passed over, {replayed} steps replayed; 0 lost, 0 twice, 0 \
             reordered"
        )
    }
}
