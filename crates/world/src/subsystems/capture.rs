//! A recorder: keeps the last frames of chosen signals, poses and joints, with their times. What it keeps is bounded
//! and part of the snapshot; writing it to disk is for others.

use std::collections::VecDeque;

use downbeat_time::{BoxError, Phase, SimTime, StepContext};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::{EntityRef, joints};
use super::require;
use crate::component::Pose;
use crate::entity::EntityId;
use crate::hash::StateHasher;
use crate::signal::{Sampling, SignalKey, SignalValue as _};
use crate::subsystem::{
    SettingsError, Subsystem, SubsystemKind, settings_from, settings_into, state_from, state_into,
};
use crate::world::World;

/// How many numbers a recorder may keep in all.
pub const CAPTURE_FLOATS_MAX: usize = 1 << 24;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "capture",
    about: "keeps the last frames of signals, poses and joints",
    runner: "Capture",
    phase: Phase::Export,
    priority: 0,
    make: |birth| {
        let settings: CaptureSettings = settings_from(birth.settings)?;
        settings.check()?;
        Ok(Box::new(Capture { settings, tape: Tape::default(), wiring: Derived::new() }))
    },
};

/// What is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureSettings {
    /// Signals, by name; whoever publishes them stands before this recorder in the scene.
    pub signals: Vec<String>,
    /// How signals are read.
    pub sampling: Sampling,
    /// Entities whose pose in the world is kept: x, y, z, and a quaternion x, y, z, w.
    pub poses: Vec<EntityRef>,
    /// Robots whose hinges and slides are kept: all positions, then all velocities.
    pub robots: Vec<EntityRef>,
    /// How many frames are kept; the oldest goes when there are more.
    pub frames_max: usize,
}

/// A recorder.
#[derive(Debug)]
pub struct Capture {
    settings: CaptureSettings,
    tape: Tape,
    wiring: Derived<Wiring>,
}

/// One frame: everything chosen, at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// When.
    pub at: SimTime,
    /// The numbers of all channels, one after the other. A signal that nobody had published is NaN.
    pub numbers: Vec<f32>,
}

/// Where something stands in [`Frame::numbers`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The signal, or the entity and what of it.
    pub name: String,
    /// How many numbers it has.
    pub width: usize,
}

/// What is saved.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Tape {
    channels: Vec<Channel>,
    frames: VecDeque<Frame>,
    recorded: u64,
}

#[derive(Debug)]
struct Wiring {
    sources: Vec<Source>,
    channels: Vec<Channel>,
    width: usize,
}

#[derive(Debug)]
enum Source {
    Signal(SignalKey<[f32]>, usize),
    Pose(EntityId),
    Joints(Vec<EntityId>),
}

impl Default for CaptureSettings {
    fn default() -> Self {
        Self {
            signals: Vec::new(),
            sampling: Sampling::Held,
            poses: Vec::new(),
            robots: Vec::new(),
            frames_max: 1024,
        }
    }
}

impl CaptureSettings {
    fn check(&self) -> Result<(), SettingsError> {
        require((1..=CAPTURE_FLOATS_MAX).contains(&self.frames_max), || {
            format!("`frames_max` is from 1 to {CAPTURE_FLOATS_MAX}, not {}", self.frames_max)
        })
    }
}

impl Capture {
    /// The frames that are kept, oldest first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.tape.frames.iter()
    }

    /// What stands in each frame, in order.
    pub fn channels(&self) -> &[Channel] {
        &self.tape.channels
    }

    /// The numbers of a channel in a frame.
    pub fn numbers<'a>(&self, frame: &'a Frame, channel: &str) -> Option<&'a [f32]> {
        let mut begin = 0;
        for Channel { name, width } in &self.tape.channels {
            if name == channel {
                return frame.numbers.get(begin..begin + width);
            }
            begin += width;
        }
        None
    }

    /// How many frames were recorded, those that are gone among them.
    pub fn recorded(&self) -> u64 {
        self.tape.recorded
    }
}

impl Wiring {
    fn new(settings: &CaptureSettings, world: &World) -> Result<Self, BoxError> {
        let (mut sources, mut channels) = (Vec::new(), Vec::new());
        for name in &settings.signals {
            let (key, width) = world.signals.find(name).ok_or_else(|| {
                let known: Vec<_> = world.signals.names().map(|(name, _)| format!("`{name}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                format!("there is no signal `{name}`; so far there are {known}")
            })?;
            sources.push(Source::Signal(key, width));
            channels.push(Channel { name: name.clone(), width });
        }
        for entity in &settings.poses {
            sources.push(Source::Pose(entity.find(world)?));
            channels.push(Channel { name: format!("{entity}/pose"), width: Pose::WIDTH });
        }
        for robot in &settings.robots {
            let joints = joints(world, Some(robot), &[])?;
            channels.push(Channel { name: format!("{robot}/position"), width: joints.len() });
            channels.push(Channel { name: format!("{robot}/velocity"), width: joints.len() });
            sources.push(Source::Joints(joints));
        }
        let width = channels.iter().map(|channel| channel.width).sum();
        let wanted = settings.frames_max.saturating_mul(width);
        if wanted > CAPTURE_FLOATS_MAX {
            return Err(format!(
                "{} frames of {width} numbers are more than {CAPTURE_FLOATS_MAX}; keep fewer frames",
                settings.frames_max
            )
            .into());
        }
        Ok(Self { sources, channels, width })
    }

    fn record(&self, sampling: Sampling, world: &World, now: SimTime, numbers: &mut [f32]) {
        let mut rest = numbers;
        for source in &self.sources {
            // A frame is as wide as its sources together.
            let Some(into) = rest.split_off_mut(..source.width()) else { return };
            source.record(sampling, world, now, into);
        }
    }
}

impl Source {
    fn width(&self) -> usize {
        match self {
            Self::Signal(_, width) => *width,
            Self::Pose(_) => Pose::WIDTH,
            Self::Joints(joints) => 2 * joints.len(),
        }
    }

    fn record(&self, sampling: Sampling, world: &World, now: SimTime, into: &mut [f32]) {
        match self {
            Self::Signal(key, _) => {
                if world.signals.read_array(*key, sampling, now, into).is_none() {
                    into.fill(f32::NAN);
                }
            }
            Self::Pose(entity) => world.world_pose(*entity).store(into),
            Self::Joints(joints) => {
                for (at, joint) in joints.iter().enumerate() {
                    let state = world.components.joint_state.get(*joint).copied().unwrap_or_default();
                    (into[at], into[joints.len() + at]) = (state.position[0], state.velocity[0]);
                }
            }
        }
    }
}

impl Subsystem for Capture {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        let wiring = self.wiring.get(world, |world| Wiring::new(&self.settings, world))?;
        self.tape.fit(&wiring.channels, self.settings.frames_max);
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let settings = &self.settings;
        let wiring = self.wiring.get(world, |world| Wiring::new(settings, world))?;
        let tape = &mut self.tape;
        tape.fit(&wiring.channels, settings.frames_max);
        // The oldest frame's memory serves for the newest.
        let oldest = if tape.frames.len() == settings.frames_max { tape.frames.pop_front() } else { None };
        let mut frame =
            oldest.unwrap_or_else(|| Frame { at: SimTime::ZERO, numbers: vec![0.0; wiring.width] });
        frame.at = context.now();
        wiring.record(settings.sampling, world, context.now(), &mut frame.numbers);
        tape.frames.push_back(frame);
        tape.recorded = tape.recorded.saturating_add(1);
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: CaptureSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.wiring.clear();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.tape)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        let tape: Tape = state_from(bytes)?;
        let mut widths = tape.channels.iter().map(|channel| channel.width);
        let width = widths.try_fold(0_usize, usize::checked_add);
        let whole = width.is_some() && tape.frames.iter().all(|frame| Some(frame.numbers.len()) == width);
        if !whole || tape.frames.len() > self.settings.frames_max {
            return Err("its frames do not fit its settings".into());
        }
        self.tape = tape;
        Ok(())
    }

    /// What was recorded decides nothing that comes; the last frame stands for it.
    fn hash(&self, hasher: &mut StateHasher) {
        let at = self.tape.frames.back().map_or(SimTime::ZERO, |frame| frame.at);
        hasher.words(&[self.tape.recorded, at.as_nanos()]);
        if let Some(last) = self.tape.frames.back() {
            hasher.floats(&last.numbers);
        }
    }
}

impl Tape {
    /// Frames of other channels go, and so do the oldest when fewer are kept.
    fn fit(&mut self, channels: &[Channel], frames_max: usize) {
        if self.channels != channels {
            self.channels = channels.to_vec();
            self.frames.clear();
        }
        while self.frames.len() > frames_max {
            self.frames.pop_front();
        }
    }
}
