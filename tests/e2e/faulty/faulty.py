"""The lab provider with lists, mappings and parameters, and with one fault that the variable FAULT names.

    FAULT=list-twice tests/e2e/faulty/pulumi-resource-lab

Without a fault it keeps every rule that `plumb provider check` looks at. Each fault breaks one.
"""

import base64
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))

import lab_provider as lab
import lab_schema

pb, FAULT = lab.pb, os.environ.get("FAULT", "")
PACKAGE, PARAMETER = "lab-sub", "sub"


def described(text, parameter=None):
    """The schema with what the lab does not say: that things can be listed, and what the parameter is."""
    schema = json.loads(text)
    schema["resources"][lab.THING]["listInputs"] = {"type": "object", "properties": {}}
    if parameter is not None:
        schema["name"] = PACKAGE
        schema["resources"] = schema["functions"] = schema["provider"] = schema["config"] = {}
        schema["parameterization"] = {
            "baseProvider": {"name": "lab", "version": lab.VERSION},
            "parameter": base64.b64encode(parameter.encode()).decode(),
        }
    return json.dumps(schema)


class Faulty(lab.LabProvider):
    parameter = None

    @lab.rpc
    def GetSchema(self, request, context):
        parameter = self.parameter if request.subpackage_name else None
        return pb.GetSchemaResponse(schema=described(lab_schema.schema(lab.VERSION), parameter))

    @lab.rpc
    def Check(self, request, context):
        if "NoSuch" in request.urn:
            raise lab.Failure("there is no such type")
        return super().Check(request, context)

    @lab.rpc
    def Parameterize(self, request, context):
        self.parameter = PARAMETER if request.HasField("args") or FAULT != "parameterize" else "another"
        return pb.ParameterizeResponse(name=PACKAGE, version=lab.VERSION)

    @lab.rpc
    def GetMappings(self, request, context):
        return pb.GetMappingsResponse(providers=["lab"])

    @lab.rpc
    def GetMapping(self, request, context):
        data = b"" if FAULT == "mappings" else b"{}"
        return pb.GetMappingResponse(provider="lab", data=data)

    def List(self, request, context):
        things = self.cloud.all(request.token)
        ids = ["a", "b"] + ([] if FAULT == "list-finds" else [it["id"] for it in things])
        if FAULT == "list-no-id":
            ids.append("")
        if FAULT == "list-twice":
            ids.append("a")
        if request.limit and FAULT != "list-limit":
            ids = ids[:request.limit]
        for it in ids:
            yield pb.ListResponse(result=pb.ListResponse.Result(id=it, name=it))
        again = "again" if FAULT == "list-forever" else ""
        yield pb.ListResponse(continuation=pb.ListResponse.Continuation(continuation_token=again))

    @lab.rpc
    def Construct(self, request, context):
        if FAULT == "construct-options":
            request.parent = ""
            request.ClearField("protect")
        construction = Construction(request, lab.v.from_struct(request.inputs))
        response = construction.run()
        if FAULT == "construct-urn":
            response.urn += "-other"
        return response

    @lab.rpc
    def Call(self, request, context):
        response = super().Call(request, context)
        if FAULT == "call":
            response.MergeFrom(pb.CallResponse(**{"return": lab.v.to_struct({"description": 1.0})}))
        return response


class Construction(lab.Construction):
    def register(self, **fields):
        if FAULT == "construct-custom" and fields["type"] == lab.COMPONENT:
            fields["custom"] = True
        if FAULT == "children" and fields["type"] == lab.THING:
            fields["parent"] = ""
        return super().register(**fields)


lab.LabProvider = Faulty
lab.main()
