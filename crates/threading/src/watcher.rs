//! Files that change: the watching thread sets a flag, main polls it and acts.
//!
//! A folder is watched, not a file: editors save by writing a new file and renaming it. Changes are handed out once
//! they have been quiet for a moment, so that a save is one change and not five. The watching thread does nothing but
//! remember paths, at most [`WatchConfig::paths_max`] of them; past that, and when the system has lost some, main is
//! told to look at everything.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::boot::MainThread;
use crate::clock::Deadline;
use crate::role::{Role, RoleScope};
use crate::sync::{Condvar, Mutex};

/// A folder that goes on changing is reported after so many quiet times all the same.
const PATIENCE: u32 = 10;

/// What to watch for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchConfig {
    /// Whether folders inside the folder count.
    pub recursive: bool,
    /// How long it must be quiet before changes are handed out.
    pub quiet: Duration,
    /// Paths remembered; past that, [`Changes::all`] is set.
    pub paths_max: usize,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self { recursive: false, quiet: Duration::from_millis(100), paths_max: 1024 }
    }
}

/// What has changed since the last poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// What was created, written, renamed or removed, each path once, sorted.
    pub paths: BTreeSet<PathBuf>,
    /// There was more than could be remembered: look at the whole folder.
    pub all: bool,
}

impl Changes {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.all
    }
}

/// How a watcher is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchState {
    /// Changes will be seen.
    Watching,
    /// The folder is gone. When it is there again, the next poll watches it anew and reports everything changed.
    Gone,
    /// The system's watching failed, for this reason. Changes may have been missed.
    Failed(String),
}

/// Why a folder is not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There is no such folder.
    #[error("{folder} is no folder; create it before watching it")]
    Missing {
        /// What was asked for.
        folder: PathBuf,
    },
    /// The system refused.
    #[error("cannot watch {folder}: {source}; the system may allow too few watches")]
    System {
        /// What was asked for.
        folder: PathBuf,
        /// What it said.
        source: notify::Error,
    },
}

/// Watches one folder until it is dropped.
///
/// ```
/// use std::time::Duration;
/// use downbeat_threading::{Boot, WatchConfig, Watcher};
///
/// let boot = Boot::claim()?;
/// let folder = tempfile::tempdir()?;
/// let mut scripts = Watcher::new(folder.path(), WatchConfig::default())?;
/// std::fs::write(folder.path().join("walk.js"), "step()")?;
/// // A frame polls and goes on; an example may wait.
/// let changes = loop {
///     scripts.wait_timeout(Duration::from_secs(1));
///     if let Some(changes) = scripts.poll(boot.main()) {
///         break changes;
///     }
/// };
/// assert!(changes.paths.iter().any(|path| path.ends_with("walk.js")));
/// # Ok::<(), downbeat_threading::BoxError>(())
/// ```
pub struct Watcher {
    folder: PathBuf,
    config: WatchConfig,
    shared: Arc<Shared>,
    system: RecommendedWatcher,
}

struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

struct Seen {
    changes: Changes,
    state: WatchState,
    /// When it will have been quiet, and when that no longer matters; while there are changes.
    due: Option<(Deadline, Deadline)>,
}

impl Watcher {
    /// Starts to watch a folder.
    pub fn new(folder: &Path, config: WatchConfig) -> Result<Self, WatchError> {
        if !folder.is_dir() {
            return Err(WatchError::Missing { folder: folder.to_owned() });
        }
        let seen = Seen { changes: Changes::default(), state: WatchState::Watching, due: None };
        let shared = Arc::new(Shared { seen: Mutex::new(seen), changed: Condvar::new() });
        let refused = |source| WatchError::System { folder: folder.to_owned(), source };
        // The system reports whole paths, and the folder's own must be known among them.
        let whole = std::path::absolute(folder).map_err(|error| refused(notify::Error::io(error)))?;
        let handler = {
            let (shared, config, folder) = (Arc::clone(&shared), config.clone(), whole.clone());
            move |event| {
                let _role = RoleScope::enter(Role::FileWatch);
                shared.take_in(event, &config, &folder);
            }
        };
        let mut system = notify::recommended_watcher(handler).map_err(refused)?;
        system.watch(&whole, mode(&config)).map_err(refused)?;
        Ok(Self { folder: whole, config, shared, system })
    }

    /// What has changed, once it has been quiet; `None` when there is nothing to do. Costs one lock.
    pub fn poll(&mut self, _main: MainThread) -> Option<Changes> {
        if self.shared.seen.lock().state == WatchState::Gone {
            self.watch_anew();
        }
        let mut seen = self.shared.seen.lock();
        let (quiet, patience) = seen.due?;
        if !quiet.has_passed() && !patience.has_passed() {
            return None;
        }
        seen.due = None;
        Some(std::mem::take(&mut seen.changes))
    }

    /// Sleeps until there is something to poll, at most for `timeout`: whether there is. For loops without frames.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        let mut seen = self.shared.seen.lock();
        loop {
            let until_quiet = seen.due.map(|(quiet, patience)| quiet.left().min(patience.left()));
            if until_quiet == Some(None) {
                return true;
            }
            let Some(left) = deadline.left() else { return false };
            let left = until_quiet.flatten().map_or(left, |quiet| quiet.min(left));
            (seen, _) = self.shared.changed.wait_timeout(seen, left);
        }
    }

    /// How it is doing.
    pub fn state(&self) -> WatchState {
        self.shared.seen.lock().state.clone()
    }

    /// The folder it watches, as a whole path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn watch_anew(&mut self) {
        if !self.folder.is_dir() {
            return;
        }
        // A folder that was moved away is watched under its old name until it is told off.
        let _ = self.system.unwatch(&self.folder);
        if self.system.watch(&self.folder, mode(&self.config)).is_err() {
            return;
        }
        let mut seen = self.shared.seen.lock();
        seen.state = WatchState::Watching;
        seen.changes.all = true;
        seen.put_off(&self.config);
    }
}

fn mode(config: &WatchConfig) -> RecursiveMode {
    if config.recursive { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive }
}

impl Shared {
    /// The watching thread's whole work.
    fn take_in(&self, event: notify::Result<Event>, config: &WatchConfig, folder: &Path) {
        // Also when there is a folder of that name: it is another one by now, and nobody watches it.
        let gone = matches!(&event, Ok(event) if ends(event, folder));
        let mut seen = self.seen.lock();
        match event {
            // Reading changes nothing.
            Ok(Event { kind: EventKind::Access(_), .. }) => return,
            Ok(event) => {
                if event.need_rescan() {
                    seen.changes.all = true;
                }
                for path in event.paths {
                    seen.changes.remember(path, config.paths_max);
                }
                if gone {
                    seen.state = WatchState::Gone;
                }
            }
            Err(error) => {
                seen.state = WatchState::Failed(error.to_string());
                seen.changes.all = true;
            }
        }
        seen.put_off(config);
        drop(seen);
        self.changed.notify_all();
    }
}

/// Whether the event means that the folder itself is no longer there.
fn ends(event: &Event, folder: &Path) -> bool {
    let kind = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
    kind && event.paths.iter().any(|path| path == folder)
}

impl Changes {
    fn remember(&mut self, path: PathBuf, paths_max: usize) {
        if self.paths.len() < paths_max || self.paths.contains(&path) {
            self.paths.insert(path);
        } else {
            self.all = true;
        }
    }
}

impl Seen {
    /// The quiet time starts anew; patience started with the first change.
    fn put_off(&mut self, config: &WatchConfig) {
        let patience = self
            .due
            .map_or_else(|| Deadline::after(config.quiet.saturating_mul(PATIENCE)), |(_, patience)| patience);
        self.due = Some((Deadline::after(config.quiet), patience));
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher")
            .field("folder", &self.folder)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
