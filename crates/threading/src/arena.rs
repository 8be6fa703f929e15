//! Type-erased `FnOnce` commands in one growable block of memory: the only unsafe code of the workspace.
//!
//! Pushing a command copies its captures behind the last record; running it copies them out and calls it. In
//! steady state neither allocates. Captures of more than [`INLINE_BYTES_MAX`] bytes, or that want an alignment
//! above 16, are boxed.
//!
//! # What always holds
//!
//! - Records lie end to end from the start of `blocks` to its length: a header, then the captures.
//! - Records before `cursor` have been moved out and are never read again; those behind it are whole.
//! - Behind the last record there is room for the longest one, or the arena cannot grow any further.
//! - `cursor` moves past a record before its command runs or drops, so a panic leaves the rest intact.
//!
//! It does not synchronise: whoever shares one puts a lock around it and swaps arenas under that lock.
#![expect(unsafe_code, reason = "type-erased values in raw memory; this is the module that is about it")]

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::panic::Location;

use crate::panic::caught;

/// Larger captures are boxed.
pub const INLINE_BYTES_MAX: usize = 1024;

/// After so many rounds of low use, memory that they did not need is given back.
const TRIM_AFTER_ROUNDS: u32 = 256;

/// How far ahead of a record memory is fetched into the nearest cache, which does not hold that of a whole round: as much
/// as is written in the time of a fetch from the outermost one.
const PREFETCH_BYTES: usize = 2048;

/// Sixteen bytes at an address that suits any ordinary capture.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Block([MaybeUninit<u8>; 16]);

/// Moves the command out and calls it with the context, or drops it when there is none.
type RunOrDrop<C> = unsafe fn(*const Block, Option<&mut C>);

#[repr(C, align(16))]
struct Header<C> {
    run_or_drop: RunOrDrop<C>,
    /// Length of the whole record.
    blocks: u32,
    #[cfg(debug_assertions)]
    pushed_at: &'static Location<'static>,
}

/// Commands that take a `&mut C`, in the order they were pushed.
///
/// ```
/// use downbeat_threading::CommandArena;
///
/// let mut arena = CommandArena::<Vec<u32>>::with_bytes_max(1 << 20);
/// for number in [3, 1, 2] {
///     arena.push(move |log| log.push(number)).expect("far from its limit");
/// }
/// let mut log = Vec::new();
/// while arena.run_next(&mut log) {}
/// assert_eq!(log, [3, 1, 2]);
/// arena.recycle(); // ready for the next round, its memory kept
/// ```
pub struct CommandArena<C> {
    blocks: Vec<Block>,
    /// The first record that was neither run nor dropped.
    cursor: Cell<usize>,
    /// Records behind the cursor.
    len: Cell<usize>,
    blocks_max: usize,
    /// Most blocks in use in a round since memory was last looked at, and how many rounds that was.
    peak: usize,
    rounds: u32,
    last_run: Cell<Option<&'static Location<'static>>>,
    commands: PhantomData<fn(&mut C)>,
}

impl<C> CommandArena<C> {
    const HEADER_BLOCKS: usize = size_of::<Header<C>>() / size_of::<Block>();
    const RECORD_BLOCKS_MAX: usize = Self::HEADER_BLOCKS + INLINE_BYTES_MAX / size_of::<Block>();

    /// An empty arena that holds at most so many bytes of records.
    pub fn with_bytes_max(bytes_max: usize) -> Self {
        // A record's length must fit its header.
        let blocks_max = (bytes_max / size_of::<Block>()).min(u32::MAX as usize);
        Self {
            blocks: Vec::with_capacity(blocks_max.min(2 * Self::RECORD_BLOCKS_MAX)),
            cursor: Cell::new(0),
            len: Cell::new(0),
            blocks_max,
            peak: 0,
            rounds: 0,
            last_run: Cell::new(None),
            commands: PhantomData,
        }
    }

    /// Adds a command, or gives it back when the arena is full.
    #[inline]
    #[track_caller]
    pub fn push<F>(&mut self, command: F) -> Result<(), ArenaFull<F>>
    where
        F: FnOnce(&mut C) + Send + 'static,
    {
        if !self.has_room_for::<F>() {
            return Err(ArenaFull { command });
        }
        if Self::is_inline::<F>() {
            self.write(command);
        } else {
            let boxed = Box::new(command);
            self.write(move |context: &mut C| boxed(context));
        }
        // Behind the record and not before: nothing may lie between the caller's captures and their place, or the
        // compiler copies them by way of the stack.
        if self.blocks_left() < Self::RECORD_BLOCKS_MAX {
            self.grow(Self::RECORD_BLOCKS_MAX);
        }
        Ok(())
    }

    /// Whether a command of type `F` would be taken.
    #[inline]
    pub(crate) fn has_room_for<F>(&self) -> bool {
        let blocks =
            if Self::is_inline::<F>() { Self::record_blocks::<F>() } else { Self::record_blocks::<Box<F>>() };
        blocks <= self.blocks_left()
    }

    #[inline]
    fn blocks_left(&self) -> usize {
        self.blocks.capacity() - self.blocks.len()
    }

    const fn is_inline<F>() -> bool {
        size_of::<F>() <= INLINE_BYTES_MAX && align_of::<F>() <= align_of::<Block>()
    }

    const fn record_blocks<F>() -> usize {
        Self::HEADER_BLOCKS + size_of::<F>().div_ceil(size_of::<Block>())
    }

    /// Writes a record into room that was made for it.
    #[inline]
    #[track_caller]
    fn write<F>(&mut self, command: F)
    where
        F: FnOnce(&mut C) + Send + 'static,
    {
        const {
            assert!(align_of::<Header<C>>() == align_of::<Block>());
            assert!(size_of::<Header<C>>().is_multiple_of(size_of::<Block>()));
        };
        // Not a `const` assertion: `push` also instantiates the branch that it does not take.
        assert!(Self::is_inline::<F>(), "other captures are boxed");
        let blocks = Self::record_blocks::<F>();
        let at = self.blocks.len();
        assert!(blocks <= self.blocks_left(), "the caller has looked");
        let header = Header::<C> {
            run_or_drop: run_or_drop::<C, F>,
            blocks: blocks as u32,
            #[cfg(debug_assertions)]
            pushed_at: Location::caller(),
        };
        // SAFETY: the assertion above leaves `blocks` more blocks, so both writes stay inside the allocation. A
        // block's alignment suits the header and `F`, both asserted above. The new length covers what was
        // written; a block may hold uninitialised bytes.
        unsafe {
            let record = self.blocks.as_mut_ptr().add(at);
            record.add(Self::HEADER_BLOCKS).cast::<F>().write(command);
            record.cast::<Header<C>>().write(header);
            prefetch(record, blocks * size_of::<Block>());
            self.blocks.set_len(at + blocks);
        }
        self.len.set(self.len.get() + 1);
    }

    /// Makes room for so many blocks more, or for as many as the limit leaves.
    #[cold]
    fn grow(&mut self, blocks: usize) {
        let needed = (self.blocks.len() + blocks).min(self.blocks_max);
        if needed > self.blocks.capacity() {
            let capacity = (self.blocks.capacity() * 2).clamp(needed, self.blocks_max);
            self.blocks.reserve_exact(capacity - self.blocks.len());
        }
    }

    /// Runs the oldest command that has not run; false when there is none.
    ///
    /// The command is moved out before it is called. It may therefore call `run_next` of the same arena, which
    /// goes on with the commands behind it; and if it panics, it is used up and the rest stay.
    #[inline]
    pub fn run_next(&self, context: &mut C) -> bool {
        self.take_next(Some(context))
    }

    /// Drops the oldest command without running it; false when there is none.
    fn drop_next(&self) -> bool {
        self.take_next(None)
    }

    #[inline]
    fn take_next(&self, context: Option<&mut C>) -> bool {
        let at = self.cursor.get();
        if at == self.blocks.len() {
            return false;
        }
        // SAFETY: `cursor` is the start of a whole record (the invariant above), so a header can be read here.
        // Headers are plain data; reading one leaves it in place.
        let (record, header) = unsafe {
            let record = self.blocks.as_ptr().add(at);
            (record, record.cast::<Header<C>>().read())
        };
        self.cursor.set(at + header.blocks as usize);
        self.len.set(self.len.get() - 1);
        #[cfg(debug_assertions)]
        self.last_run.set(Some(header.pushed_at));
        // SAFETY: `run_or_drop` was stored with captures of its own type right behind the header. `cursor` has
        // moved on, so they are moved out just this once. The captures lie in `blocks`, which nobody can grow or
        // free meanwhile: that takes `&mut self`, and the captures have left it before foreign code runs.
        unsafe { (header.run_or_drop)(record.add(Self::HEADER_BLOCKS), context) };
        true
    }

    /// Moves the commands of `other` that have not run behind ours; false, and nothing moved, when there is no room.
    pub fn append(&mut self, other: &mut Self) -> bool {
        let from = other.cursor.get();
        let blocks = other.blocks.len() - from;
        // Memory above the limit would be room above it.
        let fits = other.blocks.capacity() <= self.blocks_max && self.blocks.capacity() <= other.blocks_max;
        if self.blocks.is_empty() && fits {
            // Nothing to keep in front of them: take them as they lie.
            std::mem::swap(&mut self.blocks, &mut other.blocks);
            self.cursor.swap(&other.cursor);
            self.len.swap(&other.len);
            other.grow(Self::RECORD_BLOCKS_MAX);
            return true;
        }
        if blocks > self.blocks_max - self.blocks.len() {
            return false;
        }
        self.grow(blocks + Self::RECORD_BLOCKS_MAX);
        self.blocks.extend_from_slice(&other.blocks[from..]);
        self.len.set(self.len.get() + other.len.get());
        // They are ours now: `other` must neither run nor drop them.
        other.cursor.set(other.blocks.len());
        other.len.set(0);
        true
    }

    /// Drops the commands that have not run and makes the memory ready for the next round.
    ///
    /// Keeps the memory, but gives back what a long row of rounds had no use for.
    ///
    /// # Panics
    ///
    /// With the first panic of such a drop, after all of them.
    pub fn recycle(&mut self) {
        let mut first_panic = None;
        while !self.is_empty() {
            if let Err(panic) = caught(|| self.drop_next()) {
                first_panic.get_or_insert(panic);
            }
        }
        self.start_round();
        // On top of a panic that passes by already, this one would end the process.
        if let Some(panic) = first_panic
            && !std::thread::panicking()
        {
            panic!("dropping a command {panic}");
        }
    }

    /// An empty arena's memory from the start, less of it after long low use.
    fn start_round(&mut self) {
        self.peak = self.peak.max(self.blocks.len());
        self.blocks.clear();
        self.cursor.set(0);
        self.rounds += 1;
        if self.rounds == TRIM_AFTER_ROUNDS {
            // With the room that a push leaves behind its record, or the next round would take it again.
            let enough = self.peak * 2 + Self::RECORD_BLOCKS_MAX;
            if enough <= self.blocks.capacity() / 2 {
                self.blocks.shrink_to(enough);
            }
            (self.peak, self.rounds) = (0, 0);
        }
    }

    /// Commands that have neither run nor been dropped.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether there is no such command.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held, in use or not.
    pub fn capacity_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
    }

    /// Where the last command to run was pushed. Known in debug builds only.
    pub fn last_run_pushed_at(&self) -> Option<&'static Location<'static>> {
        self.last_run.get()
    }
}

/// Fetches what lies as far as `PREFETCH_BYTES` behind `record`, as much as the record is long. Without it a record of
/// 64 bytes costs twice as much to write: stores wait for their lines one after the other.
#[inline(always)]
fn prefetch(record: *const Block, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let ahead = record.cast::<i8>().wrapping_add(PREFETCH_BYTES);
        for line in 0..bytes.div_ceil(64) {
            // SAFETY: a hint. It reads nothing and faults nowhere, also behind the end of the allocation.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line * 64)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (record, bytes);
}

/// # Safety
///
/// `captures` points at a valid `F` that is not read again afterwards.
unsafe fn run_or_drop<C, F: FnOnce(&mut C)>(captures: *const Block, context: Option<&mut C>) {
    // SAFETY: as promised by the caller.
    let command = unsafe { captures.cast::<F>().read() };
    match context {
        Some(context) => command(context),
        None => drop(command),
    }
}

impl<C> Drop for CommandArena<C> {
    fn drop(&mut self) {
        self.recycle();
    }
}

impl<C> fmt::Debug for CommandArena<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandArena")
            .field("len", &self.len())
            .field("capacity_bytes", &self.capacity_bytes())
            .finish_non_exhaustive()
    }
}

/// The arena has reached its limit; here is the command back.
#[derive(Clone, Copy, thiserror::Error)]
#[error("the command arena is full; run what it holds, or raise its limit")]
pub struct ArenaFull<F> {
    /// What was to be pushed.
    pub command: F,
}

impl<F> fmt::Debug for ArenaFull<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArenaFull")
    }
}
