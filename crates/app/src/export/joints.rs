//! Joints with one position: hinges and slides. Balls and free bodies are where their frames are.

use downbeat_world::{JointKind, World};
use foxglove::messages::{JointState, JointStates, Timestamp};

use super::frames::Frames;

/// The state of every hinge and slide, under the name of the frame that it moves; `None` when there is none.
pub(super) fn states(world: &World, frames: &Frames, stamp: Timestamp) -> Option<JointStates> {
    let components = &world.components;
    let moving = components
        .joint
        .iter()
        .filter(|(_, joint)| matches!(joint.kind, JointKind::Hinge { .. } | JointKind::Slide { .. }));
    let joints: Vec<_> = moving
        .map(|(id, joint)| {
            let state = components.joint_state.get(id).copied().unwrap_or_default();
            JointState {
                name: frames.name(id).to_owned(),
                position: Some(f64::from(state.position[0])),
                velocity: Some(f64::from(state.velocity[0])),
                acceleration: None,
                effort: joint.motor.map(|_| f64::from(state.effort)),
            }
        })
        .collect();
    (!joints.is_empty()).then_some(JointStates { timestamp: Some(stamp), joints })
}
