//! What a frame costs at 60 frames a second in realtime mode, with the runners of a new scene and ten callbacks.

use std::time::Duration;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_time::{Binding, Phase, RunnerId, TimeManager};

use crate::bevy;
use crate::ours::{self, World};

const CALLBACKS: usize = 10;
const FRAMES: usize = 60;
const ROBOT_STEP: Duration = Duration::from_millis(20);

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants("time/tick") {
        return Ok(());
    }
    let (mut time, mut world) = (TimeManager::<World>::default(), World::default());
    for index in 0..CALLBACKS {
        ours::add(&mut time, index, Binding::new(RunnerId::ROBOT, Phase::Control));
    }
    let ours = move || {
        let before = world.nanos;
        for frame in a_second_of_frames() {
            time.tick(&mut world, frame).expect("no callback fails");
        }
        world.nanos - before
    };
    // Bevy has one fixed rate, so nothing stands for the 30 Hz that ours steps as well.
    let mut app = bevy::FrameApp::new(ROBOT_STEP, bevy::ten_adders());
    let bevy = move || app.frames(a_second_of_frames());
    let contestants = vec![Contestant::new("ours", ours), Contestant::new("bevy App::update", bevy)];
    let results = race(FRAMES as u64, contestants)?;
    suite.print(&Figure::of_race("time/tick", "ns/frame", results[0], &results[1..]))
}

/// Sixty frames that make exactly a second, so that every batch has the same steps.
fn a_second_of_frames() -> impl Iterator<Item = Duration> {
    [16_666_666, 16_666_667, 16_666_667].into_iter().cycle().take(FRAMES).map(Duration::from_nanos)
}
