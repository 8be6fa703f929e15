//! What a solver has copied from a column, so that it can tell what changed since. It knows no solver.

use downbeat_world::{Column, EntityId};
use serde::{Deserialize, Serialize};

/// A solver's copy of a column, with what it made of each component.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mirror<T, H> {
    rows: Vec<Row<T, H>>,
    /// The column's version when it was copied; `None` before the first time.
    seen: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row<T, H> {
    pub(crate) id: EntityId,
    pub(crate) component: T,
    pub(crate) made: H,
}

/// What happened to a column since it was copied, in creation order.
#[derive(Debug)]
pub(crate) struct Changes<H> {
    /// What was made of components that are gone, or that are to be made again.
    pub(crate) gone: Vec<(EntityId, H)>,
    /// Entities whose component is new or changed.
    pub(crate) new: Vec<EntityId>,
}

impl<T, H> Default for Mirror<T, H> {
    fn default() -> Self {
        Self { rows: Vec::new(), seen: None }
    }
}

impl<T: Clone + PartialEq, H: Copy> Mirror<T, H> {
    /// The rows, in creation order.
    pub(crate) fn rows(&self) -> &[Row<T, H>] {
        &self.rows
    }

    /// What was made of an entity's component.
    pub(crate) fn made(&self, id: EntityId) -> Option<H> {
        self.row(id).map(|row| row.made)
    }

    pub(crate) fn row(&self, id: EntityId) -> Option<&Row<T, H>> {
        let at = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        Some(&self.rows[at])
    }

    /// Whether the column is the one that was copied.
    pub(crate) fn is_current(&self, column: &Column<T>) -> bool {
        self.seen == Some(column.version())
    }

    /// Forgets rows that are gone, changed or not to be kept, and says which entities are to be made. Only components
    /// that belong here count.
    pub(crate) fn changes(
        &mut self,
        column: &Column<T>,
        belongs: impl Fn(EntityId, &T) -> bool,
        keeps: impl Fn(&Row<T, H>) -> bool,
    ) -> Changes<H> {
        let mut changes = Changes { gone: Vec::new(), new: Vec::new() };
        self.seen = Some(column.version());
        self.rows.retain(|row| {
            let there = column.get(row.id).filter(|component| belongs(row.id, component));
            let same = there == Some(&row.component) && keeps(row);
            if !same {
                changes.gone.push((row.id, row.made));
            }
            same
        });
        let mut kept = self.rows.iter().map(|row| row.id).peekable();
        let belonging = column.iter().filter(|(id, component)| belongs(*id, component));
        changes.new = belonging.map(|(id, _)| id).filter(|id| kept.next_if_eq(id).is_none()).collect();
        changes
    }

    /// Notes what was made of an entity's component.
    pub(crate) fn insert(&mut self, id: EntityId, component: T, made: H) {
        let at = self.rows.partition_point(|row| row.id < id);
        self.rows.insert(at, Row { id, component, made });
    }
}

#[cfg(test)]
mod tests {
    use downbeat_world::{EntityId, Registry, Scene, Tags, WorldCommand};

    use super::Mirror;

    #[test]
    fn changes_are_told_once_and_in_creation_order() {
        let mut scene = Scene::new("lab", 1, Registry::default());
        let tagged = |word: &str| Tags(vec![word.to_owned()]);
        for word in ["a", "b", "skip", "d"] {
            scene.apply(WorldCommand::Spawn { components: vec![tagged(word).into()] }).unwrap();
        }
        let mut mirror = Mirror::<Tags, u32>::default();
        let look = |scene: &Scene, mirror: &mut Mirror<Tags, u32>| {
            let column = &scene.world().components.tags;
            let belongs = |_, tags: &Tags| tags.0 != ["skip"];
            let changes = mirror.changes(column, belongs, |_| true);
            for id in &changes.new {
                mirror.insert(*id, column.get(*id).unwrap().clone(), id.number() as u32);
            }
            let numbers = |ids: Vec<EntityId>| ids.iter().map(|id| id.number()).collect::<Vec<_>>();
            (changes.gone.iter().map(|(_, made)| *made).collect::<Vec<_>>(), numbers(changes.new))
        };
        assert_eq!(look(&scene, &mut mirror), (vec![], vec![1, 2, 4]));
        assert_eq!(look(&scene, &mut mirror), (vec![], vec![]));
        let set = |entity, word| WorldCommand::Set {
            entity: EntityId::new(entity),
            component: tagged(word).into(),
        };
        for change in [set(2, "B"), set(3, "c"), set(4, "skip")] {
            scene.apply(change).unwrap();
        }
        scene.apply(WorldCommand::Despawn { entity: EntityId::new(1) }).unwrap();
        assert_eq!(look(&scene, &mut mirror), (vec![1, 2, 4], vec![2, 3]));
    }
}
