//! What all fuzz targets share: a bound on memory, panics that are told apart from those somebody catches, and a trace
//! of the input that ended the process. It decodes nothing itself; each target is a file in `fuzz_targets`.
//!
//! libFuzzer's own limits do not serve here: `-malloc_limit_mb` needs a sanitizer's hooks, and `-rss_limit_mb` is looked
//! at once a second, when a run of a millisecond is long over.

use std::alloc::System;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use cap::Cap;

/// Memory that any input may take.
const BYTES_FREE: usize = 64 << 20;
/// Memory that an input may take for each byte that it has.
const BYTES_PER_BYTE: usize = 1024;
/// Names the file that holds the input of the run that is under way.
const UNDER_WAY: &str = "DOWNBEAT_FUZZ_UNDER_WAY";

/// Refuses memory beyond the limit. Rust then ends the process, which libFuzzer notices.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

thread_local! {
    /// The last panic, in words.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
    /// Holds the input of the run that is under way. A stack that overflows leaves nobody to write it down.
    static INPUT: RefCell<Option<File>> = const { RefCell::new(None) };
    /// Whether a target is running: then a panic is judged when it comes out.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Sets a target's process up, once.
pub fn start() {
    // libFuzzer's own hook ends the process at once, also for the solver's panics, which physics catches.
    std::panic::set_hook(Box::new(|panic| {
        let words = format!("{panic}\n{}", Backtrace::capture());
        if RUNNING.get() {
            PANIC.set(words);
        } else {
            eprintln!("{words}");
        }
    }));
    INPUT.set(std::env::var_os(UNDER_WAY).and_then(|path| File::create(path).ok()));
}

/// Runs a target over one input. A panic that comes out, and memory beyond the bound, end the process.
pub fn run(input: &[u8], target: impl FnOnce(&[u8])) {
    note(input);
    let bound = BYTES_FREE + BYTES_PER_BYTE * input.len();
    let limited = MEMORY.set_limit(MEMORY.allocated() + bound);
    RUNNING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(|| target(input)));
    RUNNING.set(false);
    let freed = MEMORY.set_limit(usize::MAX);
    if outcome.is_err() || limited.is_err() || freed.is_err() {
        eprintln!("{}", PANIC.take());
        std::process::abort();
    }
}

/// A folder for files of a target, empty at first and apart from those of other processes.
pub fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("downbeat-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("fuzzing needs a temporary folder that can be written to");
    folder
}

/// As [`folder`], with a tetrahedron in it that robots may name: `mesh.obj`.
pub fn folder_with_mesh() -> PathBuf {
    let folder = folder();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n";
    std::fs::write(folder.join("mesh.obj"), mesh).expect("the temporary folder can be written to");
    folder
}

fn note(input: &[u8]) {
    INPUT.with_borrow_mut(|file| {
        let Some(file) = file else { return };
        let noted = file.rewind().and_then(|()| file.write_all(input));
        noted
            .and_then(|()| file.set_len(input.len() as u64))
            .expect("the input under way can be written down");
    });
}
