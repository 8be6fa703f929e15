//! Mixes too large for loom, under shuttle: many random schedules of jobs, dispatcher, tokens and shutdown together.
//!
//! The promise in every schedule: nobody hangs, every job ends in one way that fits what happened to it, nothing runs
//! on main after the dispatcher has closed. Shuttle sees deadlocks; the counts see the rest.
#![cfg(downbeat_shuttle)]

use std::sync::Arc;
use std::time::Duration;

use downbeat_threading::sync::atomic::{AtomicUsize, Ordering};
use downbeat_threading::{
    Boot, BoxError, DispatcherConfig, Job, JobBoard, JobSlot, MainThreadDispatcher, Outcome, Role,
    StartError, StopSource, latest, spawn, task,
};

const SCHEDULES: usize = 20_000;
/// Random schedules seldom leave a thread behind for long; these do, at so many points.
const DELAYS: usize = 3;

fn check(mix: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(mix.clone(), SCHEDULES);
    shuttle::check_pct(mix, SCHEDULES, DELAYS);
}

fn start_one(
    board: &JobBoard,
    main: &MainThreadDispatcher,
    number: usize,
    ran: &Arc<AtomicUsize>,
) -> Option<Job<usize, BoxError>> {
    let (handle, ran) = (main.handle(), Arc::clone(ran));
    let started = board.start(task(format!("job {number}"), move |job| {
        job.progress(0.5, "half");
        job.checkpoint()?;
        if number.is_multiple_of(2) {
            handle.execute(move |_| ran.fetch_add(1, Ordering::Relaxed))?;
        } else {
            handle
                .execute_async(move |_| _ = ran.fetch_add(1, Ordering::Relaxed))
                .map_err(|refused| refused.to_string())?;
        }
        job.point_of_no_return()?;
        Ok(number)
    }));
    match started {
        Ok(job) => Some(job),
        Err(StartError::Full { .. } | StartError::ShutDown) => None,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn many_jobs_end_whatever_is_cancelled_and_when_it_shuts_down() {
    check(|| {
        let boot = Boot::claim().unwrap();
        let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
        let board = JobBoard::new(dispatcher.handle(), 4);
        let ran = Arc::new(AtomicUsize::new(0));
        let mut jobs: Vec<_> =
            (0..5).filter_map(|number| start_one(&board, &dispatcher, number, &ran)).collect();
        assert!(jobs.len() >= 4, "the board holds four, and more if some have ended");
        let cancelled = jobs[1].cancel();
        let canceller = {
            let board = board.clone();
            spawn("canceller", Role::Worker, move || {
                board.list().first().is_some_and(|job| board.cancel(job.id))
            })
        };
        drop(jobs.pop());
        let _ = dispatcher.process_pending(Duration::MAX);
        board.shut_down(&dispatcher, Duration::MAX).unwrap();
        assert!(start_one(&board, &dispatcher, 9, &ran).is_none(), "it has shut down");
        canceller.unwrap().join().unwrap();
        for (number, mut job) in jobs.into_iter().enumerate() {
            assert!(job.is_done());
            let outcome = job.take_result(boot.main()).expect("a job that is done has an outcome");
            match outcome {
                Outcome::Done(made) => assert!(made == number && !(number == 1 && cancelled)),
                Outcome::Cancelled => {}
                Outcome::Failed(error) => panic!("{error}"),
                Outcome::Panicked(panic) => panic!("{panic}"),
            }
        }
        dispatcher.close();
        let at_close = ran.load(Ordering::Relaxed);
        assert!(dispatcher.handle().execute_async(|_| ()).is_err());
        drop(dispatcher);
        assert_eq!(ran.load(Ordering::Relaxed), at_close);
    });
}

#[test]
fn heavy_jobs_never_overlap() {
    check(|| {
        let (slot, inside) = (JobSlot::new(), Arc::new(AtomicUsize::new(0)));
        let starters = [0, 1, 2].map(|_| {
            let (slot, inside) = (slot.clone(), Arc::clone(&inside));
            spawn("starter", Role::Worker, move || {
                let heavy = task("heavy", move |job| {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                    job.progress(1.0, "in the slot");
                    inside.fetch_sub(1, Ordering::SeqCst);
                    Ok::<_, BoxError>(())
                });
                match slot.start(heavy) {
                    Ok(job) => assert!(matches!(job.join(), Outcome::Done(()))),
                    Err(error) => assert!(matches!(error, StartError::Busy { .. })),
                }
            })
            .unwrap()
        });
        for starter in starters {
            starter.join().unwrap();
        }
    });
}

#[test]
fn readers_of_the_latest_value_never_go_back() {
    check(|| {
        let (mut writer, reader) = latest::<(u64, u64)>();
        let stop = StopSource::new();
        let readers = [0, 1].map(|_| {
            let (reader, token) = (reader.clone(), stop.token());
            spawn("reader", Role::Rpc, move || {
                let mut last = 0;
                for _ in 0..4 {
                    let seen = reader.read();
                    assert!(seen.version >= last && *seen.value == (seen.version, seen.version));
                    last = seen.version;
                }
                token.wait();
                assert_eq!(reader.read().version, 5, "what was published last is there");
            })
            .unwrap()
        });
        for version in 1..=5 {
            writer.publish_with(|value| *value = (version, version));
        }
        stop.request_stop();
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
