//! Jobs: cancel or commit, cleanup before the end is known, the result before the end, one at a time in a slot.

use std::sync::Arc;
use std::time::Duration;

use downbeat_threading::sync::atomic::{AtomicUsize, Ordering};
use downbeat_threading::{
    Boot, BoxError, DispatcherConfig, ExecuteError, Job, JobBoard, JobSlot, MainThreadDispatcher, Outcome,
    StartError, Stopped, task,
};
use loom::thread;

use downbeat_threading::sync::model::Schedules::{All, Bounded};
use downbeat_threading::sync::model::check;

/// Partial output: cleaned up when it goes, unless it was kept.
struct Partial {
    cleanups: Arc<AtomicUsize>,
    kept: bool,
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.kept {
            self.cleanups.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn cancel_or_commit_and_exactly_one() {
    check("cancel_or_commit_and_exactly_one", All, || {
        let boot = Boot::claim().unwrap();
        let cleanups = Arc::new(AtomicUsize::new(0));
        let partial = Partial { cleanups: Arc::clone(&cleanups), kept: false };
        let mut job = Job::start(task("write", move |job| {
            let mut partial = partial;
            job.point_of_no_return()?;
            partial.kept = true;
            Ok::<_, Stopped>(())
        }))
        .unwrap();
        let cancelled = job.cancel();
        while !job.is_done() {
            thread::yield_now();
        }
        // Before `is_done`, not some time after it.
        let cleaned = cleanups.load(Ordering::Relaxed) == 1;
        let outcome = job.take_result(boot.main()).unwrap();
        assert_eq!(cancelled, outcome == Outcome::Cancelled);
        assert_eq!(cancelled, outcome != Outcome::Done(()));
        assert_eq!(cancelled, cleaned);
    });
}

#[test]
fn done_means_the_result_is_there_once() {
    check("done_means_the_result_is_there_once", All, || {
        let boot = Boot::claim().unwrap();
        let mut job = Job::start(task("seven", |_| Ok::<_, Stopped>(7))).unwrap();
        while !job.is_done() {
            thread::yield_now();
        }
        assert_eq!(job.take_result(boot.main()), Some(Outcome::Done(7)));
        assert_eq!(job.take_result(boot.main()), None);
    });
}

#[test]
fn whoever_waits_for_the_end_wakes() {
    check("whoever_waits_for_the_end_wakes", All, || {
        let job = Job::start(task("short", |_| Ok::<_, Stopped>(()))).unwrap();
        assert!(job.wait_timeout(Duration::MAX));
    });
}

#[test]
fn progress_never_goes_back() {
    check("progress_never_goes_back", All, || {
        let job = Job::start(task("steps", |job| {
            job.progress(0.5, "half");
            job.progress(0.25, "confused");
            Ok::<_, Stopped>(())
        }))
        .unwrap();
        let (first, second) = (job.progress().fraction, job.progress().fraction);
        assert!(second >= first, "{first} then {second}");
    });
}

#[test]
fn a_slot_admits_one_and_is_free_when_it_is_done() {
    check("a_slot_admits_one_and_is_free_when_it_is_done", Bounded, || {
        let (slot, inside) = (JobSlot::new(), Arc::new(AtomicUsize::new(0)));
        let heavy = {
            let inside = Arc::clone(&inside);
            move || {
                let inside = Arc::clone(&inside);
                task("heavy", move |_| {
                    assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two at once");
                    inside.fetch_sub(1, Ordering::Relaxed);
                    Ok::<_, Stopped>(())
                })
            }
        };
        let rival = {
            let (slot, heavy) = (slot.clone(), heavy.clone());
            thread::spawn(move || match slot.start(heavy()) {
                Ok(job) => assert_eq!(job.join(), Outcome::Done(())),
                Err(error) => assert!(matches!(error, StartError::Busy { .. }), "{error}"),
            })
        };
        let ours = slot.start(heavy());
        rival.join().unwrap();
        if let Ok(job) = ours {
            while !job.is_done() {
                thread::yield_now();
            }
            assert!(slot.start(heavy()).is_ok(), "a job that is done has left its slot");
        }
    });
}

#[test]
fn a_board_shuts_down_while_a_job_calls_main() {
    check("a_board_shuts_down_while_a_job_calls_main", Bounded, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
        let board = JobBoard::new(dispatcher.handle(), 1);
        let handle = dispatcher.handle();
        let job = board.start(task("calls", move |_| match handle.execute(|_| ()) {
            Ok(()) | Err(ExecuteError::Stopped { .. }) => Ok(()),
            Err(other) => Err(BoxError::from(other)),
        }));
        board.shut_down(&dispatcher, Duration::MAX).unwrap();
        assert!(job.unwrap().is_done());
        assert!(matches!(board.start(task("late", |_| Ok::<_, Stopped>(()))), Err(StartError::ShutDown)));
    });
}
