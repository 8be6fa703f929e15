//! The promise: in `SimRealtime` and `SimHighPerformance` the sequence of steps, with their times, who fires and
//! which callbacks run in which order, is a function of the registrations alone.
//!
//! The method: for each made-up set of registrations one reference run takes its steps one by one, without
//! frames. Then 1,000 managers with the same registrations each live through a pattern of their own: frames from
//! nothing to seconds, callbacks that burn time until budgets stop them, other limits, other time scales, the
//! other deterministic mode, pauses from outside and from inside, steps between frames. After every frame, what
//! has run must be a prefix of the reference, and the schedule hash must be the reference's at that many steps.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{
    Binding, Edit, Governor, ManualClock, Phase, Profiling, RunEnd, RunnerId, StepContext, TimeManager,
    TimeMode, TimeScale,
};
use oracle::Oracle;
use oracle::cases::{Case, Draw, case, cases, common_rate};
use oracle::record::{Called, Load, manager};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::TestCaseError;

const PATTERNS: u64 = 1000;
/// A pattern ends with the frame that reaches this many steps.
const STEPS: u64 = 200;

/// Time, who fires, and the number of the callback.
type Call = (u64, u8, u16);

/// Remembers calls, burns time and may ask for a pause.
struct Tape {
    calls: Vec<Call>,
    hand: ManualClock,
    load: Load,
    /// Asks for a pause in the call after this many more.
    pause_in: u64,
}

impl Tape {
    fn new() -> Self {
        Self { calls: Vec::new(), hand: ManualClock::new(), load: Load::NONE, pause_in: u64::MAX }
    }
}

impl Called for Tape {
    fn called(&mut self, callback: usize, ctx: &StepContext<'_>) {
        self.calls.push((ctx.now().as_nanos(), ctx.fired().bits(), callback as u16));
        if self.load.nanos_max > 0 {
            let more = self.load.draw.below(self.load.nanos_max - self.load.nanos_min + 1);
            self.hand.advance(Duration::from_nanos(self.load.nanos_min + more));
        }
        if self.pause_in == 0 {
            ctx.request(Edit::Pause).expect("room for one change");
        }
        self.pause_in = self.pause_in.wrapping_sub(1);
    }
}

/// Every state that the one true sequence goes through, as far as anyone has asked.
struct Reference {
    time: TimeManager<Tape>,
    tape: Tape,
    /// By step: the time, the schedule hash, and how many calls there have been.
    after: Vec<(u64, u64, usize)>,
    /// Frames that ended with nothing left to do, at the budget, at the step cap, and paused.
    ends: [u64; 4],
}

impl Reference {
    fn new(case: &Case) -> Self {
        let (mut time, _) = manager::<Tape>(case);
        time.set_mode(TimeMode::SimHighPerformance);
        let after = vec![(0, time.schedule_hash(), 0)];
        Self { time, tape: Tape::new(), after, ends: [0; 4] }
    }

    fn at(&mut self, steps: u64) -> (u64, u64, usize) {
        while (self.after.len() as u64) <= steps {
            let report = self.time.step(&mut self.tape).expect("no callback fails");
            assert_eq!(report.steps, 1, "the timeline does not end this early");
            let row = (self.time.now().as_nanos(), self.time.schedule_hash(), self.tape.calls.len());
            self.after.push(row);
        }
        self.after[steps as usize]
    }

    /// Nanoseconds of a step on average: what frames and limits are measured in.
    fn unit(&mut self) -> u64 {
        (self.at(STEPS).0 / STEPS).max(1)
    }

    fn check(&mut self, time: &TimeManager<Tape>, tape: &Tape) -> Result<(), String> {
        let (now, hash, calls) = self.at(time.steps());
        if time.now().as_nanos() != now {
            return Err(format!("step {} at {} instead of {now}", time.steps(), time.now().as_nanos()));
        }
        if tape.calls != self.tape.calls[..calls] {
            return Err(format!("other calls within the first {} steps", time.steps()));
        }
        if time.schedule_hash() != hash {
            return Err(format!("another schedule hash after {} steps", time.steps()));
        }
        Ok(())
    }
}

/// How one manager is driven.
struct Pattern<'a> {
    draw: Draw,
    unit: u64,
    time: TimeManager<Tape>,
    tape: Tape,
    reference: &'a mut Reference,
}

impl Pattern<'_> {
    fn live(mut self) -> Result<(), String> {
        self.time.set_clock(self.tape.hand.clock());
        self.change_settings();
        while self.time.steps() < STEPS {
            if self.draw.once_in(8) {
                self.change_settings();
            }
            if self.draw.once_in(10) {
                self.pause_or_resume();
            }
            if self.draw.once_in(12) {
                let count = self.draw.below(4);
                self.time.run_steps(&mut self.tape, count).map_err(|error| error.to_string())?;
            }
            let elapsed = self.frame_length();
            let report = self.time.tick(&mut self.tape, elapsed).map_err(|error| error.to_string())?;
            let ends = [RunEnd::Done, RunEnd::Budget, RunEnd::StepCap, RunEnd::Paused];
            let end = ends.iter().position(|&end| end == report.end).ok_or("an end nobody asked for")?;
            self.reference.ends[end] += 1;
            self.reference.check(&self.time, &self.tape)?;
        }
        Ok(())
    }

    fn frame_length(&mut self) -> Duration {
        let units = self.unit;
        Duration::from_nanos(match self.draw.below(10) {
            0 => 0,
            1 => self.draw.below(1000),
            2 => units,
            3 => self.draw.below(10_000_000_000),
            4..7 => self.draw.below(units * 4),
            _ => self.draw.below(units * 40),
        })
    }

    fn change_settings(&mut self) {
        let mode = if self.draw.once_in(2) { TimeMode::SimRealtime } else { TimeMode::SimHighPerformance };
        self.time.set_mode(mode);
        let scale = TimeScale::new(1 + self.draw.below(9), 1 + self.draw.below(9)).expect("a scale");
        self.time.set_time_scale(scale);
        let profiling = [Profiling::Auto, Profiling::Off][self.draw.below(2) as usize];
        self.time.set_profiling(profiling);
        let budget = self.draw.below(20_000_000);
        let burns = self.draw.once_in(2);
        // Without a load no time passes, and only a cap ends a frame of `SimHighPerformance`.
        let cap = (!burns || self.draw.once_in(2)).then(|| 1 + self.draw.below(40) as u32);
        let governor = Governor {
            elapsed_max: Duration::from_nanos(1 + self.draw.below(self.unit * 40)),
            budget: Duration::from_nanos(budget),
            owed_max: Duration::from_nanos(self.draw.below(self.unit * 20)),
            max_steps_per_frame: cap,
        };
        self.time.set_governor(governor).expect("usable limits");
        let most = budget / [2, 10, 30][self.draw.below(3) as usize];
        self.tape.load = Load::NONE;
        if burns {
            let nanos_min = budget / 100 + 1;
            self.tape.load = Load { nanos_min, nanos_max: most.max(nanos_min), draw: Draw(self.draw.bits()) };
        }
    }

    fn pause_or_resume(&mut self) {
        match self.draw.below(3) {
            0 => self.time.pause(),
            1 => self.tape.pause_in = self.draw.below(20),
            _ => self.time.resume(),
        }
    }
}

fn a_thousand_patterns_match(case: &Case, seed: u64) -> Result<(), TestCaseError> {
    let mut reference = Reference::new(case);
    let unit = reference.unit();
    for number in 0..PATTERNS {
        let (time, _) = manager::<Tape>(case);
        let (draw, tape) = (Draw(seed.wrapping_add(number)), Tape::new());
        let pattern = Pattern { draw, unit, time, tape, reference: &mut reference };
        pattern.live().map_err(|what| TestCaseError::fail(format!("pattern {number}: {what}")))?;
    }
    // Otherwise the patterns would prove less than they say.
    prop_assert!(reference.ends.iter().all(|&count| count > 100), "{:?}", reference.ends);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 50, ..cases(16) })]

    #[test]
    fn steps_are_the_same_for_any_frames_load_and_limits(case in case(common_rate()), seed in any::<u64>()) {
        a_thousand_patterns_match(&case, seed)?;
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn the_reference_run_is_the_oracles(case in case(common_rate())) {
        let mut reference = Reference::new(&case);
        let mut oracle = Oracle::new(&case.runners, &case.callbacks);
        let mut expected = Vec::new();
        for number in 1..=100 {
            let step = oracle.step().expect("the timeline does not end this early");
            expected.extend(step.calls.iter().map(|&call| (step.time, step.fired, call as u16)));
            prop_assert_eq!(reference.at(number).0, step.time);
        }
        prop_assert_eq!(&reference.tape.calls, &expected);
    }

    #[test]
    fn the_schedule_hash_tells_runs_apart(case in case(common_rate()), at in 0_usize..8) {
        // The same registrations but for one that the first steps show: another sequence, another hash.
        let mut other = case.clone();
        let at = at % other.runners.len();
        other.runners[at].numer *= 2;
        other.runners[at].denom += 1;
        let (mut one, mut two) = (Reference::new(&case), Reference::new(&other));
        let (_, one_hash, _) = one.at(50);
        let (_, two_hash, _) = two.at(50);
        prop_assert_eq!(one.tape.calls == two.tape.calls, one_hash == two_hash);
    }
}

#[test]
fn one_frame_and_single_steps_give_the_same_hash() {
    let mut stepped = TimeManager::<Tape>::default();
    stepped.run_steps(&mut Tape::new(), 7).unwrap();
    let mut ticked = TimeManager::<Tape>::default();
    ticked.tick(&mut Tape::new(), Duration::from_millis(100)).unwrap();
    assert_eq!((ticked.steps(), ticked.schedule_hash()), (7, stepped.schedule_hash()));
}

#[test]
fn the_schedule_hash_sees_which_callbacks_run_and_in_which_order() {
    // The steps are the same in all of these: the same rates, the same times, the same runners that fire.
    let control = |priority| Binding::new(RunnerId::ROBOT, Phase::Control).with_priority(priority);
    let callbacks: [&[(&str, Binding)]; 7] = [
        &[],
        &[("a", control(0))],
        &[("b", control(0))],
        &[("a", control(0)), ("b", control(0))],
        &[("a", control(1)), ("b", control(0))],
        &[("a", control(0)), ("b", Binding::new(RunnerId::ROBOT, Phase::Export))],
        &[("a", control(0)), ("b", Binding::new(RunnerId::CAPTURE, Phase::Control))],
    ];
    let hashes = callbacks.map(|callbacks| {
        let mut time = TimeManager::<()>::default();
        for &(name, binding) in callbacks {
            time.register(name, binding, |(), _| ()).unwrap();
        }
        time.run_steps(&mut (), 7).unwrap();
        time.schedule_hash()
    });
    for (at, hash) in hashes.iter().enumerate() {
        assert_eq!(hashes.iter().position(|other| other == hash), Some(at), "{hashes:?}");
    }
}
