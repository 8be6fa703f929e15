//! Main hands frames over, the render thread hands them back: two counters under one lock.
//!
//! `kicked` and `completed` only ever grow, and `completed` follows `kicked` by at most one. There is no state that
//! one side could overwrite while the other looks at it.

use downbeat_threading::MainThreadHandle;
use downbeat_threading::sync::{Condvar, Mutex};

use crate::backend::Backend;
use crate::failure::RenderError;
use crate::frame::Frame;

pub(crate) struct Handshake<B> {
    state: Mutex<State<B>>,
    /// The render thread sleeps on it. Main sleeps in the dispatcher, so that it can go on running tasks.
    work: Condvar,
    main: MainThreadHandle,
}

struct State<B> {
    kicked: u64,
    completed: u64,
    /// A frame on its way to the render thread.
    kicked_frame: Option<Frame<B>>,
    /// An empty frame on its way back.
    idle_frame: Option<Frame<B>>,
    /// A new backend, taken before the next frame.
    rebuilt: Option<B>,
    /// The one that it took the place of, on its way back to main.
    retired: Option<B>,
    failure: Option<RenderError>,
    /// Commands that found no room. Beside the failure: neither may hide the other.
    overflowed: usize,
    stopping: bool,
}

/// What the render thread is to do next.
pub(crate) struct Work<B> {
    pub(crate) number: u64,
    pub(crate) frame: Frame<B>,
    /// To be drawn with from here on.
    pub(crate) rebuilt: Option<B>,
}

impl<B: Backend> Handshake<B> {
    pub(crate) fn new(main: MainThreadHandle, idle: Frame<B>) -> Self {
        let state = State {
            kicked: 0,
            completed: 0,
            kicked_frame: None,
            idle_frame: Some(idle),
            rebuilt: None,
            retired: None,
            failure: None,
            overflowed: 0,
            stopping: false,
        };
        Self { state: Mutex::new(state), work: Condvar::new(), main }
    }

    /// The empty frame, once the one in flight has come back.
    pub(crate) fn take_idle(&self) -> Option<Frame<B>> {
        self.state.lock().idle_frame.take()
    }

    /// Changes the empty frame, if it is back.
    pub(crate) fn reuse_idle(&self, change: impl FnOnce(&mut Frame<B>)) {
        if let Some(idle) = &mut self.state.lock().idle_frame {
            change(idle);
        }
    }

    pub(crate) fn kick(&self, frame: Frame<B>) {
        let mut state = self.state.lock();
        debug_assert_eq!(state.kicked, state.completed, "one frame in flight");
        state.kicked += 1;
        state.kicked_frame = Some(frame);
        drop(state);
        self.work.notify_one();
    }

    /// Kicked and completed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.kicked, state.completed)
    }

    /// Sleeps until there is something to do; nothing when asked to stop. A frame that was kicked comes before a stop.
    pub(crate) fn wait_for_work(&self) -> Option<Work<B>> {
        let mut state = self.state.lock();
        loop {
            if let Some(frame) = state.kicked_frame.take() {
                return Some(Work { number: state.kicked, frame, rebuilt: state.rebuilt.take() });
            }
            if state.stopping {
                return None;
            }
            state = self.work.wait(state);
        }
    }

    /// Gives the frame back, empty, with a backend that is no longer used, and wakes main.
    pub(crate) fn complete(&self, frame: Frame<B>, rendered: Result<(), RenderError>, retired: Option<B>) {
        let mut state = self.state.lock();
        state.completed += 1;
        state.idle_frame = Some(frame);
        if retired.is_some() {
            state.retired = retired;
        }
        if let Err(error) = rendered {
            state.failure.get_or_insert(error);
        }
        drop(state);
        self.main.wake();
    }

    pub(crate) fn note_overflow(&self, commands: usize) {
        self.state.lock().overflowed += commands;
    }

    /// The failure of a frame, or else how many commands found no room.
    pub(crate) fn take_failure(&self) -> Option<RenderError> {
        let mut state = self.state.lock();
        if let Some(failure) = state.failure.take() {
            return Some(failure);
        }
        let commands = std::mem::take(&mut state.overflowed);
        (commands > 0).then_some(RenderError::Overflow { commands })
    }

    /// Puts a new backend in place from the next frame on; returns one that nobody came to use.
    pub(crate) fn rebuild(&self, backend: B) -> Option<B> {
        self.state.lock().rebuilt.replace(backend)
    }

    /// The backend that frames are no longer drawn with.
    pub(crate) fn take_retired(&self) -> Option<B> {
        self.state.lock().retired.take()
    }

    /// A new backend that no frame has come to use.
    pub(crate) fn take_rebuilt(&self) -> Option<B> {
        self.state.lock().rebuilt.take()
    }

    pub(crate) fn stop(&self) {
        self.state.lock().stopping = true;
        self.work.notify_one();
    }
}
