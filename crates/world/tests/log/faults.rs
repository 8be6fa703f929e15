//! A disk that fills up or fails to sync: the error is clear and final, and what was acknowledged is still there.

use downbeat_threading::{batches, caught};
use downbeat_world::{Entry, History, LogError, LogLayout, LogParcel, LogWriter, Random, SnapshotParcel};

use crate::lives::{identity, snapshot_bytes, story, written};
use crate::simulated::{Faults, Simulated};

#[test]
fn a_disk_that_fails_loses_nothing_that_was_acknowledged() {
    for seed in 0..4000 {
        let faults = |random: &mut Random| {
            let at = Some(1 + u64::from(random.below(60)));
            match random.below(2) {
                0 => Faults { full_at: at, ..Faults::default() },
                _ => Faults { sync_fails_at: at, ..Faults::default() },
            }
        };
        // Without a crash, and with one on top of the failure.
        for is_crash in [false, true] {
            if let Err(panic) = caught(|| story(seed, faults, is_crash)) {
                panic!("seed {seed}, crash {is_crash}: {panic}");
            }
        }
    }
}

#[test]
fn a_full_disk_says_so_and_what_to_do() {
    let storage = Simulated::default();
    let start = SnapshotParcel { step: 0, now_nanos: 0, bytes: snapshot_bytes(0) };
    let mut writer = LogWriter::create(storage.clone(), LogLayout::default(), identity(), &start).unwrap();
    let storage = storage.with_faults(Faults { full_at: Some(3), ..Faults::default() });
    let (sender, mut receiver) = batches::<LogParcel, String>(1 << 20);
    let entry = postcard::to_stdvec(&Entry::Skipped { step: 0, nanos: 1 }).unwrap();
    sender.push(&entry).unwrap();
    writer.commit(receiver.take().unwrap()).unwrap();
    sender.push(&entry).unwrap();
    let error = writer.commit(receiver.take().unwrap()).unwrap_err();
    assert!(matches!(error, LogError::Write { .. }));
    let words = error.to_string();
    assert!(words.contains("segment-00000001.log") && words.contains("free some space"), "{words}");
    let history = History::read(&storage).unwrap();
    assert_eq!(written(&history, &storage).unwrap().len(), 2, "the start and the acknowledged entry");
}
