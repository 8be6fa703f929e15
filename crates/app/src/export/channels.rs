//! The channels of an export and the container they are written to. Knows no scene.
//!
//! The container's writer is used as it is, and not through Foxglove's SDK, which logs what cannot be written instead of
//! saying so.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use downbeat_time::SimTime;
use foxglove::messages::{FrameTransforms, JointStates, SceneUpdate};
use foxglove::{Encode, Schema};
use mcap::records::{MessageHeader, Metadata};
use mcap::{WriteOptions, Writer};
use prost::Message;

use super::messages::{self, Command, Hashes, Time};
use super::{ExportError, ExportHead, ExportSummary};

/// What a channel carries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Topic {
    Transforms,
    Scene,
    Joints,
    Time,
    Commands,
    Hashes,
}

impl Topic {
    /// In the order of their numbers.
    const ALL: [Self; 6] =
        [Self::Transforms, Self::Scene, Self::Joints, Self::Time, Self::Commands, Self::Hashes];

    const fn name(self) -> &'static str {
        match self {
            Self::Transforms => "/tf",
            Self::Scene => "/scene",
            Self::Joints => "/joints",
            Self::Time => "/time",
            Self::Commands => "/commands",
            Self::Hashes => "/hashes",
        }
    }

    /// What its messages are; all of them are protobuf.
    fn schema(self) -> Option<Schema> {
        match self {
            Self::Transforms => FrameTransforms::get_schema(),
            Self::Scene => SceneUpdate::get_schema(),
            Self::Joints => JointStates::get_schema(),
            Self::Time => Some(messages::schema(Time::NAME)),
            Self::Commands => Some(messages::schema(Command::NAME)),
            Self::Hashes => Some(messages::schema(Hashes::NAME)),
        }
    }
}

/// All channels of one file.
pub(super) struct Channels<W: Write + Seek> {
    writer: Writer<W>,
    /// The container's number for each channel, and how many messages it has, in the order of topics.
    rows: [(u16, u64); Topic::ALL.len()],
    /// Kept between messages for its memory.
    bytes: Vec<u8>,
}

impl<W: Write + Seek> Channels<W> {
    /// Begins a file with what is known of the run, and all channels, so that a reader also finds those that stay empty.
    pub(super) fn begin(writer: W, head: &ExportHead) -> Result<Self, ExportError> {
        let library = concat!("downbeat ", env!("CARGO_PKG_VERSION"));
        let mut writer = WriteOptions::new().compression(None).library(library).create(writer)?;
        let ExportHead { scene, seed, build } = head;
        let metadata = [("scene", scene.clone()), ("seed", seed.to_string()), ("build", build.clone())];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value));
        writer.write_metadata(&Metadata { name: "downbeat".to_owned(), metadata: metadata.into() })?;

        let mut rows = [(0, 0); Topic::ALL.len()];
        for (row, topic) in rows.iter_mut().zip(Topic::ALL) {
            let schema = match topic.schema() {
                Some(schema) => writer.add_schema(&schema.name, &schema.encoding, &schema.data)?,
                // The container's word for no schema.
                None => 0,
            };
            row.0 = writer.add_channel(schema, topic.name(), "protobuf", &BTreeMap::new())?;
        }
        Ok(Self { writer, rows, bytes: Vec::new() })
    }

    /// Writes a message at a time.
    pub(super) fn write(
        &mut self,
        topic: Topic,
        now: SimTime,
        message: &impl Message,
    ) -> Result<(), ExportError> {
        self.bytes.clear();
        message.encode_raw(&mut self.bytes);
        let (channel_id, count) = &mut self.rows[topic as usize];
        // Readers count modulo 2³² as well.
        let sequence = *count as u32;
        let (log_time, publish_time) = (now.as_nanos(), now.as_nanos());
        let header = MessageHeader { channel_id: *channel_id, sequence, log_time, publish_time };
        self.writer.write_to_known_channel(&header, &self.bytes)?;
        *count += 1;
        Ok(())
    }

    /// Ends the file and gives the writer back.
    pub(super) fn end(mut self) -> Result<(W, ExportSummary), ExportError> {
        self.writer.finish()?;
        let messages =
            Topic::ALL.iter().zip(self.rows).map(|(topic, (_, count))| (topic.name(), count)).collect();
        let mut writer = self.writer.into_inner();
        writer.flush().map_err(ExportError::Write)?;
        let bytes = writer.stream_position().map_err(ExportError::Write)?;
        Ok((writer, ExportSummary { messages, bytes }))
    }
}
