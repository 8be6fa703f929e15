//! The hash of a scene's state, and what is kept of it from step to step.
//!
//! This is its only definition: hashed from scratch means hashed with an empty memo. The hash of a part is kept with the
//! stamp that the part had, and equal stamps mean equal content ([`crate::origin`]), so nobody has to say that something
//! has changed, not even who replaces the whole world. What has no stamp is small and hashed every time.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::StateHasher;
use crate::column::Column;
use crate::component::{Checked, ComponentKind, VisitColumn};
use crate::origin::Stamp;
use crate::subsystem::Subsystem;
use crate::world::World;

const KINDS: usize = ComponentKind::ALL.len();

/// The parts of the last hash. Once it has seen a state, hashing one of that size allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct StateHashMemo {
    hasher: StateHasher,
    live: Kept,
    signals: Kept,
    columns: [KeptColumn; KINDS],
    /// What the total is the hash of: bookkeeping, the columns in the order of kinds, then each subsystem's name and
    /// state.
    words: Vec<u64>,
}

/// The parts that a total was made of.
pub(crate) struct StateHashParts<'a, I> {
    pub(crate) bookkeeping: u64,
    pub(crate) components: &'a [u64],
    pub(crate) subsystems: I,
}

/// A hash and what it was the hash of.
#[derive(Debug, Default)]
struct Kept {
    of: Option<Stamp>,
    hash: u64,
}

/// A column's hashes. Who has a component changes seldom, what the components are in nearly every step.
#[derive(Debug, Default)]
struct KeptColumn {
    ids: Kept,
    whole: Kept,
}

impl StateHashMemo {
    /// The hash of a world and of the subsystems beside it, whose names' hashes stand in the same order.
    pub(crate) fn hash(&mut self, world: &World, subsystems: &[Box<dyn Subsystem>], names: &[u64]) -> u64 {
        self.words.clear();
        let bookkeeping = self.bookkeeping(world);
        self.words.push(bookkeeping);
        world.components.visit_columns(self);
        for (name, subsystem) in names.iter().zip(subsystems) {
            self.words.extend([*name, self.hasher.only(|hasher| subsystem.hash(hasher))]);
        }
        of_words(&self.words)
    }

    /// The parts of the last hash.
    pub(crate) fn parts(&self) -> StateHashParts<'_, impl Iterator<Item = u64>> {
        // A memo that has hashed nothing has no parts.
        let (world, subsystems) = self.words.split_at(self.words.len().min(1 + KINDS));
        let bookkeeping = world.first().copied().unwrap_or_default();
        let subsystems = subsystems.iter().skip(1).step_by(2).copied();
        StateHashParts { bookkeeping, components: world.get(1..).unwrap_or_default(), subsystems }
    }

    /// Everything of a world but its components.
    fn bookkeeping(&mut self, world: &World) -> u64 {
        let Self { hasher, live, signals, .. } = self;
        let table = world.entities();
        let live = live.or_hash(table.stamp(), || xxh3_64(bytemuck::cast_slice(table.live())));
        let signals =
            signals.or_hash(world.signals.stamp(), || hasher.only(|hasher| world.signals.hash(hasher)));
        let [random, random_after] = world.random.fingerprint();
        // Most steps have none of these, and nothing hashes quicker than a zero.
        let mut unless =
            |none: bool, hash: &dyn Fn(&mut StateHasher)| if none { 0 } else { hasher.only(hash) };
        let events = unless(world.events.is_empty(), &|hasher| hasher.data(&world.events));
        let impulses = unless(world.impulses.is_empty(), &|hasher| hasher.data(&world.impulses));
        let requests = unless(world.requests().is_empty(), &|hasher| hasher.data(world.requests()));
        of_words(&[
            live,
            table.next_id().number(),
            table.version(),
            signals,
            events,
            random,
            random_after,
            impulses,
            world.seed(),
            world.now().as_nanos(),
            requests,
        ])
    }
}

impl VisitColumn for StateHashMemo {
    #[inline]
    fn visit_column<T: Serialize + Checked>(&mut self, kind: ComponentKind, column: &Column<T>) {
        let Self { hasher, columns, words, .. } = self;
        let KeptColumn { ids, whole } = &mut columns[kind as usize];
        let hash = whole.or_hash(column.stamp(), || {
            let ids = ids.or_hash(column.members_stamp(), || xxh3_64(bytemuck::cast_slice(column.ids())));
            of_words(&[ids, values(hasher, column)])
        });
        words.push(hash);
    }
}

impl Kept {
    /// The hash of what has this stamp now.
    #[inline]
    fn or_hash(&mut self, stamp: Stamp, hash: impl FnOnce() -> u64) -> u64 {
        if self.of != Some(stamp) {
            *self = Self { of: Some(stamp), hash: hash() };
        }
        self.hash
    }
}

/// A column's components: as they stand in memory if they are plain, as they are saved otherwise.
fn values<T: Serialize + Checked>(hasher: &mut StateHasher, column: &Column<T>) -> u64 {
    match T::plain_bytes(column.values()) {
        Some(bytes) => xxh3_64(bytes),
        None => hasher.only(|hasher| column.values().iter().for_each(|value| hasher.data(value))),
    }
}

#[inline]
fn of_words(words: &[u64]) -> u64 {
    xxh3_64(bytemuck::cast_slice(words))
}
