//! An entity as settings name it, and what it is looked up to. A name must be that of one entity only.

use std::fmt;

use downbeat_time::BoxError;
use serde::{Deserialize, Serialize};

use crate::component::JointKind;
use crate::entity::EntityId;
use crate::world::World;

/// How many names a message lists.
const LISTED_MAX: usize = 12;

/// An entity, named `ent_42` or by its [`crate::Name`].
///
/// ```
/// use downbeat_world::subsystems::EntityRef;
/// use downbeat_world::{Pose, World};
///
/// let mut world = World::new(1);
/// let cup = world.spawn("cup", Pose::IDENTITY);
/// assert_eq!(EntityRef::from("cup").find(&world)?, cup);
/// assert_eq!(EntityRef::from("ent_1").find(&world)?, cup);
/// let error = EntityRef::from("cap").find(&world).unwrap_err();
/// assert_eq!(error.to_string(), "there is no entity `cap`; there are `cup`");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntityRef(String);

impl From<&str> for EntityRef {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<EntityId> for EntityRef {
    fn from(id: EntityId) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for EntityRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl EntityRef {
    /// The entity that it names. Unknown and ambiguous names are refused with those there are.
    pub fn find(&self, world: &World) -> Result<EntityId, BoxError> {
        self.find_among(world, "entity", |_| true)
    }

    /// The robot that it names.
    pub(super) fn robot(&self, world: &World) -> Result<EntityId, BoxError> {
        self.find_among(world, "robot", |id| world.components.robot.contains(id))
    }

    fn find_among(
        &self,
        world: &World,
        what: &str,
        fits: impl Fn(EntityId) -> bool,
    ) -> Result<EntityId, BoxError> {
        let name = &self.0;
        if let Ok(id) = name.parse::<EntityId>() {
            let lives = world.entities().contains(id);
            return if lives && fits(id) { Ok(id) } else { Err(self.unknown(world, what, fits)) };
        }
        let mut named = world.components.name.iter().filter(|(id, there)| there.0 == *name && fits(*id));
        match (named.next(), named.next()) {
            (Some((id, _)), None) => Ok(id),
            (Some((a, _)), Some((b, _))) => {
                Err(format!("{a} and {b} are both called `{name}`; name one by its id").into())
            }
            (None, _) => Err(self.unknown(world, what, fits)),
        }
    }

    fn unknown(&self, world: &World, what: &str, fits: impl Fn(EntityId) -> bool) -> BoxError {
        let shown = |id: EntityId| match world.components.name.get(id) {
            Some(name) => format!("`{}`", name.0),
            None => format!("{id}"),
        };
        let mut there = world.entities().iter().filter(|id| fits(*id));
        let mut listed: Vec<String> = there.by_ref().take(LISTED_MAX).map(shown).collect();
        let more = there.count();
        if more > 0 {
            listed.push(format!("{more} more"));
        }
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        format!("there is no {what} `{self}`; there are {listed}").into()
    }
}

/// The hinges and slides that settings name: those of a robot, or a list of their own.
pub(super) fn joints(
    world: &World,
    robot: Option<&EntityRef>,
    listed: &[EntityRef],
) -> Result<Vec<EntityId>, BoxError> {
    let joints: Vec<EntityId> = match (robot, listed) {
        (Some(robot), []) => {
            let id = robot.robot(world)?;
            let joints = world.components.robot.get(id).map_or(&[][..], |robot| &robot.joints);
            joints.iter().copied().filter(|id| has_one_axis(world, *id)).collect()
        }
        (None, [_, ..]) => listed.iter().map(|joint| joint.find(world)).collect::<Result<_, _>>()?,
        _ => return Err("give either `robot` or `joints`".into()),
    };
    if let Some(other) = joints.iter().find(|id| !has_one_axis(world, **id)) {
        return Err(format!("{other} has no hinge or slide").into());
    }
    if joints.is_empty() { Err("there is no hinge or slide among its joints".into()) } else { Ok(joints) }
}

fn has_one_axis(world: &World, id: EntityId) -> bool {
    let joint = world.components.joint.get(id);
    joint.is_some_and(|joint| matches!(joint.kind, JointKind::Hinge { .. } | JointKind::Slide { .. }))
}
