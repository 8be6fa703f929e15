//! A robot in generalised coordinates: all positions, velocities and controls as flat lists, and where each joint's
//! stand in them. It reads the world and writes nothing.

use std::ops::Range;

use thiserror::Error;

use crate::component::{JointKind, MotorMode};
use crate::entity::EntityId;
use crate::world::World;

/// A robot's state in generalised coordinates.
///
/// Joints stand in the robot's order. A hinge or slide has one position and one velocity, a ball four and three, a free
/// body seven and six, as [`crate::JointState`] has them. A motor has one control, in the unit of its mode.
///
/// ```
/// use downbeat_world::{Body, Coordinates, Joint, JointKind, JointState, Motor, MotorMode, MotorTarget, Pose, Robot, World};
/// use glam::Vec3;
///
/// let mut world = World::new(1);
/// let link = world.spawn("link", Pose::IDENTITY);
/// let motor = Motor { mode: MotorMode::Velocity, stiffness: 0.0, damping: 1.0, effort_max: 5.0 };
/// world.set(link, Body::default());
/// world.set(link, Joint { motor: Some(motor), ..Joint::new(JointKind::Hinge { axis: Vec3::Y }) });
/// world.set(link, JointState { position: [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..JointState::default() });
/// world.set(link, MotorTarget { velocity: 2.0, ..MotorTarget::default() });
/// let robot = world.spawn("robot", Pose::IDENTITY);
/// world.set(robot, Robot { joints: vec![link], ..Robot::default() });
///
/// let coordinates = Coordinates::of(&world, robot)?;
/// let hinge = coordinates.address(link).ok_or("it is one of its joints")?;
/// assert_eq!(coordinates.positions[hinge.positions.clone()], [0.5]);
/// assert_eq!(hinge.control.map(|at| coordinates.controls[at]), Some(2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinates {
    /// Where each joint's coordinates stand, in the robot's order.
    pub joints: Vec<JointAddress>,
    /// All positions.
    pub positions: Vec<f32>,
    /// All velocities.
    pub velocities: Vec<f32>,
    /// What each motor is told, in the unit of its mode.
    pub controls: Vec<f32>,
    /// What each motor was asked to push in the last step.
    pub efforts: Vec<f32>,
}

/// Where a joint's coordinates stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointAddress {
    /// The entity that carries the joint.
    pub entity: EntityId,
    /// Its part of [`Coordinates::positions`].
    pub positions: Range<usize>,
    /// Its part of [`Coordinates::velocities`].
    pub velocities: Range<usize>,
    /// Its place in [`Coordinates::controls`] and [`Coordinates::efforts`], if it has a motor.
    pub control: Option<usize>,
}

/// There is no such robot.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{entity} is not a robot; name an entity that has a robot component")]
pub struct NotARobot {
    /// Who was named.
    pub entity: EntityId,
}

impl Coordinates {
    /// A robot's coordinates as they are.
    pub fn of(world: &World, robot: EntityId) -> Result<Self, NotARobot> {
        let joints = &world.components.robot.get(robot).ok_or(NotARobot { entity: robot })?.joints;
        let (joints_len, empty) = (joints.len(), Vec::new);
        let mut all = Self {
            joints: Vec::with_capacity(joints_len),
            positions: empty(),
            velocities: empty(),
            controls: empty(),
            efforts: empty(),
        };
        for entity in joints {
            all.push(world, *entity);
        }
        Ok(all)
    }

    /// Where a joint's coordinates stand.
    pub fn address(&self, joint: EntityId) -> Option<&JointAddress> {
        self.joints.iter().find(|address| address.entity == joint)
    }

    fn push(&mut self, world: &World, entity: EntityId) {
        let joint = world.components.joint.get(entity);
        let kind = joint.map_or(JointKind::Fixed, |joint| joint.kind);
        let state = world.components.joint_state.get(entity).copied().unwrap_or_default();
        let (position, velocity) = (self.positions.len(), self.velocities.len());
        self.positions.extend_from_slice(&state.position[..kind.position_len()]);
        self.velocities.extend_from_slice(&state.velocity[..kind.velocity_len()]);
        let control = joint.and_then(|joint| joint.motor).map(|motor| {
            let target = world.components.motor_target.get(entity).copied().unwrap_or_default();
            self.controls.push(match motor.mode {
                MotorMode::Position => target.position,
                MotorMode::Velocity => target.velocity,
                MotorMode::Effort => target.effort,
            });
            self.efforts.push(state.effort);
            self.controls.len() - 1
        });
        self.joints.push(JointAddress {
            entity,
            positions: position..self.positions.len(),
            velocities: velocity..self.velocities.len(),
            control,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Coordinates, NotARobot};
    use crate::{Body, Joint, JointKind, JointState, Motor, MotorMode, MotorTarget, Pose, Robot, World};

    #[test]
    fn joints_of_every_width_stand_one_after_the_other() {
        let mut world = World::new(1);
        let axis = glam::Vec3::Z;
        let kinds = [
            JointKind::Free,
            JointKind::Hinge { axis },
            JointKind::Fixed,
            JointKind::Ball,
            JointKind::Slide { axis },
        ];
        let mut joints = Vec::new();
        for (number, kind) in kinds.into_iter().enumerate() {
            let id = world.spawn("link", Pose::IDENTITY);
            let one = matches!(kind, JointKind::Hinge { .. } | JointKind::Slide { .. });
            let motor = Motor { mode: MotorMode::Effort, stiffness: 0.0, damping: 0.0, effort_max: 1.0 };
            world.set(id, Body::default());
            world.set(id, Joint { motor: one.then_some(motor), ..Joint::new(kind) });
            let number = number as f32;
            world.set(id, JointState { position: [number; 7], velocity: [-number; 6], effort: number });
            world.set(id, MotorTarget { effort: 10.0 + number, ..MotorTarget::default() });
            joints.push(id);
        }
        let robot = world.spawn("robot", Pose::IDENTITY);
        world.set(robot, Robot { joints: joints.clone(), ..Robot::default() });

        let all = Coordinates::of(&world, robot).unwrap();
        assert_eq!((all.positions.len(), all.velocities.len()), (7 + 1 + 4 + 1, 6 + 1 + 3 + 1));
        let ball = all.address(joints[3]).unwrap();
        assert_eq!((ball.positions.clone(), ball.velocities.clone(), ball.control), (8..12, 7..10, None));
        assert_eq!(all.positions[ball.positions.clone()], [3.0; 4]);
        assert_eq!(all.velocities[ball.velocities.clone()], [-3.0; 3]);
        assert_eq!((all.controls, all.efforts), (vec![11.0, 14.0], vec![1.0, 4.0]));
        assert_eq!(Coordinates::of(&world, joints[0]), Err(NotARobot { entity: joints[0] }));
    }
}
