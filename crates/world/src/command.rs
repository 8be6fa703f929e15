//! Every change from outside, as one closed list of plain data: the interface of editors, clients, logs and replay.

use downbeat_time::{Edit, EditError};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::component::{Component, ComponentKind};
use crate::entity::{ENTITIES_MAX, EntityId};
use crate::log::LogError;
use crate::subsystem::SettingsError;
use crate::world::{DEPTH_MAX, REQUESTS_MAX};

/// A change from outside. [`crate::Scene::apply`] checks it first and then does it whole, between two steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorldCommand {
    /// Brings an entity to life, under the table's next id.
    Spawn {
        /// What it is made of, at most one of each kind.
        components: Vec<Component>,
    },
    /// Ends the life of an entity and of everything that hangs on it.
    Despawn {
        /// Which one.
        entity: EntityId,
    },
    /// Sets a component.
    Set {
        /// Whose.
        entity: EntityId,
        /// What it becomes.
        component: Component,
    },
    /// Takes a component away.
    Remove {
        /// Whose.
        entity: EntityId,
        /// Which.
        kind: ComponentKind,
    },
    /// Pushes a body once.
    Push {
        /// Whom.
        entity: EntityId,
        /// Newton seconds, in world axes, at the centre of mass.
        linear: Vec3,
        /// Newton metre seconds, in world axes.
        angular: Vec3,
    },
    /// Gives all motors of a robot their targets, each what its motor's mode asks for.
    Drive {
        /// The robot.
        robot: EntityId,
        /// One for each joint that has a motor, in the robot's order.
        targets: Vec<f32>,
    },
    /// Changes a subsystem's settings.
    Configure {
        /// Its name in the scene.
        subsystem: String,
        /// The settings to change, as TOML; the others stay.
        settings: String,
    },
    /// Changes runners, bindings, mode or pace.
    Time(Edit),
}

/// Why a command was refused. Nothing was changed.
#[derive(Debug, Error)]
pub enum CommandError {
    /// It names an entity that is not there.
    #[error("there is no {entity}; it may have been removed")]
    UnknownEntity {
        /// The entity.
        entity: EntityId,
    },
    /// A component could not be simulated.
    #[error("the {component} of {entity} is refused: {reason}")]
    Unsound {
        /// Whose.
        entity: EntityId,
        /// Which.
        component: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A component needs another one beside it.
    #[error("{entity} has no {component}, which {wanted_for} needs; set that first")]
    Missing {
        /// Whose.
        entity: EntityId,
        /// What is missing.
        component: &'static str,
        /// Who needs it.
        wanted_for: &'static str,
    },
    /// A component is needed by another one beside it.
    #[error("{entity} needs its {component} for its {by}; remove that first")]
    Needed {
        /// Whose.
        entity: EntityId,
        /// What would go.
        component: &'static str,
        /// Who needs it.
        by: &'static str,
    },
    /// A list has two components of one kind.
    #[error("an entity has one {component} at most, and two were given")]
    Twice {
        /// Which.
        component: &'static str,
    },
    /// It would hang on itself.
    #[error("{entity} cannot hang on {through}, which hangs on {entity} itself")]
    Cycle {
        /// Who.
        entity: EntityId,
        /// On whom.
        through: EntityId,
    },
    /// It would hang too deep.
    #[error("{entity} would hang more than {DEPTH_MAX} entities deep")]
    TooDeep {
        /// Who.
        entity: EntityId,
    },
    /// Somebody else names it.
    #[error("{entity} is named by {by}; remove or change that first")]
    InUse {
        /// What would go.
        entity: EntityId,
        /// Who names it.
        by: EntityId,
    },
    /// There is no room.
    #[error("the world is full: {ENTITIES_MAX} entities live")]
    TooManyEntities,
    /// Too much waits for the next step.
    #[error("{REQUESTS_MAX} requests already wait for the next step; ask again after it")]
    TooManyRequests,
    /// It concerns the scene, and a step asked the world for it.
    #[error(
        "a step asks its context for changes of time, and settings are for `Scene::apply`; not the world"
    )]
    NotTheWorlds,
    /// There is no such subsystem.
    #[error("there is no subsystem `{name}`; there are {there}")]
    UnknownSubsystem {
        /// What was named.
        name: String,
        /// Those there are.
        there: String,
    },
    /// A subsystem refused its settings.
    #[error("subsystem `{name}`: {error}")]
    Settings {
        /// Which one.
        name: String,
        /// Why.
        #[source]
        error: SettingsError,
    },
    /// The time manager refused.
    #[error(transparent)]
    Time(#[from] EditError),
    /// The log cannot note it.
    #[error(transparent)]
    Log(#[from] LogError),
}
