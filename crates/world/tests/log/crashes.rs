//! Promise: whatever moment the power fails at, the log holds exactly what was acknowledged, or that and the whole
//! commit that was under way; also when it fails again during recovery.
//! Method: seeded stories on a simulated disk that drops, tears and reorders what was not synced. `LOG_SEED=n` runs one
//! story; a failure prints its seed.

use downbeat_threading::caught;
use downbeat_world::Random;

use crate::lives::story;
use crate::simulated::Faults;

const STORIES: u64 = 13_000;

fn crash(random: &mut Random) -> Faults {
    Faults {
        crash_at: Some(1 + u64::from(random.below(60))),
        write_bytes_max: (random.below(4) == 0).then(|| 1 + random.below(700) as usize),
        ..Faults::default()
    }
}

fn stories(part: u64) {
    if let Some(seed) = std::env::var("LOG_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return story(seed, crash, true);
    }
    for seed in part * STORIES..(part + 1) * STORIES {
        if let Err(panic) = caught(|| story(seed, crash, true)) {
            panic!("LOG_SEED={seed} cargo test -p downbeat-world --test log crashes: {panic}");
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_in_a_crash_1() {
    stories(0);
}

#[test]
fn nothing_acknowledged_is_lost_in_a_crash_2() {
    stories(1);
}

#[test]
fn nothing_acknowledged_is_lost_in_a_crash_3() {
    stories(2);
}

#[test]
fn nothing_acknowledged_is_lost_in_a_crash_4() {
    stories(3);
}
