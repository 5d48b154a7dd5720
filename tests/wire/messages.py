"""Serialized messages of the official SDK, to be read and written again by others.

    messages.py make FILE             writes one filled message of every type, several where there are alternatives
    messages.py check FILE ANSWERS    compares what came back
    messages.py descriptors FILE      compares every message, field, enum and service with the descriptors in FILE

The files hold JSON: a list of {"message": full name, "bytes": hex}. Run it with a Python that has the package `pulumi`.
"""

import importlib
import itertools
import json
import os
import sys

from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor import FieldDescriptor as F

DEPTH = 3
INTEGERS = {F.TYPE_INT32, F.TYPE_INT64, F.TYPE_UINT32, F.TYPE_UINT64, F.TYPE_SINT32, F.TYPE_SINT64}


def files():
    """The file descriptors of every protocol module of the SDK."""
    root = importlib.import_module("pulumi.runtime.proto")
    found = {}
    for top in root.__path__:
        for base, _, entries in os.walk(top):
            relative = os.path.relpath(base, top)
            parts = [] if relative == "." else relative.split(os.sep)
            for entry in entries:
                if entry.endswith("_pb2.py"):
                    module = importlib.import_module(".".join([root.__name__, *parts, entry[:-3]]))
                    found[module.DESCRIPTOR.name] = module.DESCRIPTOR
    return [found[name] for name in sorted(found)]


def messages(descriptors):
    for descriptor in descriptors:
        if not descriptor.GetOptions().map_entry:
            yield descriptor
            yield from messages(descriptor.nested_types)


def all_messages():
    return list(itertools.chain.from_iterable(messages(f.message_types_by_name.values()) for f in files()))


class Filler:
    """Fills messages with values that all differ, or, as `zeroes`, with set but empty ones."""

    def __init__(self, choice, zeroes, unknown_enums):
        self.choice, self.zeroes, self.unknown_enums = choice, zeroes, unknown_enums
        self.counter = 0

    def next(self):
        self.counter += 1
        return self.counter

    def fill(self, message, depth=DEPTH):
        well_known = getattr(self, "fill_" + message.DESCRIPTOR.full_name.replace(".", "_"), None)
        if well_known:
            return well_known(message)
        for field in message.DESCRIPTOR.fields:
            oneof = field.containing_oneof
            if oneof and oneof.fields[self.choice % len(oneof.fields)] is not field:
                continue
            self.fill_field(message, field, depth)

    def fill_field(self, message, field, depth):
        if field.message_type and field.message_type.GetOptions().map_entry:
            self.fill_map(getattr(message, field.name), field, depth)
        elif field.is_repeated if hasattr(field, "is_repeated") else field.label == F.LABEL_REPEATED:
            for _ in range(0 if self.zeroes else 2):
                if field.message_type:
                    self.fill_nested(getattr(message, field.name).add(), depth)
                else:
                    getattr(message, field.name).append(self.scalar(field))
        elif field.message_type:
            nested = getattr(message, field.name)
            nested.SetInParent()
            self.fill_nested(nested, depth)
        elif field.has_presence or not self.zeroes:
            setattr(message, field.name, self.scalar(field))

    def fill_map(self, entries, field, depth):
        key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
        for _ in range(0 if self.zeroes else 2):
            if value.message_type:
                self.fill_nested(entries[self.scalar(key)], depth)
            else:
                entries[self.scalar(key)] = self.scalar(value)

    def fill_nested(self, message, depth):
        if depth > 0:
            self.fill(message, depth - 1)

    def scalar(self, field):
        number = 0 if self.zeroes else self.next()
        if field.type == F.TYPE_STRING:
            return f"text {number} é" if number else ""
        if field.type == F.TYPE_BYTES:
            return bytes([0, 255, number % 256]) if number else b""
        if field.type == F.TYPE_BOOL:
            return bool(number)
        if field.type == F.TYPE_ENUM:
            if self.unknown_enums:
                return 1000 + number
            return field.enum_type.values[-1].number if number else 0
        if field.type in INTEGERS:
            return -number
        return number + 0.5 if number else 0.0

    def fill_google_protobuf_Struct(self, message):
        if not self.zeroes:
            message.update({f"key {self.next()}": [None, True, 1.5, "x", {"nested": []}], "other": {}})

    def fill_google_protobuf_Value(self, message):
        message.string_value = "" if self.zeroes else f"value {self.next()}"

    def fill_google_protobuf_Any(self, message):
        message.type_url, message.value = "type.googleapis.com/pulumirpc.ErrorCause", b"\x0a\x01x"


def make():
    for descriptor in all_messages():
        choices = max([len(oneof.fields) for oneof in descriptor.oneofs], default=1)
        variants = [(choice, False, False) for choice in range(choices)]
        variants += [(choice, True, False) for choice in range(choices)]
        variants += [(0, False, True)]
        for choice, zeroes, unknown_enums in variants:
            message = message_factory.GetMessageClass(descriptor)()
            Filler(choice, zeroes, unknown_enums).fill(message)
            yield descriptor, message


def write(path):
    made = [{"message": d.full_name, "bytes": m.SerializeToString(deterministic=True).hex()} for d, m in make()]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    return []


def check(sent_path, answers_path):
    classes = {d.full_name: message_factory.GetMessageClass(d) for d in all_messages()}
    with open(sent_path, encoding="utf-8") as file:
        sent = json.load(file)
    with open(answers_path, encoding="utf-8") as file:
        answers = json.load(file)
    problems = [] if len(sent) == len(answers) and sent else [f"{len(sent)} messages sent, {len(answers)} came back"]
    for before, after in zip(sent, answers):
        name = before["message"]
        expected, actual = classes[name](), classes[name]()
        expected.ParseFromString(bytes.fromhex(before["bytes"]))
        actual.ParseFromString(bytes.fromhex(after["bytes"]))
        if after["message"] != name or expected != actual:
            problems.append(f"{name} came back different:\n--- sent\n{expected}--- came back\n{actual}")
    return problems


def facts(file):
    """Everything that matters on the wire, as a flat map from name to description."""
    found = {}

    def add_message(prefix, message):
        name = f"{prefix}.{message.name}"
        found[name] = "message"
        oneofs = [oneof.name for oneof in message.oneof_decl]
        for f in message.field:
            group = oneofs[f.oneof_index] if f.HasField("oneof_index") and not f.proto3_optional else ""
            found[f"{name}#{f.number}"] = (f.name, f.type, f.label, f.type_name, f.proto3_optional, group)
        for nested in message.nested_type:
            found_map = nested.options.map_entry
            add_message(name, nested)
            if found_map:
                found[f"{name}.{nested.name}"] = "map"
        for enum in message.enum_type:
            add_enum(name, enum)

    def add_enum(prefix, enum):
        for value in enum.value:
            found[f"{prefix}.{enum.name}#{value.number}"] = value.name

    for message in file.message_type:
        add_message(file.package, message)
    for enum in file.enum_type:
        add_enum(file.package, enum)
    for service in file.service:
        for m in service.method:
            streaming = (m.client_streaming, m.server_streaming)
            found[f"/{file.package}.{service.name}/{m.name}"] = (m.input_type, m.output_type, *streaming)
    return found


def descriptors(path):
    """Everything that the SDK knows must be in the other descriptors, and be the same there."""
    other = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as file:
        other.ParseFromString(file.read())
    known = {}
    for file in other.file:
        known.update(facts(file))
    problems = []
    for descriptor in files():
        proto = descriptor_pb2.FileDescriptorProto()
        descriptor.CopyToProto(proto)
        for name, fact in facts(proto).items():
            if known.get(name) != fact:
                problems.append(f"{name}: the SDK has {fact}, the other side {known.get(name)}")
    return problems


def main():
    tasks = {"make": write, "check": check, "descriptors": descriptors}
    problems = tasks[sys.argv[1]](*sys.argv[2:])
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
