//! A run of a shipped scene with commands of all kinds, written to a log, and the log run again.

use std::path::Path;

use anyhow::{Context as _, Result};
use downbeat_physics::registry;
use downbeat_time::{Edit, Rate, RunnerId};
use downbeat_world::{EntityId, LogSettings, MotorTarget, Player, Pose, Random, Scene, WorldCommand};
use glam::Vec3;

use crate::shipped;

/// What a log came to when it was run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTotals {
    /// Steps from the first snapshot to the end, all with the hashes that the log has.
    pub steps: u64,
    /// Commands in between.
    pub commands: u64,
    /// The hash of the schedule after the last step.
    pub schedule_hash: u64,
    /// The hash of the state after the last step.
    pub state_hash: u64,
}

/// A run that is to be written down.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// The shipped scene.
    pub scene: &'a str,
    /// How long it runs.
    pub steps: u64,
    /// How many steps lie between two commands.
    pub command_every: u64,
}

/// Runs a scene with commands in between and writes a log of it. `each` is told how many steps were taken.
pub fn record(recording: Recording<'_>, folder: &Path, mut each: impl FnMut(u64)) -> Result<()> {
    let Recording { scene, steps, command_every } = recording;
    let mut scene = shipped(scene)?;
    scene.start_log(folder, LogSettings::default())?;
    let (cast, mut random) = (Cast::of(&scene), Random::new(1, "replay"));
    while scene.time().steps() < steps {
        let chunk = command_every.min(steps - scene.time().steps());
        scene.run_steps(chunk)?;
        scene.apply(cast.command(&scene, &mut random)?).context("a command of the test is refused")?;
        each(scene.time().steps());
    }
    Ok(scene.close_log()?)
}

/// Runs a log again and compares every hash. `each` is told how many steps were taken.
pub fn verify(folder: &Path, mut each: impl FnMut(u64)) -> Result<LogTotals> {
    let mut player = Player::open(folder, registry())?;
    let (mut steps, commands) = (0, player.history().commands);
    player.verify(|_| {
        steps += 1;
        each(steps);
    })?;
    let scene = player.scene();
    let (schedule_hash, state_hash) = (scene.time().schedule_hash(), scene.state_hashes().total);
    Ok(LogTotals { steps, commands, schedule_hash, state_hash })
}

/// Who can be told something in a scene.
struct Cast {
    /// Can be pushed.
    bodies: Vec<EntityId>,
    /// Can be put elsewhere: on no joint.
    free: Vec<EntityId>,
    /// Have a motor.
    motors: Vec<EntityId>,
}

impl Cast {
    fn of(scene: &Scene) -> Self {
        let components = &scene.world().components;
        let bodies: Vec<_> = components.body.iter().map(|(id, _)| id).collect();
        let free = bodies.iter().copied().filter(|id| components.joint.get(*id).is_none()).collect();
        let motors = components.motor_target.iter().map(|(id, _)| id).collect();
        Self { bodies, free, motors }
    }

    /// A command of some kind, small enough that the scene stays in its room.
    fn command(&self, scene: &Scene, random: &mut Random) -> Result<WorldCommand> {
        let mut vector =
            |size: f64| Vec3::from_array(std::array::from_fn(|_| random.between(-size, size) as f32));
        let (push, shift) = (vector(0.02), vector(0.01));
        Ok(match (random.below(4), pick(&self.free, random), pick(&self.motors, random)) {
            (0, Some(entity), _) => {
                let mut pose = scene.world().components.pose.get(entity).copied().unwrap_or(Pose::IDENTITY);
                pose.position += shift;
                WorldCommand::Set { entity, component: pose.into() }
            }
            (1, _, Some(entity)) => {
                let position = random.between(-0.3, 0.3) as f32;
                let target = MotorTarget { position, ..MotorTarget::default() };
                WorldCommand::Set { entity, component: target.into() }
            }
            (2, ..) => {
                let rate = Rate::hz(20 + random.below(40))?;
                WorldCommand::Time(Edit::SetRate { runner: RunnerId::CAPTURE, rate })
            }
            _ => match pick(&self.bodies, random) {
                Some(entity) => WorldCommand::Push { entity, linear: push, angular: Vec3::ZERO },
                None => WorldCommand::Spawn { components: Vec::new() },
            },
        })
    }
}

fn pick(entities: &[EntityId], random: &mut Random) -> Option<EntityId> {
    entities.get(random.below(entities.len() as u32) as usize).copied()
}
