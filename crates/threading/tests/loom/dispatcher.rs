//! The dispatcher: nobody hangs, nothing runs twice, nothing is lost.

use std::sync::Arc;
use std::time::Duration;

use downbeat_threading::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use downbeat_threading::{
    Boot, BoxError, DispatcherConfig, ExecuteError, Job, JobBoard, MainThreadDispatcher, Outcome, Role,
    Thread, spawn, task,
};

use downbeat_threading::sync::model::Schedules::{All, Bounded};
use downbeat_threading::sync::model::check;

fn dispatcher(boot: &Boot) -> MainThreadDispatcher {
    MainThreadDispatcher::new(boot.main(), DispatcherConfig::default())
}

fn worker<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
    spawn("worker", Role::Worker, work).unwrap()
}

#[test]
fn a_call_runs_once_or_hears_closed() {
    check("a_call_runs_once_or_hears_closed", All, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let (handle, ran) = (dispatcher.handle(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&ran);
        let caller = worker(move || handle.execute(move |_| count.fetch_add(1, Ordering::Relaxed)));
        let _ = dispatcher.process_pending(Duration::MAX);
        drop(dispatcher);
        match caller.join().unwrap() {
            Ok(_) => assert_eq!(ran.load(Ordering::Relaxed), 1),
            Err(ExecuteError::Closed) => assert_eq!(ran.load(Ordering::Relaxed), 0),
            Err(other) => panic!("{other}"),
        }
    });
}

#[test]
fn a_thread_that_main_waits_for_may_call_main() {
    check("a_thread_that_main_waits_for_may_call_main", All, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let (handle, done) = (dispatcher.handle(), Arc::new(AtomicBool::new(false)));
        let set = Arc::clone(&done);
        let render = worker(move || {
            assert_eq!(handle.execute(|_| 7), Ok(7));
            set.store(true, Ordering::Release);
            handle.wake();
        });
        assert!(dispatcher.pump_until(Duration::MAX, || done.load(Ordering::Acquire)));
        render.join().unwrap();
    });
}

#[test]
fn a_wake_is_not_slept_through() {
    check("a_wake_is_not_slept_through", All, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let (handle, done) = (dispatcher.handle(), Arc::new(AtomicBool::new(false)));
        let set = Arc::clone(&done);
        let other = worker(move || {
            set.store(true, Ordering::Release);
            handle.wake();
        });
        assert!(dispatcher.pump_until(Duration::MAX, || done.load(Ordering::Acquire)));
        other.join().unwrap();
    });
}

#[test]
fn two_callers_both_get_their_answer() {
    check("two_callers_both_get_their_answer", Bounded, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let ran = Arc::new(AtomicUsize::new(0));
        let callers = [1, 2].map(|number| {
            let (handle, ran) = (dispatcher.handle(), Arc::clone(&ran));
            worker(move || {
                let answer = handle.execute(move |_| {
                    ran.fetch_add(1, Ordering::Relaxed);
                    number
                });
                assert_eq!(answer, Ok(number));
            })
        });
        assert!(dispatcher.pump_until(Duration::MAX, || ran.load(Ordering::Relaxed) == 2));
        for caller in callers {
            caller.join().unwrap();
        }
    });
}

#[test]
fn a_task_sent_by_a_task_runs_in_the_next_round() {
    check("a_task_sent_by_a_task_runs_in_the_next_round", All, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let (handle, ran) = (dispatcher.handle(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&ran);
        let sender = worker(move || {
            let (inner, inner_count) = (handle.clone(), Arc::clone(&count));
            let outer = move |_| {
                count.fetch_add(1, Ordering::Relaxed);
                inner.execute_async(move |_| _ = inner_count.fetch_add(10, Ordering::Relaxed)).unwrap();
            };
            handle.execute_async(outer).unwrap();
        });
        let mut rounds = Vec::new();
        while ran.load(Ordering::Relaxed) < 11 {
            let ran = dispatcher.process_pending(Duration::MAX).ran;
            assert!(ran <= 1, "the second task waits for the next round");
            if ran == 0 {
                loom::thread::yield_now();
            }
            rounds.push(ran);
        }
        assert_eq!(rounds.iter().sum::<usize>(), 2);
        sender.join().unwrap();
    });
}

/// Counts in one place when it is run and in another when it goes.
struct Counted {
    dropped: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn records_run_or_drop_once_across_push_drain_and_close() {
    check("records_run_or_drop_once_across_push_drain_and_close", Bounded, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let senders = [0, 1].map(|_| {
            let handle = dispatcher.handle();
            let (ran, counted) = (Arc::clone(&ran), Counted { dropped: Arc::clone(&dropped) });
            worker(move || {
                let sent = handle.execute_async(move |_| {
                    let _counted = counted;
                    ran.fetch_add(1, Ordering::Relaxed);
                });
                sent.is_ok()
            })
        });
        // A budget of nothing runs one task and leaves the rest of its round to the close.
        let pumped = dispatcher.process_pending(Duration::ZERO).ran;
        dispatcher.close();
        let sent = senders.map(|sender| sender.join().unwrap()).into_iter().filter(|sent| *sent).count();
        drop(dispatcher);
        assert_eq!(ran.load(Ordering::Relaxed), pumped);
        assert!(pumped <= sent);
        assert_eq!(
            dropped.load(Ordering::Relaxed),
            2,
            "each goes once: run, dropped at the close, or given back"
        );
    });
}

#[test]
fn a_job_that_calls_main_can_be_dropped_on_main() {
    check("a_job_that_calls_main_can_be_dropped_on_main", All, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let handle = dispatcher.handle();
        let job = Job::start(task("calls", move |_| handle.execute(|_| 7).map_err(BoxError::from))).unwrap();
        drop(job);
    });
}

#[test]
fn a_call_that_was_stopped_never_runs() {
    check("a_call_that_was_stopped_never_runs", Bounded, || {
        let boot = Boot::claim().unwrap();
        let dispatcher = dispatcher(&boot);
        let board = JobBoard::new(dispatcher.handle(), 1);
        let (handle, ran) = (dispatcher.handle(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&ran);
        let call = move |_: &_| {
            let seen = Arc::clone(&count);
            match handle.execute(move |_| _ = count.fetch_add(1, Ordering::Relaxed)) {
                Err(ExecuteError::Stopped { started: false }) => Ok::<_, BoxError>(Some(seen)),
                Ok(()) | Err(ExecuteError::Stopped { started: true }) => Ok(None),
                Err(other) => Err(other.into()),
            }
        };
        let job = board.start(task("calls", call)).unwrap();
        let canceller = {
            let board = board.clone();
            worker(move || board.cancel_all())
        };
        assert!(dispatcher.pump_until(Duration::MAX, || job.is_done()));
        // Whatever the job left behind is looked at once more: a task that was given up must not run now.
        let before = ran.load(Ordering::Relaxed);
        let _ = dispatcher.process_pending(Duration::MAX);
        assert_eq!(ran.load(Ordering::Relaxed), before);
        canceller.join().unwrap();
        match job.join() {
            Outcome::Done(Some(_)) => panic!("a stop that ended the call must also have cancelled the job"),
            Outcome::Done(None) => assert_eq!(before, 1),
            Outcome::Cancelled => {}
            Outcome::Failed(error) => panic!("{error}"),
            Outcome::Panicked(panic) => panic!("{panic}"),
        }
    });
}
