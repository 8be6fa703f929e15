//! What happened in a step: contacts, limits, refused requests. Events live for one step; keeping them is for
//! recorders.

use serde::{Deserialize, Serialize};

use crate::entity::EntityId;

/// How many events a step may have; more are counted, not kept.
pub const EVENTS_MAX: usize = 1 << 16;

/// Something that happened in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Two colliders, one of which asks for events, began to touch. The one that was created first stands first.
    Touched {
        /// The two entities.
        pair: [EntityId; 2],
        /// Whether one of them is a sensor.
        sensor: bool,
    },
    /// Two colliders touch no more.
    Parted {
        /// The two entities.
        pair: [EntityId; 2],
        /// Whether one of them is a sensor.
        sensor: bool,
    },
    /// A request of a subsystem was refused when its turn came.
    Refused {
        /// Why.
        reason: String,
    },
    /// A check of the scene failed.
    Violated {
        /// Which check.
        check: String,
        /// Whom it concerns.
        entity: Option<EntityId>,
        /// What was found.
        what: String,
    },
    /// The episode is over.
    EpisodeEnded {
        /// Which check ended it.
        check: String,
        /// Whether it ended by reaching something, rather than by running out of time.
        terminated: bool,
    },
}

/// The events of one step, in the order in which they happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Events {
    events: Vec<Event>,
    lost: u64,
}

impl Events {
    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        } else {
            self.lost += 1;
        }
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.lost == 0
    }

    /// The events of this step.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// How many there were no room for.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.lost = 0;
    }
}
