//! Hashes of state: one number per step to compare, and one per component to find the first difference.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::component::{ComponentKind, Components, Visit};
use crate::entity::EntityId;
use crate::world::World;

/// Takes in state, in order.
#[derive(Default)]
pub struct StateHasher(Xxh3);

/// The hashes of a scene's state at one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHashes {
    /// All of it.
    pub total: u64,
    /// Who lives, which ids come next, seeds and random numbers, signals, events and requests.
    pub bookkeeping: u64,
    /// One for each kind of component, in the order of kinds.
    pub components: Vec<u64>,
    /// One for each subsystem, in the order of the scene.
    pub subsystems: Vec<(String, u64)>,
}

impl StateHasher {
    /// Takes in bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Takes in plain data.
    pub fn data<T: Serialize + ?Sized>(&mut self, data: &T) {
        // Plain data of this crate always has a form in postcard; data that had none would hash as what came before.
        let _ = postcard::serialize_with_flavor(data, Sink(self));
    }

    /// The hash of everything taken in.
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// Postcard's bytes, straight into the hash.
struct Sink<'a>(&'a mut StateHasher);

impl postcard::ser_flavors::Flavor for Sink<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.bytes(&[byte]);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.bytes(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl StateHashes {
    /// The hashes of a world, with those of the subsystems beside it.
    pub(crate) fn of(world: &World, subsystems: Vec<(String, u64)>) -> Self {
        let mut hasher = StateHasher::default();
        world.hash_bookkeeping(&mut hasher);
        let bookkeeping = hasher.finish();
        let of_kind = |kind: &ComponentKind| {
            let mut column = ColumnHash(StateHasher::default());
            world.components.visit(*kind, &mut column);
            column.0.finish()
        };
        let components: Vec<u64> = ComponentKind::ALL.iter().map(of_kind).collect();
        let mut total = StateHasher::default();
        total.data(&(bookkeeping, &components, &subsystems));
        Self { total: total.finish(), bookkeeping, components, subsystems }
    }

    /// What differs from another state of the same scene, in words; `None` when nothing does.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.total == other.total {
            return None;
        }
        let kinds = ComponentKind::ALL.iter().zip(self.components.iter().zip(&other.components));
        let component = kinds.into_iter().find(|(_, (a, b))| a != b).map(|(kind, _)| kind.name().to_owned());
        let subsystem = || {
            let mut pairs = self.subsystems.iter().zip(&other.subsystems);
            pairs.find(|(a, b)| a != b).map(|((name, _), _)| format!("subsystem `{name}`"))
        };
        component.or_else(subsystem).or_else(|| Some("ids, signals, events or random numbers".to_owned()))
    }
}

struct ColumnHash(StateHasher);

impl Visit for ColumnHash {
    fn visit<T: Serialize>(&mut self, id: EntityId, value: &T) {
        self.0.data(&(id, value));
    }
}

/// The hash of every component of every entity, by kind and then in creation order.
pub fn component_hashes(world: &World) -> Vec<(ComponentKind, EntityId, u64)> {
    let of_kind = |kind: &ComponentKind| {
        let kind = *kind;
        rows(&world.components, kind).into_iter().map(move |(id, hash)| (kind, id, hash))
    };
    ComponentKind::ALL.iter().flat_map(of_kind).collect()
}

/// The first entity and component in which two worlds differ.
pub fn first_difference(a: &World, b: &World) -> Option<(EntityId, ComponentKind)> {
    for kind in ComponentKind::ALL.iter().copied() {
        let (ours, theirs) = (rows(&a.components, kind), rows(&b.components, kind));
        let unlike = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
        let longer = || ours.get(theirs.len()).or_else(|| theirs.get(ours.len()));
        if let Some((id, _)) = unlike.map(|(ours, theirs)| ours.min(theirs)).or_else(longer) {
            return Some((*id, kind));
        }
    }
    None
}

fn rows(components: &Components, kind: ComponentKind) -> Vec<(EntityId, u64)> {
    let mut rows = Rows(Vec::new());
    components.visit(kind, &mut rows);
    rows.0
}

struct Rows(Vec<(EntityId, u64)>);

impl Visit for Rows {
    fn visit<T: Serialize>(&mut self, id: EntityId, value: &T) {
        let mut hasher = StateHasher::default();
        hasher.data(value);
        self.0.push((id, hasher.finish()));
    }
}
