//! Every nanosecond of wall time is accounted for, whatever happens between and within frames.
//!
//! Each property lives through a script of frames, switches of mode and scale, other limits, pauses and gates,
//! and checks the account of every frame against the one before and against the timeline itself.

#[expect(dead_code, reason = "each test crate uses a part of it")]
mod oracle;

use std::time::Duration;

use downbeat_time::{FrameReport, Governor, RunEnd, TimeManager, TimeMode, TimeScale};
use oracle::cases::{Case, case, cases, frame, governor, rate};
use oracle::record::{Load, World, id, manager};
use oracle::{CallbackSpec, RunnerSpec};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

/// One thing that happens to a manager.
#[derive(Debug, Clone)]
enum Event {
    Frame(Duration),
    Mode(TimeMode),
    Scale(TimeScale),
    Limits(Governor),
    Load(u64),
    Pause,
    Resume,
    CloseGate(u8),
    Release(u8, u64),
    OpenGate(u8),
    Steps(u64),
}

fn scale() -> impl Strategy<Value = TimeScale> {
    let ratio = prop_oneof![
        3 => Just((1_u64, 1_u64)),
        3 => (1..=10_u64, 1..=10_u64),
        1 => (1..=1000_u64, 1..=1000_u64),
        1 => (1..=u64::from(u32::MAX), 1..=u64::from(u32::MAX)),
    ];
    ratio.prop_map(|(numer, denom)| TimeScale::new(numer, denom).expect("both parts fit"))
}

fn load() -> impl Strategy<Value = u64> {
    select(vec![0_u64, 10_000, 1_000_000, 10_000_000])
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => frame().prop_map(Event::Frame),
        1 => select(TimeMode::ALL.to_vec()).prop_map(Event::Mode),
        1 => scale().prop_map(Event::Scale),
        1 => governor().prop_map(Event::Limits),
        1 => load().prop_map(Event::Load),
        1 => Just(Event::Pause),
        2 => Just(Event::Resume),
        1 => (0..8_u8).prop_map(Event::CloseGate),
        1 => (0..8_u8, 0..5_u64).prop_map(|(runner, steps)| Event::Release(runner, steps)),
        1 => (0..8_u8).prop_map(Event::OpenGate),
        1 => (0..5_u64).prop_map(Event::Steps),
    ]
}

/// A manager, and what its reports have added up to.
struct Books {
    time: TimeManager<World>,
    world: World,
    last: FrameReport,
}

impl Books {
    fn open(case: &Case, governor: Governor, seed: u64) -> Self {
        let (mut time, _) = manager::<World>(case);
        let mut world = World::new();
        world.load = Load::up_to(0, seed);
        time.set_clock(world.hand.clock());
        time.set_governor(governor).expect("usable limits");
        Self { time, world, last: FrameReport::default() }
    }

    /// Changes something between frames. Gates of runners that do not exist are refused and change nothing.
    fn change(&mut self, event: &Event) {
        match *event {
            Event::Frame(_) => unreachable!("frames are not changes"),
            Event::Mode(mode) => self.time.set_mode(mode),
            Event::Scale(scale) => self.time.set_time_scale(scale),
            Event::Limits(governor) => self.time.set_governor(governor).expect("usable limits"),
            Event::Load(nanos) => self.world.load.nanos_max = nanos,
            Event::Pause => self.time.pause(),
            Event::Resume => self.time.resume(),
            Event::CloseGate(runner) => drop(self.time.close_gate(id(runner))),
            Event::Release(runner, steps) => drop(self.time.release(id(runner), steps)),
            Event::OpenGate(runner) => drop(self.time.open_gate(id(runner))),
            Event::Steps(count) => {
                self.time.run_steps(&mut self.world, count).expect("no callback fails");
            }
        }
    }

    /// One frame, with everything that must hold for it alone.
    fn frame(&mut self, elapsed: Duration) -> Result<FrameReport, TestCaseError> {
        let (now, steps, paused) = (self.time.now(), self.time.steps(), self.time.is_paused());
        let counts: Vec<_> = self.time.swarm().iter().map(|r| (r.id, r.index, r.skipped)).collect();
        let report = self.time.tick(&mut self.world, elapsed).expect("no callback fails");
        prop_assert_eq!(&report, self.time.last_frame());
        prop_assert_eq!((report.frame, report.elapsed), (self.last.frame + 1, elapsed));
        prop_assert_eq!(
            self.last.owed + elapsed,
            report.simulated + report.owed + report.forgiven + report.skipped,
            "{:?}",
            report
        );
        prop_assert_eq!(report.advanced, self.time.now().since(now));
        prop_assert_eq!(report.steps, self.time.steps() - steps);
        let game = self.time.mode() == TimeMode::GameRealtime;
        prop_assert!(game || (report.skipped.is_zero() && report.runner_skips == [0; 8]), "{report:?}");
        if paused {
            prop_assert_eq!((report.steps, report.advanced, report.end), (0, Duration::ZERO, RunEnd::Paused));
        }
        for (runner, index, skipped) in counts {
            let state = self.time.swarm().get(runner).expect("no runner was removed");
            let at = usize::from(runner.number());
            prop_assert_eq!(state.index - index, report.runner_steps[at]);
            prop_assert_eq!(state.skipped - skipped, report.runner_skips[at]);
            prop_assert!(report.runner_steps[at] <= report.steps);
        }
        prop_assert!(report.steps <= report.runner_steps.iter().sum());
        self.check_limits(&report)?;
        self.last = report;
        Ok(report)
    }

    fn check_limits(&self, report: &FrameReport) -> Result<(), TestCaseError> {
        let governor = self.time.governor();
        if let Some(cap) = governor.max_steps_per_frame {
            prop_assert!(report.steps <= u64::from(cap));
            prop_assert!(report.end != RunEnd::StepCap || report.steps == u64::from(cap));
        }
        // The timeline moves by whole nanoseconds, so at a slow scale less than one of them may be left over.
        let scale = self.time.time_scale();
        let grain = Duration::from_nanos(u64::from(scale.denom()).div_ceil(u64::from(scale.numer())));
        let given_up = report.forgiven + report.skipped;
        if self.time.mode().is_realtime() {
            let beyond = report.elapsed.saturating_sub(governor.elapsed_max);
            prop_assert!(given_up + grain >= beyond, "{report:?}");
        }
        // More than the limit is carried only while no step is due that it could be spent on.
        if report.owed > governor.owed_max + grain && report.end != RunEnd::Paused {
            prop_assert!(self.time.until_due().is_none_or(|due| !due.is_zero()), "{report:?}");
        }
        Ok(())
    }
}

/// Whether the timeline has moved by `wall` at `scale`, to within a nanosecond of either.
fn is_scaled(advanced: u128, wall: u128, scale: TimeScale) -> bool {
    let (numer, denom) = (u128::from(scale.numer()), u128::from(scale.denom()));
    (advanced * denom).abs_diff(wall * numer) <= numer.max(denom)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn every_nanosecond_is_accounted_for(
        case in case(rate()), governor in governor(), seed in any::<u64>(), events in vec(event(), 1..60),
    ) {
        let mut books = Books::open(&case, governor, seed);
        for event in &events {
            if let Event::Frame(elapsed) = *event {
                books.frame(elapsed)?;
            } else {
                books.change(event);
            }
        }
    }

    #[test]
    fn the_timeline_moves_by_what_was_simulated_and_skipped(
        case in case(rate()), governor in governor(), seed in any::<u64>(),
        mode in select(vec![TimeMode::SimRealtime, TimeMode::GameRealtime]),
        scale in scale(), load in load(), frames in vec(frame(), 1..40),
    ) {
        let mut books = Books::open(&case, governor, seed);
        books.world.load.nanos_max = load;
        books.time.set_mode(mode);
        books.time.set_time_scale(scale);
        let (mut advanced, mut covered, mut elapsed, mut forgiven) = (0, 0, 0, 0);
        for &frame in &frames {
            let report = books.frame(frame)?;
            advanced += report.advanced.as_nanos();
            covered += (report.simulated + report.skipped).as_nanos();
            elapsed += report.elapsed.as_nanos();
            forgiven += report.forgiven.as_nanos();
            prop_assert!(is_scaled(advanced, covered, scale), "{advanced} for {covered} at {scale:?}");
            // Never ahead of the wall clock, not by a nanosecond.
            let (numer, denom) = (u128::from(scale.numer()), u128::from(scale.denom()));
            prop_assert!(advanced * denom <= elapsed * numer, "{advanced} after {elapsed} at {scale:?}");
            if mode == TimeMode::GameRealtime {
                // Behind it by what is owed and no more: with nothing in the way, nothing is forgiven.
                prop_assert_eq!(forgiven, 0);
                let behind = elapsed - report.owed.as_nanos();
                prop_assert!(is_scaled(advanced, behind, scale), "{advanced} after {behind} at {scale:?}");
            }
        }
    }

    #[test]
    fn scale_mode_and_gate_switches_lose_no_time(
        case in case(rate()), governor in governor(), seed in any::<u64>(), events in vec(event(), 1..60),
    ) {
        let mut books = Books::open(&case, governor, seed);
        for event in &events {
            let Event::Frame(elapsed) = *event else {
                books.change(event);
                continue;
            };
            let report = books.frame(elapsed)?;
            if books.time.mode().is_realtime() {
                let covered = (report.simulated + report.skipped).as_nanos();
                let scale = books.time.time_scale();
                let (numer, denom) = (u128::from(scale.numer()), u128::from(scale.denom()));
                // One frame alone may be off by the nanosecond it began with and the one it ended with.
                let off = (report.advanced.as_nanos() * denom).abs_diff(covered * numer);
                prop_assert!(off <= 2 * numer.max(denom), "{report:?} at {scale:?}");
            }
        }
    }
}

/// One runner of so many hertz with one callback.
fn single(hz: u64) -> Case {
    let callback = CallbackSpec { runner: 0, phase: 0, priority: 0, on_shared: 0, enabled: true };
    Case { runners: vec![RunnerSpec { numer: hz, denom: 1, offset: 0 }], callbacks: vec![callback] }
}

#[test]
fn a_slow_runner_is_not_starved_by_what_may_be_owed() {
    for mode in [TimeMode::SimRealtime, TimeMode::GameRealtime] {
        let governor = Governor { owed_max: Duration::ZERO, ..Governor::default() };
        let mut books = Books::open(&single(1), governor, 0);
        books.time.set_mode(mode);
        for _ in 0..625 {
            books.frame(Duration::from_millis(16)).unwrap();
        }
        assert_eq!((books.time.now().as_nanos(), books.time.steps()), (10_000_000_000, 10), "{mode:?}");
    }
}

#[test]
fn a_long_stall_is_forgiven_in_simulation_and_skipped_in_games() {
    let stall = Duration::from_secs(3);
    let counted = Duration::from_millis(250);
    let mut books = Books::open(&single(100), Governor::default(), 0);
    let report = books.frame(stall).unwrap();
    assert_eq!((report.steps, report.forgiven, report.skipped), (25, stall - counted, Duration::ZERO));

    let mut books = Books::open(&single(100), Governor::default(), 0);
    books.time.set_mode(TimeMode::GameRealtime);
    let report = books.frame(stall).unwrap();
    assert_eq!(books.time.now().as_nanos(), 3_000_000_000);
    assert_eq!((report.forgiven, report.runner_steps[0] + report.runner_skips[0]), (Duration::ZERO, 300));
    assert!(report.skipped >= stall - counted);
}

#[test]
fn time_owed_is_worked_off_when_the_load_goes_away() {
    let governor = Governor { max_steps_per_frame: Some(1), ..Governor::default() };
    let mut books = Books::open(&single(100), governor, 0);
    for _ in 0..4 {
        books.frame(Duration::from_millis(20)).unwrap();
    }
    assert_eq!((books.time.steps(), books.last.owed), (4, Duration::from_millis(40)));
    books.time.set_governor(Governor::default()).unwrap();
    let report = books.frame(Duration::ZERO).unwrap();
    assert_eq!((report.steps, report.owed), (4, Duration::ZERO));
}

#[test]
fn wall_time_while_paused_is_never_simulated_later() {
    for mode in TimeMode::ALL {
        let mut books = Books::open(&single(100), Governor::default(), 0);
        books.time.set_governor(Governor { max_steps_per_frame: Some(5), ..Governor::default() }).unwrap();
        books.time.set_mode(mode);
        books.time.pause();
        for _ in 0..10 {
            books.frame(Duration::from_millis(50)).unwrap();
        }
        books.time.resume();
        let report = books.frame(Duration::from_millis(10)).unwrap();
        let expected = if mode == TimeMode::SimHighPerformance { 5 } else { 1 };
        assert_eq!((report.steps, report.skipped), (expected, Duration::ZERO), "{mode:?}");
    }
}

/// What was owed before and the frame's time, of which at most a `u64` of nanoseconds counts, are in the report.
fn adds_up(books: &mut Books, elapsed: Duration) -> FrameReport {
    let owed = books.time.last_frame().owed;
    let report = books.time.tick(&mut books.world, elapsed).expect("no callback fails");
    assert_eq!(report.elapsed, elapsed.min(Duration::from_nanos(u64::MAX)));
    let counted = report.simulated + report.owed + report.forgiven + report.skipped;
    assert_eq!(owed + report.elapsed, counted, "{report:?}");
    report
}

#[test]
fn more_than_64_bits_of_nanoseconds_are_forgiven_at_once() {
    // Owed before, and then given up together with a frame that fills 64 bits alone.
    let mut books = Books::open(&single(50), Governor::default(), 0);
    adds_up(&mut books, Duration::from_millis(19));
    books.time.set_governor(Governor { owed_max: Duration::ZERO, ..Governor::default() }).unwrap();
    books.time.pause();
    let report = adds_up(&mut books, Duration::MAX);
    assert_eq!(
        (report.owed, report.forgiven.as_nanos()),
        (Duration::ZERO, u128::from(u64::MAX) + 19_000_000)
    );

    let mut books = Books::open(&single(1), Governor::default(), 0);
    adds_up(&mut books, Duration::from_millis(200));
    books.time.set_time_scale(TimeScale::new(100, 1).unwrap());
    books.time.close_gate(id(0)).unwrap();
    let report = adds_up(&mut books, Duration::MAX);
    assert_eq!((report.owed, report.end), (Duration::from_millis(10), RunEnd::Gate(id(0))));
}

#[test]
fn more_than_64_bits_of_nanoseconds_can_be_owed() {
    let governor = Governor { elapsed_max: Duration::MAX, owed_max: Duration::MAX, ..Governor::default() };
    let mut books = Books::open(&single(1), governor, 0);
    books.time.set_time_scale(TimeScale::new(1, u32::MAX.into()).unwrap());
    books.time.set_governor(Governor { max_steps_per_frame: Some(1), ..governor }).unwrap();
    let owed: Vec<_> = (0..4).map(|_| adds_up(&mut books, Duration::MAX).owed).collect();
    assert!(owed.is_sorted() && owed[3].as_nanos() > u128::from(u64::MAX), "{owed:?}");
}

#[test]
fn a_frame_of_absurd_length_is_booked_like_any_other() {
    for mode in TimeMode::ALL {
        for absurd in [Duration::from_nanos(u64::MAX), Duration::MAX] {
            let governor = Governor { max_steps_per_frame: Some(3), ..Governor::default() };
            let mut books = Books::open(&single(50), governor, 0);
            books.time.set_mode(mode);
            books.frame(Duration::from_millis(15)).unwrap();
            let owed = books.last.owed;
            let report = books.time.tick(&mut books.world, absurd).unwrap();
            // More than a u64 of nanoseconds may count as that much; no part of it is lost.
            let counted = report.simulated + report.owed + report.forgiven + report.skipped;
            assert!(counted >= owed.saturating_add(Duration::from_nanos(u64::MAX)), "{mode:?}: {report:?}");
        }
    }
}
