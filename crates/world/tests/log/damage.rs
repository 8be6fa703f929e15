//! Promise: bytes that have changed are never taken for truth. Method: every bit of a log turned over, every length cut
//! to, files lost and swapped; each time the log is refused, or holds exactly what it held.

use downbeat_threading::batches;
use downbeat_world::{
    Entry, History, LogError, LogLayout, LogParcel, LogWriter, Random, SnapshotParcel, StepHashes, StepRun,
    WorldCommand,
};

use crate::lives::{Model, identity, live, snapshot_bytes, written};
use crate::simulated::Simulated;

const LAYOUT: LogLayout = LogLayout { segment_bytes_max: 16 << 10, snapshots_kept: None };

/// A log of about 64 KiB in several segments, and what it holds.
fn log(closed: bool) -> (Simulated, Vec<(u64, Entry)>) {
    let storage = Simulated::default();
    let (mut model, mut random) = (Model::default(), Random::new(5, "damage"));
    loop {
        live(&storage, LAYOUT, &mut model, &mut random).expect("the log works");
        let history = History::read(&storage).expect("the log works");
        let bytes: u64 = history.segments.iter().map(|segment| segment.bytes).sum();
        let ends_closed = history.segments.iter().all(|segment| segment.closed);
        if bytes > 60 << 10 && ends_closed == closed {
            let entries = written(&history, &storage).expect("the log works");
            assert!(history.segments.len() > 3 && history.torn.is_none());
            return (storage, entries);
        }
    }
}

/// Reads all of it.
fn entries(storage: &Simulated) -> Result<Vec<(u64, Entry)>, LogError> {
    written(&History::read(storage)?, storage)
}

/// Every bit of some of the segments, `part` of `parts`.
fn flip_every_bit(closed: bool, part: usize, parts: usize) {
    let (storage, before) = log(closed);
    let mut accepted = 0;
    for name in storage.names_like(".log") {
        let len = downbeat_world::Storage::read(&storage, &name).expect("the log works").len();
        for bit in (0..len * 8).skip(part).step_by(parts) {
            let flip = |bytes: &mut Vec<u8>| bytes[bit / 8] ^= 1 << (bit % 8);
            storage.damage(&name, flip);
            match entries(&storage) {
                Ok(found) => {
                    assert!(found == before, "{name}, bit {bit}: silently different");
                    accepted += 1;
                }
                Err(LogError::Damaged { .. } | LogError::OtherFormat { .. }) => {}
                Err(error) => panic!("{name}, bit {bit}: {error}"),
            }
            storage.damage(&name, flip);
        }
    }
    // A closed log has no byte that does not count; an open one has room for what was to come.
    assert_eq!(accepted == 0, closed, "{accepted} flips went unnoticed");
}

#[test]
fn every_single_bit_of_a_closed_log_counts_1() {
    flip_every_bit(true, 0, 2);
}

#[test]
fn every_single_bit_of_a_closed_log_counts_2() {
    flip_every_bit(true, 1, 2);
}

#[test]
fn every_single_bit_of_an_open_log_counts_or_is_blank_1() {
    flip_every_bit(false, 0, 2);
}

#[test]
fn every_single_bit_of_an_open_log_counts_or_is_blank_2() {
    flip_every_bit(false, 1, 2);
}

#[test]
fn a_log_that_was_cut_anywhere_is_refused() {
    for closed in [true, false] {
        let (storage, before) = log(closed);
        for name in storage.names_like(".log") {
            let whole = downbeat_world::Storage::read(&storage, &name).unwrap();
            for len in 0..whole.len() {
                storage.damage(&name, |bytes| bytes.truncate(len));
                let read = entries(&storage);
                assert!(matches!(read, Err(LogError::Damaged { .. })), "{name} cut to {len} bytes");
                storage.damage(&name, |bytes| bytes.clone_from(&whole));
            }
        }
        assert_eq!(entries(&storage).unwrap(), before);
    }
}

#[test]
fn a_lost_or_swapped_segment_is_refused() {
    let (storage, _) = log(true);
    let names = storage.names_like(".log");
    let lost = storage.copied();
    downbeat_world::Storage::remove(&lost, &names[1]).unwrap();
    let error = entries(&lost).unwrap_err().to_string();
    assert!(error.contains(&names[1]) && error.contains("missing"), "{error}");

    let swapped = storage.copied();
    let [first, second] =
        [&names[1], &names[2]].map(|name| downbeat_world::Storage::read(&storage, name).unwrap());
    swapped.damage(&names[1], |bytes| *bytes = second);
    swapped.damage(&names[2], |bytes| *bytes = first);
    assert!(matches!(entries(&swapped), Err(LogError::Damaged { .. })));
}

/// Whole commits with the right check sums, whose entries do not fit each other: no crash writes them, a mistake might.
#[test]
fn entries_that_do_not_follow_each_other_are_refused() {
    let steps = |first| Entry::Steps(StepRun { first, now_nanos: 7, hashes: vec![StepHashes::new(1, 2); 3] });
    let spawn = |step| Entry::Command { step, command: WorldCommand::Spawn { components: Vec::new() } };
    for (second, is_good) in [
        (steps(4), true),
        (steps(5), false),
        (steps(3), false),
        (spawn(3), true),
        (spawn(2), false),
        (spawn(4), false),
    ] {
        let storage = Simulated::default();
        let start = SnapshotParcel { step: 0, now_nanos: 0, bytes: snapshot_bytes(0) };
        let mut writer = LogWriter::create(storage.clone(), LAYOUT, identity(), &start).unwrap();
        let (sender, mut receiver) = batches::<LogParcel, String>(1 << 20);
        for entry in [steps(1), second.clone()] {
            sender.push(&postcard::to_stdvec(&entry).unwrap()).unwrap();
        }
        writer.commit(receiver.take().unwrap()).unwrap();
        let read = History::read(&storage);
        assert_eq!(read.is_ok(), is_good, "{second:?}: {read:?}");
        assert!(is_good || matches!(read, Err(LogError::Damaged { .. })), "{read:?}");
    }
}

#[test]
fn a_segment_of_a_later_format_says_so() {
    let (storage, _) = log(true);
    let name = &storage.names_like(".log")[0];
    storage.damage(name, |bytes| {
        bytes[8] = 9;
        let check = crc32c::crc32c(&bytes[..24]);
        bytes[24..28].copy_from_slice(&check.to_le_bytes());
    });
    let error = entries(&storage).unwrap_err();
    assert!(matches!(error, LogError::OtherFormat { found: 9, .. }), "{error}");
}

#[test]
fn every_single_bit_of_a_snapshot_counts() {
    let (storage, _) = log(true);
    let history = History::read(&storage).unwrap();
    for snapshot in &history.snapshots {
        let name = snapshot.file();
        let len = downbeat_world::Storage::read(&storage, &name).unwrap().len();
        for bit in 0..len * 8 {
            let flip = |bytes: &mut Vec<u8>| bytes[bit / 8] ^= 1 << (bit % 8);
            storage.damage(&name, flip);
            assert!(history.snapshot(&storage, snapshot).is_err(), "{name}, bit {bit}");
            storage.damage(&name, flip);
        }
    }
}
