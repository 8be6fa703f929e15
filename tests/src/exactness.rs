//! Save, load, step equals step: a scene that went through a snapshot into a new scene goes on with the same bytes.

use downbeat_physics::registry;
use downbeat_world::{Scene, first_difference};

/// Where a scene that went through a snapshot differs from one that did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The step after which they differ, counted from 1.
    pub step: u64,
    /// What differs: entity and component, or another part of the state.
    pub what: String,
}

/// Sends a scene through a snapshot at every one of `steps` steps, and compares bytes: the state, ids issued, versions,
/// random streams and the schedule are all in them. Returns the first difference.
pub fn exact_over(
    mut scene: Scene,
    steps: u64,
    mut each: impl FnMut(u64),
) -> anyhow::Result<Option<Difference>> {
    let mut saved = scene.save()?;
    for step in 1..=steps {
        let mut again = Scene::from_snapshot(&saved, registry())?;
        if again.save()? != saved {
            return Ok(Some(Difference { step, what: "loading alone changed something".to_owned() }));
        }
        scene.run_steps(1)?;
        again.run_steps(1)?;
        saved = scene.save()?;
        if again.save()? != saved {
            return Ok(Some(Difference { step, what: what_differs(&scene, &again) }));
        }
        each(step);
    }
    Ok(None)
}

fn what_differs(a: &Scene, b: &Scene) -> String {
    if let Some((entity, component)) = first_difference(a.world(), b.world()) {
        return format!("the {} of {entity}", component.name());
    }
    let hashes = a.state_hashes().difference(&b.state_hashes());
    hashes.unwrap_or_else(|| "what a subsystem keeps beside its hash".to_owned())
}
