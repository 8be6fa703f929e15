//! Thousands of short jobs on real threads, half of them cancelled at random, and a shutdown in the middle.
//!
//! The promise: every job has one outcome, and it fits what was asked of it; a file is whole or not there; nothing is
//! left, neither a partial file nor a thread nor anything a job held. The method: count and look.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use booted::booted;
use downbeat_threading::sync::thread::yield_now;
use downbeat_threading::{
    BoxError, DispatcherConfig, Job, JobBoard, JobContext, MainThreadDispatcher, MainThreadHandle, Outcome,
    OutputFile, Role, StartError, Task, spawn, task,
};
use tempfile::TempDir;

/// More than any test takes.
const LONG: Duration = Duration::from_secs(600);
const JOBS_MAX: usize = 32;
const CHUNKS: usize = 8;

/// The same numbers in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// What one job does besides writing its file.
#[derive(Clone, Copy)]
struct Plan {
    number: u64,
    asks_main: bool,
    /// Stays until it is asked to stop, its file half written.
    waits_for_stop: bool,
}

fn content(number: u64) -> Vec<u8> {
    format!("content of file {number}\n").repeat(CHUNKS).into_bytes()
}

/// Writes a file in chunks. `held` shows whether what the job holds is let go of.
fn write(
    plan: Plan,
    path: PathBuf,
    main: MainThreadHandle,
    held: &Arc<AtomicUsize>,
) -> impl Task<Output = u64, Error = BoxError> + use<> {
    let held = Arc::clone(held);
    task(format!("write {}", plan.number), move |job: &JobContext| {
        let content = content(plan.number);
        let mut file = OutputFile::create(&path)?;
        for (at, chunk) in content.chunks(content.len() / CHUNKS).enumerate() {
            job.checkpoint()?;
            job.progress(at as f32 / CHUNKS as f32, "writing");
            file.write_all(chunk)?;
            if plan.waits_for_stop && at == CHUNKS / 2 {
                job.stop_token().wait();
            }
        }
        if plan.asks_main {
            assert_eq!(main.execute(move |_| plan.number)?, plan.number);
        }
        file.commit(job)?;
        held.fetch_add(1, Ordering::Relaxed);
        Ok(plan.number)
    })
}

/// A job under way, and what was asked of it.
struct Started {
    plan: Plan,
    path: PathBuf,
    job: Job<u64, BoxError>,
    /// The turn at which it is to be cancelled.
    cancel_at: Option<u64>,
    /// What the cancel said, once there was one.
    in_time: Option<bool>,
}

/// Jobs by how they ended.
#[derive(Default, Debug, PartialEq)]
struct Tally {
    done: usize,
    cancelled: usize,
}

impl Tally {
    /// Checks that an outcome fits its file, and what was asked of the job if that is known.
    fn count(&mut self, plan: Plan, path: &Path, outcome: &Outcome<u64, BoxError>, in_time: Option<bool>) {
        match outcome {
            Outcome::Done(number) => {
                assert_eq!(*number, plan.number);
                assert_ne!(in_time, Some(true), "a job that was cancelled in time ended as done");
                assert_eq!(fs::read(path).expect("a done job's file"), content(plan.number));
                self.done += 1;
            }
            Outcome::Cancelled => {
                assert_ne!(in_time, Some(false), "a cancel that came too late had its way");
                assert!(!path.exists(), "a cancelled job left its file");
                self.cancelled += 1;
            }
            other => panic!("job {} ended as {other:?}", plan.number),
        }
    }
}

/// In memory where that is to be had: ten thousand files brought to disk would measure the disk.
fn folder() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// Every file in the folder is a done job's.
fn check_folder(folder: &Path, tally: &Tally) {
    let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| name.starts_with("file-")), "strays in {names:?}");
    assert_eq!(names.len(), tally.done);
}

/// Waits until no thread of a job is left. The system takes a moment to bury one that was joined.
fn check_threads() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let job_threads = || {
        let threads = fs::read_dir("/proc/self/task").expect("a list of threads").flatten();
        let names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        names.filter(|name| name.starts_with("job-")).count()
    };
    let buried = (0..1_000_000).any(|_| {
        yield_now();
        job_threads() == 0
    });
    assert!(buried, "{} threads are left", job_threads());
}

/// Takes the jobs that have ended out of `running` and checks them.
fn harvest(running: &mut Vec<Started>, tally: &mut Tally) {
    for ended in running.extract_if(.., |started| started.job.is_done()) {
        tally.count(ended.plan, &ended.path, &ended.job.join(), ended.in_time);
    }
}

fn cancel_due(running: &mut [Started], turn: u64) {
    for started in running.iter_mut().filter(|started| started.cancel_at.is_some_and(|at| at <= turn)) {
        let in_time = started.job.cancel();
        assert!(in_time || !started.plan.waits_for_stop, "nothing but a cancel ends it");
        assert_eq!(*started.in_time.get_or_insert(in_time), in_time, "a cancel is decided once");
    }
}

#[test]
fn ten_thousand_jobs_half_of_them_cancelled_leave_nothing_behind() {
    const JOBS: u64 = 10_000;
    let boot = booted();
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let board = JobBoard::new(dispatcher.handle(), JOBS_MAX);
    let folder = folder();
    let (mut random, held) = (Random(0x9E37_79B9_7F4A_7C15), Arc::new(AtomicUsize::new(0)));
    let (mut running, mut tally) = (Vec::new(), Tally::default());
    let (mut to_cancel, mut waiting) = (0, 0);
    for number in 0..JOBS {
        let cancelled = random.below(2) == 0;
        to_cancel += usize::from(cancelled);
        let waits_for_stop = cancelled && random.below(3) == 0;
        waiting += usize::from(waits_for_stop);
        let plan = Plan { number, asks_main: random.below(8) == 0, waits_for_stop };
        let cancel_at = cancelled.then(|| number + random.below(4));
        let path = folder.path().join(format!("file-{number}"));
        let started = board.start(write(plan, path.clone(), dispatcher.handle(), &held));
        running.push(Started { plan, path, job: started.unwrap(), cancel_at, in_time: None });
        cancel_due(&mut running, number);
        if running.len() == JOBS_MAX {
            assert!(dispatcher.pump_until(LONG, || running.iter().any(|started| started.job.is_done())));
        }
        harvest(&mut running, &mut tally);
    }
    cancel_due(&mut running, u64::MAX);
    assert!(dispatcher.pump_until(LONG, || running.iter().all(|started| started.job.is_done())));
    harvest(&mut running, &mut tally);

    assert!(running.is_empty() && board.list().is_empty());
    assert_eq!(tally.done + tally.cancelled, JOBS as usize, "{tally:?}");
    assert!((waiting..=to_cancel).contains(&tally.cancelled), "{tally:?}, {waiting} to {to_cancel} asked");
    assert!(waiting > 1000 && to_cancel > 4500, "the generator is fair");
    assert_eq!(held.load(Ordering::Relaxed), tally.done, "the last line ran in done jobs and no other");
    assert_eq!(Arc::strong_count(&held), 1);
    check_folder(folder.path(), &tally);
    check_threads();
}

/// Starts jobs until the board no longer takes any: how those ended that have, and the others.
fn start_until_shut_down(
    board: &JobBoard,
    main: &MainThreadHandle,
    folder: &Path,
    count: &AtomicUsize,
    held: &Arc<AtomicUsize>,
) -> (Vec<Started>, Tally) {
    let (mut running, mut tally) = (Vec::new(), Tally::default());
    loop {
        let number = count.load(Ordering::Acquire) as u64;
        let plan = Plan { number, asks_main: number.is_multiple_of(4), waits_for_stop: number % 100 == 50 };
        let path = folder.join(format!("file-{number}"));
        match board.start(write(plan, path.clone(), main.clone(), held)) {
            Ok(job) => {
                running.push(Started { plan, path, job, cancel_at: None, in_time: None });
                count.fetch_add(1, Ordering::AcqRel);
                main.wake();
            }
            Err(StartError::Full { .. }) => yield_now(),
            Err(StartError::ShutDown) => return (running, tally),
            Err(error) => panic!("{error}"),
        }
        harvest(&mut running, &mut tally);
    }
}

#[test]
fn a_shutdown_in_the_middle_ends_every_job_and_leaves_nothing_behind() {
    let boot = booted();
    for round in 0..20 {
        let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
        let board = JobBoard::new(dispatcher.handle(), JOBS_MAX);
        let folder = folder();
        let (count, held) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let starter = {
            let (board, main, folder) = (board.clone(), dispatcher.handle(), folder.path().to_owned());
            let (count, held) = (Arc::clone(&count), Arc::clone(&held));
            spawn("starter", Role::Rpc, move || start_until_shut_down(&board, &main, &folder, &count, &held))
        };
        let enough = 60 + round * 10;
        assert!(dispatcher.pump_until(LONG, || count.load(Ordering::Acquire) >= enough));
        assert_eq!(board.shut_down(&dispatcher, LONG), Ok(()));
        assert!(board.list().is_empty());

        let (mut rest, mut tally) = starter.unwrap().join().unwrap();
        assert!(rest.iter().all(|started| started.job.is_done()), "shutdown waits for all of them");
        harvest(&mut rest, &mut tally);
        assert_eq!(tally.done + tally.cancelled, count.load(Ordering::Acquire), "{tally:?}");
        assert!(tally.cancelled >= 1, "the one that waits for a stop was there: {tally:?}");
        assert_eq!(held.load(Ordering::Relaxed), tally.done);
        drop(dispatcher);
        assert_eq!(Arc::strong_count(&held), 1);
        check_folder(folder.path(), &tally);
    }
    check_threads();
}
