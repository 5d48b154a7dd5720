#!/usr/bin/env python3
"""A provider plugin for any schema, whose objects have the values that `values.py` draws.

    mirror.py SCHEMA VERSION SEED LOG

It runs in the Python of the published SDK. Reading an id gives an object of all kinds of values; a check adds the defaults of the
schema, as providers that are made of Terraform's do; a difference is one of any input, and is written to the log.
"""

import json
import sys
from concurrent import futures
from pathlib import Path

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from values import Values

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET, ASSET, ARCHIVE = ("1b47061264138c4ac30d75fd1eb44270", "c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7")
NO_LIMIT = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


def wire(value):
    """A value of `values.py` in the form of the protocol."""
    if isinstance(value, tuple):
        kind, inner = value
        if kind == "secret":
            return {SIGNATURE: SECRET, "value": wire(inner)}
        if kind in ("text", "path"):
            return {SIGNATURE: ASSET, kind: inner}
        return {SIGNATURE: ARCHIVE, **({"assets": wire(inner)} if kind == "members" else {"path": inner})}
    if isinstance(value, dict):
        return {key: wire(it) for key, it in value.items()}
    return [wire(it) for it in value] if isinstance(value, list) else value


def message(value):
    found = struct_pb2.Struct()
    found.update(value)
    return found


def plain(value):
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: plain(it) for key, it in value.struct_value.fields.items()}
    if kind == "list_value":
        return [plain(it) for it in value.list_value.values]
    if kind == "null_value":
        return None
    return getattr(value, kind)


def fields(struct):
    return {key: plain(it) for key, it in struct.fields.items()}


def bare(value):
    """A value without secrets, hashes of files, and what is null."""
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET:
            return bare(value["value"])
        left_out = ("hash",) if SIGNATURE in value else ()
        return {key: bare(it) for key, it in value.items() if it is not None and key not in left_out}
    return [bare(it) for it in value] if isinstance(value, list) else value


def differences(old, new, path=""):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{path}[{json.dumps(key)}]")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{path}[{at}]")
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, old, new


class Mirror(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, schema, version, seed, log):
        self.schema, self.version, self.values, self.log = schema, version, Values(json.loads(schema), seed), log

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema=self.schema)

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=self.version)

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(acceptSecrets=True, acceptResources=True, supportsPreview=True)

    def Check(self, request, context):
        inputs = self.values.with_defaults(request.type, fields(request.news))
        return provider_pb2.CheckResponse(inputs=message(inputs))

    def Read(self, request, context):
        inputs = self.values.with_defaults(request.type, wire(self.values.inputs(request.type, request.id)))
        outputs = {**inputs, "identity": request.id}
        return provider_pb2.ReadResponse(id=request.id, inputs=message(inputs), properties=message(outputs))

    def Diff(self, request, context):
        found = list(differences(bare(fields(request.old_inputs)), bare(fields(request.news))))
        for one in found:
            self.note(request.urn, *one)
        changes = provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=changes, diffs=sorted({path for path, _, _ in found}))

    def Create(self, request, context):
        self.note(request.urn, "", None, "something new")
        return provider_pb2.CreateResponse(id="new", properties=request.properties)

    def Update(self, request, context):
        return provider_pb2.UpdateResponse(properties=request.news)

    def note(self, *difference):
        with open(self.log, "a") as log:
            log.write(json.dumps(difference) + "\n")

    def Cancel(self, request, context):
        return empty_pb2.Empty()


def main():
    path, version, seed, log = sys.argv[1:5]
    server = grpc.server(futures.ThreadPoolExecutor(8), options=NO_LIMIT)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Mirror(Path(path).read_text(), version, seed, log), server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


try:
    main()
except KeyboardInterrupt:
    pass
