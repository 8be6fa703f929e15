//! The main-thread dispatcher from outside a task: order, rounds, limits, answers. Waiting inside tasks is in
//! `dispatcher_waits.rs`.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

mod booted;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use booted::booted;
use downbeat_threading::sync::Mutex;
use downbeat_threading::sync::thread::yield_now;
use downbeat_threading::{
    DispatcherConfig, ExecuteError, MainThread, MainThreadDispatcher, MainThreadHandle, Pumped, Refused,
    Role, StepScope, StopSource, caught, is_main_thread, roles, spawn,
};

/// More than any test takes.
const LONG: Duration = Duration::from_secs(600);

type Log = Arc<Mutex<Vec<usize>>>;

fn dispatcher(main: MainThread) -> MainThreadDispatcher {
    MainThreadDispatcher::new(main, DispatcherConfig::default())
}

/// Sends a task that notes `number`.
fn note(handle: &MainThreadHandle, log: &Log, number: usize) {
    let log = Arc::clone(log);
    handle.execute_async(move |_| log.lock().push(number)).expect("neither full nor closed");
}

fn ran(count: usize) -> Pumped {
    Pumped { ran: count, ..Pumped::default() }
}

/// A limit-free dispatcher that counts how often it calls its wake hook.
fn counting(main: MainThread) -> (MainThreadDispatcher, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let wake = Arc::new(move || _ = counted.fetch_add(1, Ordering::AcqRel));
    let config = DispatcherConfig { wake: Some(wake), ..DispatcherConfig::default() };
    (MainThreadDispatcher::new(main, config), calls)
}

#[test]
fn on_main_a_task_runs_at_once_and_so_do_tasks_within_it() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    note(&handle, &log, 9);
    let (outer, inner) = (Arc::clone(&log), Arc::clone(&log));
    let nested = handle.clone();
    let answer = handle.execute(move |_| {
        outer.lock().push(1);
        let answer = nested.execute(move |_| {
            inner.lock().push(2);
            is_main_thread()
        });
        outer.lock().push(3);
        answer
    });
    assert_eq!(answer, Ok(Ok(true)));
    assert_eq!(handle.execute_timeout(Duration::ZERO, |_| 5), Ok(5), "no time is needed");
    assert_eq!(*log.lock(), [1, 2, 3], "what waits in the queue goes on waiting");
    let inside = handle.clone();
    let asked = Arc::clone(&log);
    handle.execute_async(move |_| asked.lock().push(inside.execute(|_| 4).expect("at once"))).unwrap();
    assert_eq!(dispatcher.process_pending(LONG), ran(2));
    assert_eq!(*log.lock(), [1, 2, 3, 9, 4]);
}

#[test]
fn tasks_run_on_main_in_the_order_they_were_sent() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let log = Arc::new(Mutex::new(Vec::new()));
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let (handle, log) = (dispatcher.handle(), Arc::clone(&log));
            spawn("sender", Role::Worker, move || {
                for number in 0..500 {
                    let log = Arc::clone(&log);
                    handle
                        .execute_async(move |_| {
                            log.lock().push((sender, number, roles().contains(Role::Main)));
                        })
                        .expect("neither full nor closed");
                }
            })
            .unwrap()
        })
        .collect();
    let mut count = 0;
    while count < 2000 {
        count += dispatcher.process_pending(Duration::from_millis(1)).ran;
    }
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    for sender in 0..4 {
        let log = log.lock();
        let of_sender: Vec<_> = log.iter().filter(|entry| entry.0 == sender).collect();
        assert_eq!(of_sender.len(), 500);
        assert!(of_sender.iter().enumerate().all(|(at, entry)| entry.1 == at && entry.2));
    }
}

#[test]
fn a_task_that_sends_another_leaves_it_for_the_next_round() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    let (sender, sent) = (handle.clone(), Arc::clone(&log));
    handle.execute_async(move |_| note(&sender, &sent, 2)).unwrap();
    note(&handle, &log, 1);
    assert_eq!(dispatcher.process_pending(LONG), ran(2));
    assert_eq!(*log.lock(), [1]);
    assert_eq!(dispatcher.process_pending(LONG), ran(1));
    assert_eq!(*log.lock(), [1, 2]);
    assert_eq!(dispatcher.process_pending(LONG), ran(0));
}

#[test]
fn without_budget_one_task_runs_and_the_rest_later_in_order() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    (0..3).for_each(|number| note(&handle, &log, number));
    assert_eq!(dispatcher.process_pending(Duration::ZERO), Pumped { left: 2, ..ran(1) });
    (3..5).for_each(|number| note(&handle, &log, number));
    // What was left comes first, then what has come since; both count as left.
    assert_eq!(dispatcher.process_pending(Duration::ZERO), Pumped { left: 3, ..ran(1) });
    assert_eq!(*log.lock(), [0, 1]);
    assert_eq!(dispatcher.process_pending(LONG), ran(3));
    assert_eq!(*log.lock(), [0, 1, 2, 3, 4]);
    assert_eq!(dispatcher.process_pending(Duration::ZERO), ran(0));
}

#[test]
fn a_full_dispatcher_gives_the_task_back() {
    let boot = booted();
    let by_count = DispatcherConfig { tasks_max: 10, ..DispatcherConfig::default() };
    let by_bytes = DispatcherConfig { bytes_max: 700, ..DispatcherConfig::default() };
    for config in [by_count, by_bytes] {
        let dispatcher = MainThreadDispatcher::new(boot.main(), config);
        let (handle, log) = (dispatcher.handle(), Log::default());
        let mut sent = 0;
        let refused = loop {
            let log = Arc::clone(&log);
            let pattern = [sent; 4];
            match handle.execute_async(move |_| log.lock().extend(pattern)) {
                Ok(()) => sent += 1,
                Err(refused) => break refused,
            }
            assert!(sent <= 10, "past both limits");
        };
        assert_eq!(refused.reason, Refused::Full);
        assert!(refused.to_string().contains("too many tasks"), "{refused}");
        let asked = {
            let handle = handle.clone();
            let large = [0_u8; 200];
            spawn("asks", Role::Worker, move || handle.execute(move |_| large.len())).unwrap()
        };
        assert_eq!(asked.join().unwrap(), Err(ExecuteError::Full));
        assert_eq!(dispatcher.process_pending(LONG), ran(sent));
        handle.execute_async(refused.task).unwrap();
        assert_eq!(dispatcher.process_pending(LONG), ran(1));
        assert_eq!(*log.lock(), (0..=sent).flat_map(|number| [number; 4]).collect::<Vec<_>>());
    }
}

#[test]
fn a_closed_dispatcher_takes_nothing_and_drops_what_waits() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let (handle, log) = (dispatcher.handle(), Log::default());
    note(&handle, &log, 0);
    note(&handle, &log, 1);
    note(&handle, &log, 2);
    assert_eq!(dispatcher.process_pending(Duration::ZERO).left, 2);
    note(&handle, &log, 3);
    dispatcher.close();
    assert_eq!(Arc::strong_count(&log), 1, "both the rest of the round and what came since are dropped");
    let refused = handle.execute_async(|_| ()).unwrap_err();
    assert_eq!(refused.reason, Refused::Closed);
    (refused.task)(boot.main());
    let asks = handle.clone();
    let asked = spawn("asks", Role::Worker, move || asks.execute(|_| 1)).unwrap();
    assert_eq!(asked.join().unwrap(), Err(ExecuteError::Closed));
    assert_eq!(dispatcher.process_pending(LONG), ran(0));
    assert_eq!(*log.lock(), [0]);
    assert_eq!(handle.execute(|_| 2), Ok(2), "on main there is nothing to wait for");
}

#[test]
fn who_waits_hears_that_the_dispatcher_was_dropped() {
    let boot = booted();
    let (dispatcher, arrived) = counting(boot.main());
    let log = Log::default();
    let waiters: Vec<_> = (0..4)
        .map(|number| {
            let (handle, log) = (dispatcher.handle(), Arc::clone(&log));
            spawn("waits", Role::Worker, move || handle.execute(move |_| log.lock().push(number))).unwrap()
        })
        .collect();
    while arrived.load(Ordering::Acquire) < 4 {
        yield_now();
    }
    drop(dispatcher);
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), Err(ExecuteError::Closed));
    }
    assert!(log.lock().is_empty());
}

#[test]
fn a_panic_goes_to_who_waits_and_else_into_the_count() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let handle = dispatcher.handle();
    let inline = handle.execute(|_| -> u8 { panic!("at once") });
    assert!(matches!(inline, Err(ExecuteError::Panicked(panic)) if panic.message() == "at once"));
    let asks = dispatcher.handle();
    let done = StopSource::new();
    let answered = done.clone();
    let asked = spawn("asks", Role::Worker, move || {
        let answer = asks.execute(|_| -> u8 { panic!("for the caller") });
        answered.request_stop();
        answer
    });
    while !done.is_stopped() {
        assert_eq!(dispatcher.process_pending(LONG).panics, 0, "the caller has it");
    }
    let answer = asked.unwrap().join().unwrap();
    assert!(matches!(answer, Err(ExecuteError::Panicked(panic)) if panic.message() == "for the caller"));

    let log = Log::default();
    handle.execute_async(|_| panic!("the first")).unwrap();
    note(&handle, &log, 1);
    handle.execute_async(|_| panic!("the second")).unwrap();
    note(&handle, &log, 2);
    let pumped = dispatcher.process_pending(LONG);
    assert_eq!((pumped.ran, pumped.left, pumped.panics), (4, 0, 2));
    assert_eq!(pumped.first_panic.unwrap().message(), "the first");
    assert_eq!(*log.lock(), [1, 2]);
}

#[test]
fn a_task_that_timed_out_unstarted_never_runs() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let log = Log::default();
    let (handle, late) = (dispatcher.handle(), Arc::clone(&log));
    let asked = spawn("asks", Role::Worker, move || {
        handle.execute_timeout(Duration::from_millis(1), move |_| late.lock().push(1))
    });
    assert_eq!(asked.unwrap().join().unwrap(), Err(ExecuteError::TimedOut { started: false }));
    note(&dispatcher.handle(), &log, 2);
    assert_eq!(dispatcher.process_pending(LONG).panics, 0);
    assert_eq!(*log.lock(), [2]);
}

#[test]
fn a_task_that_timed_out_while_it_ran_is_said_to_have_started() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let handle = dispatcher.handle();
    let ended = StopSource::new();
    let end = ended.clone();
    let asked = spawn("asks", Role::Worker, move || {
        loop {
            // The task holds main until its caller has given up, so nothing but a time-out can come of it.
            let given_up = StopSource::new();
            let token = given_up.token();
            let answer = handle.execute_timeout(Duration::from_millis(1), move |_| token.wait());
            given_up.request_stop();
            if answer != Err(ExecuteError::TimedOut { started: false }) {
                end.request_stop();
                handle.wake();
                return answer;
            }
        }
    });
    assert!(dispatcher.pump_until(LONG, || ended.is_stopped()));
    assert_eq!(asked.unwrap().join().unwrap(), Err(ExecuteError::TimedOut { started: true }));
}

#[test]
fn the_wake_hook_is_called_once_for_every_task_taken() {
    let boot = booted();
    let (dispatcher, calls) = counting(boot.main());
    let handle = dispatcher.handle();
    for number in 1..=10 {
        handle.execute_async(|_| ()).unwrap();
        assert_eq!(calls.load(Ordering::Acquire), number);
    }
    assert_eq!(handle.execute(|_| 1), Ok(1));
    assert_eq!(calls.load(Ordering::Acquire), 10, "on main nobody sleeps");
    assert_eq!(dispatcher.process_pending(LONG), ran(10));
    dispatcher.close();
    assert!(handle.execute_async(|_| ()).is_err());
    assert_eq!(calls.load(Ordering::Acquire), 10);
}

#[test]
fn tasks_have_no_place_inside_a_step() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let log = Log::default();
    note(&dispatcher.handle(), &log, 1);
    let step = StepScope::enter();
    let panic = caught(|| dispatcher.process_pending(LONG)).unwrap_err();
    assert!(panic.message().contains("inside a simulation step"), "{panic}");
    assert!(caught(|| dispatcher.pump_until(LONG, || true)).is_err());
    assert!(log.lock().is_empty());
    drop(step);
    assert_eq!(dispatcher.process_pending(LONG), ran(1), "and nothing is lost");
}

#[test]
fn sending_and_running_allocate_nothing_once_warm() {
    let boot = booted();
    let dispatcher = dispatcher(boot.main());
    let handle = dispatcher.handle();
    let total = Arc::new(AtomicUsize::new(0));
    let round = |times: usize| {
        for number in 0..times {
            let total = Arc::clone(&total);
            // With the count itself, 64 bytes.
            let captures = [number; 7];
            handle
                .execute_async(move |_| _ = total.fetch_add(captures[6], Ordering::Relaxed))
                .expect("neither full nor closed");
            handle.execute_async(|_| ()).expect("neither full nor closed");
        }
        assert_eq!(dispatcher.process_pending(LONG).ran, 2 * times);
    };
    // Two arenas take turns, and both must have grown.
    (0..4).for_each(|_| round(100));
    let info = allocation_counter::measure(|| (0..100).for_each(|_| round(100)));
    assert_eq!(info.count_total, 0);
    assert_eq!(total.load(Ordering::Relaxed), 104 * (0..100).sum::<usize>());
}
