//! Slots that admit one job, and boards that list, cancel and end them all.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use booted::booted;
use downbeat_threading::sync::thread::yield_now;
use downbeat_threading::{
    DispatcherConfig, ExecuteError, JobBoard, JobContext, JobSlot, JobsStuck, MainThread,
    MainThreadDispatcher, Outcome, Role, StartError, StopSource, Stopped, Task, caught, spawn, task,
};

/// More than any test takes.
const LONG: Duration = Duration::from_secs(600);

fn dispatcher(main: MainThread) -> MainThreadDispatcher {
    MainThreadDispatcher::new(main, DispatcherConfig::default())
}

/// Runs until it is asked to stop.
fn until_stopped(name: &'static str) -> impl Task<Output = (), Error = Stopped> {
    task(name, |job: &JobContext| {
        job.stop_token().wait();
        Err(Stopped)
    })
}

/// Runs until the test lets it go, and hears nothing else.
fn until_let_go(name: &'static str, let_go: &StopSource) -> impl Task<Output = (), Error = Stopped> + use<> {
    let token = let_go.token();
    task(name, move |_: &JobContext| {
        token.wait();
        Ok(())
    })
}

fn short(name: &'static str) -> impl Task<Output = (), Error = Stopped> {
    task(name, |_: &JobContext| Ok(()))
}

fn names(board: &JobBoard) -> Vec<String> {
    board.list().into_iter().map(|job| job.name).collect()
}

#[test]
fn a_slot_admits_one_job_and_says_which() {
    let (slot, let_go) = (JobSlot::new(), StopSource::new());
    let first = slot.start(until_let_go("import", &let_go)).unwrap();
    for same in [&slot, &slot.clone()] {
        let refused = same.start(short("export"));
        assert!(matches!(&refused, Err(StartError::Busy { running }) if running == "import"), "{refused:?}");
    }
    assert!(JobSlot::new().start(short("export")).is_ok(), "another slot is another");
    let_go.request_stop();
    assert_eq!(first.join(), Outcome::Done(()));
    assert!(slot.start(short("export")).is_ok());
}

#[test]
fn a_slot_is_free_once_its_job_is_done() {
    let slot = JobSlot::new();
    for _ in 0..300 {
        let job = slot.start(short("import")).unwrap();
        while !job.is_done() {
            yield_now();
        }
        // The job itself is still there; its place is not.
        assert!(slot.start(short("export")).is_ok());
    }
}

#[test]
fn a_slot_is_free_whatever_became_of_its_job() {
    struct Invalid;
    impl Task for Invalid {
        type Output = ();
        type Error = &'static str;

        fn name(&self) -> String {
            "invalid".to_owned()
        }

        fn validate(&mut self) -> Result<(), &'static str> {
            Err("no path")
        }

        fn run(self, _: &JobContext) -> Result<(), &'static str> {
            Ok(())
        }
    }
    let slot = JobSlot::new();
    assert!(matches!(slot.start(Invalid), Err(StartError::Invalid("no path"))));
    let panics = |_: &JobContext| -> Result<(), Stopped> { resume_unwind(Box::new("no luck")) };
    assert!(matches!(slot.start(task("panics", panics)).unwrap().join(), Outcome::Panicked(_)));
    drop(slot.start(until_stopped("cancelled")).unwrap());
    assert_eq!(slot.start(short("last")).unwrap().join(), Outcome::Done(()));
}

#[test]
fn a_slot_admits_one_of_many_threads() {
    let (slot, inside) = (JobSlot::new(), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (slot, inside) = (slot.clone(), Arc::clone(&inside));
            spawn("starter", Role::Rpc, move || {
                let mut started = 0;
                while started < 50 {
                    let inside = Arc::clone(&inside);
                    let alone = task("alone", move |_: &JobContext| {
                        let others = inside.fetch_add(1, Ordering::AcqRel);
                        yield_now();
                        inside.fetch_sub(1, Ordering::AcqRel);
                        if others == 0 { Ok(()) } else { Err("not alone") }
                    });
                    match slot.start(alone) {
                        Ok(job) => {
                            assert_eq!(job.join(), Outcome::Done(()));
                            started += 1;
                        }
                        Err(StartError::Busy { .. }) => yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            })
            .unwrap()
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_board_lists_running_jobs_oldest_first_with_their_progress() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 8);
    assert!(board.list().is_empty());
    let let_go = StopSource::new();
    let waits = let_go.token();
    let first = board
        .start(task("import", move |job: &JobContext| {
            job.progress(0.5, "reading");
            job.point_of_no_return()?;
            job.progress(0.75, "moving");
            waits.wait();
            Ok::<_, Stopped>(())
        }))
        .unwrap();
    let second = board.start_in(&JobSlot::new(), until_stopped("export")).unwrap();
    while first.progress().text != "moving" {
        yield_now();
    }
    let list = board.clone().list();
    assert_eq!(names(&board), ["import", "export"]);
    assert_eq!(list[0].progress, first.progress());
    assert_eq!((list[0].can_cancel, list[0].is_cancelled), (false, false), "past its point of no return");
    assert_eq!((list[1].can_cancel, list[1].is_cancelled), (true, false));
    assert_ne!(list[0].id, list[1].id);

    let_go.request_stop();
    assert_eq!(first.join(), Outcome::Done(()));
    assert_eq!(names(&board), ["export"], "who has ended is listed no more");
    drop(second);
    assert!(board.list().is_empty());
}

#[test]
fn a_board_cancels_one_job_by_its_id_or_all_of_them() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 8);
    let let_go = StopSource::new();
    let stubborn = board.start(until_let_go("stubborn", &let_go)).unwrap();
    let (first, second) =
        (board.start(until_stopped("first")).unwrap(), board.start(until_stopped("second")).unwrap());
    let ids: Vec<u64> = board.list().iter().map(|job| job.id).collect();
    assert!(!board.cancel(ids.iter().sum::<u64>() + 1), "nobody has this id");
    assert!(board.cancel(ids[1]));
    assert!(first.wait_timeout(LONG));
    assert_eq!(names(&board), ["stubborn", "second"]);
    assert!(!board.cancel(ids[1]), "it is over");
    assert!(board.cancel(ids[0]));
    let list = board.list();
    assert_eq!((list[0].can_cancel, list[0].is_cancelled), (false, true), "on its way out");
    board.cancel_all();
    assert_eq!((first.join(), second.join()), (Outcome::Cancelled, Outcome::Cancelled));
    let_go.request_stop();
    assert_eq!(stubborn.join(), Outcome::Cancelled);
}

#[test]
fn a_full_board_admits_the_next_job_when_one_has_ended() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 2);
    let (first, second) =
        (board.start(until_stopped("first")).unwrap(), board.start(until_stopped("second")).unwrap());
    let slot = JobSlot::new();
    for _ in 0..3 {
        assert!(matches!(board.start(short("third")), Err(StartError::Full { jobs_max: 2 })));
        let refused = board.start_in(&slot, short("third"));
        assert!(matches!(refused, Err(StartError::Full { .. })), "and the slot stays free: {refused:?}");
    }
    assert_eq!(names(&board), ["first", "second"], "who was refused is not listed");
    drop(first);
    let third = board.start_in(&slot, until_stopped("third")).unwrap();
    assert_eq!(names(&board), ["second", "third"]);
    assert!(matches!(board.start_in(&slot, short("fourth")), Err(StartError::Busy { .. })));
    drop((second, third));
    assert!(JobBoard::new(dispatcher.handle(), 0).start(short("none")).is_err());
}

#[test]
fn shutting_down_ends_every_job_and_admits_no_other() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 8);
    let main = dispatcher.handle();
    // This one needs main on its way out: its clean-up is a task.
    let cleaned = Arc::new(AtomicUsize::new(0));
    let clean = Arc::clone(&cleaned);
    let needy = board
        .start(task("needy", move |job: &JobContext| {
            job.stop_token().wait();
            let sent = main.execute_async(move |_| _ = clean.fetch_add(1, Ordering::AcqRel));
            sent.map_err(|refused| refused.reason)
        }))
        .unwrap();
    let waiting = board.start(until_stopped("waiting")).unwrap();
    assert_eq!(board.shut_down(&dispatcher, LONG), Ok(()));
    assert!(needy.is_done() && waiting.is_done() && board.list().is_empty());
    for same in [&board, &board.clone()] {
        assert!(matches!(same.start(short("late")), Err(StartError::ShutDown)));
        assert!(matches!(same.start_in(&JobSlot::new(), short("late")), Err(StartError::ShutDown)));
    }
    assert_eq!(board.shut_down(&dispatcher, Duration::ZERO), Ok(()), "a second time changes nothing");
    assert_eq!(dispatcher.process_pending(LONG).panics, 0);
    assert_eq!(cleaned.load(Ordering::Acquire), 1);
}

#[test]
fn a_job_that_waits_for_main_does_not_hold_up_shutdown() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 64);
    let jobs: Vec<_> = (0..32)
        .map(|_| {
            let main = dispatcher.handle();
            board
                .start(task("asks", move |_: &JobContext| -> Result<(), ExecuteError> {
                    loop {
                        main.execute(|_| ())?;
                    }
                }))
                .unwrap()
        })
        .collect();
    assert_eq!(board.shut_down(&dispatcher, LONG), Ok(()));
    assert!(jobs.into_iter().all(|job| job.join() == Outcome::Cancelled));
}

#[test]
fn shutting_down_names_the_jobs_that_do_not_end() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 8);
    let let_go = StopSource::new();
    let stuck = board.start(until_let_go("stubborn", &let_go)).unwrap();
    let other = board.start(until_let_go("deaf", &let_go)).unwrap();
    let polite = board.start(until_stopped("polite")).unwrap();
    // The polite one ends; how soon is up to the system.
    assert!(board.shut_down(&dispatcher, Duration::ZERO).is_err());
    assert!(polite.wait_timeout(LONG));
    let error = board.shut_down(&dispatcher, Duration::from_millis(5)).unwrap_err();
    assert_eq!(error, JobsStuck { names: vec!["stubborn".to_owned(), "deaf".to_owned()] });
    assert!(error.to_string().contains("stubborn, deaf"), "{error}");
    let_go.request_stop();
    assert_eq!(board.shut_down(&dispatcher, LONG), Ok(()));
    assert_eq!((stuck.join(), other.join()), (Outcome::Cancelled, Outcome::Cancelled));
}

#[test]
fn main_is_woken_when_a_job_ends() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 8);
    for round in 0..200 {
        let let_go = StopSource::new();
        let mut job = board.start(until_let_go("load", &let_go)).unwrap();
        let mut looked = 0;
        let waited = dispatcher.pump_until(LONG, || {
            // From the first look on, nothing but the end of the job wakes main.
            looked += 1;
            let_go.request_stop();
            job.is_done()
        });
        assert!(waited && looked >= 1, "round {round}");
        assert_eq!(job.take_result(boot.main()), Some(Outcome::Done(())));
    }
}

#[test]
fn a_callback_that_panics_does_not_keep_the_other_jobs_from_being_cancelled() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let board = JobBoard::new(dispatcher.handle(), 2);
    let registered = StopSource::new();
    let says = registered.clone();
    let rude = task("rude", move |job: &JobContext| {
        let _callback = job.stop_token().on_stop(|| panic!("rude"));
        says.request_stop();
        job.stop_token().wait();
        Err::<(), _>(Stopped)
    });
    let jobs = [board.start(rude).unwrap(), board.start(until_stopped("polite")).unwrap()];
    registered.token().wait();
    let panic = caught(|| board.cancel_all()).expect_err("it does not go unheard");
    assert!(panic.message().contains("rude"), "{panic}");
    for job in jobs {
        assert_eq!(job.join(), Outcome::Cancelled);
    }
}
