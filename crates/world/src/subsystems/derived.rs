//! What a subsystem derives from who is in the world: looked up once, and again when entities, names, joints, robots
//! or hierarchy have changed. It is never saved: it is a function of the world.

use downbeat_time::BoxError;

use crate::world::World;

#[derive(Debug)]
pub(super) struct Derived<T> {
    value: Option<(Versions, T)>,
}

type Versions = [u64; 5];

impl<T> Derived<T> {
    pub(super) const fn new() -> Self {
        Self { value: None }
    }

    /// Forgets it: settings have changed.
    pub(super) fn clear(&mut self) {
        self.value = None;
    }

    /// What it is now.
    pub(super) fn get(
        &mut self,
        world: &mut World,
        make: impl FnOnce(&mut World) -> Result<T, BoxError>,
    ) -> Result<&mut T, BoxError> {
        let versions = versions(world);
        let current = self.value.take().filter(|(at, _)| *at == versions);
        let current = match current {
            Some(current) => current,
            None => (versions, make(world)?),
        };
        Ok(&mut self.value.insert(current).1)
    }
}

fn versions(world: &World) -> Versions {
    let components = &world.components;
    [
        world.entities().version(),
        components.name.version(),
        components.parent.version(),
        components.joint.version(),
        components.robot.version(),
    ]
}
