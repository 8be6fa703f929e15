//! 256 arms stepped by two threads against one: what training gains from a second core.

use std::cell::RefCell;

use downbeat_benches::{Contestant, Figure, Suite, race};
use downbeat_world::SceneSet;

use crate::scenes;

const BENCH: &str = "world/scale";
const SCENES: usize = 256;
const STEPS: u64 = 8;

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if !suite.wants(BENCH) {
        return Ok(());
    }
    let set = |workers| -> anyhow::Result<_> {
        let scenes = (0..SCENES).map(|_| scenes::load("arm")).collect::<anyhow::Result<_>>()?;
        Ok(RefCell::new(SceneSet::new(scenes, workers)?))
    };
    let (two, one) = (set(2)?, set(1)?);
    let run = |set: &RefCell<SceneSet>| {
        let failed = set.borrow_mut().run_steps(STEPS).iter().filter(|run| run.is_err()).count();
        assert_eq!(failed, 0, "every arm runs");
        let hashes = set.borrow().get(SCENES - 1).map(|scene| scene.state_hashes().total);
        hashes.unwrap_or_default()
    };
    let contestants =
        vec![Contestant::new("two threads", || run(&two)), Contestant::new("one thread", || run(&one))];
    let results = race(STEPS * SCENES as u64, contestants)?;
    suite.print(&Figure::new(BENCH, "times", results[1].nanos / results[0].nanos))
}
