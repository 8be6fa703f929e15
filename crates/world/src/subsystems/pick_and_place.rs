//! Picks things up and puts them where they belong: leads the entity that a tool follows from thing to place, and opens
//! and closes the gripper. Solving for the arm's joints is for `ik`, which comes after it.
//!
//! Things are the entities with one tag, places those with another; a thing belongs to the first place that shares one
//! more tag with it. Both are taken in creation order. The signal `NAME/placed` counts what was put down.

use downbeat_time::{BoxError, Phase, StepContext};
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::EntityRef;
use super::{not_negative, positive};
use crate::component::{Pose, Tags};
use crate::entity::EntityId;
use crate::hash::StateHasher;
use crate::signal::SignalKey;
use crate::subsystem::{
    SettingsError, Subsystem, SubsystemKind, settings_from, settings_into, state_from, state_into,
};
use crate::world::World;

/// How long a leg of the way may take before the next one begins all the same, in seconds.
const LEG_SECS_MAX: f64 = 10.0;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "pick_and_place",
    about: "leads a tool from thing to place and works its gripper",
    runner: "Robot",
    phase: Phase::Control,
    priority: -10,
    make: |birth| {
        let settings: PickAndPlaceSettings = settings_from(birth.settings)?;
        settings.check()?;
        let (name, progress) = (birth.name.to_owned(), Progress::default());
        Ok(Box::new(PickAndPlace { name, settings, progress, wiring: Derived::new() }))
    },
};

/// Who picks what, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PickAndPlaceSettings {
    /// The tool, between the tips of the gripper; its z axis points out of the hand.
    pub tool: EntityRef,
    /// The entity that the tool follows; this one is moved.
    pub goal: EntityRef,
    /// The joints of the gripper, whose motors are in position mode.
    pub gripper: Vec<EntityRef>,
    /// Their target when it is open.
    pub open: f32,
    /// Their target when it holds something.
    pub closed: f32,
    /// The tag of things.
    pub things: String,
    /// The tag of places.
    pub places: String,
    /// How high above things and places the tool travels, in metres.
    pub clearance: f32,
    /// How fast the goal moves, in metres per second.
    pub speed: f32,
    /// How long the gripper takes, in seconds.
    pub dwell: f32,
    /// How far apart things are put in one place, along x, in metres.
    #[serde(default)]
    pub spacing: f32,
}

/// A hand that sorts.
#[derive(Debug)]
pub struct PickAndPlace {
    name: String,
    settings: PickAndPlaceSettings,
    progress: Progress,
    wiring: Derived<Wiring>,
}

/// How far it has come.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Progress {
    /// Which errand.
    errand: usize,
    leg: Leg,
    /// Steps of this leg so far.
    steps: u64,
    /// Where the thing was when the hand set out for it.
    from: Vec3,
    placed: u32,
}

/// The legs of an errand, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Leg {
    #[default]
    OverThing,
    DownToThing,
    Grip,
    UpWithThing,
    OverPlace,
    DownToPlace,
    LetGo,
    UpAgain,
}

#[derive(Debug)]
struct Wiring {
    tool: EntityId,
    goal: EntityId,
    gripper: Vec<EntityId>,
    errands: Vec<Errand>,
    placed: SignalKey<f32>,
}

/// A thing, its place, and how many things come to that place before it.
#[derive(Debug, Clone, Copy)]
struct Errand {
    thing: EntityId,
    place: EntityId,
    slot: usize,
    slots: usize,
}

impl PickAndPlaceSettings {
    fn check(&self) -> Result<(), SettingsError> {
        positive("speed", self.speed.into())?;
        not_negative("clearance", self.clearance.into())?;
        not_negative("dwell", self.dwell.into())?;
        not_negative("spacing", self.spacing.into())?;
        super::require(self.open.is_finite() && self.closed.is_finite(), || {
            "`open` and `closed` must be finite".to_owned()
        })
    }
}

impl Leg {
    const fn next(self) -> Option<Self> {
        match self {
            Self::OverThing => Some(Self::DownToThing),
            Self::DownToThing => Some(Self::Grip),
            Self::Grip => Some(Self::UpWithThing),
            Self::UpWithThing => Some(Self::OverPlace),
            Self::OverPlace => Some(Self::DownToPlace),
            Self::DownToPlace => Some(Self::LetGo),
            Self::LetGo => Some(Self::UpAgain),
            Self::UpAgain => None,
        }
    }

    const fn holds(self) -> bool {
        matches!(self, Self::Grip | Self::UpWithThing | Self::OverPlace | Self::DownToPlace)
    }

    const fn waits_for_gripper(self) -> bool {
        matches!(self, Self::Grip | Self::LetGo)
    }
}

impl Wiring {
    fn new(name: &str, settings: &PickAndPlaceSettings, world: &mut World) -> Result<Self, BoxError> {
        let tagged = |tag: &str| -> Vec<(EntityId, &Tags)> {
            world.components.tags.iter().filter(|(_, tags)| tags.0.iter().any(|there| there == tag)).collect()
        };
        let places = tagged(&settings.places);
        let mut errands: Vec<Errand> = Vec::new();
        for (thing, tags) in tagged(&settings.things) {
            let shared =
                |other: &Tags| tags.0.iter().any(|tag| *tag != settings.things && other.0.contains(tag));
            let Some((place, _)) = places.iter().find(|(_, other)| shared(other)) else { continue };
            let slot = errands.iter().filter(|errand| errand.place == *place).count();
            errands.push(Errand { thing, place: *place, slot, slots: 0 });
        }
        let mut counted = errands.clone();
        for errand in &mut counted {
            errand.slots = errands.iter().filter(|other| other.place == errand.place).count();
        }
        Ok(Self {
            tool: settings.tool.find(world)?,
            goal: settings.goal.find(world)?,
            gripper: settings.gripper.iter().map(|joint| joint.find(world)).collect::<Result<_, _>>()?,
            errands: counted,
            placed: world.signals.declare(&format!("{name}/placed"))?,
        })
    }
}

impl PickAndPlace {
    /// How many things it has put down.
    pub fn placed(&self) -> u32 {
        self.progress.placed
    }
}

impl Progress {
    /// Where the goal is to go on this leg.
    fn aim(&self, errand: &Errand, settings: &PickAndPlaceSettings, world: &World) -> Vec3 {
        let place = world.world_pose(errand.place).position;
        let middle = (errand.slots.saturating_sub(1)) as f32 / 2.0;
        let slot = Vec3::X * (errand.slot as f32 - middle) * settings.spacing;
        let height = self.from.z;
        let put = Vec3::new(place.x, place.y, height) + slot;
        let up = Vec3::Z * settings.clearance;
        match self.leg {
            Leg::OverThing | Leg::UpWithThing => self.from + up,
            Leg::DownToThing | Leg::Grip => self.from,
            Leg::OverPlace | Leg::UpAgain => put + up,
            Leg::DownToPlace | Leg::LetGo => put,
        }
    }
}

impl Subsystem for PickAndPlace {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.wiring.get(world, |world| Wiring::new(&self.name, &self.settings, world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        let Self { name, settings, progress, wiring } = self;
        let wiring = wiring.get(world, |world| Wiring::new(name, settings, world))?;
        world.signals.publish(wiring.placed, context.now(), progress.placed as f32);
        let Some(errand) = wiring.errands.get(progress.errand) else { return Ok(()) };
        if progress.leg == Leg::OverThing && progress.steps == 0 {
            progress.from = world.world_pose(errand.thing).position;
        }
        let target = if progress.leg.holds() { settings.closed } else { settings.open };
        for joint in &wiring.gripper {
            let mut motor = world.components.motor_target.get(*joint).copied().unwrap_or_default();
            motor.position = target;
            world.set(*joint, motor);
        }
        let aim = progress.aim(errand, settings, world);
        let goal = world.world_pose(wiring.goal).position;
        let reach = settings.speed * context.dt_secs() as f32;
        let position = goal + (aim - goal).clamp_length_max(reach);
        // Straight down: half a turn about y takes the tool's z axis to the ground.
        world.set(wiring.goal, Pose { position, rotation: Quat::from_xyzw(0.0, 1.0, 0.0, 0.0) });

        // A damaged snapshot may begin at any number.
        progress.steps = progress.steps.saturating_add(1);
        let secs = progress.steps as f64 * context.dt_secs();
        let arrived = position == aim && (world.world_pose(wiring.tool).position - aim).length() < 0.01;
        let waited = secs >= f64::from(settings.dwell);
        let done = if progress.leg.waits_for_gripper() { waited } else { arrived || secs > LEG_SECS_MAX };
        if done {
            progress.steps = 0;
            if let Some(next) = progress.leg.next() {
                progress.leg = next;
            } else {
                (progress.leg, progress.errand) = (Leg::OverThing, progress.errand + 1);
                progress.placed = progress.placed.saturating_add(1);
            }
        }
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: PickAndPlaceSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.wiring.clear();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.progress)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        self.progress = state_from(bytes)?;
        Ok(())
    }

    fn hash(&self, hasher: &mut StateHasher) {
        hasher.data(&self.progress);
    }
}
