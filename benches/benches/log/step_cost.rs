//! What the log adds to the arm's step: the same scene twice, with a log and without one, in turn.
//!
//! A block is short, or a busy machine would leave no block alone; it holds every kind of note but snapshots, which are
//! seconds apart. What saving one takes is measured beside it and laid on the steps between two.

use std::cell::RefCell;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_world::{LogSettings, Scene};

use crate::logs;

const BENCHES: [&str; 2] = ["log/step_cost", "log/step_cost_snapshots"];
/// Two notes of the hashes of all components are in a block.
const BLOCK: u64 = 128;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants_any(&BENCHES) {
        return Ok(());
    }
    let folder = logs::folder()?;
    let settings = LogSettings::default();
    let (mut logged, mut plain) = (logs::load("arm")?, logs::load("arm")?);
    logged.start_log(folder.path(), settings)?;
    let between_snapshots = logged.run_for(settings.snapshot_every)?.steps;
    plain.run_for(settings.snapshot_every)?;
    let save = Contestant::new("save", || plain.save().expect("it can be saved").len() as u64);
    let save = race(between_snapshots, vec![save])?[0].nanos;

    let (logged, plain) = (RefCell::new(logged), RefCell::new(plain));
    let block = |name, scene| {
        let scene: &RefCell<Scene> = scene;
        Contestant::timed_within(name, move |watch| {
            let mut scene = scene.borrow_mut();
            watch.time(|| scene.run_steps(BLOCK).expect("the scene runs"));
            scene.state_hash()
        })
    };
    let results = race(BLOCK, vec![block("log", &logged), block("no log", &plain)])?;
    logged.borrow_mut().close_log()?;
    let [cost, snapshots] = BENCHES;
    let (with, without) = (results[0].nanos + save, results[1].nanos);
    suite.print(&Figure::new(cost, "ns/step", with).against("no log", without))?;
    suite.print(&Figure::new(snapshots, "ns/step", save))
}
