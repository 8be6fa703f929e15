//! The world: who lives, what they are made of, what crosses rates, what was asked for and what happened.
//!
//! Change from outside comes as a [`WorldCommand`] through [`crate::Scene::apply`]. Subsystems write components
//! directly, inside their step; what they cannot do there, such as spawning, they ask for with [`World::request`].

mod apply;
mod check;

use downbeat_time::SimTime;
use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::command::{CommandError, WorldCommand};
use crate::component::{Components, Pose};
use crate::entity::{EntityId, EntityTable};
use crate::event::{Event, Events};
use crate::random::Random;
use crate::signal::Signals;
use crate::spatial::SpatialIndex;

/// How many requests may wait for the next step.
pub const REQUESTS_MAX: usize = 4096;
/// How deep below others an entity may be hung.
pub const DEPTH_MAX: usize = 256;

/// A world.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct World {
    table: EntityTable,
    /// What entities are made of.
    pub components: Components,
    /// What crosses rates.
    pub signals: Signals,
    /// What happened in this step.
    pub events: Events,
    /// The scene's own random numbers.
    pub random: Random,
    /// Pushes that physics has yet to give.
    pub impulses: Vec<Impulse>,
    seed: u64,
    now: SimTime,
    requests: Vec<WorldCommand>,
    #[serde(skip)]
    index: SpatialIndex,
}

/// A push at a body's centre of mass, in world axes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Impulse {
    /// Who is pushed.
    pub entity: EntityId,
    /// Newton seconds.
    pub linear: Vec3,
    /// Newton metre seconds.
    pub angular: Vec3,
}

impl World {
    /// An empty world whose random numbers come from this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            table: EntityTable::default(),
            components: Components::default(),
            signals: Signals::default(),
            events: Events::default(),
            random: Random::new(seed, "scene"),
            impulses: Vec::new(),
            seed,
            now: SimTime::ZERO,
            requests: Vec::new(),
            index: SpatialIndex::default(),
        }
    }

    /// Who lives.
    pub fn entities(&self) -> &EntityTable {
        &self.table
    }

    /// The seed of this run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The step that the world is in, or was in last.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Where an entity is in the world: its pose and those of everything it hangs on.
    pub fn world_pose(&self, id: EntityId) -> Pose {
        world_pose(&self.components, id)
    }

    /// The entities that hang on this one, in creation order.
    pub fn children(&self, id: EntityId) -> impl Iterator<Item = EntityId> {
        self.components.parent.iter().filter(move |(_, parent)| parent.0 == id).map(|(child, _)| child)
    }

    /// The first entity of this name.
    pub fn find(&self, name: &str) -> Option<EntityId> {
        self.components.name.iter().find(|(_, there)| there.0 == name).map(|(id, _)| id)
    }

    /// Asks for a change at the start of the next step. A request that could not be done now is refused now; one that
    /// can no longer be done then becomes an event. Changes of time are asked of the step's context instead, and
    /// settings are for [`crate::Scene::apply`].
    pub fn request(&mut self, command: WorldCommand) -> Result<(), CommandError> {
        if matches!(command, WorldCommand::Configure { .. } | WorldCommand::Time(_)) {
            return Err(CommandError::NotTheWorlds);
        }
        if self.requests.len() >= REQUESTS_MAX {
            return Err(CommandError::TooManyRequests);
        }
        self.check(&command)?;
        self.requests.push(command);
        Ok(())
    }

    /// Entities whose box touches a box, in creation order.
    pub fn in_box(&mut self, low: Vec3, high: Vec3) -> Vec<EntityId> {
        self.refreshed_index().in_box(low, high)
    }

    /// Entities whose box touches a ball, in creation order.
    pub fn in_sphere(&mut self, center: Vec3, radius: f32) -> Vec<EntityId> {
        self.refreshed_index().in_sphere(center, radius)
    }

    /// Entities whose box a ray meets, nearest first, with the distance.
    pub fn along_ray(&mut self, origin: Vec3, direction: Vec3, distance_max: f32) -> Vec<(EntityId, f32)> {
        self.refreshed_index().along_ray(origin, direction, distance_max)
    }

    /// Begins a step: its time, no events yet, and what was asked for in the step before.
    pub(crate) fn begin_step(&mut self, now: SimTime) {
        self.now = now;
        self.events.clear();
        for request in std::mem::take(&mut self.requests) {
            if let Err(refusal) = self.apply(&request) {
                self.events.push(Event::Refused { reason: refusal.to_string() });
            }
        }
    }

    /// What is wrong with a world that came from outside, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        if let Some(problem) = self.table.problem() {
            return Some(problem.to_owned());
        }
        if let Some(kind) = self.components.problem(|id| self.table.contains(id)) {
            return Some(format!("the {} components do not fit the entities", kind.name()));
        }
        if !self.signals.is_sound() {
            return Some("signals of two widths, too wide or counted beyond all bounds".to_owned());
        }
        if let Some((id, kind, refusal)) = self.components.unsound() {
            return Some(format!("the {} of {id} is refused: {refusal}", kind.name()));
        }
        self.cycle().map(|id| format!("{id} hangs on itself"))
    }

    /// An entity that hangs on itself, if there is one. Each entity is looked at once.
    fn cycle(&self) -> Option<EntityId> {
        let parents = &self.components.parent;
        // The entity from whose way up each row was first met.
        let mut met: Vec<Option<EntityId>> = vec![None; parents.len()];
        for (start, _) in parents.iter() {
            let mut id = start;
            while let Some(row) = parents.row(id) {
                match met[row] {
                    Some(by) if by == start => return Some(id),
                    Some(_) => break,
                    None => met[row] = Some(start),
                }
                id = parents.values()[row].0;
            }
        }
        None
    }

    /// What was asked for in this step.
    pub(crate) fn requests(&self) -> &[WorldCommand] {
        &self.requests
    }

    fn refreshed_index(&mut self) -> &SpatialIndex {
        self.index.refresh(&self.table, &self.components);
        &self.index
    }
}

/// Where an entity is in the world. Commands keep the hierarchy free of cycles, so this ends.
pub fn world_pose(components: &Components, id: EntityId) -> Pose {
    let mut pose = components.pose.get(id).copied().unwrap_or_default();
    let mut above = id;
    while let Some(parent) = components.parent.get(above) {
        above = parent.0;
        pose = components.pose.get(above).copied().unwrap_or_default() * pose;
    }
    pose
}
