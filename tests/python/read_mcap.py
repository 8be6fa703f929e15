"""Reads an exported run with the public MCAP packages, as a user would, and checks that it hangs together.

It knows nothing of the engine: messages are decoded with the descriptions inside the file, and those of Foxglove's own
messages are compared, field by field, with the ones that Foxglove publishes.
"""

import importlib
import json
import math
import re
import sys

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

SCHEMAS = {
    "/tf": "foxglove.FrameTransforms",
    "/scene": "foxglove.SceneUpdate",
    "/joints": "foxglove.JointStates",
    "/time": "downbeat.Time",
    "/commands": "downbeat.Command",
    "/hashes": "downbeat.Hashes",
}
HASH = re.compile("0x[0-9a-f]{16}")


def messages_of(files):
    """Every message and enum of some files: full name to fields, each with its number, type and label."""
    found = {}

    def take(prefix, message):
        name = f"{prefix}.{message.name}"
        found[name] = {
            field.name: (field.number, field.type, field.label, field.type_name, field.proto3_optional)
            for field in message.field
        }
        for kind in message.enum_type:
            found[f"{name}.{kind.name}"] = {value.name: value.number for value in kind.value}
        for inner in message.nested_type:
            take(name, inner)

    for file in files:
        for message in file.message_type:
            take(file.package, message)
    return found


def compare_with_published(schema):
    """The description in the file against the one that Foxglove publishes; says how many messages were compared."""
    ours = messages_of(FileDescriptorSet.FromString(schema.data).file)
    compared = 0
    for name, fields in ours.items():
        package, message, *inner = name.split(".")
        if package != "foxglove" or inner:
            continue
        published = importlib.import_module(f"foxglove_schemas_protobuf.{message}_pb2").DESCRIPTOR
        theirs = messages_of([FileDescriptorProto.FromString(published.serialized_pb)])
        assert fields == theirs[name], f"{name} is not what Foxglove publishes: {fields} {theirs[name]}"
        for enum in (other for other in theirs if other.startswith(f"{name}.")):
            assert ours[enum] == theirs[enum], f"{enum} is not what Foxglove publishes"
        compared += 1
    return compared


def check_transforms(message, log_time):
    frames = {transform.child_frame_id for transform in message.transforms}
    assert len(frames) == len(message.transforms), "two frames of one name"
    for transform in message.transforms:
        assert transform.parent_frame_id in frames | {"world"}, transform.parent_frame_id
        assert transform.timestamp.ToNanoseconds() == log_time
        turn = transform.rotation
        length = math.sqrt(turn.x**2 + turn.y**2 + turn.z**2 + turn.w**2)
        assert abs(length - 1) < 1e-3, f"{transform.child_frame_id}: a turn of length {length}"
    return frames


def primitives(update):
    kinds = ("cubes", "spheres", "cylinders", "triangles")
    return {kind: sum(len(getattr(entity, kind)) for entity in update.entities) for kind in kinds}


def check(path):
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        found = {
            channel.topic: summary.schemas[channel.schema_id].name for channel in summary.channels.values()
        }
        assert found == SCHEMAS, found
        head = {record.name: record.metadata for record in reader.iter_metadata()}["downbeat"]
        assert set(head) == {"scene", "seed", "build"}, head
        compared = sum(compare_with_published(schema) for schema in summary.schemas.values())

        counts = dict.fromkeys(SCHEMAS, 0)
        frames, shapes, last, indices, steps = set(), {}, 0, {}, -1
        for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
            counts[channel.topic] += 1
            assert message.log_time >= last, f"{channel.topic} goes back in time"
            last = message.log_time
            if channel.topic == "/tf":
                frames = check_transforms(decoded, message.log_time)
            elif channel.topic == "/scene":
                shapes = {"frames": {entity.frame_id for entity in decoded.entities}, **primitives(decoded)}
            elif channel.topic == "/joints":
                assert all(joint.name in frames for joint in decoded.joints)
                assert all(math.isfinite(joint.position) for joint in decoded.joints)
            elif channel.topic == "/time":
                assert decoded.now_ns == message.log_time and decoded.step > steps
                steps = decoded.step
                for runner in decoded.runners:
                    assert runner.index >= indices.get(runner.name, 0)
                    indices[runner.name] = runner.index
            elif channel.topic == "/commands":
                assert decoded.kind in json.loads(decoded.json), decoded.json
            elif channel.topic == "/hashes":
                assert HASH.fullmatch(decoded.state_hash) and HASH.fullmatch(decoded.schedule_hash)
                assert decoded.now_ns == message.log_time
        assert shapes.pop("frames") <= frames, "a shape hangs on a frame that is nowhere"
        assert sum(counts.values()) == summary.statistics.message_count
        assert counts["/tf"] > 0 and counts["/scene"] > 0 and sum(shapes.values()) > 0

    print(f"{path}: {head['scene']}, seed {head['seed']}, {last / 1e9:.3f} s, {steps} steps")
    print("messages:", ", ".join(f"{topic} {count}" for topic, count in counts.items()))
    print("shapes:", ", ".join(f"{count} {kind}" for kind, count in shapes.items()))
    print("runners:", ", ".join(f"{name} {index}" for name, index in indices.items()))
    print(f"{compared} descriptions are those that Foxglove publishes")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: read_mcap.py FILE.mcap…")
    for argument in sys.argv[1:]:
        check(argument)
