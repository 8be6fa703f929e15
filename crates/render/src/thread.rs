//! The side that renders, as main holds it: ends frames, waits for them, shuts down.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use downbeat_threading::sync::atomic::{AtomicBool, Ordering};
use downbeat_threading::{MainThreadDispatcher, Role, RoleScope, StopSource, Thread, ThreadBound, spawn};

use crate::backend::Backend;
use crate::config::{RenderConfig, ThreadingPolicy};
use crate::failure::{RenderError, RenderState, StartError};
use crate::frame::Frame;
use crate::handshake::{Handshake, Work};
use crate::renderer::{Main, Queue, Renderer};

/// Ends frames and waits for them. Stays on main under both policies.
///
/// # Shutdown
///
/// [`RenderThread::shut_down`] does this, in this order:
///
/// 1. The frame in flight ends, while main runs the dispatcher's tasks. What its commands submit is still taken.
/// 2. Submits are refused from here on.
/// 3. What was submitted is the last frame; it is rendered, and its frees run.
/// 4. The render thread is asked to stop, and joined.
/// 5. The backend comes back to main, with the surface that it holds: both must be dropped there.
///
/// Dropped without it, the render thread finishes the frame it is at, the frees of what was submitted run, and the
/// commands are dropped. Main runs no tasks meanwhile: a command that waits for main is told that it was stopped.
pub struct RenderThread<B: Backend> {
    queue: Arc<Queue<B>>,
    /// Its part that stays on main.
    _main: ThreadBound<RefCell<Main<B>>>,
    shared: Arc<Shared<B>>,
    side: Side<B>,
    full_sync: bool,
    shut_down: bool,
}

struct Shared<B> {
    handshake: Handshake<B>,
    /// Commands are dropped, not run.
    dropping: AtomicBool,
}

/// Who renders.
enum Side<B: Backend> {
    /// Main itself. Both are there except while a frame is rendered, and after shutdown.
    Main { backend: Option<B>, _role: RoleScope },
    /// A thread, which returns the backend.
    Thread { thread: Option<Thread<B>>, stop: StopSource },
}

impl<B: Backend> RenderThread<B> {
    /// Starts to render with `backend`.
    pub fn start(
        dispatcher: &MainThreadDispatcher,
        backend: B,
        config: RenderConfig,
    ) -> Result<Self, StartError> {
        let (policy, full_sync) = (config.policy, config.full_sync);
        let idle = Frame::new(config.bytes_max);
        let shared = Arc::new(Shared {
            handshake: Handshake::new(dispatcher.handle(), idle),
            dropping: AtomicBool::new(false),
        });
        let side = match policy {
            ThreadingPolicy::None => return Err(StartError::PolicyIsReserved),
            ThreadingPolicy::SingleThreaded => {
                Side::Main { backend: Some(backend), _role: RoleScope::enter(Role::Render) }
            }
            ThreadingPolicy::MultiThreaded => {
                let (shared, stop) = (Arc::clone(&shared), StopSource::new());
                let token = stop.token();
                let thread = spawn("render", Role::Render, move || {
                    let _stop = token.enter();
                    shared.render_until_stopped(backend)
                })?;
                Side::Thread { thread: Some(thread), stop }
            }
        };
        let (main, queue) = Queue::new(config);
        Ok(Self { queue: Arc::new(queue), _main: main, shared, side, full_sync, shut_down: false })
    }

    /// For submitting commands, from any thread.
    pub fn renderer(&self) -> Renderer<B> {
        Renderer::new(Arc::clone(&self.queue))
    }

    /// Ends the frame: [`RenderThread::wait_and_render`], and with [`RenderConfig::full_sync`] waits for it as well.
    ///
    /// A failure of this frame or an earlier one is returned once.
    pub fn kick(&mut self, dispatcher: &MainThreadDispatcher) -> Result<(), RenderError> {
        let known = self.wait_and_render(dispatcher);
        if self.full_sync {
            self.wait(dispatcher);
        }
        known.and_then(|()| self.failure())
    }

    /// Ends the frame and waits until it is rendered, whatever the configuration; for loading screens and the like.
    pub fn pump(&mut self, dispatcher: &MainThreadDispatcher) -> Result<(), RenderError> {
        let known = self.wait_and_render(dispatcher);
        self.wait(dispatcher);
        known.and_then(|()| self.failure())
    }

    /// Waits for the frame in flight, if there is one, while main runs the dispatcher's tasks; then has what was
    /// submitted rendered.
    ///
    /// - Under [`ThreadingPolicy::SingleThreaded`] no frame is ever in flight, and main renders this one now: its
    ///   effects are there when this returns.
    /// - Under [`ThreadingPolicy::MultiThreaded`] the render thread renders it while main goes on; this does not wait
    ///   for it, not even with [`RenderConfig::full_sync`].
    ///
    /// A failure that is known by then is returned once: of an earlier frame, or else of this one.
    ///
    /// ```
    /// # use downbeat_render::{NullBackend, RenderConfig, RenderThread, ThreadingPolicy};
    /// # use downbeat_threading::{Boot, DispatcherConfig, MainThreadDispatcher};
    /// # let boot = Boot::claim()?;
    /// # let dispatcher = MainThreadDispatcher::new(boot.main(), DispatcherConfig::default());
    /// let config = RenderConfig { policy: ThreadingPolicy::MultiThreaded, ..RenderConfig::default() };
    /// let mut render = RenderThread::start(&dispatcher, NullBackend::default(), config)?;
    /// for frame in 1..=3 {
    ///     render.renderer().submit(move |backend| backend.note(format!("draw {frame}")));
    ///     render.wait_and_render(&dispatcher)?;
    ///     let (kicked, rendered) = render.frames();
    ///     assert!(kicked == frame && rendered >= frame - 1, "the one before has ended");
    /// }
    /// # assert_eq!(render.shut_down(&dispatcher)?.notes().len(), 3);
    /// # Ok::<(), downbeat_threading::BoxError>(())
    /// ```
    pub fn wait_and_render(&mut self, dispatcher: &MainThreadDispatcher) -> Result<(), RenderError> {
        let handshake = &self.shared.handshake;
        let mut idle = None;
        dispatcher.pump_until(Duration::MAX, || {
            idle = idle.take().or_else(|| handshake.take_idle());
            idle.is_some()
        });
        let mut frame = idle.expect("pumped until it was there");
        let overflowed = self.queue.swap(&mut frame);
        if overflowed > 0 {
            handshake.note_overflow(overflowed);
        }
        // Taken before this one can fail.
        let earlier = self.failure();
        // Dropped at the end of this: it is foreign code, and the frame is on its way by then.
        let _retired = handshake.take_retired();
        handshake.kick(frame);
        if let Side::Main { backend: Some(backend), .. } = &mut self.side {
            self.shared.render_next(backend);
            handshake.reuse_idle(|rendered| self.queue.reuse(rendered));
        }
        earlier.and_then(|()| self.failure())
    }

    /// Waits until every frame that was kicked is rendered; its effects are visible afterwards. Under the
    /// single-threaded policy they are already.
    pub fn block_until_render_complete(
        &mut self,
        dispatcher: &MainThreadDispatcher,
    ) -> Result<(), RenderError> {
        self.wait(dispatcher);
        self.failure()
    }

    /// Frames kicked, and frames rendered: at most one apart.
    pub fn frames(&self) -> (u64, u64) {
        self.shared.handshake.counts()
    }

    /// Whether frames are drawn.
    pub fn state(&self) -> RenderState {
        if self.shared.dropping.load(Ordering::Acquire) {
            RenderState::Dropping
        } else {
            RenderState::Drawing
        }
    }

    /// Draws with a new backend from the next frame on, after a panic or the loss of the old one.
    pub fn rebuild(&mut self, dispatcher: &MainThreadDispatcher, backend: B) -> Result<(), RenderError> {
        self.block_until_render_complete(dispatcher)?;
        match &mut self.side {
            Side::Main { backend: old, .. } => drop(old.replace(backend)),
            Side::Thread { .. } => drop(self.shared.handshake.rebuild(backend)),
        }
        self.shared.dropping.store(false, Ordering::Release);
        Ok(())
    }

    /// Renders what was submitted and gives the backend back, in the order that the type's description lists.
    ///
    /// A failure of the last frames is in the error; the backend is then dropped, on main.
    pub fn shut_down(mut self, dispatcher: &MainThreadDispatcher) -> Result<B, RenderError> {
        self.wait(dispatcher);
        self.queue.close();
        let known = self.wait_and_render(dispatcher);
        self.wait(dispatcher);
        let backend = self.stop();
        known.and_then(|()| self.failure())?;
        backend
    }

    fn wait(&self, dispatcher: &MainThreadDispatcher) {
        dispatcher.pump_until(Duration::MAX, || {
            let (kicked, completed) = self.frames();
            kicked == completed
        });
    }

    fn failure(&self) -> Result<(), RenderError> {
        self.shared.handshake.take_failure().map_or(Ok(()), Err)
    }

    /// Ends the rendering and takes the backend out.
    fn stop(&mut self) -> Result<B, RenderError> {
        self.shut_down = true;
        match &mut self.side {
            Side::Main { backend, .. } => Ok(backend.take().expect("the backend is there until shutdown")),
            Side::Thread { thread, .. } => {
                self.shared.handshake.stop();
                let thread = thread.take().expect("the thread is there until shutdown");
                thread.join().map_err(|panic| RenderError::Panicked { panic, submitted_at: None })
            }
        }
    }
}

impl<B: Backend> Drop for RenderThread<B> {
    fn drop(&mut self) {
        if self.shut_down {
            return;
        }
        if let Side::Thread { stop, .. } = &self.side {
            stop.request_stop();
        }
        let stopped = self.stop();
        // Not before: the frame in flight may have submitted frees.
        self.queue.close();
        let Ok(backend) = stopped else { return };
        let mut backend = self.shared.handshake.take_rebuilt().unwrap_or(backend);
        let mut rest = Frame::new(0);
        self.queue.swap(&mut rest);
        // In drop mode: nobody waits for these pictures, but what they used must be freed.
        let _ = rest.render(&mut backend, 0, true);
    }
}

impl<B: Backend> Shared<B> {
    /// The life of the render thread.
    fn render_until_stopped(&self, mut backend: B) -> B {
        while self.render_next(&mut backend) {}
        backend
    }

    /// Waits for a frame and renders it; false when asked to stop instead. The render thread does nothing else; under
    /// the single-threaded policy main does it for a frame that it has just kicked, so there is no wait.
    fn render_next(&self, backend: &mut B) -> bool {
        let Some(Work { number, mut frame, rebuilt }) = self.handshake.wait_for_work() else { return false };
        // Not dropped here: a surface must go on main.
        let retired = rebuilt.map(|rebuilt| std::mem::replace(backend, rebuilt));
        let rendered = frame.render(backend, number, self.dropping.load(Ordering::Acquire));
        if rendered.is_err() {
            self.dropping.store(true, Ordering::Release);
        }
        self.handshake.complete(frame, rendered, retired);
        true
    }
}

impl<B: Backend> fmt::Debug for RenderThread<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kicked, completed) = self.frames();
        f.debug_struct("RenderThread")
            .field("kicked", &kicked)
            .field("completed", &completed)
            .finish_non_exhaustive()
    }
}
