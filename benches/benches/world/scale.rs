//! Many scenes on two cores against one. Placeholder until the set of scenes is there.

use downbeat_benches::Suite;

pub(crate) fn measure(_suite: &mut Suite) -> anyhow::Result<()> {
    Ok(())
}
