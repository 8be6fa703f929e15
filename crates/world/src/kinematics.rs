//! Kinematics of serial chains: where a tool is for given joint positions, and which positions bring it somewhere.
//!
//! It looks at joints as they are described, never at how physics has moved them, and writes nothing into the world.
//! Closed loops and balls are no chains. Sums are in double precision and functions come from `libm`, so the same
//! question has the same answer everywhere.

mod frame;
mod solve;

use thiserror::Error;

use frame::Frame;
pub use solve::{IkSettings, Reach};

use crate::component::{Components, JointKind, Pose};
use crate::entity::EntityId;
use crate::world::world_pose;

/// How many joints a chain may have, fixed ones among them.
pub const CHAIN_LEN_MAX: usize = 256;

/// The hinges and slides between a base and a tool.
///
/// ```
/// use downbeat_world::{Body, Chain, IkSettings, Joint, JointKind, Pose, World};
/// use glam::Vec3;
///
/// // Two links of a metre each, both turning about y, and a tool at the end.
/// let mut world = World::new(1);
/// let hinge = JointKind::Hinge { axis: Vec3::Y };
/// let upper = world.spawn("upper", Pose::IDENTITY);
/// let lower = world.spawn("lower", Pose::at(Vec3::X));
/// world.set(upper, Body::default());
/// world.set(lower, Body::default());
/// world.set(upper, Joint::new(hinge));
/// world.set(lower, Joint { to: Some(upper), to_frame: Pose::at(Vec3::X), ..Joint::new(hinge) });
/// let tool = world.spawn_on(lower, "tool", Pose::at(Vec3::X));
///
/// let mut chain = Chain::to_tool(&world.components, tool)?;
/// assert_eq!(chain.forward(&[0.0, 0.0]).position, Vec3::X * 2.0);
/// let goal = Pose::at(Vec3::new(1.0, 0.0, -1.0));
/// let mut positions = [0.1, 0.1];
/// let reach = chain.reach(goal, &mut positions, &IkSettings { orientation: false, ..IkSettings::default() });
/// assert!(reach.reached && (chain.forward(&positions).position - goal.position).length() < 1e-3);
/// # Ok::<(), downbeat_world::ChainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chain {
    base: Option<EntityId>,
    base_from_first: Frame,
    joints: Vec<EntityId>,
    links: Vec<Link>,
    scratch: solve::Scratch,
}

/// One joint that moves, and the rigid way on to the next one or to the tool.
#[derive(Debug, Clone, Copy)]
struct Link {
    motion: Motion,
    limits: Option<[f64; 2]>,
    after: Frame,
}

#[derive(Debug, Clone, Copy)]
enum Motion {
    Turn(glam::DVec3),
    Slide(glam::DVec3),
}

/// Why a tool is not at the end of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChainError {
    /// Nothing moves it.
    #[error("no hinge or slide moves {tool}; name an entity on a link of a robot")]
    NothingMoves {
        /// The tool.
        tool: EntityId,
    },
    /// A joint on the way cannot be part of a chain.
    #[error("{joint} turns in a ball, which a chain cannot have; use hinges")]
    Ball {
        /// The joint.
        joint: EntityId,
    },
    /// There are too many joints, or they form a loop.
    #[error("more than {CHAIN_LEN_MAX} joints lead to {tool}, or they form a loop")]
    TooLong {
        /// The tool.
        tool: EntityId,
    },
}

impl Chain {
    /// The chain that ends at an entity: a link itself, or something that hangs on one.
    pub fn to_tool(components: &Components, tool: EntityId) -> Result<Self, ChainError> {
        let (mut body, mut way) = body_of(components, tool).ok_or(ChainError::NothingMoves { tool })?;
        let (mut joints, mut links, mut base) = (Vec::new(), Vec::new(), None);
        for length in 0.. {
            if length > CHAIN_LEN_MAX {
                return Err(ChainError::TooLong { tool });
            }
            let Some(joint) = components.joint.get(body) else {
                base = Some(body);
                break;
            };
            let after = Frame::from(joint.frame).inverse() * way;
            let before = Frame::from(joint.to_frame);
            let motion = match joint.kind {
                JointKind::Hinge { axis } => Some(Motion::Turn(axis.as_dvec3().normalize())),
                JointKind::Slide { axis } => Some(Motion::Slide(axis.as_dvec3().normalize())),
                JointKind::Fixed => None,
                JointKind::Ball => return Err(ChainError::Ball { joint: body }),
                JointKind::Free => {
                    base = Some(body);
                    break;
                }
            };
            way = match motion {
                Some(motion) => {
                    joints.push(body);
                    links.push(Link { motion, limits: joint.limits.map(|ends| ends.map(f64::from)), after });
                    before
                }
                None => before * after,
            };
            let Some(to) = joint.to else { break };
            body = to;
        }
        if links.is_empty() {
            return Err(ChainError::NothingMoves { tool });
        }
        joints.reverse();
        links.reverse();
        let scratch = solve::Scratch::for_joints(links.len());
        Ok(Self { base, base_from_first: way, joints, links, scratch })
    }

    /// The joints that move, from the base to the tool.
    pub fn joints(&self) -> &[EntityId] {
        &self.joints
    }

    /// Where the base is: the body that the first joint hangs on, or the world.
    pub fn world_from_base(&self, components: &Components) -> Pose {
        self.base.map_or(Pose::IDENTITY, |base| world_pose(components, base))
    }

    /// Where the tool is, as the base sees it, when the joints are at these positions; one that is missing is 0.
    pub fn forward(&self, positions: &[f32]) -> Pose {
        let mut frame = self.base_from_first;
        for (at, link) in self.links.iter().enumerate() {
            let position = positions.get(at).copied().map_or(0.0, f64::from);
            frame = frame * link.motion.by(position) * link.after;
        }
        frame.into()
    }
}

impl Motion {
    fn by(self, position: f64) -> Frame {
        match self {
            Self::Turn(axis) => Frame::turned(axis, position),
            Self::Slide(axis) => Frame::at(axis * position),
        }
    }
}

/// The body that an entity is part of, and the way from that body to it.
fn body_of(components: &Components, id: EntityId) -> Option<(EntityId, Frame)> {
    let (mut above, mut way) = (id, Frame::IDENTITY);
    while !components.body.contains(above) {
        way = Frame::from(components.pose.get(above).copied().unwrap_or_default()) * way;
        above = components.parent.get(above)?.0;
    }
    Some((above, way))
}
