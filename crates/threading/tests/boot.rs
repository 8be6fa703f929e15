//! Who is main, from before the first boot to after the last.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

use std::time::Duration;

use downbeat_threading::sync::Mutex;
use downbeat_threading::{
    AlreadyBooted, Boot, DispatcherConfig, ExecuteError, MainThread, MainThreadDispatcher, Refused, Role,
    RoleScope, StopSource, is_main_thread, is_render_thread, roles, spawn,
};

/// One test at a time: a process has one main, and these look at it from outside as well.
static ALONE: Mutex<()> = Mutex::new(());

/// What a new thread of this role sees of itself, and whether it may boot.
fn elsewhere(role: Role) -> (bool, bool, Option<AlreadyBooted>) {
    let look = || (is_main_thread(), MainThread::current().is_some(), Boot::claim().err());
    spawn("elsewhere", role, look).expect("a thread to spare").join().expect("no panic")
}

#[test]
fn nobody_is_main_before_the_boot() {
    let _alone = ALONE.lock();
    assert!(!is_main_thread() && !is_render_thread());
    assert!(MainThread::current().is_none() && roles().is_empty());
    assert_eq!(elsewhere(Role::Worker), (false, false, None));
}

#[test]
fn the_thread_that_booted_is_main_and_no_other() {
    let _alone = ALONE.lock();
    let boot = Boot::claim().unwrap();
    assert!(is_main_thread() && roles().contains(Role::Main));
    assert_eq!(MainThread::current(), Some(boot.main()));
    for role in [Role::Worker, Role::Render, Role::FileWatch, Role::Rpc] {
        assert_eq!(elsewhere(role), (false, false, Some(AlreadyBooted)), "{role}");
    }
    assert_eq!(Boot::claim().unwrap_err(), AlreadyBooted, "not twice on the same thread either");
    assert!(is_main_thread(), "a refused claim takes nothing away");
    assert!(AlreadyBooted.to_string().contains("drop its `Boot`"));
}

#[test]
fn a_process_boots_as_often_as_it_likes() {
    let _alone = ALONE.lock();
    for _ in 0..3 {
        let boot = Boot::claim().unwrap();
        assert!(is_main_thread());
        drop(boot);
        assert!(!is_main_thread() && MainThread::current().is_none());
        let there = spawn("other main", Role::Worker, || {
            let boot = Boot::claim();
            (boot.is_ok() && is_main_thread(), roles().to_string())
        });
        assert_eq!(there.unwrap().join().unwrap(), (true, "Main + Worker".to_owned()));
    }
}

#[test]
fn a_claim_waits_for_nobody_while_another_thread_is_main() {
    let _alone = ALONE.lock();
    let (booted, ends) = (StopSource::new(), StopSource::new());
    let (has_booted, may_end) = (booted.clone(), ends.token());
    let other = spawn("other main", Role::Worker, move || {
        let boot = Boot::claim();
        has_booted.request_stop();
        may_end.wait();
        boot.is_ok()
    })
    .unwrap();
    booted.token().wait();
    assert_eq!(Boot::claim().unwrap_err(), AlreadyBooted);
    assert!(!is_main_thread());
    ends.request_stop();
    assert!(other.join().unwrap());
    assert!(Boot::claim().is_ok(), "its boot went with the thread");
}

#[test]
fn one_thread_can_be_main_and_render_at_once() {
    let _alone = ALONE.lock();
    let boot = Boot::claim().unwrap();
    let render = RoleScope::enter(Role::Render);
    assert!(is_main_thread() && is_render_thread());
    assert_eq!(roles().to_string(), "Main + Render");
    drop(boot);
    assert!(!is_main_thread() && is_render_thread(), "each role goes with its own scope");
    drop(render);
    assert!(roles().is_empty());
}

#[test]
fn what_was_handed_out_before_the_second_boot_stays_closed() {
    let _alone = ALONE.lock();
    let first = Boot::claim().unwrap();
    let dispatcher = MainThreadDispatcher::new(first.main(), DispatcherConfig::default());
    let stale = dispatcher.handle();
    drop((dispatcher, first));
    let second = Boot::claim().unwrap();
    let dispatcher = MainThreadDispatcher::new(second.main(), DispatcherConfig::default());
    let fresh = dispatcher.handle();
    assert_eq!(stale.execute_async(|_| ()).unwrap_err().reason, Refused::Closed);
    let ended = StopSource::new();
    let end = ended.clone();
    let worker = spawn("asks both", Role::Worker, move || {
        let answers = (stale.execute(|_| 1), fresh.execute(|_| 2));
        end.request_stop();
        fresh.wake();
        answers
    });
    assert!(dispatcher.pump_until(Duration::from_secs(600), || ended.is_stopped()));
    assert_eq!(worker.unwrap().join().unwrap(), (Err(ExecuteError::Closed), Ok(2)));
}
