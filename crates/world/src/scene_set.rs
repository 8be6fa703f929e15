//! Many scenes stepped at once by threads that stay. Scenes know nothing of one another, so the results are those of
//! stepping them one by one, however many threads there are.
//!
//! Scenes travel in batches: a batch is small enough that no thread is left waiting for another at the end, and large
//! enough that handing it over costs nothing beside stepping it.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use downbeat_threading::{Panic, Role, SpawnError, Thread, caught, spawn};
use downbeat_time::{RunReport, StepError};
use thiserror::Error;

use crate::scene::Scene;

/// How many threads may step the scenes of a set.
pub const WORKERS_MAX: usize = 256;
/// How many batches each thread gets, so that uneven scenes even out.
const BATCHES_PER_WORKER: usize = 8;

/// Scenes that are stepped together, for training and for trying many seeds.
///
/// ```
/// use downbeat_world::{Registry, Scene, SceneSet};
///
/// let scenes = (0..8).map(|seed| Scene::new(format!("lab {seed}"), seed, Registry::builtin())).collect();
/// let mut set = SceneSet::new(scenes, 2)?;
/// for outcome in set.run_steps(10) {
///     assert_eq!(outcome?.steps, 10);
/// }
/// assert_eq!(set.get(7).map(|scene| scene.name()), Some("lab 7"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct SceneSet {
    batches: Vec<Vec<Place>>,
    /// Scenes in each batch but the last.
    batch_len: usize,
    len: usize,
    // Dropped before the threads: its end is how they know that they may go.
    jobs: Sender<Job>,
    queue: Receiver<Job>,
    done: Receiver<Job>,
    finished: Sender<Job>,
    threads: Vec<Thread<()>>,
}

/// What went wrong in one scene of a set. The others are not touched by it.
#[derive(Debug, Error)]
pub enum SceneError {
    /// A step failed; the scene is paused there.
    #[error(transparent)]
    Step(#[from] Box<StepError>),
    /// A subsystem panicked; the scene is paused, and its world may be half changed. Restore it to go on.
    #[error("the scene {0}; restore it from a snapshot before you go on")]
    Panicked(#[source] Panic),
}

struct Place {
    scene: Scene,
    outcome: Result<RunReport, SceneError>,
}

/// A batch on its way to a thread and back.
struct Job {
    at: usize,
    batch: Vec<Place>,
    span: Span,
}

#[derive(Clone, Copy)]
enum Span {
    Steps(u64),
    Time(Duration),
}

impl SceneSet {
    /// A set of scenes that `workers` threads step, the calling one among them; 1 starts no thread.
    pub fn new(scenes: Vec<Scene>, workers: usize) -> Result<Self, SpawnError> {
        let workers = workers.clamp(1, WORKERS_MAX);
        let len = scenes.len();
        let batch_len = len.div_ceil(workers * BATCHES_PER_WORKER).max(1);
        let mut scenes = scenes.into_iter().map(|scene| Place { scene, outcome: Ok(RunReport::default()) });
        let batches: Vec<Vec<Place>> =
            (0..len.div_ceil(batch_len)).map(|_| scenes.by_ref().take(batch_len).collect()).collect();
        let (jobs, queue) = bounded::<Job>(batches.len());
        let (finished, done) = bounded::<Job>(batches.len());
        let threads = (1..workers)
            .map(|number| {
                let (queue, finished) = (queue.clone(), finished.clone());
                spawn(&format!("scenes {number}"), Role::Worker, move || {
                    // Ends when the set drops its sender.
                    for job in queue {
                        if finished.send(job.run()).is_err() {
                            break;
                        }
                    }
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { batches, batch_len, len, jobs, queue, done, finished, threads })
    }

    /// How many scenes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many threads step them, the calling one among them.
    pub fn workers(&self) -> usize {
        self.threads.len() + 1
    }

    /// A scene.
    pub fn get(&self, at: usize) -> Option<&Scene> {
        self.batches.get(at / self.batch_len)?.get(at % self.batch_len).map(|place| &place.scene)
    }

    /// A scene, to change.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Scene> {
        let batch = self.batches.get_mut(at / self.batch_len)?;
        batch.get_mut(at % self.batch_len).map(|place| &mut place.scene)
    }

    /// The scenes, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Scene> {
        self.batches.iter().flatten().map(|place| &place.scene)
    }

    /// The scenes, in their order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Scene> {
        self.batches.iter_mut().flatten().map(|place| &mut place.scene)
    }

    /// So many steps of every scene. Returns how each went, in the order of scenes.
    pub fn run_steps(&mut self, count: u64) -> Vec<Result<RunReport, SceneError>> {
        self.run(Span::Steps(count))
    }

    /// So much simulated time of every scene. Returns how each went, in the order of scenes.
    pub fn run_for(&mut self, span: Duration) -> Vec<Result<RunReport, SceneError>> {
        self.run(Span::Time(span))
    }

    /// The scenes, without the set.
    pub fn into_scenes(mut self) -> Vec<Scene> {
        std::mem::take(&mut self.batches).into_iter().flatten().map(|place| place.scene).collect()
    }

    fn run(&mut self, span: Span) -> Vec<Result<RunReport, SceneError>> {
        for (at, batch) in self.batches.iter_mut().enumerate() {
            let job = Job { at, batch: std::mem::take(batch), span };
            self.jobs.send(job).expect("the set holds the other end, and there is room for every batch");
        }
        while let Ok(job) = self.queue.try_recv() {
            self.finished.send(job.run()).expect("the set holds the other end, and there is room for all");
        }
        for _ in 0..self.batches.len() {
            let job = self.done.recv().expect("the set holds a sender, and a thread loses no batch");
            self.batches[job.at] = job.batch;
        }
        let places = self.batches.iter_mut().flatten();
        places.map(|place| std::mem::replace(&mut place.outcome, Ok(RunReport::default()))).collect()
    }
}

impl Job {
    fn run(mut self) -> Self {
        for Place { scene, outcome } in &mut self.batch {
            let run = || match self.span {
                Span::Steps(count) => scene.run_steps(count),
                Span::Time(span) => scene.run_for(span),
            };
            *outcome = match caught(run) {
                Ok(ran) => ran.map_err(SceneError::Step),
                Err(panic) => Err(SceneError::Panicked(panic)),
            };
        }
        self
    }
}
