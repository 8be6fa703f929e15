//! The latest value under readers and a writer on threads of their own.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

use std::sync::Arc;

use downbeat_threading::{LatestReader, Role, StopSource, caught, latest, spawn};

/// A value that shows whether it is whole: every number in it is its version.
type Value = Vec<u64>;

const LEN: usize = 32;

fn fill(value: &mut Value, version: u64) {
    value.clear();
    value.extend([version; LEN]);
}

/// Reads until told to stop; how many versions it saw.
fn follow(reader: &LatestReader<Value>, until: impl Fn() -> bool) -> u64 {
    let (mut last, mut seen) = (0, 0);
    loop {
        let ends = until();
        let published = reader.read();
        let version = published.version;
        assert!(version >= last, "version {version} came after {last}");
        let len = if version == 0 { 0 } else { LEN };
        assert_eq!(published.value.len(), len);
        assert!(published.value.iter().all(|number| *number == version), "{:?}", published.value);
        seen += u64::from(version > last);
        last = version;
        if ends {
            return seen;
        }
    }
}

#[test]
fn versions_only_rise_and_values_are_whole_while_the_writer_goes_on() {
    const VERSIONS: u64 = 100_000;
    let (mut writer, reader) = latest::<Value>();
    let (ended, under_way) = (StopSource::new(), Arc::new(StopSource::new()));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (reader, ended, under_way) = (reader.clone(), ended.token(), Arc::clone(&under_way));
            spawn("reader", Role::Rpc, move || {
                follow(&reader, || {
                    under_way.request_stop();
                    ended.is_stopped()
                })
            })
            .unwrap()
        })
        .collect();
    // Or all might be over before the first of them has looked.
    under_way.token().wait();
    for version in 1..=VERSIONS {
        writer.publish_with(|value| fill(value, version));
    }
    ended.request_stop();
    let seen: Vec<u64> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    assert!(seen.iter().all(|seen| (1..=VERSIONS).contains(seen)), "{seen:?}");
    assert_eq!(reader.read().version, VERSIONS);
}

#[test]
fn readers_that_keep_what_they_read_have_it_unchanged() {
    let (mut writer, reader) = latest::<Value>();
    let mut kept = Vec::new();
    for version in 1..=1000 {
        writer.publish_with(|value| fill(value, version));
        kept.push(reader.read());
    }
    for (at, published) in kept.iter().enumerate() {
        assert_eq!(published.version, at as u64 + 1);
        assert_eq!(*published.value, [published.version; LEN]);
    }
}

#[test]
fn readers_of_one_version_share_one_value() {
    let (mut writer, reader) = latest::<Value>();
    writer.publish(vec![1]);
    let (first, second) = (reader.read(), reader.clone().read());
    assert!(Arc::ptr_eq(&first.value, &second.value));
}

#[test]
fn a_writer_allocates_nothing_once_warm_while_readers_let_go() {
    let (mut writer, reader) = latest::<Value>();
    let mut version = 0;
    let mut round = |times: u64| {
        for _ in 0..times {
            version += 1;
            writer.publish_with(|value| fill(value, version));
            let published = reader.read();
            assert_eq!((published.version, published.value[LEN - 1]), (version, version));
        }
    };
    round(8);
    let info = allocation_counter::measure(|| round(10_000));
    assert_eq!(info.count_total, 0);
}

#[test]
fn the_last_value_outlives_its_writer() {
    let (mut writer, reader) = latest::<Value>();
    assert_eq!((reader.read().version, reader.read().value.len()), (0, 0), "it starts with the default");
    for version in 1..=7 {
        writer.publish_with(|value| fill(value, version));
    }
    let elsewhere = spawn("writer", Role::Worker, move || writer.publish(vec![8; LEN])).unwrap();
    elsewhere.join().unwrap();
    let last = reader.read();
    assert_eq!((last.version, last.value.as_slice()), (8, &[8; LEN][..]));
}

#[test]
fn a_writer_that_panics_halfway_publishes_nothing() {
    let (mut writer, reader) = latest::<Value>();
    writer.publish(vec![1; LEN]);
    for _ in 0..10 {
        let halfway = caught(|| {
            writer.publish_with(|value| {
                value.clear();
                std::panic::resume_unwind(Box::new("halfway"));
            });
        });
        assert!(halfway.is_err());
        let published = reader.read();
        assert_eq!((published.version, published.value.as_slice()), (1, &[1; LEN][..]));
    }
    writer.publish(vec![2; LEN]);
    assert_eq!((reader.read().version, reader.read().value[0]), (2, 2));
}
