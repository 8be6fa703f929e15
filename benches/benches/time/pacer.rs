//! How late a paced loop wakes at 200 Hz, and how much of a core the waiting takes.

use std::time::Duration;

use downbeat_benches::{Figure, Suite};
use downbeat_time::{Clock, Pacer};

const BENCHES: [&str; 3] = ["time/pacer_p50", "time/pacer_p99", "time/pacer_cpu"];
const PERIOD: Duration = Duration::from_millis(5);

/// Both ways of waiting take turns, a quarter of a second each, so that a busy neighbour meets both.
const TURNS: u32 = 8;
const WAKES_PER_TURN: u32 = 50;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let (mut ours, mut theirs) = (Waiting::new(), Waiting::new());
    for _ in 0..TURNS {
        ours.take_turn(paced);
        theirs.take_turn(slept);
    }
    let name = "std::thread::sleep";
    let [p50, p99, cpu] = BENCHES;
    suite.print(&Figure::new(p50, "us", ours.late_us(0.50)).against(name, theirs.late_us(0.50)))?;
    suite.print(&Figure::new(p99, "us", ours.late_us(0.99)).against(name, theirs.late_us(0.99)))?;
    let (Some(ours), Some(theirs)) = (ours.cpu_percent(), theirs.cpu_percent()) else {
        eprintln!("{SCHEDSTAT} cannot be read, so {cpu} is left out");
        return Ok(());
    };
    suite.print(&Figure::new(cpu, "% of a core", ours).against(name, theirs))
}

/// What a way of waiting has shown so far.
struct Waiting {
    late: Vec<Duration>,
    /// `None` once the kernel would not tell.
    cpu: Option<Duration>,
    wall: Duration,
}

impl Waiting {
    fn new() -> Self {
        Self { late: Vec::new(), cpu: Some(Duration::ZERO), wall: Duration::ZERO }
    }

    /// Lets `wait` wake at the deadlines of a turn; it returns how late each was.
    fn take_turn(&mut self, wait: fn(&Clock) -> Vec<Duration>) {
        let clock = Clock::system();
        let before = cpu_time();
        self.late.extend(wait(&clock));
        self.cpu = self.cpu.and_then(|cpu| Some(cpu + cpu_time()?.saturating_sub(before?)));
        self.wall += clock.elapsed();
    }

    fn late_us(&mut self, quantile: f64) -> f64 {
        self.late.sort_unstable();
        let index = (self.late.len() as f64 * quantile) as usize;
        self.late[index.min(self.late.len() - 1)].as_secs_f64() * 1e6
    }

    fn cpu_percent(&self) -> Option<f64> {
        Some(100.0 * self.cpu?.as_secs_f64() / self.wall.as_secs_f64())
    }
}

fn paced(clock: &Clock) -> Vec<Duration> {
    let mut now = clock.elapsed();
    let mut pacer = Pacer::new(clock.clone());
    let deadlines = (1..=WAKES_PER_TURN).map(|index| now + PERIOD * index).collect::<Vec<_>>();
    let late = |deadline: Duration| {
        // A pacer counts from its last wake, so its own reports say when that was.
        now += pacer.wait(Some(deadline.saturating_sub(now)));
        now.saturating_sub(deadline)
    };
    deadlines.into_iter().map(late).collect()
}

#[expect(clippy::disallowed_methods, reason = "this is the peer that the pacer is compared with")]
fn slept(clock: &Clock) -> Vec<Duration> {
    let start = clock.elapsed();
    let late = |deadline: Duration| {
        std::thread::sleep(deadline.saturating_sub(clock.elapsed()));
        clock.elapsed().saturating_sub(deadline)
    };
    (1..=WAKES_PER_TURN).map(|index| late(start + PERIOD * index)).collect()
}

/// The time this thread has been on a core, from the kernel's scheduler.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string(SCHEDSTAT).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Begins with the nanoseconds that the thread has run.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";
