//! A run as an MCAP file, which Foxglove opens as it is: poses, shapes, joints, commands, hashes and time.
//!
//! The caller steps a scene and shows it after each step; what is due is written, with simulation time as log time. It
//! steps nothing itself, and it is no record: the log is what a run can be repeated from.

mod channels;
mod error;
mod file;
mod frames;
mod geometry;
mod joints;
mod messages;
mod primitives;
mod scenery;

use std::io::{Seek, Write};
use std::num::NonZeroU64;
use std::time::Duration;

use downbeat_time::SimTime;
use downbeat_world::{Scene, StepHashes, WorldCommand};
use foxglove::messages::Timestamp;

pub use error::ExportError;
pub use file::ExportFile;

use channels::{Channels, Topic};
use frames::Frames;
use scenery::Scenery;

/// What an export says about the run as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportHead {
    /// What the scene is called.
    pub scene: String,
    /// The seed of the run.
    pub seed: u64,
    /// What ran it, such as a version and a commit.
    pub build: String,
}

/// How often poses, joints and time are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// After every step, whoever fired. Files grow with the fastest runner.
    EveryStep,
    /// At most once in so much simulated time, and at the end.
    AtMost(Duration),
}

/// What an export came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSummary {
    /// Messages of each channel, by topic.
    pub messages: Vec<(&'static str, u64)>,
    /// The length of the file.
    pub bytes: u64,
}

/// Writes a run as it is shown.
///
/// ```
/// use std::io::Cursor;
/// use downbeat_app::{ExportHead, McapExport, Pace, load_scene};
///
/// let mut scene = load_scene("pendulum", &Default::default())?;
/// let head = ExportHead { scene: scene.name().to_owned(), seed: scene.world().seed(), build: "docs".to_owned() };
/// let mut export = McapExport::new(Cursor::new(Vec::new()), &head, Pace::default())?;
/// export.step(&scene)?; // as it is before the first step
/// for _ in 0..100 {
///     scene.run_steps(1)?;
///     export.step(&scene)?;
/// }
/// let (file, summary) = export.finish(&scene)?;
/// assert_eq!(summary.bytes, file.into_inner().len() as u64);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct McapExport<W: Write + Seek> {
    channels: Channels<W>,
    pace: Pace,
    frames: Frames,
    scenery: Scenery,
    /// The last step that was written, and which turn of the pace it was in.
    written: Option<Written>,
}

struct Written {
    step: u64,
    turn: u64,
}

impl Default for Pace {
    /// As often as a screen shows a picture.
    fn default() -> Self {
        Self::AtMost(Duration::from_nanos(16_666_667))
    }
}

impl<W: Write + Seek> McapExport<W> {
    /// Begins a file, with all its channels.
    pub fn new(writer: W, head: &ExportHead, pace: Pace) -> Result<Self, ExportError> {
        Ok(Self {
            channels: Channels::begin(writer, head)?,
            pace,
            frames: Frames::default(),
            scenery: Scenery::default(),
            written: None,
        })
    }

    /// Writes what is due. Call it before the first step and after every one.
    pub fn step(&mut self, scene: &Scene) -> Result<(), ExportError> {
        let turn = self.turn(scene.time().now());
        if self.written.as_ref().is_some_and(|written| written.turn == turn && self.pace != Pace::EveryStep) {
            return Ok(());
        }
        self.write(scene, turn)
    }

    /// Writes a command that is applied between two steps, at the time that the scene has come to.
    pub fn command(&mut self, scene: &Scene, command: &WorldCommand) -> Result<(), ExportError> {
        let step = scene.time().steps();
        let message =
            messages::Command::new(step, command).map_err(|error| ExportError::Command { step, error })?;
        self.channels.write(Topic::Commands, scene.time().now(), &message)
    }

    /// Writes the hashes of the step that the scene has come to.
    pub fn hashes(&mut self, scene: &Scene, hashes: StepHashes) -> Result<(), ExportError> {
        let (step, now) = (scene.time().steps(), scene.time().now());
        self.channels.write(Topic::Hashes, now, &messages::Hashes::new(step, now, hashes))
    }

    /// Writes the last step, if the pace had left it out, and ends the file.
    pub fn finish(mut self, scene: &Scene) -> Result<(W, ExportSummary), ExportError> {
        if self.written.as_ref().is_none_or(|written| written.step != scene.time().steps()) {
            let turn = self.turn(scene.time().now());
            self.write(scene, turn)?;
        }
        self.channels.end()
    }

    fn turn(&self, now: SimTime) -> u64 {
        match self.pace {
            Pace::EveryStep => 0,
            Pace::AtMost(span) => {
                let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
                // Between two turns of no length lies every step.
                now.as_nanos() / NonZeroU64::new(nanos).unwrap_or(NonZeroU64::MIN)
            }
        }
    }

    fn write(&mut self, scene: &Scene, turn: u64) -> Result<(), ExportError> {
        let (world, now) = (scene.world(), scene.time().now());
        let stamp = timestamp(now)?;
        self.frames.refresh(world);
        // Shapes first: a viewer that is shown a pose wants to know of what.
        if let Some(update) = self.scenery.update(world, &self.frames, stamp) {
            self.channels.write(Topic::Scene, now, &update)?;
        }
        self.channels.write(Topic::Transforms, now, &self.frames.transforms(world, stamp))?;
        if let Some(joints) = joints::states(world, &self.frames, stamp) {
            self.channels.write(Topic::Joints, now, &joints)?;
        }
        self.channels.write(Topic::Time, now, &messages::Time::new(scene.time()))?;
        self.written = Some(Written { step: scene.time().steps(), turn });
        Ok(())
    }
}

/// A time as Foxglove's messages have it. Their seconds end after 136 years, ours after 584.
fn timestamp(now: SimTime) -> Result<Timestamp, ExportError> {
    const SECOND: u64 = 1_000_000_000;
    let nanos = now.as_nanos();
    let secs = u32::try_from(nanos / SECOND).map_err(|_| ExportError::TooLate { now })?;
    // Less than a second fits.
    Ok(Timestamp::new(secs, (nanos % SECOND) as u32))
}
