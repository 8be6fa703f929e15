//! The latest value: whole, and never older than what was seen before.

use downbeat_threading::latest;
use loom::thread;

use downbeat_threading::sync::model::Schedules::Bounded;
use downbeat_threading::sync::model::check;

#[test]
fn a_reader_sees_whole_values_and_none_that_is_older() {
    check("a_reader_sees_whole_values_and_none_that_is_older", Bounded, || {
        let (mut writer, reader) = latest::<(u64, u64)>();
        let reading = thread::spawn(move || {
            let mut last = 0;
            for _ in 0..2 {
                let seen = reader.read();
                assert!(seen.version >= last, "{} after {last}", seen.version);
                assert_eq!(*seen.value, (seen.version, seen.version), "torn");
                last = seen.version;
            }
        });
        for version in 1..=2 {
            writer.publish_with(|value| {
                value.0 = version;
                value.1 = version;
            });
        }
        reading.join().unwrap();
    });
}

#[test]
fn what_was_published_last_is_read() {
    check("what_was_published_last_is_read", Bounded, || {
        let (mut writer, reader) = latest::<u64>();
        let other = reader.clone();
        let reading = thread::spawn(move || drop(other.read()));
        writer.publish(1);
        writer.publish(2);
        assert_eq!(*reader.read().value, 2);
        reading.join().unwrap();
        assert_eq!(*reader.read().value, 2);
    });
}
