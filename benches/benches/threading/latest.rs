//! What it costs to publish a value and to read the newest one, against a lock around a shared one.
//!
//! One thread does both in turn: what waiting would cost is not in the figures.

use std::sync::Arc;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_threading::latest;
use parking_lot::Mutex;

const LOCKED: &str = "Mutex<Arc>";
const TIMES: u64 = 1000;

/// As much as a small capture of a step.
type Value = [u64; 8];

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("threading/latest_publish") {
        let (mut writer, reader) = latest::<Value>();
        let locked = Mutex::new(Arc::new(Value::default()));
        let ours = move || {
            for number in 0..TIMES {
                writer.publish_with(|value| *value = [number; 8]);
            }
            reader.read().value.iter().sum()
        };
        let theirs = move || {
            for number in 0..TIMES {
                let fresh = Arc::new([number; 8]);
                let old = std::mem::replace(&mut *locked.lock(), fresh);
                drop(old);
            }
            locked.lock().iter().sum()
        };
        let results = race(TIMES, vec![Contestant::new("ours", ours), Contestant::new(LOCKED, theirs)])?;
        suite.print(&Figure::of_race("threading/latest_publish", "ns", results[0], &results[1..]))?;
    }
    if suite.wants("threading/latest_read") {
        let (mut writer, reader) = latest::<Value>();
        writer.publish([7; 8]);
        let locked = Mutex::new(Arc::new([7; 8]));
        let ours = move || (0..TIMES).map(|_| reader.read().value[0]).sum();
        let theirs = move || {
            let read = |_| {
                let value: Arc<Value> = Arc::clone(&locked.lock());
                value[0]
            };
            (0..TIMES).map(read).sum()
        };
        let results = race(TIMES, vec![Contestant::new("ours", ours), Contestant::new(LOCKED, theirs)])?;
        suite.print(&Figure::of_race("threading/latest_read", "ns", results[0], &results[1..]))?;
    }
    Ok(())
}
