#!/usr/bin/env python3
"""Uses a generated SDK, installed as a distribution, in a program against the real core SDK, with a pretend provider, and looks
at what is sent and what comes back.

    tests/codegen/use_python.py --bin PLUMB

To be run by the Python of `tests/setup-python-packages.sh`.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent


def install(plumb, work):
    """Generates the SDK, and puts it where it can be imported, with all that an installation knows of it."""
    command = [plumb, "package", "gen-sdk", "--language", "python", "--out", work, HERE / "use.json"]
    subprocess.run(command, check=True, capture_output=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", work / "site", work / "python"], check=True, stdout=sys.stderr)
    sys.path.insert(0, str(work / "site"))


class Requests:
    """What the program asks for."""

    def __init__(self):
        self.resources, self.calls, self.registrations = [], [], []


def mocks(pulumi, requests):
    class Mocks(pulumi.runtime.Mocks):
        def new_resource(self, args):
            requests.resources.append(args)
            outputs = dict(args.inputs)
            if args.typ == "lab:box:Box":
                outputs["secretCode"] = "hidden"
            return args.resource_id or f"{args.name}-id", outputs

        def call(self, args):
            requests.calls.append(args)
            given = args.args
            return {
                "lab:box:Box/open": lambda: {"content": f"opened with {given['code']}"},
                "lab:box:Box/peek": lambda: {"res": 5},
                "lab:index:find": lambda: {"ids": [given["name"], str(int(given["limit"]))]},
                "lab:index:add": lambda: {"sum": (given.get("a") or 0) + given["b"]},
            }[args.token]()

    return Mocks()


def watch(requests):
    """Keeps requests as they are sent, with the options that mocks do not see."""
    from pulumi.runtime.mocks import MockMonitor
    from pulumi.runtime.proto import provider_pb2

    register = MockMonitor.RegisterResource

    def registered(self, request):
        requests.registrations.append(request)
        return register(self, request)

    def called(self, request):
        """Methods are no business of the SDK's own mocks; they are answered like functions here."""
        answer = self.Invoke(request)
        return provider_pb2.CallResponse(**{"return": getattr(answer, "return")})

    MockMonitor.RegisterResource = registered
    MockMonitor.Call = called


async def value(output):
    return await output.future()


async def use_resources(pulumi, lab, requests):
    box = lab.box.Box("b", size=1, lock={"kind": "key"}, plain_lock=lab.box.LockArgs(kind=lab.box.Kind.KEY, code="1"), password="pw")
    assert await value(box.urn) == "urn:pulumi:stack::project::pulumi:pulumi:Stack$lab:box:Box::b"
    inputs = requests.resources[-1].inputs
    assert inputs["apiVersion"] == "v1", inputs
    assert inputs["fast"] is False, "what the environment says counts even if it is false"
    assert inputs["plainLock"] == {"kind": "key", "code": "1"}, inputs
    assert inputs["lock"] == {"kind": "key"}, inputs
    request = requests.registrations[-1]
    assert list(request.additionalSecretOutputs) == ["secretCode"]
    assert list(request.replaceOnChanges) == ["lock"]
    assert [alias.spec.type for alias in request.aliases] == ["lab:index:OldBox"]
    assert request.version == "1.2.3", request.version
    assert "4dabf18193072939515e22adb298388d" in request.object.fields["password"].struct_value.fields, "a secret has its mark"
    lock = await value(box.lock)
    assert isinstance(lock, lab.box.outputs.Lock) and lock.kind == "key", lock
    assert await value(box.secret_code) == "hidden" and await box.size.is_known()

    args = lab.box.BoxArgs(size=2, lock=lab.box.LockArgs(kind="1234"))
    await value(lab.box.Box("c", args, pulumi.ResourceOptions(protect=True)).urn)
    assert requests.resources[-1].inputs["lock"] == {"kind": "1234", "code": "0000"}, requests.resources[-1].inputs
    assert requests.registrations[-1].protect

    full = lab.box.Box(
        "full", size=pulumi.Output.from_input(2), cover=pulumi.StringAsset("text"),
        bundle=pulumi.AssetArchive({"a": pulumi.StringAsset("b")}), label=7, tint=lab.box.Kind.DIGITS,
        spares=[{"kind": "key"}, lab.box.LockArgs(kind="1234")], by_name={"one": {"kind": "key", "code": pulumi.Output.secret("9")}})
    await value(full.urn)
    inputs = requests.resources[-1].inputs
    assert inputs["cover"].text == "text" and inputs["bundle"].assets["a"].text == "b", inputs
    assert (inputs["size"], inputs["label"], inputs["tint"]) == (2, 7, "1234"), inputs
    assert [spare["kind"] for spare in inputs["spares"]] == ["key", "1234"], inputs
    assert "9" in str(requests.registrations[-1].object.fields["byName"]), "names in maps stay as they are"

    try:
        lab.box.Box("d")
        raise AssertionError("a box needs a size")
    except TypeError as error:
        assert "Missing required property 'size'" in str(error), error
    found = lab.box.Box.get("old", "some-id", size=9)
    assert await value(found.id) == "some-id"
    assert requests.resources[-1].inputs == {"size": 9}, requests.resources[-1].inputs

    shelf = lab.Shelf("s", boxes=[box])
    await value(shelf.urn)
    assert requests.registrations[-1].type == "lab:index:Shelf" and requests.registrations[-1].remote
    return box


async def use_functions(pulumi, lab, box):
    opened = await value(box.open(code="12"))
    assert opened.content == "opened with 12", opened
    assert box.peek() == 5
    found = lab.find(name="x")
    assert found.ids == ["x", "7"] and (await found).ids == ["x", "7"], found.ids
    assert (await value(lab.find_output(name=pulumi.Output.from_input("y"), limit=2))).ids == ["y", "2"]
    assert lab.add(2, 3) == 5
    assert await value(lab.add_output(2)) == 2


async def use_provider(lab, requests):
    provider = lab.Provider("p", region="r", retries=4, token={"a": "b"})
    await value(provider.urn)
    inputs = requests.registrations[-1].object.fields
    assert inputs["region"].string_value == "r" and inputs["retries"].string_value == "4", inputs
    assert inputs["token"].struct_value.fields["value"].string_value == '{"a": "b"}', inputs
    assert lab.config.region == "north" and lab.config.retries == 3
    assert lab.config.tags == '{"a":"b"}'


async def references(pulumi, lab):
    """A reference to a resource becomes an instance of its class."""
    from pulumi.runtime import rpc

    urn = "urn:pulumi:stack::project::pulumi:pulumi:Stack$lab:box:Box::b"
    reference = {rpc._special_sig_key: rpc._special_resource_sig, "urn": urn, "id": "b-id", "packageVersion": "1.2.3"}
    struct = rpc.struct_pb2.Struct()
    struct.update({"box": reference})
    assert isinstance(rpc.deserialize_properties(struct)["box"], lab.box.Box)


async def main(work):
    import pulumi

    requests = Requests()
    watch(requests)
    pulumi.runtime.set_mocks(mocks(pulumi, requests), project="project", stack="stack", preview=False)
    import pulumi_lab as lab

    assert [(kind.name, kind.value) for kind in lab.box.Kind] == [("KEY", "key"), ("DIGITS", "1234")]
    box = await use_resources(pulumi, lab, requests)
    await use_functions(pulumi, lab, box)
    await use_provider(lab, requests)
    await references(pulumi, lab)
    from pulumi_lab import _utilities

    assert _utilities.get_version() == "1.2.3"
    plugin = (work / "site" / "pulumi_lab" / "pulumi-plugin.json").read_text()
    assert '"version": "1.2.3"' in plugin and (work / "site" / "pulumi_lab" / "py.typed").exists()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    plumb = parser.parse_args().bin.resolve()
    folder = Path(tempfile.mkdtemp(prefix="plumb-use-"))
    os.environ.update(LAB_FAST="f", LAB_REGION="north", PULUMI_CONFIG='{"lab:tags": "{\\"a\\":\\"b\\"}"}')
    warnings.simplefilter("error", SyntaxWarning)
    install(plumb, folder)
    asyncio.run(main(folder))
    print("the generated SDK does what it should")
    shutil.rmtree(folder)
