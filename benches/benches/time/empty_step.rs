//! What a step costs when there is nothing to call: finding it, taking it, hashing it.

use downbeat_benches::{Counted, Figure, Suite};
use downbeat_time::Profiling;

use crate::ours;

const STEPS: u64 = 7000;

pub(crate) const OURS: Counted = Counted { name: "empty_step/ours", run: count_ours };

pub(crate) fn measure(suite: &mut Suite) -> anyhow::Result<()> {
    if suite.wants("time/empty_step") && suite.can_count()? {
        let figure = Figure::new("time/empty_step", "instructions/step", OURS.per_unit(STEPS)?);
        suite.print(&figure)?;
    }
    Ok(())
}

fn count_ours(steps: u64) {
    let mut time = ours::manager(&[50, 30], Profiling::Off);
    time.run_steps(&mut (), steps).expect("there is nothing that could fail");
    assert_eq!(time.steps(), steps);
}
