//! Main waits for something and goes on running tasks meanwhile, also from inside a task.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use booted::booted;
use downbeat_threading::sync::Mutex;
use downbeat_threading::{
    DispatcherConfig, MainThread, MainThreadDispatcher, MainThreadHandle, Pumped, Role, StopSource, spawn,
};

/// More than any test takes.
const LONG: Duration = Duration::from_secs(600);

type Log = Arc<Mutex<Vec<usize>>>;

thread_local! {
    /// How a task, which cannot own a thing of main's, finds the dispatcher: it runs on main.
    static DISPATCHER: RefCell<Weak<MainThreadDispatcher>> = const { RefCell::new(Weak::new()) };
}

/// A dispatcher that tasks can reach through [`here`].
fn reachable(main: MainThread) -> Rc<MainThreadDispatcher> {
    let dispatcher = Rc::new(MainThreadDispatcher::new(main, DispatcherConfig::default()));
    DISPATCHER.set(Rc::downgrade(&dispatcher));
    dispatcher
}

fn here() -> Rc<MainThreadDispatcher> {
    DISPATCHER.with_borrow(Weak::upgrade).expect("only tasks of a living dispatcher ask")
}

fn note(handle: &MainThreadHandle, log: &Log, number: usize) {
    let log = Arc::clone(log);
    handle.execute_async(move |_| log.lock().push(number)).expect("neither full nor closed");
}

fn ran(count: usize) -> Pumped {
    Pumped { ran: count, ..Pumped::default() }
}

/// A task that notes `number`, waits until the log is `len` long, and notes `number + 100`.
fn wait_inside(handle: &MainThreadHandle, log: &Log, number: usize, len: usize) {
    let log = Arc::clone(log);
    handle
        .execute_async(move |_| {
            log.lock().push(number);
            assert!(here().pump_until(LONG, || log.lock().len() >= len));
            log.lock().push(number + 100);
        })
        .expect("neither full nor closed");
}

#[test]
fn while_main_waits_other_threads_get_their_answers() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, ended) = (dispatcher.handle(), Arc::new(AtomicBool::new(false)));
    let end = Arc::clone(&ended);
    let worker = spawn("asks", Role::Worker, move || {
        let sum: usize = (0..200).map(|number| handle.execute(move |_| number).expect("main waits")).sum();
        end.store(true, Ordering::Release);
        handle.wake();
        sum
    });
    assert!(dispatcher.pump_until(LONG, || ended.load(Ordering::Acquire)));
    assert_eq!(worker.unwrap().join().unwrap(), (0..200).sum());
}

#[test]
fn waiting_ends_at_once_when_the_condition_holds_already() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let log = Log::default();
    note(&dispatcher.handle(), &log, 1);
    assert!(dispatcher.pump_until(Duration::ZERO, || true));
    assert!(log.lock().is_empty(), "nothing had to run");
}

#[test]
fn waiting_gives_up_when_the_time_is_over() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let log = Log::default();
    assert!(!dispatcher.pump_until(Duration::ZERO, || false));
    assert!(!dispatcher.pump_until(Duration::from_millis(5), || false));
    note(&dispatcher.handle(), &log, 1);
    assert!(!dispatcher.pump_until(Duration::from_millis(5), || false));
    assert_eq!(*log.lock(), [1]);
}

#[test]
fn waiting_gives_up_in_time_also_when_tasks_never_end() {
    /// A task that sends itself again, as one that wants to run in every frame does.
    fn again(handle: MainThreadHandle, rounds: Arc<AtomicUsize>) {
        let sender = handle.clone();
        let task = move |_: MainThread| {
            rounds.fetch_add(1, Ordering::Relaxed);
            again(handle, rounds);
        };
        // Refused at the end, when the dispatcher has closed.
        let _ = sender.execute_async(task);
    }
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let rounds = Arc::new(AtomicUsize::new(0));
    again(dispatcher.handle(), Arc::clone(&rounds));
    assert!(!dispatcher.pump_until(Duration::from_millis(5), || false));
    let before = rounds.load(Ordering::Relaxed);
    assert!(before > 0);
    assert_eq!(dispatcher.process_pending(LONG), ran(1), "a round has an end all the same");
    assert_eq!(rounds.load(Ordering::Relaxed), before + 1);
}

#[test]
fn a_wake_between_look_and_sleep_is_not_lost() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    // Turn by turn, so that a wake that is lost shows as a wait without end.
    let turn = Arc::new(AtomicUsize::new(0));
    let (handle, takes) = (dispatcher.handle(), Arc::clone(&turn));
    let other = spawn("other", Role::Worker, move || {
        for round in 0..2000 {
            while takes.load(Ordering::Acquire) < 2 * round + 1 {
                std::hint::spin_loop();
            }
            takes.fetch_add(1, Ordering::AcqRel);
            handle.wake();
        }
    });
    for round in 0..2000 {
        turn.fetch_add(1, Ordering::AcqRel);
        assert!(dispatcher.pump_until(LONG, || turn.load(Ordering::Acquire) == 2 * round + 2));
    }
    other.unwrap().join().unwrap();
}

#[test]
fn a_task_that_waits_runs_the_tasks_of_its_round_behind_it() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    wait_inside(&handle, &log, 0, 3);
    (1..4).for_each(|number| note(&handle, &log, number));
    let pumped = dispatcher.process_pending(LONG);
    assert_eq!(*log.lock(), [0, 1, 2, 100, 3]);
    assert_eq!((pumped.left, pumped.panics), (0, 0));
    assert_eq!(dispatcher.process_pending(LONG), ran(0));
}

#[test]
fn a_task_that_waits_runs_the_tasks_that_come_later() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    wait_inside(&handle, &log, 0, 4);
    let (sender, sent) = (handle.clone(), Arc::clone(&log));
    // Sent from inside the wait, so these are in no round yet.
    handle.execute_async(move |_| (1..6).for_each(|number| note(&sender, &sent, number))).unwrap();
    let pumped = dispatcher.process_pending(LONG);
    assert_eq!((pumped.left, pumped.panics), (0, 0));
    // The wait took in 1 to 5 and went on after 3; what it left runs in the round outside, in order.
    assert_eq!(*log.lock(), [0, 1, 2, 3, 100, 4, 5]);
}

#[test]
fn what_a_waiting_task_took_in_and_left_counts_as_left() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    wait_inside(&handle, &log, 0, 4);
    let (sender, sent) = (handle.clone(), Arc::clone(&log));
    handle.execute_async(move |_| (1..6).for_each(|number| note(&sender, &sent, number))).unwrap();
    assert_eq!(dispatcher.process_pending(Duration::ZERO), Pumped { left: 2, ..ran(1) });
    assert_eq!(*log.lock(), [0, 1, 2, 3, 100]);
    assert_eq!(dispatcher.process_pending(LONG), ran(2));
    assert_eq!(*log.lock(), [0, 1, 2, 3, 100, 4, 5]);
}

#[test]
fn waits_can_be_nested_and_end_from_the_inside_out() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    // 0 waits for what 1 and 2 do; each of these waits for the ones behind it.
    wait_inside(&handle, &log, 0, 6);
    wait_inside(&handle, &log, 1, 5);
    wait_inside(&handle, &log, 2, 4);
    note(&handle, &log, 3);
    assert_eq!(dispatcher.process_pending(LONG).panics, 0);
    assert_eq!(*log.lock(), [0, 1, 2, 3, 102, 101, 100]);
    // The dispatcher is as good as new.
    note(&handle, &log, 4);
    assert_eq!(dispatcher.process_pending(LONG), ran(1));
}

#[test]
fn a_task_that_waits_lets_other_threads_through() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, ended) = (dispatcher.handle(), StopSource::new());
    let waits = ended.token();
    handle.execute_async(move |_| assert!(here().pump_until(LONG, || waits.is_stopped()))).unwrap();
    let worker = spawn("asks", Role::Worker, move || {
        let answers: Vec<_> = (0..50).map(|number| handle.execute(move |_| number)).collect();
        ended.request_stop();
        handle.wake();
        answers
    });
    let pumped = dispatcher.process_pending(LONG);
    assert_eq!(pumped.panics, 0, "{pumped:?}");
    assert_eq!(worker.unwrap().join().unwrap(), (0..50).map(Ok).collect::<Vec<_>>());
}

#[test]
fn a_round_inside_a_task_does_nothing() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    let seen = Arc::clone(&log);
    handle
        .execute_async(move |_| {
            assert_eq!(here().process_pending(LONG), Pumped::default());
            seen.lock().push(0);
        })
        .unwrap();
    note(&handle, &log, 1);
    assert_eq!(dispatcher.process_pending(LONG), ran(2));
    assert_eq!(*log.lock(), [0, 1]);
}

#[test]
fn a_dispatcher_closed_by_a_task_drops_the_tasks_behind_it() {
    let boot = booted();
    let dispatcher = reachable(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    note(&handle, &log, 0);
    handle.execute_async(|_| here().close()).unwrap();
    note(&handle, &log, 1);
    assert_eq!(dispatcher.process_pending(LONG), ran(2));
    assert_eq!((log.lock().len(), Arc::strong_count(&log)), (1, 1));
    assert!(handle.execute_async(|_| ()).is_err());
}

#[test]
fn a_panic_while_main_waits_is_reported_by_the_next_round() {
    let boot = booted();
    let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    let (handle, done) = (dispatcher.handle(), Arc::new(AtomicBool::new(false)));
    let set = Arc::clone(&done);
    handle.execute_async(|_| panic!("while waiting")).unwrap();
    handle.execute_async(move |_| set.store(true, Ordering::Relaxed)).unwrap();
    assert!(dispatcher.pump_until(LONG, || done.load(Ordering::Relaxed)));
    let pumped = dispatcher.process_pending(LONG);
    assert_eq!((pumped.ran, pumped.panics), (0, 1));
    assert_eq!(pumped.first_panic.expect("one panic").message(), "while waiting");
    assert_eq!(dispatcher.process_pending(LONG), ran(0), "a panic is reported once");
}
