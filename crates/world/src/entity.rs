//! Entities: ids that are never used twice, and the table of those that live.
//! What an entity is made of stands in [`crate::component`], not here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::origin::{Origin, Stamp};

/// How many entities may live at once.
pub const ENTITIES_MAX: usize = 1 << 20;

/// The highest number that a file or a snapshot may give to an entity. As many again are left to count up to, more than
/// can ever come to life.
const NUMBER_MAX: u64 = u64::MAX / 2;

/// An entity. Ids count up and are never used again, so the order of ids is the order of creation.
///
/// ```
/// use downbeat_world::EntityId;
///
/// let id: EntityId = "ent_42".parse()?;
/// assert_eq!(id.to_string(), "ent_42");
/// # Ok::<(), downbeat_world::EntityIdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct EntityId(u64);

/// A text that is not an entity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not an entity; write `ent_` and a number, such as `ent_42`")]
pub struct EntityIdError {
    /// What was found instead.
    pub text: String,
}

impl EntityId {
    /// The entity with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number, counted from 1.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ent_{}", self.0)
    }
}

impl FromStr for EntityId {
    type Err = EntityIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix("ent_").and_then(|digits| digits.parse().ok());
        number
            .filter(|number| (1..=NUMBER_MAX).contains(number))
            .map(Self)
            .ok_or_else(|| EntityIdError { text: text.to_owned() })
    }
}

/// `ent_42` where people read it, the number where machines do.
impl Serialize for EntityId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for EntityId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

/// The entities that live, in creation order, with the id that comes next.
///
/// The version counts creations and removals. Whoever derives something from the table keeps the version it was
/// derived at; a restored table has the same version and issues the same next ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityTable {
    live: Vec<EntityId>,
    next: u64,
    version: u64,
    #[serde(skip)]
    origin: Origin,
}

impl Default for EntityTable {
    fn default() -> Self {
        Self { live: Vec::new(), next: 1, version: 0, origin: Origin::default() }
    }
}

impl EntityTable {
    /// The entities that live, in creation order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EntityId> + ExactSizeIterator {
        self.live.iter().copied()
    }

    /// Whether it lives.
    pub fn contains(&self, id: EntityId) -> bool {
        self.live.binary_search(&id).is_ok()
    }

    /// How many live.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether none lives.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The id that the next entity will have.
    pub fn next_id(&self) -> EntityId {
        EntityId(self.next)
    }

    /// Counts every creation and removal.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Who lives, in creation order.
    pub(crate) fn live(&self) -> &[EntityId] {
        &self.live
    }

    /// Who lives now: equal stamps, equal entities. It does not cover the next id.
    pub(crate) fn stamp(&self) -> Stamp {
        self.origin.at(self.version)
    }

    /// Brings an entity to life.
    pub(crate) fn create(&mut self) -> EntityId {
        let id = EntityId(self.next);
        self.next += 1;
        self.version = self.version.wrapping_add(1);
        self.live.push(id);
        id
    }

    /// Brings an entity to life under an id that is not below the next one: what a file does that names its ids.
    pub(crate) fn create_as(&mut self, id: EntityId) -> bool {
        if id.0 < self.next || id.0 > NUMBER_MAX {
            return false;
        }
        self.next = id.0;
        self.create();
        true
    }

    /// Makes the next id at least this one, so that ids of entities that are gone stay unused.
    pub(crate) fn reserve_until(&mut self, next: EntityId) {
        self.next = self.next.max(next.0);
    }

    /// Ends an entity's life. Says whether it lived.
    pub(crate) fn remove(&mut self, id: EntityId) -> bool {
        let Ok(row) = self.live.binary_search(&id) else { return false };
        self.live.remove(row);
        self.version = self.version.wrapping_add(1);
        true
    }

    /// What is wrong with a table that came from outside, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if self.live.len() > ENTITIES_MAX {
            return Some("more entities than may live at once");
        }
        if !self.live.is_sorted_by(|a, b| a < b) {
            return Some("entities out of creation order");
        }
        if self.next > NUMBER_MAX {
            return Some("a next id that is beyond all that can have lived");
        }
        let last = self.live.last().map_or(0, |id| id.0);
        (self.next <= last).then_some("a next id that was used before")
    }
}

#[cfg(test)]
mod tests {
    use super::{EntityId, EntityTable};

    #[test]
    fn ids_are_never_used_twice_and_iteration_is_in_creation_order() {
        let mut table = EntityTable::default();
        let [a, b, c] = [(); 3].map(|()| table.create());
        assert!(table.remove(b));
        let d = table.create();
        assert_eq!(table.iter().collect::<Vec<_>>(), [a, c, d]);
        assert_eq!(d, EntityId::new(4));
        assert_eq!(table.version(), 5);
        assert!(!table.remove(b), "it is gone");
    }

    #[test]
    fn an_id_below_the_next_one_is_not_given_again() {
        let mut table = EntityTable::default();
        assert!(table.create_as(EntityId::new(7)));
        assert!(!table.create_as(EntityId::new(7)));
        assert!(!table.create_as(EntityId::new(3)));
        assert_eq!(table.create(), EntityId::new(8));
    }

    #[test]
    fn texts_that_are_no_entity_are_refused() {
        for text in [
            "",
            "42",
            "ent_",
            "ent_0",
            "ent_-1",
            "ent_1x",
            "ENT_1",
            "ent_9223372036854775808",
            "ent_99999999999999999999",
        ] {
            assert!(text.parse::<EntityId>().is_err(), "{text}");
        }
    }
}
