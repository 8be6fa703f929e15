//! The contestants: commands that one thread submits and then runs. Measures nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use downbeat_render::{
    Backend, BackendLost, Recorder, RenderConfig, RenderThread, Renderer, ThreadingPolicy,
};
use downbeat_threading::MainThreadDispatcher;

use crate::captures::Captures;

pub(crate) const FLUME: &str = "boxed, flume";
pub(crate) const CROSSBEAM: &str = "boxed, crossbeam";

/// Commands of a frame, in groups of four: one of each kind.
pub(crate) const COMMANDS: u64 = 10_000;
const KINDS: u64 = 4;

/// Adds up what commands bring, and tells at the end of each frame.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) sum: u64,
    pub(crate) of_last_frame: Arc<AtomicU64>,
}

impl Backend for Sum {
    fn begin_frame(&mut self, _number: u64) {
        self.sum = 0;
    }

    fn end_frame(&mut self) -> Result<(), BackendLost> {
        self.of_last_frame.store(self.sum, Ordering::Relaxed);
        Ok(())
    }
}

pub(crate) type Boxed = Box<dyn FnOnce(&mut Sum) + Send>;

/// Takes the commands of a frame and runs them.
pub(crate) trait Queue {
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static);

    /// Makes what was submitted ready to run; part of submitting.
    fn flush(&mut self) {}

    /// Runs all of it; what it adds up to.
    fn drain(&mut self) -> u64;
}

/// Submits a frame.
#[inline(never)]
pub(crate) fn submit_all<const WORDS: usize>(queue: &mut impl Queue, captures: &Captures<WORDS>) {
    for _ in 0..COMMANDS / KINDS {
        queue.submit(adds::<1, WORDS>(captures));
        queue.submit(adds::<2, WORDS>(captures));
        queue.submit(adds::<3, WORDS>(captures));
        queue.submit(adds::<4, WORDS>(captures));
    }
    queue.flush();
}

#[inline]
fn adds<const KIND: u64, const WORDS: usize>(
    captures: &Captures<WORDS>,
) -> impl FnOnce(&mut Sum) + Send + 'static {
    let captures = captures.copied();
    move |sum| sum.sum = sum.sum.wrapping_add(captures.sum::<KIND>())
}

/// Ours, as main uses it.
pub(crate) struct Submitted<'a> {
    dispatcher: &'a MainThreadDispatcher,
    render: RenderThread<Sum>,
    renderer: Renderer<Sum>,
    of_last_frame: Arc<AtomicU64>,
}

impl<'a> Submitted<'a> {
    pub(crate) fn new(dispatcher: &'a MainThreadDispatcher, policy: ThreadingPolicy) -> anyhow::Result<Self> {
        let (backend, config) = (Sum::default(), RenderConfig { policy, ..RenderConfig::default() });
        let of_last_frame = Arc::clone(&backend.of_last_frame);
        let render = RenderThread::start(dispatcher, backend, config)?;
        Ok(Self { dispatcher, renderer: render.renderer(), render, of_last_frame })
    }

    /// Ends the frame; under the multi-threaded policy it is still under way afterwards.
    pub(crate) fn kick(&mut self) {
        self.render.kick(self.dispatcher).expect("no command fails");
    }

    /// What the last frame came to, once it is rendered.
    pub(crate) fn wait(&mut self) -> u64 {
        self.render.block_until_render_complete(self.dispatcher).expect("no command fails");
        self.of_last_frame.load(Ordering::Relaxed)
    }
}

impl Queue for Submitted<'_> {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        self.renderer.submit(command);
    }

    fn drain(&mut self) -> u64 {
        self.kick();
        self.wait()
    }
}

/// Ours, as other threads use it: under the lock.
pub(crate) struct Locked<'a>(pub(crate) Submitted<'a>);

impl Queue for Locked<'_> {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        assert!(self.0.renderer.try_submit(command).is_ok());
    }

    fn drain(&mut self) -> u64 {
        self.0.drain()
    }
}

/// Ours, as who has many commands at a time uses it.
pub(crate) struct Recorded<'a> {
    pub(crate) queue: Submitted<'a>,
    recorder: Recorder<Sum>,
}

impl<'a> Recorded<'a> {
    pub(crate) fn new(dispatcher: &'a MainThreadDispatcher, policy: ThreadingPolicy) -> anyhow::Result<Self> {
        let queue = Submitted::new(dispatcher, policy)?;
        Ok(Self { recorder: queue.renderer.recorder(), queue })
    }
}

impl Queue for Recorded<'_> {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        self.recorder.submit(command);
    }

    fn flush(&mut self) {
        assert!(self.recorder.flush(), "a frame is far from the limit");
    }

    fn drain(&mut self) -> u64 {
        self.queue.drain()
    }
}

pub(crate) struct Flume {
    sender: flume::Sender<Boxed>,
    receiver: flume::Receiver<Boxed>,
}

impl Default for Flume {
    fn default() -> Self {
        let (sender, receiver) = flume::bounded(COMMANDS as usize);
        Self { sender, receiver }
    }
}

impl Queue for Flume {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        assert!(self.sender.send(Box::new(command)).is_ok());
    }

    fn drain(&mut self) -> u64 {
        run_all(self.receiver.try_iter())
    }
}

pub(crate) struct Crossbeam {
    sender: crossbeam_channel::Sender<Boxed>,
    receiver: crossbeam_channel::Receiver<Boxed>,
}

impl Default for Crossbeam {
    fn default() -> Self {
        let (sender, receiver) = crossbeam_channel::bounded(COMMANDS as usize);
        Self { sender, receiver }
    }
}

impl Queue for Crossbeam {
    #[inline]
    fn submit(&mut self, command: impl FnOnce(&mut Sum) + Send + 'static) {
        assert!(self.sender.send(Box::new(command)).is_ok());
    }

    fn drain(&mut self) -> u64 {
        run_all(self.receiver.try_iter())
    }
}

fn run_all(commands: impl Iterator<Item = Boxed>) -> u64 {
    let mut sum = Sum::default();
    commands.for_each(|command| command(&mut sum));
    sum.sum
}
