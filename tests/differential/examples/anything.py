"""A provider that accepts everything, for one package.

    anything.py PACKAGE

With ANYTHING_CHANGES=1 it changes the inputs that it checks, with ANYTHING_DRIFT=1 what it reads.
"""

import json
import os
import re
import sys
from concurrent import futures
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))

import grpc  # noqa: E402
from changes import UNKNOWN, changed, details, number_of  # noqa: E402
from google.protobuf import empty_pb2, json_format, struct_pb2  # noqa: E402
from lab_stubs import plugin_pb2, provider_pb2, provider_pb2_grpc, resource_pb2, resource_pb2_grpc  # noqa: E402

COMPUTED = json.loads((Path(__file__).resolve().parent / "computed.json").read_text())
CHANGES, DRIFT = "ANYTHING_CHANGES" in os.environ, "ANYTHING_DRIFT" in os.environ
EMPTY = empty_pb2.Empty()
LARGEST = 400 << 20


def struct_of(values):
    struct = struct_pb2.Struct()
    struct.update(values)
    return struct


def computed(kind, name):
    """Computed values of `kind`: resource, component or function."""
    return json.loads(json.dumps(COMPUTED[kind]).replace("$NAME", name))


def outputs(inputs, kind, name, is_preview):
    values = json_format.MessageToDict(inputs)
    for key, value in computed(kind, name).items():
        values.setdefault(key, UNKNOWN if is_preview else value)
    return struct_of(values)


class Anything(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, package):
        self.package = package

    def Handshake(self, request, context):
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True)

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="99.0.0")

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema=json.dumps({"name": self.package, "version": "99.0.0"}))

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True)

    def Check(self, request, context):
        inputs = json_format.MessageToDict(request.news)
        return provider_pb2.CheckResponse(inputs=struct_of(changed(inputs, request.urn, 1) if CHANGES else inputs))

    def Diff(self, request, context):
        old, new = (json_format.MessageToDict(inputs) for inputs in (request.old_inputs, request.news))
        found = dict(details(old, new))
        if not found:
            return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)
        first_key = lambda path: re.split(r"[.\[]", path)[0]
        response = provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_SOME, diffs=sorted({first_key(it) for it in found}))
        style = number_of(request.urn) % 4
        if style < 2:
            response.hasDetailedDiff = True
            replaced = next(iter(found)) if style == 0 and number_of(f"{request.urn} replaced") % 2 else None
            for path, kind in found.items():
                # The kind of a difference that demands a replacement is the next number.
                response.detailedDiff[path].kind = kind + (path == replaced)
                response.detailedDiff[path].inputDiff = style == 0
            response.replaces.extend([first_key(replaced)] if replaced else [])
            response.deleteBeforeReplace = number_of(f"{request.urn} deleted first") % 2 == 1
        else:
            response.replaces.extend(key for key in response.diffs if key in ("name", "bucket"))
        return response

    def Create(self, request, context):
        name = request.urn.split("::")[-1]
        properties = outputs(request.properties, "resource", name, request.preview)
        return provider_pb2.CreateResponse(id="" if request.preview else f"{name}-id", properties=properties)

    def Update(self, request, context):
        name = request.urn.split("::")[-1]
        return provider_pb2.UpdateResponse(properties=outputs(request.news, "resource", name, request.preview))

    def Delete(self, request, context):
        return EMPTY

    def Read(self, request, context):
        inputs, properties = request.inputs, outputs(request.properties, "resource", request.id, False)
        if DRIFT and number_of(request.urn) % 17 == 0:
            return provider_pb2.ReadResponse()
        if DRIFT and number_of(request.urn) % 3:
            inputs, properties = (struct_of(changed(json_format.MessageToDict(it), request.urn, 2)) for it in (inputs, properties))
        return provider_pb2.ReadResponse(id=request.id, inputs=inputs, properties=properties)

    def Invoke(self, request, context):
        values = {**computed("function", "found"), **json_format.MessageToDict(request.args)}
        return provider_pb2.InvokeResponse(**{"return": struct_of(values)})

    def Construct(self, request, context):
        monitor = resource_pb2_grpc.ResourceMonitorStub(grpc.insecure_channel(request.monitorEndpoint))
        registered = monitor.RegisterResource(resource_pb2.RegisterResourceRequest(
            type=request.type, name=request.name, parent=request.parent, custom=False, object=request.inputs,
            acceptSecrets=True, acceptResources=True))
        state = outputs(request.inputs, "component", request.name, request.dryRun)
        monitor.RegisterResourceOutputs(resource_pb2.RegisterResourceOutputsRequest(urn=registered.urn, outputs=state))
        return provider_pb2.ConstructResponse(urn=registered.urn, state=state)

    def Cancel(self, request, context):
        return EMPTY


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32), options=[("grpc.max_receive_message_length", LARGEST)])
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Anything(sys.argv[1]), server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
