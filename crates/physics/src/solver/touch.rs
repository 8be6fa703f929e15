//! Contacts that begin and end, as events of the world, in a fixed order. Shared by both solvers.

use super::rapier::prelude::{
    ColliderSet, CollisionEvent, CollisionEventFlags, ContactPair, EventHandler, Real, RigidBodySet,
    SoftBodySet, SoftBodyTearEvent,
};
use downbeat_world::{EntityId, Event, World};
use parking_lot::Mutex;

/// What was told in a step. The lock is for the trait, which allows several threads; there is one.
#[derive(Default)]
pub(super) struct Touches(Mutex<Vec<Touch>>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Touch {
    pair: [EntityId; 2],
    began: bool,
    sensor: bool,
}

impl Touches {
    /// Hands the step's contacts to the world, sorted by pair; of a pair, what began stands before what ended.
    pub(super) fn report(&mut self, world: &mut World) {
        let touches = self.0.get_mut();
        touches.sort_unstable_by_key(|touch| (touch.pair, !touch.began));
        for Touch { pair, began, sensor } in touches.drain(..) {
            world.events.push(if began {
                Event::Touched { pair, sensor }
            } else {
                Event::Parted { pair, sensor }
            });
        }
    }
}

impl EventHandler for Touches {
    fn handle_collision_event(
        &self,
        _bodies: &RigidBodySet,
        colliders: &ColliderSet,
        event: CollisionEvent,
        _pair: Option<&ContactPair>,
    ) {
        let (CollisionEvent::Started(a, b, flags) | CollisionEvent::Stopped(a, b, flags)) = event;
        let entity =
            |handle| colliders.get(handle).and_then(|collider| u64::try_from(collider.user_data).ok());
        // A collider that was removed has no entity any more; its contacts are over by the removal itself.
        let (Some(a), Some(b)) = (entity(a), entity(b)) else { return };
        let mut pair = [a, b].map(EntityId::new);
        pair.sort_unstable();
        let sensor = flags.contains(CollisionEventFlags::SENSOR);
        self.0.lock().push(Touch { pair, began: matches!(event, CollisionEvent::Started(..)), sensor });
    }

    fn handle_contact_force_event(
        &self,
        _dt: Real,
        _bodies: &RigidBodySet,
        _colliders: &ColliderSet,
        _pair: &ContactPair,
        _force: Real,
    ) {
    }

    fn handle_soft_body_tear_event(&self, _soft_bodies: &SoftBodySet, _event: &SoftBodyTearEvent) {}
}
