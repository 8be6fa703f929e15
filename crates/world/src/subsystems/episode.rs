//! Says when an episode is over: time has run out, something has left its box, fallen or arrived. It says so once, as
//! an event, and may pause the scene. A new episode is a restored snapshot; it resets nothing itself.

use downbeat_time::{BoxError, Edit, Phase, StepContext};
use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use super::entity_ref::EntityRef;
use super::limits::{check_box, is_outside};
use super::{not_negative, positive, require};
use crate::entity::EntityId;
use crate::event::Event;
use crate::hash::StateHasher;
use crate::subsystem::{
    SettingsError, Subsystem, SubsystemKind, settings_from, settings_into, state_from, state_into,
};
use crate::world::World;

/// How many terms an episode may have.
const TERMS_MAX: usize = 1024;

pub(super) const KIND: SubsystemKind = SubsystemKind {
    name: "episode",
    about: "says when an episode is over",
    runner: "Robot",
    phase: Phase::Validation,
    priority: 100,
    make: |birth| {
        let settings: EpisodeSettings = settings_from(birth.settings)?;
        settings.check()?;
        Ok(Box::new(Episode { settings, ended: false, whom: Derived::new() }))
    },
};

/// When an episode is over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EpisodeSettings {
    /// Seconds of simulated time after which it is cut off; the event's check is then `time_limit`.
    pub time_limit: Option<f64>,
    /// Whether the scene pauses after the step in which it ends.
    pub pause: bool,
    /// What ends it otherwise. When several do in one step, the first counts.
    pub terms: Vec<Term>,
}

/// One thing that ends an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Its name in the event.
    pub name: String,
    /// Whom it looks at.
    pub entity: EntityRef,
    /// What must happen.
    pub condition: Condition,
}

/// What must happen to an entity, in world axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// It is lower than this z.
    Below(f32),
    /// It is not in a box.
    Outside {
        /// The box's lowest corner.
        low: Vec3,
        /// Its highest corner.
        high: Vec3,
    },
    /// It is near another entity.
    Near {
        /// The other one.
        target: EntityRef,
        /// How near, in metres.
        distance: f32,
    },
}

/// A check for the end of an episode.
#[derive(Debug)]
pub struct Episode {
    settings: EpisodeSettings,
    ended: bool,
    /// For each term whom it looks at, and the entity that a nearness is measured to.
    whom: Derived<Vec<(EntityId, EntityId)>>,
}

impl Episode {
    /// Whether it is over.
    pub fn has_ended(&self) -> bool {
        self.ended
    }
}

impl EpisodeSettings {
    fn check(&self) -> Result<(), SettingsError> {
        if let Some(limit) = self.time_limit {
            positive("time_limit", limit)?;
            require(limit <= 1e9, || format!("`time_limit` is at most 10⁹ s, not {limit}"))?;
        }
        require(self.terms.len() <= TERMS_MAX, || format!("an episode has at most {TERMS_MAX} `terms`"))?;
        self.terms.iter().try_for_each(|term| match &term.condition {
            Condition::Below(z) => require(z.is_finite(), || "`below` must be finite".to_owned()),
            Condition::Outside { low, high } => check_box(*low, *high),
            Condition::Near { distance, .. } => not_negative("distance", f64::from(*distance)),
        })
    }

    fn whom(&self, world: &World) -> Result<Vec<(EntityId, EntityId)>, BoxError> {
        let both = |term: &Term| -> Result<_, BoxError> {
            let entity = term.entity.find(world)?;
            match &term.condition {
                Condition::Near { target, .. } => Ok((entity, target.find(world)?)),
                _ => Ok((entity, entity)),
            }
        };
        self.terms.iter().map(both).collect()
    }

    /// What ends the episode now, and whether that is an end rather than a cut.
    fn end(
        &self,
        world: &World,
        whom: &[(EntityId, EntityId)],
        context: &StepContext<'_>,
    ) -> Option<(&str, bool)> {
        let happens = |(term, (entity, other)): &(&Term, &(EntityId, EntityId))| {
            let place = world.world_pose(*entity).position;
            match &term.condition {
                Condition::Below(z) => place.z < *z,
                Condition::Outside { low, high } => is_outside(place, *low, *high),
                Condition::Near { distance, .. } => {
                    place.distance(world.world_pose(*other).position) <= *distance
                }
            }
        };
        let term = self.terms.iter().zip(whom).find(happens).map(|(term, _)| (term.name.as_str(), true));
        let limit = self.time_limit.map(|secs| (secs * 1e9).round_ties_even() as u64);
        let late = limit.is_some_and(|limit| context.now().as_nanos() >= limit);
        term.or(late.then_some(("time_limit", false)))
    }
}

impl Subsystem for Episode {
    fn attach(&mut self, world: &mut World) -> Result<(), BoxError> {
        self.whom.get(world, |world| self.settings.whom(world))?;
        Ok(())
    }

    fn step(&mut self, world: &mut World, context: &StepContext<'_>) -> Result<(), BoxError> {
        if self.ended {
            return Ok(());
        }
        let settings = &self.settings;
        let whom = self.whom.get(world, |world| settings.whom(world))?;
        let Some((check, terminated)) = settings.end(world, whom, context) else { return Ok(()) };
        world.events.push(Event::EpisodeEnded { check: check.to_owned(), terminated });
        self.ended = true;
        if settings.pause {
            context.request(Edit::Pause)?;
        }
        Ok(())
    }

    fn settings(&self) -> toml::Table {
        settings_into(&self.settings)
    }

    fn configure(&mut self, settings: &toml::Table) -> Result<(), SettingsError> {
        let settings: EpisodeSettings = settings_from(settings)?;
        settings.check()?;
        self.settings = settings;
        self.whom.clear();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, BoxError> {
        state_into(&self.ended)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), BoxError> {
        self.ended = state_from(bytes)?;
        Ok(())
    }

    fn hash(&self, hasher: &mut StateHasher) {
        hasher.data(&self.ended);
    }
}
