//! One kind of component for all entities that have it, in creation order.
//! It knows nothing of what the component means.

use serde::{Deserialize, Serialize};

use crate::entity::EntityId;
use crate::origin::{Origin, Stamp};

/// The components of one kind, sorted by entity.
///
/// The version counts changes: whoever derives something from a column keeps the version it was derived at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column<T> {
    ids: Vec<EntityId>,
    values: Vec<T>,
    version: u64,
    /// Counts who comes and who goes. Not saved: only stamps are made of it, and a loaded column has another origin.
    #[serde(skip)]
    members: u64,
    #[serde(skip)]
    origin: Origin,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { ids: Vec::new(), values: Vec::new(), version: 0, members: 0, origin: Origin::default() }
    }
}

impl<T> Column<T> {
    /// The component of an entity.
    #[inline]
    pub fn get(&self, id: EntityId) -> Option<&T> {
        self.row(id).map(|row| &self.values[row])
    }

    /// The component of an entity, to change. Counts as a change.
    #[inline]
    pub fn get_mut(&mut self, id: EntityId) -> Option<&mut T> {
        let row = self.row(id)?;
        self.version = self.version.wrapping_add(1);
        Some(&mut self.values[row])
    }

    /// Whether the entity has one.
    pub fn contains(&self, id: EntityId) -> bool {
        self.row(id).is_some()
    }

    /// Entities and components in creation order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (EntityId, &T)> + ExactSizeIterator {
        self.ids.iter().copied().zip(&self.values)
    }

    /// Entities and components in creation order, to change. Counts as one change.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (EntityId, &mut T)> + ExactSizeIterator {
        self.version = self.version.wrapping_add(1);
        self.ids.iter().copied().zip(&mut self.values)
    }

    /// The entities that have one, in creation order.
    pub fn ids(&self) -> &[EntityId] {
        &self.ids
    }

    /// The components alone, in creation order.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Counts every change. Only whether it is the same says anything: a damaged snapshot may begin at any number.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What the column holds now: equal stamps, equal components of the same entities.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        self.origin.at(self.version)
    }

    /// Who has a component now: equal stamps, equal [`Column::ids`].
    #[inline]
    pub(crate) fn members_stamp(&self) -> Stamp {
        self.origin.at(self.members)
    }

    /// Where the entity's component stands in [`Column::values`], until the next insertion or removal.
    #[inline]
    pub fn row(&self, id: EntityId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Sets an entity's component and returns the one before. That the entity lives is for the world to check.
    pub(crate) fn insert(&mut self, id: EntityId, value: T) -> Option<T> {
        self.version = self.version.wrapping_add(1);
        match self.ids.binary_search(&id) {
            Ok(row) => Some(std::mem::replace(&mut self.values[row], value)),
            Err(row) => {
                self.members += 1;
                self.ids.insert(row, id);
                self.values.insert(row, value);
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, id: EntityId) -> Option<T> {
        let row = self.row(id)?;
        self.version = self.version.wrapping_add(1);
        self.members += 1;
        self.ids.remove(row);
        Some(self.values.remove(row))
    }

    /// Whether a column that came from outside is sorted, whole and only of entities that live.
    pub(crate) fn is_sound(&self, lives: impl Fn(EntityId) -> bool) -> bool {
        self.ids.len() == self.values.len()
            && self.ids.is_sorted_by(|a, b| a < b)
            && self.ids.iter().all(|id| lives(*id))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::Column;
    use crate::entity::EntityId;

    proptest! {
        #[test]
        fn a_column_is_a_sorted_map(actions: Vec<(u8, Option<u16>)>) {
            let mut column = Column::default();
            let mut oracle = std::collections::BTreeMap::new();
            for (number, value) in actions {
                let id = EntityId::new(u64::from(number));
                let before = column.version();
                let (ours, theirs) = match value {
                    Some(value) => (column.insert(id, value), oracle.insert(id, value)),
                    None => (column.remove(id), oracle.remove(&id)),
                };
                assert_eq!(ours, theirs);
                assert_eq!(column.version() > before, value.is_some() || theirs.is_some());
            }
            assert!(column.iter().map(|(id, value)| (id, *value)).eq(oracle.iter().map(|(id, value)| (*id, *value))));
            for number in 0..=255 {
                let id = EntityId::new(number);
                assert_eq!(column.get(id), oracle.get(&id));
            }
        }
    }
}
