//! The resolved order: for every set of firing runners, which callbacks run and in which sequence.
//!
//! One list of all callbacks is kept sorted by phase, priority and tie. The list for a set is that list, filtered
//! once after each change and replayed from then on. Its memory is set aside when callbacks are registered, so a
//! step sorts nothing and allocates nothing, also the first time two runners meet after an hour.

use crate::callback::{Binding, CallbackId, Info, Turn};
use crate::hash::{self, ScheduleHash};
use crate::phase::Phase;
use crate::rate::Rate;
use crate::runner::{RUNNERS_MAX, RunnerId, RunnerSet};

pub(crate) struct OrderTable {
    /// Slots of all live callbacks, sorted.
    sorted: Vec<u32>,
    /// One list per set of runners, by the set's bits; only as many as the highest runner needs.
    lists: Vec<OrderList>,
    /// Live callbacks per runner: the longest a list can become is a sum of these.
    counts: [usize; RUNNERS_MAX],
    shuffle_seed: Option<u64>,
}

/// What runs when one particular set of runners fires.
#[derive(Default)]
pub(crate) struct OrderList {
    fresh: bool,
    /// Stands for the set and the whole sequence in the schedule hash.
    pub(crate) fingerprint: u64,
    pub(crate) turns: Vec<Turn>,
}

type SortKey = (Phase, i32, u64, u64);

impl OrderTable {
    pub(crate) const fn new() -> Self {
        Self { sorted: Vec::new(), lists: Vec::new(), counts: [0; RUNNERS_MAX], shuffle_seed: None }
    }

    /// The list for `set`, built now if something has changed since it was last used.
    #[inline]
    pub(crate) fn resolve(&mut self, set: RunnerSet, infos: &[Info]) -> &OrderList {
        let index = set.bits() as usize;
        if !self.lists[index].fresh {
            self.build(set, infos);
        }
        &self.lists[index]
    }

    #[cold]
    fn build(&mut self, set: RunnerSet, infos: &[Info]) {
        let list = &mut self.lists[set.bits() as usize];
        list.turns.clear();
        let mut fingerprint = ScheduleHash::START;
        fingerprint.fold(u64::from(set.bits()));
        for &slot in &self.sorted {
            let info = &infos[slot as usize];
            if runs_in(info, set) {
                let Binding { runner, phase, .. } = info.binding;
                list.turns.push(Turn { slot, runner, phase });
                fingerprint.fold(info.identity);
                fingerprint.fold((phase as u64) << 8 | u64::from(runner.number()));
            }
        }
        list.fingerprint = fingerprint.finish();
        list.fresh = true;
    }

    pub(crate) fn insert(&mut self, slot: u32, infos: &[Info]) {
        let key = self.key(&infos[slot as usize]);
        let at = self.sorted.partition_point(|&other| self.key(&infos[other as usize]) < key);
        self.sorted.insert(at, slot);
        self.counts[key_runner(infos, slot)] += 1;
    }

    /// Takes a slot out. Must be called before its binding changes: the old binding finds it.
    pub(crate) fn remove(&mut self, slot: u32, infos: &[Info]) {
        let key = self.key(&infos[slot as usize]);
        let at = self.sorted.partition_point(|&other| self.key(&infos[other as usize]) < key);
        debug_assert_eq!(self.sorted.get(at), Some(&slot), "the sorted list and the table disagree");
        self.sorted.remove(at);
        self.counts[key_runner(infos, slot)] -= 1;
    }

    /// Marks every list stale and sets memory aside for the longest each can become.
    pub(crate) fn invalidate(&mut self, active: RunnerSet) {
        let runners_len = (u8::BITS - active.bits().leading_zeros()) as usize;
        self.lists.resize_with(1 << runners_len, OrderList::default);
        for (bits, list) in (0_u8..=u8::MAX).zip(&mut self.lists) {
            list.fresh = false;
            let set = RunnerSet::from_bits(bits);
            if active.contains_all(set) {
                let longest: usize = set.iter().map(|id| self.counts[id.index()]).sum();
                list.turns.clear();
                list.turns.reserve(longest);
            }
        }
    }

    pub(crate) fn shuffle_seed(&self) -> Option<u64> {
        self.shuffle_seed
    }

    pub(crate) fn set_shuffle_seed(&mut self, seed: Option<u64>) {
        self.shuffle_seed = seed;
    }

    /// Sorts and counts everything anew, after the seed or many bindings have changed.
    pub(crate) fn rebuild(&mut self, infos: &[Info]) {
        self.counts = [0; RUNNERS_MAX];
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.sort_by_key(|&slot| self.key(&infos[slot as usize]));
        sorted.iter().for_each(|&slot| self.counts[key_runner(infos, slot)] += 1);
        self.sorted = sorted;
    }

    pub(crate) fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    fn key(&self, info: &Info) -> SortKey {
        // Not by sequence: a restored manager may have counted its registrations differently.
        let tie = self.shuffle_seed.map_or(0, |seed| hash::mix(seed, info.identity));
        (info.binding.phase, info.binding.priority, tie, info.sequence)
    }
}

fn key_runner(infos: &[Info], slot: u32) -> usize {
    infos[slot as usize].binding.runner.index()
}

pub(crate) fn runs_in(info: &Info, set: RunnerSet) -> bool {
    info.enabled && set.contains_all(info.binding.needs())
}

/// One line of a resolved order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderEntry {
    /// The callback.
    pub id: CallbackId,
    /// Its name.
    pub name: String,
    /// Its phase, priority, runner and shared set.
    pub binding: Binding,
    /// Its runner's name.
    pub runner_name: String,
    /// Its runner's rate.
    pub rate: Rate,
    /// Whether it runs.
    pub enabled: bool,
}

impl OrderEntry {
    /// The runner that fires it.
    pub fn runner(&self) -> RunnerId {
        self.binding.runner
    }
}
