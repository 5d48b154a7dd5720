"""The features in Python; see `tests/e2e/languages.py`. FEATURES names those to run, ROUND is 1 or 2."""

import os
import signal
import sys

import pulumi
from pulumi import ResourceOptions as Options

import lab

ROUND = os.environ["ROUND"]


def resources():
    plain = lab.Thing("plain", value="v", other={"list": [1, {"deep": True}]})
    pulumi.export("resources", {"value": plain.value, "other": plain.other, "serial": plain.serial})


def secrets():
    hidden = lab.Thing("hidden", value=pulumi.Output.secret("open sesame"), password=pulumi.Config().require_secret("token"))
    pulumi.export("secrets", hidden.value)


def config():
    settings = pulumi.Config()
    pulumi.export("config", {
        "number": settings.require_int("number"), "truth": settings.require_bool("truth"),
        "tree": settings.require_object("tree")["list"][0]})
    pulumi.export("configSecret", settings.require_secret("token"))


def assets():
    archive = pulumi.AssetArchive({
        "a.txt": pulumi.StringAsset("text"), "b.txt": pulumi.FileAsset("asset.txt"), "c": pulumi.FileArchive("folder")})
    pulumi.export("assets", lab.Thing("assets", source=archive).sourceHash)


def remoteAssets():
    archive = pulumi.AssetArchive({
        "a.txt": pulumi.RemoteAsset(f"file://{os.getcwd()}/text.txt"),
        "b.txt": pulumi.RemoteAsset("http://assets.test/asset.txt"),
        "c": pulumi.RemoteArchive("http://assets.test/folder.zip")})
    pulumi.export("remoteAssets", lab.Thing("remoteAssets", source=archive).sourceHash)


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("matrix:index:Group", name)
        self.value = lab.Thing("child", Options(parent=self), value="of a child").value
        self.register_outputs({"value": self.value})


def components():
    pulumi.export("components", Group("group").value)


def providers():
    europe = lab.Provider("europe", region="eu")
    pulumi.export("providers", lab.Thing("european", Options(provider=europe)).region)


def aliases():
    if ROUND == "1":
        lab.Thing("former", value="v")
    else:
        lab.Thing("latter", Options(aliases=[pulumi.Alias(name="former")]), value="v")


def protect():
    lab.Thing("guarded", Options(protect=True))


def retainOnDelete():
    if ROUND == "1":
        lab.Thing("retained", Options(retain_on_delete=True))


def dependsOn():
    first = lab.Thing("first")
    lab.Thing("second", Options(depends_on=[first]))


def customTimeouts():
    thing = lab.Thing("timed", Options(custom_timeouts=pulumi.CustomTimeouts(create="5m")), echoTimeout=True)
    pulumi.export("customTimeouts", thing.timeoutSeen)


def ignoreChanges():
    pulumi.export("ignoreChanges", lab.Thing("ignoring", Options(ignore_changes=["value"]), value=ROUND).value)


def replaceOnChanges():
    lab.Thing("replaced", Options(replace_on_changes=["value"], delete_before_replace=True), value=ROUND)


def additionalSecretOutputs():
    thing = lab.Thing("quiet", Options(additional_secret_outputs=["value"]), value="psst")
    pulumi.export("additionalSecretOutputs", thing.value)


def stackReferences():
    other = pulumi.StackReference("organization/source/dev")
    pulumi.export("stackReferences", other.get_output("word"))
    pulumi.export("stackReferenceSecret", other.require_output("hidden"))


def get():
    pulumi.export("get", lab.Thing.get("found", "existing-1").value)


def importing():
    lab.Thing("adopted", Options(import_="importable-1"), value="imported")


def invokes():
    plain = pulumi.runtime.invoke("lab:index:echo", {"value": "hello"}).value["value"]
    thing = lab.Thing("asked", value="v")
    output = thing.value.apply(lambda value: pulumi.runtime.invoke("lab:index:echo", {"value": value}).value["value"])
    pulumi.export("invokes", {"plain": plain, "output": output})


def transforms():
    def change(args):
        if args.name == "transformed":
            return pulumi.ResourceTransformResult({**args.props, "value": "after"}, args.opts)
        return None

    pulumi.runtime.register_resource_transform(change)
    pulumi.export("transforms", lab.Thing("transformed", value="before").value)


def invokeTransforms():
    def change(args):
        if args.args.get("value") == "before":
            return pulumi.InvokeTransformResult({"value": "after"}, args.opts)
        return None

    pulumi.runtime.register_invoke_transform(change)
    answer = pulumi.Output.from_input(pulumi.runtime.invoke_async("lab:index:echo", {"value": "before"}))
    pulumi.export("invokeTransforms", answer.apply(lambda it: it["value"]))


def note(text):
    with open(os.environ["HOOK_LOG"], "a") as log:
        log.write(text + "\n")


def hooks():
    made = pulumi.ResourceHook("made", lambda args: note(f"made {args.name}"))
    lab.Thing("hooked", Options(hooks=pulumi.ResourceHookBinding(after_create=[made])))


def errorHooks():
    def again(args):
        note(f"again {args.name}")
        return True

    hook = pulumi.ErrorHook("again", again)
    fails = {"create": {"message": "not yet", "times": 2}}
    lab.Thing("stubborn", Options(hooks=pulumi.ResourceHookBinding(on_error=[hook])), failOn=fails)


class Doubler(pulumi.dynamic.ResourceProvider):
    def create(self, props):
        return pulumi.dynamic.CreateResult("doubled-1", {"doubled": props["value"] * 2})


class Doubled(pulumi.dynamic.Resource):
    doubled: pulumi.Output[int]

    def __init__(self, name, value):
        super().__init__(Doubler(), name, {"value": value, "doubled": None})


def dynamicProviders():
    pulumi.export("dynamicProviders", Doubled("doubled", 21).doubled)


def remoteComponents():
    pulumi.export("remoteComponents", lab.Component("remote", size=2, value="v").values)


def methods():
    described = lab.Thing("described").describe(greeting="hi")
    pulumi.export("methods", described.apply(lambda it: it["description"]))


def outputs():
    pulumi.export("outputs", {
        "text": "ünïcödé ✓", "number": 1.5, "truth": False, "list": [1, "two", []], "map": {"k": {"l": "m"}}})


def strangeOutput():
    sys.stdout.buffer.write(b"before \xff\xfe after\n")
    sys.stdout.flush()


def longLines():
    print("x" * 10_000_000 + " END")


def logs():
    pulumi.log.debug("a debug message")
    pulumi.log.info("an info message")
    pulumi.log.warn("a warning message")
    pulumi.log.error("an error message")


def errors():
    raise ValueError("it broke")


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


for name in os.environ["FEATURES"].split(","):
    globals()[name]()
