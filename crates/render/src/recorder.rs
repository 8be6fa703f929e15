//! A batch of commands, recorded without a lock and appended under one.

use std::fmt;
use std::sync::Arc;

use downbeat_threading::CommandArena;

use crate::backend::Backend;
use crate::renderer::Queue;

/// Records commands and appends them together: in order, and with nobody else's in between.
///
/// Keep one for many frames: its memory is reused. What has not been flushed when it is dropped is dropped with it.
///
/// ```
/// # use downbeat_render::{NullBackend, RenderConfig, RenderThread};
/// # use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
/// # let boot = Boot::claim()?;
/// # let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
/// # let mut render = RenderThread::start(&dispatcher, NullBackend::default(), RenderConfig::default())?;
/// let mut recorder = render.renderer().recorder();
/// for number in 0..3 {
///     recorder.submit(move |backend| backend.note(format!("instance {number}")));
/// }
/// assert!(recorder.flush());
/// render.kick(&dispatcher)?;
/// # assert_eq!(render.shut_down(&dispatcher)?.notes().len(), 3);
/// # Ok::<(), downbeat_threading::BoxError>(())
/// ```
pub struct Recorder<B: Backend> {
    commands: CommandArena<B>,
    queue: Arc<Queue<B>>,
    /// Commands that found no room here.
    overflowed: usize,
}

impl<B: Backend> Recorder<B> {
    pub(crate) fn new(queue: Arc<Queue<B>>, bytes_max: usize) -> Self {
        Self { commands: CommandArena::with_bytes_max(bytes_max), queue, overflowed: 0 }
    }

    /// Records a command.
    #[inline]
    #[track_caller]
    pub fn submit(&mut self, command: impl FnOnce(&mut B) + Send + 'static) {
        if self.commands.push(command).is_err() {
            self.note_overflow();
        }
    }

    #[cold]
    fn note_overflow(&mut self) {
        self.overflowed += 1;
    }

    /// Appends what was recorded to the frame that is being submitted, and is empty afterwards.
    ///
    /// False when there was no room for all of it, or the renderer has shut down: then all of it was dropped, and the
    /// next kick, if there is one, reports how many.
    pub fn flush(&mut self) -> bool {
        let recorded = self.commands.len();
        let overflowed = std::mem::take(&mut self.overflowed);
        let appended = overflowed == 0 && self.queue.append(&mut self.commands);
        if !appended {
            self.queue.note_overflow(overflowed + recorded);
        }
        // Last, because what it drops may panic.
        self.commands.recycle();
        appended
    }
}

impl<B: Backend> fmt::Debug for Recorder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("commands", &self.commands.len()).finish_non_exhaustive()
    }
}
