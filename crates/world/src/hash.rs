//! Hashes of state: one number per step to compare, and one per component to find the first difference.
//! What goes into the number of a step, and how little of it is hashed again, is in `hash/memo.rs`.

mod memo;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::component::{ComponentKind, Components, Visit};
use crate::entity::EntityId;
use crate::random::Random;
use crate::subsystem::Subsystem;
use crate::world::World;

pub(crate) use memo::{StateHashMemo, StateHashParts};

// Numbers are hashed as they stand in memory, and little-endian is the definition.
const _: () = assert!(cfg!(target_endian = "little"), "state is hashed as little-endian bytes");

/// Takes in state, in order: bytes that are hashed in one go, in memory that is used again and again.
#[derive(Debug, Default)]
pub struct StateHasher(Vec<u8>);

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
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Takes in whole numbers, eight bytes each.
    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        self.bytes(bytemuck::cast_slice(words));
    }

    /// Takes in floats, bit by bit.
    #[inline]
    pub fn floats(&mut self, floats: &[f32]) {
        self.bytes(bytemuck::cast_slice(floats));
    }

    /// Takes in where a stream of random numbers is.
    #[inline]
    pub fn random(&mut self, random: &Random) {
        self.words(&random.fingerprint());
    }

    /// Takes in plain data. Floats and words on their own are cheaper by the methods above.
    pub fn data<T: Serialize + ?Sized>(&mut self, data: &T) {
        // Plain data of this crate always has a form in postcard; data that had none would hash as what came before.
        let _ = postcard::serialize_with_flavor(data, Sink(self));
    }

    /// The hash of everything taken in.
    #[inline]
    pub fn finish(&self) -> u64 {
        xxh3_64(&self.0)
    }

    /// The hash of what `take_in` takes in, and nothing else.
    #[inline]
    pub(crate) fn only(&mut self, take_in: impl FnOnce(&mut Self)) -> u64 {
        self.0.clear();
        take_in(self);
        self.finish()
    }
}

/// Postcard's bytes, straight to the others.
struct Sink<'a>(&'a mut StateHasher);

impl postcard::ser_flavors::Flavor for Sink<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.bytes(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl StateHashes {
    /// The hashes of a world and of the subsystems beside it, from scratch.
    pub(crate) fn of<'a>(
        world: &World,
        subsystems: &[Box<dyn Subsystem>],
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let name_hashes: Vec<u64> = names.clone().map(name_hash).collect();
        let mut memo = StateHashMemo::default();
        let total = memo.hash(world, subsystems, &name_hashes);
        let StateHashParts { bookkeeping, components, subsystems } = memo.parts();
        let subsystems = names.map(str::to_owned).zip(subsystems).collect();
        Self { total, bookkeeping, components: components.to_vec(), subsystems }
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

/// A subsystem's name, as it goes into the hash of a scene.
pub(crate) fn name_hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
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
        let hash = StateHasher::default().only(|hasher| hasher.data(value));
        self.0.push((id, hash));
    }
}
