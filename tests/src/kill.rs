//! A process that writes a log is killed at any moment; whatever it had acknowledged must be there.
//!
//! [`write`] is the one that is killed: it numbers its commands and says which are durable. [`rounds`] starts it, kills
//! it and reads the log that it left. Both know what the command of a number is, so that the log is held against what
//! was given, and not against what the dead process said of it.
//!
//! A killed process leaves the page cache behind: what this shows is that nothing is acknowledged before it is written,
//! and that no moment leaves a log which cannot be read and continued. What a loss of power leaves is tried on the
//! simulated disk of `crates/world/tests/log`.

mod child;
mod ledger;
mod rounds;
mod writer;

use std::collections::BTreeMap;
use std::time::Duration;

use downbeat_world::{Component, Datum, EntityId, LogLayout, LogSettings, Random, UserData, WorldCommand};
use glam::Vec3;

pub use rounds::{Plan, Totals, rounds};
pub use writer::{Script, write};

/// The scene: one body on a hinge, which loads in no time and moves at every step.
const SCENE: &str = "pendulum";
/// The body in it.
const BODY: EntityId = EntityId::new(1);
/// The key under which a command keeps its number.
const NUMBER: &str = "number";
/// A push keeps its number as so many parts of a newton second, which a float holds exactly up to 2²⁴.
const PUSH_PARTS: f32 = 1_048_576.0;

/// The command of a number in a log of this seed: mostly small; in some logs many fill hundreds of pages, because a kill
/// tears a write only between two pages.
fn command(seed: u64, number: u64) -> WorldCommand {
    let mut random = Random::new(seed, &format!("command {number}"));
    if random.below(4) == 0 {
        let linear = Vec3::X * (number as f32 / PUSH_PARTS);
        return WorldCommand::Push { entity: BODY, linear, angular: Vec3::ZERO };
    }
    let is_heavy = Random::new(seed, "weight").below(4) == 0;
    let texts = match random.below(16) {
        0..8 if is_heavy => 100 + random.below(400),
        8..10 => 1 + random.below(8),
        _ => 0,
    };
    let mut data = BTreeMap::from([(NUMBER.to_owned(), Datum::Whole(number as i64))]);
    for nth in 0..texts {
        let text = format!("{:016x}", random.bits()).repeat(250);
        data.insert(format!("text {nth}"), Datum::Text(text));
    }
    WorldCommand::Set { entity: BODY, component: UserData(data).into() }
}

/// The number of a command.
fn number_of(command: &WorldCommand) -> Option<u64> {
    match command {
        WorldCommand::Push { linear, .. } => Some((linear.x * PUSH_PARTS) as u64),
        WorldCommand::Set { component: Component::UserData(data), .. } => match data.0.get(NUMBER) {
            Some(Datum::Whole(number)) => u64::try_from(*number).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// How a log of this seed is written: everything small, so that a few milliseconds see a change of segments, a
/// snapshot, and often a deletion.
fn settings(seed: u64) -> LogSettings {
    let mut random = Random::new(seed, "settings");
    let segment_bytes_max = 2048 + u64::from(random.below(6 << 10));
    let snapshots_kept = (random.below(2) == 0).then_some(2);
    LogSettings {
        layout: LogLayout { segment_bytes_max, snapshots_kept },
        snapshot_every: Duration::from_millis(100),
        parts_every: 16,
        ..LogSettings::default()
    }
}
