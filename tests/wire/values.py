"""Property values of the official SDK, to be read by others, and values of others, to be read by the SDK.

    values.py make FILE     serializes every case of OURS as the SDK does for a remote component
    values.py read FILE     reads the cases of THEIRS, and compares with what the SDK should make of them

The files hold JSON: a map from the name of the case to the serialized property map in hex. Run it with a Python that has
the package `pulumi`.
"""

import asyncio
import json
import sys

import pulumi
from google.protobuf import struct_pb2
from pulumi.output import Unknown
from pulumi.runtime import rpc, settings


def output(value, known=True, secret=False):
    def future(content):
        result = asyncio.get_event_loop().create_future()
        result.set_result(content)
        return result

    return pulumi.Output(future(set()), future(value), future(known), future(secret))


OURS = {
    "plain": lambda: {"b": True, "n": 1.5, "i": 3, "s": "é", "l": [None, 1, "x"], "o": {"k": None, "e": {}}},
    "assets": lambda: {
        "text": pulumi.StringAsset("content"),
        "file": pulumi.FileAsset("./f.txt"),
        "remote": pulumi.RemoteAsset("https://example.invalid/f"),
        "archive": pulumi.AssetArchive({"a": pulumi.StringAsset("x"), "b": pulumi.FileArchive("./d")}),
        "fileArchive": pulumi.FileArchive("./a.zip"),
        "remoteArchive": pulumi.RemoteArchive("https://example.invalid/a.zip"),
    },
    "outputs": lambda: {
        "known": output("v"),
        "secret": output("v", secret=True),
        "unknown": output(None, known=False),
        "unknownSecret": output(None, known=False, secret=True),
        "nested": {"list": [output(1)]},
    },
}


def wrapped(value):
    return rpc.wrap_rpc_secret(value)


# The SDK hands unknowns and secrets to the program in its own form; secretness moves up to the property, and null entries
# of maps are dropped.
THEIRS = {
    "plain": {"b": True, "n": 1.5, "s": "é", "l": [None, 1.0, "x"], "o": {"e": {}}},
    "special": {
        "secret": wrapped("v"),
        "secretInside": wrapped({"list": [1.0, "v"]}),
        "unknown": Unknown,
        "text": ("StringAsset", "text", "content"),
        "file": ("FileAsset", "path", "./f.txt"),
        "remote": ("RemoteAsset", "uri", "https://example.invalid/f"),
        "archive": ("AssetArchive", "assets", {"a": ("StringAsset", "text", "x")}),
        "fileArchive": ("FileArchive", "path", "./a.zip"),
        "reference": "an-id",
        "component": "urn:pulumi:s::p::a:b:C::n",
    },
}


def described(value):
    """A value in the form in which THEIRS has it."""
    if isinstance(value, Unknown):
        return Unknown
    if isinstance(value, pulumi.StringAsset):
        return ("StringAsset", "text", value.text)
    if isinstance(value, (pulumi.FileAsset, pulumi.FileArchive)):
        return (type(value).__name__, "path", str(value.path))
    if isinstance(value, (pulumi.RemoteAsset, pulumi.RemoteArchive)):
        return (type(value).__name__, "uri", value.uri)
    if isinstance(value, pulumi.AssetArchive):
        return ("AssetArchive", "assets", described(value.assets))
    if isinstance(value, dict):
        return {key: described(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [described(inner) for inner in value]
    return value


async def make(path):
    settings.SETTINGS.monitor_features = set(range(19))
    made = {}
    for name, case in OURS.items():
        struct = await rpc.serialize_properties(case(), {}, keep_output_values=True)
        made[name] = struct.SerializeToString(deterministic=True).hex()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)


async def read(path):
    with open(path, encoding="utf-8") as file:
        sent = json.load(file)
    if sorted(sent) != sorted(THEIRS):
        sys.exit(f"cases {sorted(sent)} instead of {sorted(THEIRS)}")
    for name, data in sent.items():
        struct = struct_pb2.Struct()
        struct.ParseFromString(bytes.fromhex(data))
        actual = described(rpc.deserialize_properties(struct, keep_unknowns=True))
        if actual != THEIRS[name]:
            sys.exit(f"{name}: the SDK reads\n{actual}\ninstead of\n{THEIRS[name]}")


if __name__ == "__main__":
    asyncio.run({"make": make, "read": read}[sys.argv[1]](sys.argv[2]))
