//! A job from start to end: checks, outcomes, cancelling, progress, results. Files are in `job_output.rs`, slots and
//! boards in `job_board.rs`.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use booted::booted;
use downbeat_threading::sync::thread::yield_now;
use downbeat_threading::{
    BoxError, DispatcherConfig, ExecuteError, Job, JobContext, MainThreadDispatcher, Outcome, Role,
    StartError, StopSource, Stopped, Task, caught, roles, task,
};

/// More than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// Sets its flag when it is dropped.
struct Held(Arc<AtomicBool>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs until it is asked to stop.
fn until_stopped(name: &str) -> impl Task<Output = (), Error = Stopped> + use<> {
    task(name.to_owned(), |job: &JobContext| {
        job.stop_token().wait();
        Err(Stopped)
    })
}

#[test]
fn an_invalid_task_is_refused_at_once_and_never_runs() {
    struct Import {
        path: String,
        ran: Arc<AtomicBool>,
    }
    impl Task for Import {
        type Output = usize;
        type Error = String;

        fn name(&self) -> String {
            format!("import {}", self.path)
        }

        fn validate(&mut self) -> Result<(), String> {
            assert!(!roles().contains(Role::Worker), "checked where it is started");
            self.path = self.path.trim().to_owned();
            if self.path.is_empty() { Err("no path".to_owned()) } else { Ok(()) }
        }

        fn run(self, _: &JobContext) -> Result<usize, String> {
            assert!(roles().contains(Role::Worker));
            self.ran.store(true, Ordering::Release);
            Ok(self.path.len())
        }
    }
    let ran = Arc::new(AtomicBool::new(false));
    let refused = Job::start(Import { path: " ".to_owned(), ran: Arc::clone(&ran) });
    assert!(matches!(refused, Err(StartError::Invalid(reason)) if reason == "no path"));
    assert!(!ran.load(Ordering::Acquire) && Arc::strong_count(&ran) == 1, "nothing is left of it");
    let job = Job::start(Import { path: " arm.zip ".to_owned(), ran: Arc::clone(&ran) }).unwrap();
    assert_eq!(job.name(), "import arm.zip", "what the check put right is what runs");
    assert_eq!(job.join(), Outcome::Done(7));
    assert!(ran.load(Ordering::Acquire));
}

#[test]
fn a_job_ends_in_one_of_four_ways() {
    let done = Job::start(task("done", |_| Ok::<_, Stopped>(5))).unwrap();
    assert_eq!(done.join(), Outcome::Done(5));
    let failed = Job::start(task("failed", |_| Err::<(), _>("no disk"))).unwrap();
    assert_eq!(failed.join(), Outcome::Failed("no disk"));
    let cancelled = Job::start(until_stopped("cancelled")).unwrap();
    assert!(cancelled.cancel());
    assert_eq!(cancelled.join(), Outcome::Cancelled);
    let panics = |_: &JobContext| -> Result<(), Stopped> { resume_unwind(Box::new("no luck")) };
    let panicked = Job::start(task("panicked", panics)).unwrap();
    assert!(matches!(panicked.join(), Outcome::Panicked(panic) if panic.message() == "no luck"));
}

#[test]
fn a_failure_or_a_result_that_comes_after_a_cancel_is_a_cancelled_job() {
    for succeeds in [true, false] {
        let job = Job::start(task("late", move |job: &JobContext| {
            job.stop_token().wait();
            if succeeds { Ok(1) } else { Err("something broke on the way out") }
        }))
        .unwrap();
        assert!(job.cancel());
        assert_eq!(job.join(), Outcome::Cancelled);
    }
    // A panic is worth knowing about even then.
    let job = Job::start(task("late", move |job: &JobContext| -> Result<(), Stopped> {
        job.stop_token().wait();
        resume_unwind(Box::new("on the way out"))
    }))
    .unwrap();
    assert!(job.cancel());
    assert!(matches!(job.join(), Outcome::Panicked(_)));
}

#[test]
fn a_cancel_before_the_point_of_no_return_wins() {
    let seen = Arc::new(AtomicBool::new(false));
    let refused = Arc::clone(&seen);
    let job = Job::start(task("export", move |job: &JobContext| {
        job.stop_token().wait();
        refused.store(job.point_of_no_return() == Err(Stopped), Ordering::Release);
        job.point_of_no_return()
    }))
    .unwrap();
    assert!(job.cancel() && job.cancel(), "a second cancel changes nothing");
    assert_eq!(job.join(), Outcome::Cancelled);
    assert!(seen.load(Ordering::Acquire));
}

#[test]
fn a_cancel_after_the_point_of_no_return_comes_too_late() {
    let (passed, cancelled) = (StopSource::new(), StopSource::new());
    let (pass, go_on) = (passed.clone(), cancelled.token());
    let job = Job::start(task("export", move |job: &JobContext| {
        job.point_of_no_return()?;
        pass.request_stop();
        go_on.wait();
        assert!(!job.is_stopped(), "what cannot be undone is not asked to stop");
        job.checkpoint()?;
        job.point_of_no_return()?; // Still open: it was passed by this job.
        Ok::<_, Stopped>("exported")
    }))
    .unwrap();
    passed.token().wait();
    assert!(!job.cancel());
    cancelled.request_stop();
    assert_eq!(job.join(), Outcome::Done("exported"));
}

#[test]
fn a_cancel_after_the_end_comes_too_late() {
    let job = Job::start(task("short", |_| Ok::<_, Stopped>(1))).unwrap();
    assert!(job.wait_timeout(LONG) && job.is_done());
    assert!(!job.cancel());
    assert_eq!(job.join(), Outcome::Done(1));
}

#[test]
fn progress_is_seen_outside_and_never_goes_back() {
    let job = Job::start(task("bake", |job: &JobContext| {
        for step in 0..=1000_u32 {
            // Every other report lies far behind.
            job.progress(if step % 2 == 0 { step as f32 / 1000.0 } else { 0.0 }, &format!("step {step}"));
        }
        job.progress(f32::NAN, "waits");
        job.stop_token().wait();
        Ok::<_, Stopped>(())
    }))
    .unwrap();
    let mut last = job.progress();
    while last.text != "waits" {
        let now = job.progress();
        assert!(now.fraction >= last.fraction && (0.0..=1.0).contains(&now.fraction), "{now:?}");
        last = now;
        yield_now();
    }
    assert!(last.fraction >= 1.0, "{last:?}");
    job.cancel();
    assert_eq!(job.join(), Outcome::Cancelled);
}

#[test]
fn main_takes_the_result_once_and_not_before_the_end() {
    let boot = booted();
    let go_on = StopSource::new();
    let waits = go_on.token();
    let mut job = Job::start(task("load", move |_| {
        waits.wait();
        Ok::<_, Stopped>("arm".to_owned())
    }))
    .unwrap();
    assert_eq!((job.is_done(), job.take_result(boot.main())), (false, None));
    assert!(!job.wait_timeout(Duration::from_millis(1)));
    go_on.request_stop();
    assert!(job.wait_timeout(LONG));
    assert_eq!(job.take_result(boot.main()), Some(Outcome::Done("arm".to_owned())));
    assert_eq!((job.is_done(), job.take_result(boot.main())), (true, None));
    assert!(caught(|| job.join()).is_err(), "there is no second result");
}

#[test]
fn dropping_a_job_cancels_it_and_waits_for_its_end() {
    let (began, ended) = (StopSource::new(), Arc::new(AtomicBool::new(false)));
    let (begin, held) = (began.clone(), Held(Arc::clone(&ended)));
    let job = Job::start(task("long", move |job: &JobContext| {
        let _held = held;
        begin.request_stop();
        job.stop_token().wait();
        yield_now();
        job.checkpoint()
    }))
    .unwrap();
    began.token().wait();
    drop(job);
    assert!(ended.load(Ordering::Acquire));
}

#[test]
fn a_panic_drops_what_the_job_held_before_anybody_hears_of_the_end() {
    let dropped = Arc::new(AtomicBool::new(false));
    let held = Held(Arc::clone(&dropped));
    let job = Job::start(task("unlucky", move |_| -> Result<(), Stopped> {
        let _held = held;
        resume_unwind(Box::new("no luck"))
    }))
    .unwrap();
    while !job.is_done() {
        yield_now();
    }
    assert!(dropped.load(Ordering::Acquire));
}

#[test]
fn a_cancelled_jobs_result_is_dropped_before_anybody_hears_of_the_end() {
    /// Takes its time, so that one who hears too early hears before.
    struct Slow(Arc<AtomicUsize>);
    impl Drop for Slow {
        fn drop(&mut self) {
            (0..1000).for_each(|_| yield_now());
            self.0.fetch_add(1, Ordering::AcqRel);
        }
    }
    for round in 1..=20 {
        let dropped = Arc::new(AtomicUsize::new(0));
        let made = Slow(Arc::clone(&dropped));
        let job = Job::start(task("late", move |job: &JobContext| {
            job.stop_token().wait();
            Ok::<_, Stopped>(made)
        }))
        .unwrap();
        assert!(job.cancel());
        while !job.is_done() {
            yield_now();
        }
        assert_eq!(dropped.load(Ordering::Acquire), 1, "round {round}");
    }
}

#[test]
fn a_cancelled_jobs_result_that_panics_when_dropped_hangs_nobody() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            resume_unwind(Box::new("dropped with a bang"));
        }
    }
    let job = Job::start(task("late", move |job: &JobContext| {
        job.stop_token().wait();
        Ok::<_, Stopped>(Bomb)
    }))
    .unwrap();
    assert!(job.cancel());
    assert!(job.wait_timeout(LONG));
    assert!(matches!(job.join(), Outcome::Cancelled));
}

#[test]
fn a_job_that_waits_for_main_does_not_hold_up_who_drops_it() {
    let boot = booted();
    let arrived = StopSource::new();
    let arrive = arrived.clone();
    let wake = Arc::new(move || _ = arrive.request_stop());
    let config = DispatcherConfig { wake: Some(wake), ..DispatcherConfig::default() };
    let dispatcher = MainThreadDispatcher::new(boot.main(), config);
    let (main, ran) = (dispatcher.handle(), Arc::new(AtomicBool::new(false)));
    let (run, heard) = (Arc::clone(&ran), Arc::new(AtomicBool::new(false)));
    let hears = Arc::clone(&heard);
    let job = Job::start(task("asks", move |_| -> Result<(), BoxError> {
        let answer = main.execute(move |_| run.store(true, Ordering::Release));
        let stopped = answer == Err(ExecuteError::Stopped { started: false });
        hears.store(stopped, Ordering::Release);
        Ok(answer?)
    }))
    .unwrap();
    arrived.token().wait();
    // Main runs no task here, so the job would wait for ever.
    drop(job);
    assert!(heard.load(Ordering::Acquire));
    assert_eq!(dispatcher.process_pending(LONG).panics, 0);
    assert!(!ran.load(Ordering::Acquire), "what was given up never runs");
}

#[test]
fn a_job_can_be_cancelled_while_its_task_is_under_way_on_main() {
    let boot = booted();
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let (main, ended) = (dispatcher.handle(), StopSource::new());
    let answered = Arc::new(AtomicBool::new(false));
    let (answer, wakes) = (Arc::clone(&answered), dispatcher.handle());
    let (waits, ends) = (ended.token(), ended.clone());
    let job = Job::start(task("asks", move |job: &JobContext| {
        let stop = job.stop_token().clone();
        let heard = main.execute(move |_| {
            // On main: the cancel comes from here, and the job is gone before this task ends.
            assert!(!stop.is_stopped());
            CANCEL.with_borrow(|cancel| cancel.as_ref().expect("set before the round")());
            waits.wait();
        });
        answer.store(heard == Err(ExecuteError::Stopped { started: true }), Ordering::Release);
        ends.request_stop();
        wakes.wake();
        Ok::<_, Stopped>(())
    }))
    .unwrap();
    thread_local! {
        static CANCEL: std::cell::RefCell<Option<Box<dyn Fn()>>> = const { std::cell::RefCell::new(None) };
    }
    let job = std::rc::Rc::new(job);
    let cancels = std::rc::Rc::clone(&job);
    CANCEL.set(Some(Box::new(move || assert!(cancels.cancel()))));
    assert!(dispatcher.pump_until(LONG, || ended.is_stopped()));
    CANCEL.set(None);
    assert!(answered.load(Ordering::Acquire));
    let job = std::rc::Rc::into_inner(job).expect("the other is gone with the closure");
    assert_eq!(job.join(), Outcome::Cancelled);
}
