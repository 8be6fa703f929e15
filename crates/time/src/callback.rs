//! Callbacks: how one is bound, how it is named by id, and the table that holds them.
//!
//! The table keeps what a step needs (the closures) apart from what people look at (`Info`). It sorts nothing.

use std::collections::BTreeMap;

use crate::context::{FreeContext, StepContext};
use crate::edit::EditError;
use crate::hash;
use crate::phase::{FreePhase, Phase};
use crate::runner::{NAME_LEN_MAX, RunnerId, RunnerSet};

/// A manager takes at most this many callbacks.
pub const CALLBACKS_MAX: usize = 1 << 16;

/// When a callback runs: on which runner, in which phase, before or after whom.
///
/// ```
/// use downbeat_time::{Binding, Phase, RunnerId, RunnerSet};
///
/// let sync = Binding::new(RunnerId::ROBOT, Phase::Acquisition)
///     .with_priority(-100)
///     .on_shared(RunnerSet::only(RunnerId::CAPTURE));
/// assert_eq!(sync.priority, -100);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Binding {
    /// Sets how often it runs.
    pub runner: RunnerId,
    /// Sets where in a step it runs.
    pub phase: Phase,
    /// Orders callbacks within a phase, lowest first; ties run in the order of registration.
    pub priority: i32,
    /// Runs only in steps where all of these runners fire too.
    pub on_shared: RunnerSet,
}

impl Binding {
    /// Priority 0, in every step of the runner.
    pub const fn new(runner: RunnerId, phase: Phase) -> Self {
        Self { runner, phase, priority: 0, on_shared: RunnerSet::EMPTY }
    }

    /// The same with another priority.
    #[must_use]
    pub const fn with_priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// The same, but only in steps where all runners of `set` fire as well.
    #[must_use]
    pub const fn on_shared(mut self, set: RunnerSet) -> Self {
        self.on_shared = set;
        self
    }

    /// All runners that must fire for this callback to run.
    pub(crate) const fn needs(self) -> RunnerSet {
        self.on_shared.with(self.runner)
    }
}

/// Names a registered callback. An id is never valid again after its callback was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CallbackId {
    pub(crate) slot: u32,
    generation: u32,
}

/// Names a registered free callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FreeCallbackId(pub(crate) u32);

/// What a callback may return: nothing, or a result.
pub trait CallbackResult<E> {
    /// The outcome as a result.
    fn into_result(self) -> Result<(), E>;
}

impl<E> CallbackResult<E> for () {
    #[inline]
    fn into_result(self) -> Result<(), E> {
        Ok(())
    }
}

impl<E> CallbackResult<E> for Result<(), E> {
    #[inline]
    fn into_result(self) -> Self {
        self
    }
}

pub(crate) type StepFn<W, E> = dyn FnMut(&mut W, &StepContext<'_>) -> Result<(), E> + Send;
pub(crate) type FreeFn<W, E> = dyn FnMut(&mut W, &FreeContext<'_>) -> Result<(), E> + Send;

/// Whose turn it is in a step, and in whose name: all that a step needs to know besides the closure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) slot: u32,
    pub(crate) runner: RunnerId,
    pub(crate) phase: Phase,
}

/// What people and the order table read of a callback.
#[derive(Debug, Clone)]
pub(crate) struct Info {
    /// What people see. It can be changed.
    pub(crate) name: String,
    /// The name it was registered with, by which a saved state knows it again.
    pub(crate) registered_as: String,
    /// Tells it apart in the schedule hash and among shuffled ties: the name it was registered with, and how many
    /// live ones of that name came before. So a restored manager, which has never seen those that are gone,
    /// agrees.
    pub(crate) identity: u64,
    pub(crate) binding: Binding,
    pub(crate) enabled: bool,
    /// Registration order: the tie-break, kept over rebinding.
    pub(crate) sequence: u64,
    generation: u32,
    pub(crate) live: bool,
}

/// All callbacks of a manager. `slots` and `infos` run in parallel.
pub(crate) struct CallbackTable<W, E> {
    pub(crate) slots: Vec<Box<StepFn<W, E>>>,
    pub(crate) infos: Vec<Info>,
    vacant: Vec<u32>,
    next_sequence: u64,
    /// How many live callbacks were registered with a name, by the hash of the name.
    namesakes: BTreeMap<u64, u64>,
}

impl<W, E> CallbackTable<W, E> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            infos: Vec::new(),
            vacant: Vec::new(),
            next_sequence: 0,
            namesakes: BTreeMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(crate) fn insert(
        &mut self,
        name: String,
        binding: Binding,
        run: Box<StepFn<W, E>>,
    ) -> Result<CallbackId, EditError> {
        check_name(&name)?;
        if self.len() >= CALLBACKS_MAX {
            return Err(EditError::TooManyCallbacks { count: self.len() });
        }
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let name_hash = hash::of_text(&name);
        let before = self.namesakes.entry(name_hash).or_default();
        let info = Info {
            registered_as: name.clone(),
            name,
            identity: identity(name_hash, *before),
            binding,
            enabled: true,
            sequence,
            generation: 0,
            live: true,
        };
        *before += 1;
        let index = match self.vacant.pop() {
            Some(index) => {
                let generation = self.infos[index as usize].generation;
                self.slots[index as usize] = run;
                self.infos[index as usize] = Info { generation, ..info };
                index
            }
            None => {
                self.slots.push(run);
                self.infos.push(info);
                (self.slots.len() - 1) as u32
            }
        };
        Ok(CallbackId { slot: index, generation: self.infos[index as usize].generation })
    }

    /// Removes a callback and hands its closure out, to be dropped when everything else is done: what it holds
    /// may panic. Also says whether namesakes have moved up, whose place among shuffled ties may then be another.
    pub(crate) fn remove(&mut self, id: CallbackId) -> Result<(Box<StepFn<W, E>>, bool), EditError> {
        let name_hash = hash::of_text(&self.get(id)?.registered_as);
        let index = id.slot as usize;
        self.infos[index].live = false;
        self.infos[index].generation += 1;
        self.vacant.push(id.slot);
        let left = self.namesakes.get(&name_hash).map_or(0, |count| count - 1);
        if left == 0 {
            self.namesakes.remove(&name_hash);
        } else {
            self.namesakes.insert(name_hash, left);
            self.number_namesakes(index, name_hash);
        }
        Ok((std::mem::replace(&mut self.slots[index], Box::new(|_, _| Ok(()))), left > 0))
    }

    /// Counts the namesakes of the callback at `index` anew.
    fn number_namesakes(&mut self, index: usize, name_hash: u64) {
        let name = self.infos[index].registered_as.clone();
        let mut namesakes: Vec<&mut Info> =
            self.infos.iter_mut().filter(|info| info.live && info.registered_as == name).collect();
        namesakes.sort_by_key(|info| info.sequence);
        for (before, info) in (0..).zip(namesakes) {
            info.identity = identity(name_hash, before);
        }
    }

    pub(crate) fn get(&self, id: CallbackId) -> Result<&Info, EditError> {
        self.infos
            .get(id.slot as usize)
            .filter(|info| info.live && info.generation == id.generation)
            .ok_or(EditError::UnknownCallback)
    }

    pub(crate) fn bind(&mut self, slot: u32, binding: Binding) {
        self.infos[slot as usize].binding = binding;
    }

    /// Live callbacks in registration order.
    pub(crate) fn in_sequence(&self) -> Vec<(CallbackId, &Info)> {
        let mut live: Vec<_> = (0_u32..)
            .zip(&self.infos)
            .filter(|(_, info)| info.live)
            .map(|(slot, info)| (CallbackId { slot, generation: info.generation }, info))
            .collect();
        live.sort_by_key(|(_, info)| info.sequence);
        live
    }

    pub(crate) fn id_of(&self, slot: u32) -> CallbackId {
        CallbackId { slot, generation: self.infos[slot as usize].generation }
    }
}

/// What stands for a callback of this name with so many namesakes before it.
fn identity(name_hash: u64, before: u64) -> u64 {
    if before == 0 { name_hash } else { hash::mix(name_hash, before) }
}

/// A callback of a free phase. There are few, so they are kept sorted in one list.
pub(crate) struct FreeCallback<W, E> {
    pub(crate) id: FreeCallbackId,
    pub(crate) name: String,
    /// The name it was registered with, by which a saved state knows it again.
    pub(crate) registered_as: String,
    pub(crate) phase: FreePhase,
    pub(crate) priority: i32,
    pub(crate) enabled: bool,
    /// False once it was removed. It is kept until the next registration, so that it can still be named.
    pub(crate) live: bool,
    pub(crate) run: Box<FreeFn<W, E>>,
}

impl<W, E> FreeCallback<W, E> {
    pub(crate) fn runs(&self) -> bool {
        self.live && self.enabled
    }
}

/// A name that can be shown and found again.
pub(crate) fn check_name(name: &str) -> Result<(), EditError> {
    let usable = !name.trim().is_empty() && name.len() <= NAME_LEN_MAX && !name.chars().any(char::is_control);
    if usable { Ok(()) } else { Err(EditError::BadName { name: name.chars().take(32).collect() }) }
}

/// A registered callback as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallbackView<'a> {
    /// Its id.
    pub id: CallbackId,
    /// Its name.
    pub name: &'a str,
    /// When it runs.
    pub binding: Binding,
    /// Whether it runs at all.
    pub enabled: bool,
}

/// A registered free callback as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeCallbackView<'a> {
    /// Its id.
    pub id: FreeCallbackId,
    /// Its name.
    pub name: &'a str,
    /// Before or after the steps of a frame.
    pub phase: FreePhase,
    /// Orders callbacks within the phase, lowest first.
    pub priority: i32,
    /// Whether it runs when its phase is enabled.
    pub enabled: bool,
}
