//! Watching real folders: every kind of change, folders that go and come back, floods.
#![cfg(all(feature = "watch", not(any(downbeat_loom, downbeat_shuttle))))]

mod booted;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use booted::booted;
use downbeat_threading::{Changes, MainThread, WatchConfig, WatchError, WatchState, Watcher};
use tempfile::{TempDir, tempdir};

/// How long one look lasts; how often is up to the test.
const LOOK: Duration = Duration::from_millis(50);
/// Looks before a test gives up: more than any takes.
const LOOKS_MAX: usize = 2000;

fn quick() -> WatchConfig {
    WatchConfig { quiet: Duration::from_millis(10), ..WatchConfig::default() }
}

/// A folder inside a temporary one, so that it can go and come back.
fn folder() -> (TempDir, PathBuf) {
    let outer = tempdir().expect("a temporary folder");
    let folder = outer.path().join("scripts");
    fs::create_dir(&folder).expect("a new folder");
    (outer, folder)
}

/// Looks until all that was handed out together, and the state, are enough; does `each` before every look.
fn looks_until(
    watcher: &mut Watcher,
    main: MainThread,
    mut each: impl FnMut(usize),
    enough: impl Fn(&Changes, &WatchState) -> bool,
) -> Changes {
    let mut all = Changes::default();
    for look in 0..LOOKS_MAX {
        each(look);
        watcher.wait_timeout(LOOK);
        if let Some(changes) = watcher.poll(main) {
            assert!(!changes.is_empty(), "what is handed out is something");
            all.paths.extend(changes.paths);
            all.all |= changes.all;
        }
        if enough(&all, &watcher.state()) {
            return all;
        }
    }
    panic!("not seen: {all:?}, state {:?}", watcher.state());
}

fn until_path(watcher: &mut Watcher, main: MainThread, path: &Path) -> Changes {
    looks_until(watcher, main, |_| (), |changes, _| changes.paths.contains(path))
}

fn until_gone(watcher: &mut Watcher, main: MainThread) {
    looks_until(watcher, main, |_| (), |_, state| *state == WatchState::Gone);
}

/// Until everything is to be looked at, as after a folder has come back.
fn until_all(watcher: &mut Watcher, main: MainThread) -> Changes {
    let back = |changes: &Changes, state: &WatchState| changes.all && *state == WatchState::Watching;
    looks_until(watcher, main, |_| (), back)
}

/// Writes new files until one of them is seen: what was changed before has been handed out by then.
fn until_alive(watcher: &mut Watcher, main: MainThread, name: &str) -> Changes {
    let folder = watcher.folder().to_owned();
    let is_marker = |path: &PathBuf| path.to_string_lossy().contains(name);
    let write =
        |look| fs::write(folder.join(format!("{name}-{look}")), "here").expect("a folder to write to");
    looks_until(watcher, main, write, |changes, _| changes.paths.iter().any(is_marker))
}

#[test]
fn creating_writing_and_removing_a_file_are_seen() {
    let boot = booted();
    let (_outer, folder) = folder();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    assert_eq!((watcher.state(), watcher.folder()), (WatchState::Watching, folder.as_path()));
    let path = folder.join("walk.js");
    fs::write(&path, "").unwrap();
    assert!(!until_path(&mut watcher, boot.main(), &path).all);
    // With a marker behind it, nothing of the first change is left to be taken for the next.
    until_alive(&mut watcher, boot.main(), "created");
    fs::write(&path, "step()").unwrap();
    until_path(&mut watcher, boot.main(), &path);
    until_alive(&mut watcher, boot.main(), "written");
    fs::remove_file(&path).unwrap();
    until_path(&mut watcher, boot.main(), &path);
}

#[test]
fn a_save_by_renaming_is_seen_at_the_name_that_counts() {
    let boot = booted();
    let (_outer, folder) = folder();
    let path = folder.join("walk.js");
    fs::write(&path, "old").unwrap();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    for round in 0..5 {
        // As editors do: the file itself is never written to.
        let draft = folder.join(".walk.js.swp");
        fs::write(&draft, format!("new {round}")).unwrap();
        fs::rename(&draft, &path).unwrap();
        until_path(&mut watcher, boot.main(), &path);
        until_alive(&mut watcher, boot.main(), &format!("round-{round}"));
    }
    assert_eq!(watcher.state(), WatchState::Watching);
}

#[test]
fn where_nothing_changes_there_is_nothing_to_poll() {
    let boot = booted();
    let (_outer, folder) = folder();
    let path = folder.join("walk.js");
    fs::write(&path, "step()").unwrap();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    assert!(!watcher.wait_timeout(Duration::ZERO));
    assert_eq!(watcher.poll(boot.main()), None);
    // Reading is no change. What comes after it is seen, and it is not.
    assert_eq!(fs::read_to_string(&path).unwrap(), "step()");
    let seen = until_alive(&mut watcher, boot.main(), "marker");
    assert!(!seen.paths.contains(&path), "{seen:?}");
}

#[test]
fn changes_are_not_handed_out_before_it_is_quiet() {
    let boot = booted();
    let (_outer, folder) = folder();
    let patient = WatchConfig { quiet: Duration::from_secs(3600), ..quick() };
    let mut patient = Watcher::new(&folder, patient).unwrap();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    // Once the one has seen it, the other has had its chance.
    until_alive(&mut watcher, boot.main(), "marker");
    assert!(!patient.wait_timeout(LOOK));
    assert_eq!(patient.poll(boot.main()), None);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let (outer, folder) = folder();
    for missing in [outer.path().join("nowhere"), {
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        file
    }] {
        let error = Watcher::new(&missing, quick()).unwrap_err();
        assert!(matches!(&error, WatchError::Missing { folder } if *folder == missing), "{error:?}");
        assert!(error.to_string().contains("create it"), "{error}");
    }
}

#[test]
fn a_deleted_folder_is_gone_and_watched_anew_when_it_is_back() {
    let boot = booted();
    let (_outer, folder) = folder();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    for round in 0..3 {
        fs::write(folder.join("walk.js"), "").unwrap();
        fs::remove_dir_all(&folder).unwrap();
        until_gone(&mut watcher, boot.main());
        let _rest = watcher.poll(boot.main());
        assert_eq!(watcher.state(), WatchState::Gone, "a poll does not bring it back");
        fs::create_dir(&folder).unwrap();
        until_all(&mut watcher, boot.main());
        until_alive(&mut watcher, boot.main(), &format!("round-{round}"));
    }
}

#[cfg(unix)]
#[test]
fn a_folder_replaced_in_one_go_is_watched_anew() {
    let boot = booted();
    let (outer, folder) = folder();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    for round in 0..5 {
        // There is a folder of this name at all times, but it is not the one that was watched.
        let next = outer.path().join("next");
        fs::create_dir(&next).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::rename(&next, &folder).unwrap();
        until_all(&mut watcher, boot.main());
        until_alive(&mut watcher, boot.main(), &format!("round-{round}"));
    }
}

#[test]
fn a_folder_moved_away_is_gone_and_no_longer_watched() {
    let boot = booted();
    let (outer, folder) = folder();
    let mut watcher = Watcher::new(&folder, quick()).unwrap();
    let moved = outer.path().join("moved");
    fs::rename(&folder, &moved).unwrap();
    until_gone(&mut watcher, boot.main());
    fs::create_dir(&folder).unwrap();
    until_all(&mut watcher, boot.main());
    fs::write(moved.join("stale.js"), "").unwrap();
    let seen = until_alive(&mut watcher, boot.main(), "marker");
    assert!(!seen.paths.iter().any(|path| path.ends_with("stale.js")), "{seen:?}");
    // Its end is not the end of the folder that has taken its place.
    fs::remove_dir_all(&moved).unwrap();
    until_alive(&mut watcher, boot.main(), "still");
    assert_eq!(watcher.state(), WatchState::Watching);
}

#[cfg(unix)]
#[test]
fn a_relative_folder_is_watched_like_any_other() {
    let boot = booted();
    let (_outer, folder) = folder();
    // Up to the root, and down from there.
    let here = std::env::current_dir().unwrap();
    let mut relative: PathBuf = here.components().skip(1).map(|_| "..").collect();
    relative.push(folder.strip_prefix("/").unwrap());
    assert!(relative.is_relative());
    let mut watcher = Watcher::new(&relative, quick()).unwrap();
    until_alive(&mut watcher, boot.main(), "marker");
    fs::remove_dir_all(&folder).unwrap();
    until_gone(&mut watcher, boot.main());
    fs::create_dir(&folder).unwrap();
    until_all(&mut watcher, boot.main());
    until_alive(&mut watcher, boot.main(), "again");
}

#[test]
fn thousands_of_changes_stay_within_the_limit_and_ask_for_a_look_at_everything() {
    let boot = booted();
    let (_outer, folder) = folder();
    let mut watcher = Watcher::new(&folder, WatchConfig { paths_max: 16, ..quick() }).unwrap();
    for number in 0..5000 {
        fs::write(folder.join(format!("{number}.js")), "").unwrap();
    }
    let mut seen_all = false;
    for _ in 0..LOOKS_MAX {
        watcher.wait_timeout(LOOK);
        if let Some(changes) = watcher.poll(boot.main()) {
            assert!(changes.paths.len() <= 16, "{}", changes.paths.len());
            seen_all |= changes.all;
        }
        if seen_all {
            break;
        }
    }
    assert!(seen_all);
    assert_eq!(watcher.state(), WatchState::Watching);
    until_alive(&mut watcher, boot.main(), "marker");
}

#[test]
fn without_room_for_paths_every_change_asks_for_a_look_at_everything() {
    let boot = booted();
    let (_outer, folder) = folder();
    let mut watcher = Watcher::new(&folder, WatchConfig { paths_max: 0, ..quick() }).unwrap();
    fs::write(folder.join("walk.js"), "").unwrap();
    let seen = until_all(&mut watcher, boot.main());
    assert!(seen.paths.is_empty());
}

#[test]
fn folders_inside_count_when_asked_for_and_not_otherwise() {
    let boot = booted();
    let (_outer, folder) = folder();
    let inner = folder.join("inner");
    fs::create_dir(&inner).unwrap();
    let mut flat = Watcher::new(&folder, quick()).unwrap();
    let mut deep = Watcher::new(&folder, WatchConfig { recursive: true, ..quick() }).unwrap();
    let path = inner.join("walk.js");
    fs::write(&path, "").unwrap();
    until_path(&mut deep, boot.main(), &path);
    let seen = until_alive(&mut flat, boot.main(), "marker");
    assert!(!seen.paths.contains(&path), "{seen:?}");

    // Folders made later count as well, once the system watches them.
    let later = folder.join("later");
    fs::create_dir(&later).unwrap();
    let write = |look| fs::write(later.join(format!("{look}.js")), "").expect("a folder to write to");
    looks_until(&mut deep, boot.main(), write, |changes, _| {
        changes.paths.iter().any(|path| path.parent() == Some(&later))
    });
    // One that goes is a change like any other.
    fs::remove_dir_all(&inner).unwrap();
    until_path(&mut deep, boot.main(), &inner);
    assert_eq!(deep.state(), WatchState::Watching);
}

#[test]
fn a_quiet_time_without_end_hands_out_nothing_and_breaks_nothing() {
    let boot = booted();
    let (_outer, folder) = folder();
    let endless = WatchConfig { quiet: Duration::MAX, ..quick() };
    let mut watcher = Watcher::new(&folder, endless).unwrap();
    fs::write(folder.join("walk.js"), "").unwrap();
    fs::remove_dir_all(&folder).unwrap();
    until_gone(&mut watcher, boot.main());
    assert_eq!(watcher.poll(boot.main()), None);
}
