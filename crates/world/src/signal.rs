//! Signals: numbers that cross rates. One side publishes at its rate, the others read at theirs, in three ways:
//! held (the newest), latched (as of the last sync point) and interpolated (between the last two).
//!
//! A signal keeps three samples, so it never grows. It is not a history; that is for recorders.

mod value;

use std::marker::PhantomData;
use std::time::Duration;

use downbeat_time::SimTime;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use value::SignalValue;

use crate::hash::StateHasher;
use crate::origin::{Origin, Stamp};

/// How many signals a world may have.
pub const SIGNALS_MAX: usize = 4096;
/// How many numbers one signal may carry.
pub const SIGNAL_WIDTH_MAX: usize = 4096;

/// More publications than can have been. From there, as many again can be counted.
const INDEX_MAX: u64 = u64::MAX / 2;

/// A signal that carries a `T`. Got from [`Signals::declare`], or for `[f32]` from [`Signals::declare_array`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignalKey<T: ?Sized> {
    index: u32,
    #[serde(skip)]
    carries: PhantomData<fn() -> T>,
}

/// How a reader takes a signal that another rate publishes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// The newest value.
    #[default]
    Held,
    /// The value as of the last sync point.
    Latched,
    /// The value one publishing interval ago, between the two samples around that instant.
    Interpolated,
}

/// All signals of a world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Signals {
    signals: Vec<Signal>,
    /// Counts every change. Not saved: only stamps are made of it, and loaded signals have another origin.
    #[serde(skip)]
    changes: u64,
    #[serde(skip)]
    origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Signal {
    name: String,
    latest: Sample,
    before: Sample,
    latched: Sample,
}

/// One published value. The index counts publications from 1; 0 is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Sample {
    index: u64,
    at: SimTime,
    floats: Vec<f32>,
}

/// One reader's side of a signal: it remembers what it has seen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Tap<T> {
    key: SignalKey<T>,
    seen: u64,
}

/// What a reader gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading<T> {
    /// The value.
    pub value: T,
    /// How long ago it was true.
    pub age: Duration,
    /// Whether it is new since this reader's last reading.
    pub is_new: bool,
}

/// Why a signal could not be declared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SignalError {
    /// The name is taken by a signal of another width.
    #[error("signal `{name}` carries {there} numbers, not {asked}; choose another name")]
    OtherWidth {
        /// The signal.
        name: String,
        /// How many numbers it carries.
        there: usize,
        /// How many were asked for.
        asked: usize,
    },
    /// There are too many.
    #[error("a world has at most {SIGNALS_MAX} signals; `{name}` would be one more")]
    TooMany {
        /// The signal that was refused.
        name: String,
    },
    /// It is too wide.
    #[error("a signal carries at most {SIGNAL_WIDTH_MAX} numbers; `{name}` would carry {asked}")]
    TooWide {
        /// The signal that was refused.
        name: String,
        /// How many numbers were asked for.
        asked: usize,
    },
}

impl Signals {
    /// The signal of this name; a new one if there is none.
    ///
    /// ```
    /// use downbeat_time::SimTime;
    /// use downbeat_world::{Signals, Tap};
    ///
    /// let mut signals = Signals::default();
    /// let height = signals.declare::<f32>("height")?;
    /// let mut tap = Tap::new(height);
    /// signals.publish(height, SimTime::from_nanos(10), 1.5);
    /// let reading = tap.hold(&signals, SimTime::from_nanos(25)).expect("it was published");
    /// assert_eq!((reading.value, reading.age.as_nanos(), reading.is_new), (1.5, 15, true));
    /// assert!(!tap.hold(&signals, SimTime::from_nanos(30)).expect("still there").is_new);
    /// # Ok::<(), downbeat_world::SignalError>(())
    /// ```
    pub fn declare<T: SignalValue>(&mut self, name: &str) -> Result<SignalKey<T>, SignalError> {
        self.place(name, T::WIDTH).map(SignalKey::at)
    }

    /// The signal of this name that carries so many numbers; a new one if there is none. For widths that only the
    /// scene knows, such as a robot's joints.
    ///
    /// ```
    /// use downbeat_time::SimTime;
    /// use downbeat_world::{Sampling, Signals};
    ///
    /// let mut signals = Signals::default();
    /// let joints = signals.declare_array("arm/position", 3)?;
    /// signals.publish_array(joints, SimTime::from_nanos(10), &[0.1, 0.2, 0.3]);
    /// let mut read = [0.0; 3];
    /// let age = signals.read_array(joints, Sampling::Held, SimTime::from_nanos(25), &mut read);
    /// assert_eq!((read, age.map(|age| age.as_nanos())), ([0.1, 0.2, 0.3], Some(15)));
    /// # Ok::<(), downbeat_world::SignalError>(())
    /// ```
    pub fn declare_array(&mut self, name: &str, width: usize) -> Result<SignalKey<[f32]>, SignalError> {
        self.place(name, width).map(SignalKey::at)
    }

    /// The signal of this name and how many numbers it carries, if it was declared.
    pub fn find(&self, name: &str) -> Option<(SignalKey<[f32]>, usize)> {
        let index = self.signals.iter().position(|signal| signal.name == name)?;
        Some((SignalKey::at(index), self.signals[index].latest.floats.len()))
    }

    /// Publishes a value that is true now. A key of another world's signals publishes nothing.
    pub fn publish<T: SignalValue>(&mut self, key: SignalKey<T>, now: SimTime, value: T) {
        if let Some(floats) = self.next_sample(key.index, T::WIDTH, now) {
            value.store(floats);
        }
    }

    /// Publishes numbers that are true now, as many as the signal carries.
    pub fn publish_array(&mut self, key: SignalKey<[f32]>, now: SimTime, numbers: &[f32]) {
        if let Some(floats) = self.next_sample(key.index, numbers.len(), now) {
            floats.copy_from_slice(numbers);
        }
    }

    /// Reads a signal's numbers into a slice of its width and returns their age; `None` leaves the slice as it was,
    /// because nothing was published yet.
    pub fn read_array(
        &self,
        key: SignalKey<[f32]>,
        sampling: Sampling,
        now: SimTime,
        into: &mut [f32],
    ) -> Option<Duration> {
        let signal = self.signals.get(key.index as usize)?;
        let sample = if sampling == Sampling::Latched { &signal.latched } else { &signal.latest };
        if sample.index == 0 || sample.floats.len() != into.len() {
            return None;
        }
        into.copy_from_slice(&sample.floats);
        let age = now.since(sample.at);
        match signal.between(age).filter(|_| sampling == Sampling::Interpolated) {
            Some((alpha, interval)) => {
                for (to, from) in into.iter_mut().zip(&signal.before.floats) {
                    *to = from + (*to - from) * alpha;
                }
                Some(age.max(interval))
            }
            None => Some(age),
        }
    }

    /// Latches every signal's newest value: what a sync point does, so that all readers see one instant.
    pub fn latch(&mut self) {
        self.changes += 1;
        for Signal { latest, latched, .. } in &mut self.signals {
            (latched.index, latched.at) = (latest.index, latest.at);
            latched.floats.copy_from_slice(&latest.floats);
        }
    }

    /// Names and widths, in the order of declaration.
    pub fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.signals.iter().map(|signal| (signal.name.as_str(), signal.latest.floats.len()))
    }

    /// Where the signal of this name stands, declared or new.
    fn place(&mut self, name: &str, width: usize) -> Result<usize, SignalError> {
        if let Some(index) = self.signals.iter().position(|signal| signal.name == name) {
            let there = self.signals[index].latest.floats.len();
            if there != width {
                return Err(SignalError::OtherWidth { name: name.to_owned(), there, asked: width });
            }
            return Ok(index);
        }
        if self.signals.len() >= SIGNALS_MAX {
            return Err(SignalError::TooMany { name: name.to_owned() });
        }
        if width > SIGNAL_WIDTH_MAX {
            return Err(SignalError::TooWide { name: name.to_owned(), asked: width });
        }
        let sample = Sample { index: 0, at: SimTime::ZERO, floats: vec![0.0; width] };
        let (latest, before, latched) = (sample.clone(), sample.clone(), sample);
        self.changes += 1;
        self.signals.push(Signal { name: name.to_owned(), latest, before, latched });
        Ok(self.signals.len() - 1)
    }

    /// Makes room for a publication and returns where its numbers go. A second one in the same step takes the place
    /// of the first.
    fn next_sample(&mut self, index: u32, width: usize, now: SimTime) -> Option<&mut [f32]> {
        let signal = self.signals.get_mut(index as usize)?;
        if signal.latest.floats.len() != width {
            return None;
        }
        self.changes += 1;
        if signal.latest.at != now || signal.latest.index == 0 {
            std::mem::swap(&mut signal.latest, &mut signal.before);
        }
        let index = signal.latest.index.max(signal.before.index) + 1;
        (signal.latest.index, signal.latest.at) = (index, now);
        Some(&mut signal.latest.floats)
    }

    /// What the signals hold now: equal stamps, equal signals.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        self.origin.at(self.changes)
    }

    /// Takes in every signal: how long its name is and how wide it is, its name, and its samples.
    pub(crate) fn hash(&self, hasher: &mut StateHasher) {
        for Signal { name, latest, before, latched } in &self.signals {
            hasher.words(&[name.len() as u64, latest.floats.len() as u64]);
            hasher.bytes(name.as_bytes());
            for Sample { index, at, floats } in [latest, before, latched] {
                hasher.words(&[*index, at.as_nanos()]);
                hasher.floats(floats);
            }
        }
    }

    /// Whether signals that came from outside are sound.
    pub(crate) fn is_sound(&self) -> bool {
        self.signals.len() <= SIGNALS_MAX
            && self.signals.iter().all(|signal| {
                let width = signal.latest.floats.len();
                let samples = [&signal.latest, &signal.before, &signal.latched];
                width <= SIGNAL_WIDTH_MAX
                    && samples.iter().all(|sample| sample.floats.len() == width && sample.index <= INDEX_MAX)
            })
    }
}

impl Signal {
    /// How far a reader is between the last two samples when the newest has this age, and how far apart they are.
    fn between(&self, age: Duration) -> Option<(f32, Duration)> {
        let interval = self.latest.at.since(self.before.at);
        if self.before.index == 0 || interval.is_zero() {
            return None;
        }
        Some(((age.as_nanos() as f64 / interval.as_nanos() as f64).min(1.0) as f32, interval))
    }
}

impl<T: SignalValue> Tap<T> {
    /// A reader that has seen nothing yet.
    pub const fn new(key: SignalKey<T>) -> Self {
        Self { key, seen: 0 }
    }

    /// The newest value.
    pub fn hold(&mut self, signals: &Signals, now: SimTime) -> Option<Reading<T>> {
        let signal = self.signal(signals)?;
        self.read(&signal.latest, now)
    }

    /// The value as of the last sync point: the same instant for every signal.
    pub fn latched(&mut self, signals: &Signals, now: SimTime) -> Option<Reading<T>> {
        let signal = self.signal(signals)?;
        self.read(&signal.latched, now)
    }

    /// The value one publishing interval ago, between the two samples around that instant. It is smooth and never
    /// ahead of what was published; until there are two samples, it is the newest.
    pub fn interpolated(&mut self, signals: &Signals, now: SimTime) -> Option<Reading<T>> {
        let signal = self.signal(signals)?;
        let (before, latest) = (&signal.before, &signal.latest);
        let newest = self.read(latest, now)?;
        let Some((alpha, interval)) = signal.between(newest.age) else { return Some(newest) };
        let value = T::load(&before.floats).interpolated(T::load(&latest.floats), alpha);
        Some(Reading { value, age: newest.age.max(interval), is_new: newest.is_new })
    }

    fn signal<'a>(&self, signals: &'a Signals) -> Option<&'a Signal> {
        signals.signals.get(self.key.index as usize)
    }

    fn read(&mut self, sample: &Sample, now: SimTime) -> Option<Reading<T>> {
        if sample.index == 0 || sample.floats.len() != T::WIDTH {
            return None;
        }
        let is_new = sample.index > self.seen;
        self.seen = self.seen.max(sample.index);
        Some(Reading { value: T::load(&sample.floats), age: now.since(sample.at), is_new })
    }
}

impl<T: ?Sized> SignalKey<T> {
    fn at(index: usize) -> Self {
        Self { index: u32::try_from(index).unwrap_or(u32::MAX), carries: PhantomData }
    }
}

impl<T: ?Sized> Clone for SignalKey<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for SignalKey<T> {}

impl<T> Clone for Tap<T> {
    fn clone(&self) -> Self {
        Self { key: self.key, seen: self.seen }
    }
}

#[cfg(test)]
mod tests {
    use downbeat_time::SimTime;

    use super::{SIGNALS_MAX, SignalError, Signals, Tap};

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    #[test]
    fn a_latched_value_stays_until_the_next_sync_point() {
        let mut signals = Signals::default();
        let key = signals.declare::<f32>("x").unwrap();
        let (mut hold, mut latch) = (Tap::new(key), Tap::new(key));
        assert!(latch.latched(&signals, at(1)).is_none(), "nothing was published yet");
        signals.publish(key, at(10), 1.0);
        signals.latch();
        signals.publish(key, at(20), 2.0);
        assert_eq!(hold.hold(&signals, at(25)).unwrap().value.to_bits(), 2.0_f32.to_bits());
        let reading = latch.latched(&signals, at(25)).unwrap();
        assert_eq!((reading.value, reading.age.as_nanos(), reading.is_new), (1.0, 15, true));
        signals.latch();
        assert_eq!(latch.latched(&signals, at(25)).unwrap().value.to_bits(), 2.0_f32.to_bits());
    }

    #[test]
    fn interpolation_lags_one_interval_and_never_runs_ahead() {
        let mut signals = Signals::default();
        let key = signals.declare::<f32>("x").unwrap();
        let mut tap = Tap::new(key);
        signals.publish(key, at(100), 10.0);
        assert_eq!(
            tap.interpolated(&signals, at(150)).unwrap().value.to_bits(),
            10.0_f32.to_bits(),
            "there is one sample only"
        );
        signals.publish(key, at(200), 20.0);
        assert_eq!(tap.interpolated(&signals, at(200)).unwrap().value.to_bits(), 10.0_f32.to_bits());
        assert_eq!(tap.interpolated(&signals, at(225)).unwrap().value.to_bits(), 12.5_f32.to_bits());
        let late = tap.interpolated(&signals, at(900)).unwrap();
        assert_eq!((late.value, late.age.as_nanos()), (20.0, 700));
    }

    #[test]
    fn publishing_twice_in_one_step_keeps_the_step_before() {
        let mut signals = Signals::default();
        let key = signals.declare::<f32>("x").unwrap();
        signals.publish(key, at(100), 10.0);
        signals.publish(key, at(200), 19.0);
        signals.publish(key, at(200), 20.0);
        let mut tap = Tap::new(key);
        assert_eq!(tap.interpolated(&signals, at(250)).unwrap().value.to_bits(), 15.0_f32.to_bits());
    }

    #[test]
    fn a_name_has_one_width_and_there_is_a_limit() {
        let mut signals = Signals::default();
        signals.declare::<f32>("x").unwrap();
        let error = signals.declare::<[f32; 3]>("x").unwrap_err();
        assert_eq!(error.to_string(), "signal `x` carries 1 numbers, not 3; choose another name");
        for number in 1..SIGNALS_MAX {
            signals.declare::<f32>(&number.to_string()).unwrap();
        }
        assert!(matches!(signals.declare::<f32>("more"), Err(SignalError::TooMany { .. })));
    }
}
