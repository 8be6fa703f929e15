//! The messages of our own, and the description of them that every file carries.
//!
//! The numbers of fields are for ever: a file of today must be read by a program of tomorrow that knows them.

use downbeat_time::{SimTime, TimeManager};
use downbeat_world::{Stage, StepHashes, WorldCommand};
use foxglove::Schema;
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

const PACKAGE: &str = "downbeat";

/// A change from outside, between two steps.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Command {
    /// How many steps had been taken before it.
    #[prost(uint64, tag = "1")]
    step: u64,
    /// Which kind of command it is, such as `spawn`.
    #[prost(string, tag = "2")]
    kind: String,
    /// All of it.
    #[prost(string, tag = "3")]
    json: String,
}

/// The hashes after a step.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Hashes {
    #[prost(uint64, tag = "1")]
    step: u64,
    #[prost(uint64, tag = "2")]
    now_ns: u64,
    /// As `downbeat run` prints it: a text, because plots would round the number.
    #[prost(string, tag = "3")]
    state_hash: String,
    #[prost(string, tag = "4")]
    schedule_hash: String,
}

/// Where time is.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Time {
    #[prost(uint64, tag = "1")]
    step: u64,
    #[prost(uint64, tag = "2")]
    now_ns: u64,
    #[prost(message, repeated, tag = "3")]
    runners: Vec<Runner>,
}

/// Where a runner is.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Runner {
    #[prost(string, tag = "1")]
    name: String,
    /// How many steps it has taken.
    #[prost(uint64, tag = "2")]
    index: u64,
    /// Whether this step was one of them.
    #[prost(bool, tag = "3")]
    fired: bool,
}

impl Command {
    pub(super) const NAME: &'static str = "Command";

    pub(super) fn new(step: u64, command: &WorldCommand) -> Result<Self, serde_json::Error> {
        Ok(Self { step, kind: kind(command).to_owned(), json: serde_json::to_string(command)? })
    }
}

impl Hashes {
    pub(super) const NAME: &'static str = "Hashes";

    pub(super) fn new(step: u64, now: SimTime, hashes: StepHashes) -> Self {
        let hex = |hash: u64| format!("{hash:#018x}");
        Self {
            step,
            now_ns: now.as_nanos(),
            state_hash: hex(hashes.state()),
            schedule_hash: hex(hashes.schedule()),
        }
    }
}

impl Time {
    pub(super) const NAME: &'static str = "Time";

    pub(super) fn new(time: &TimeManager<Stage>) -> Self {
        let runners = time.swarm().iter().map(|runner| Runner {
            name: runner.name.to_owned(),
            index: runner.index,
            fired: runner.fires,
        });
        Self { step: time.steps(), now_ns: time.now().as_nanos(), runners: runners.collect() }
    }
}

/// The word that the command's JSON begins with.
const fn kind(command: &WorldCommand) -> &'static str {
    match command {
        WorldCommand::Spawn { .. } => "spawn",
        WorldCommand::Despawn { .. } => "despawn",
        WorldCommand::Set { .. } => "set",
        WorldCommand::Remove { .. } => "remove",
        WorldCommand::Push { .. } => "push",
        WorldCommand::Drive { .. } => "drive",
        WorldCommand::Configure { .. } => "configure",
        WorldCommand::Time(_) => "time",
    }
}

/// What a reader must know to read one of them. Each channel carries the description of all: it is short.
pub(super) fn schema(name: &str) -> Schema {
    let one = Label::Optional;
    let (step, now) = (("step", Type::Uint64, one), ("now_ns", Type::Uint64, one));
    let text = |name| (name, Type::String, one);
    let file = FileDescriptorProto {
        name: Some("downbeat.proto".to_owned()),
        package: Some(PACKAGE.to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: vec![
            message("Command", &[step, text("kind"), text("json")]),
            message("Hashes", &[step, now, text("state_hash"), text("schedule_hash")]),
            message("Time", &[step, now, ("runners", Type::Message, Label::Repeated)]),
            message("Runner", &[text("name"), ("index", Type::Uint64, one), ("fired", Type::Bool, one)]),
        ],
        ..FileDescriptorProto::default()
    };
    let description = FileDescriptorSet { file: vec![file] };
    Schema::new(format!("{PACKAGE}.{name}"), "protobuf", description.encode_to_vec())
}

/// A message whose fields are numbered from 1 in this order. A message inside it is a runner.
fn message(name: &str, fields: &[(&str, Type, Label)]) -> DescriptorProto {
    let field = |(number, (name, kind, label)): (i32, &(&str, Type, Label))| FieldDescriptorProto {
        name: Some((*name).to_owned()),
        json_name: None,
        number: Some(number),
        label: Some(*label as i32),
        r#type: Some(*kind as i32),
        type_name: (*kind == Type::Message).then(|| format!(".{PACKAGE}.Runner")),
        ..FieldDescriptorProto::default()
    };
    DescriptorProto {
        name: Some(name.to_owned()),
        field: (1..).zip(fields).map(field).collect(),
        ..DescriptorProto::default()
    }
}

#[cfg(test)]
mod tests {
    use downbeat_world::{EntityId, WorldCommand};
    use serde_json::Value;

    use super::Command;

    #[test]
    fn the_kind_is_the_word_that_the_json_begins_with() {
        let entity = EntityId::new(3);
        let commands = [
            WorldCommand::Spawn { components: Vec::new() },
            WorldCommand::Despawn { entity },
            WorldCommand::Drive { robot: entity, targets: vec![0.5] },
            WorldCommand::Configure { subsystem: "a".to_owned(), settings: String::new() },
        ];
        for command in commands {
            let message = Command::new(7, &command).unwrap();
            let json: Value = serde_json::from_str(&message.json).unwrap();
            assert_eq!(json.as_object().unwrap().keys().next(), Some(&message.kind));
            assert_eq!(serde_json::from_value::<WorldCommand>(json).unwrap(), command);
        }
    }
}
