"""What each feature of `languages.py` has to come to, the same for every language, and what SDKs lack."""

from dataclasses import dataclass, field
from typing import Callable

YAML_PRINTS = "YAML programs print nothing."
YAML_HAS_NONE = "YAML programs have no {}."


@dataclass
class Feature:
    """A row of the table."""

    name: str
    title: str
    check: Callable
    lacks: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)


class Wrong(Exception):
    """Something is not as the feature says."""


def expect(what, actual, expected):
    if actual != expected:
        raise Wrong(f"{what}: {actual!r} is not {expected!r}")


def output(name, value, is_secret=False):
    """A check that looks at one output."""
    def check(ran):
        expect("the output", ran.outputs.get(name), value)
        expect("the masked output", ran.masked.get(name), "[secret]" if is_secret else value)
    return check


def every(*checks):
    def check(ran):
        for one in checks:
            one(ran)
    return check


def resource(name, **expected):
    """A check that looks at one resource in the state."""
    def check(ran):
        if name not in ran.resources:
            raise Wrong(f"{name} is not in the state")
        for key, value in expected.items():
            expect(f"{key} of {name}", ran.resources[name].get(key), value)
    return check


def secrets(ran):
    output("secrets", "open sesame", is_secret=True)(ran)
    for text in ("open sesame", "hush"):
        if text in ran.stored:
            raise Wrong(f"{text!r} stands in the state in the clear")
        if text in ran.said:
            raise Wrong(f"{text!r} was shown")


def components(ran):
    output("components", "of a child")(ran)
    group = ran.resources["group"]
    expect("the type", group["type"], "matrix:index:Group")
    expect("the outputs", group["outputs"], {"value": "of a child"})
    expect("the child's parent", ran.resources["child"]["parent"], group["urn"])


def aliases(ran):
    resource("latter", id="former-1")(ran)
    expect("the former name", "former" in ran.resources, False)


def retained(ran):
    expect("in the state", "retained" in ran.resources, False)
    expect("in the cloud", (ran.cloud / "Thing__retained-1.json").exists(), True)


def depends(ran):
    expect("dependencies", ran.resources["second"].get("dependencies"), [ran.resources["first"]["urn"]])


def protected(ran):
    resource("guarded", protect=True)(ran)
    expect("how a targeted destroy ends", ran.destroy_of("guarded"), 1)


def called(*lines):
    return lambda ran: expect("calls", [line for line in ran.calls if line.split()[1] == lines[0].split()[1]], list(lines))


def remote(ran):
    output("remoteComponents", ["v", "v"])(ran)
    expect("the child's parent", ran.resources["remote-child-1"]["parent"], ran.resources["remote"]["urn"])


def fails(*texts):
    """A run of its own that has to fail and say these texts."""
    def check(ran):
        if ran.code == 0:
            raise Wrong("it did not fail")
        for text in texts:
            if text not in ran.said:
                raise Wrong(f"{text!r} was not said:\n{ran.said[-3000:]}")
    return check


def only_errors(ran):
    fails("it broke")(ran)
    if "panic" in ran.said.lower():
        raise Wrong("it panicked")


def logged(ran):
    # Whether the run fails does not depend on the error: it is the program's own end that counts.
    said("debug: a debug message", "an info message", "warning: a warning message", "error: an error message")(ran)


def said(*texts):
    """A check that looks at what was shown."""
    def check(ran):
        for text in texts:
            if text not in ran.said:
                raise Wrong(f"{text[-100:]!r} was not said")
    return check


def long_lines(ran):
    """Lines of more than a mebibyte are shown in pieces; nothing is lost."""
    said("x END")(ran)
    shown = sum(line.count("x") for line in ran.said.splitlines() if "xxxx" in line)
    # At the end once more than while it runs.
    expect("how much is shown", shown >= 10_000_000, True)


def no_program(ran):
    missing = {"python": "__main__.py", "nodejs": "index.js) does not exist", "go": ".go", "java": "pom.xml", "yaml": "nowhere"}
    fails(missing[ran.language])(ran)


def killed(ran):
    fails("signal 9" if ran.language != "java" else "error:")(ran)
    expect("in time", ran.seconds < 60, True)


ASSET_HASH = "2ea0fa569157b3137465368e18990f856cdae88875e5ed09547d668b36121d33"

# Run together in one program, in two rounds.
TOGETHER = [
    Feature("resources", "Resources and outputs", every(
        output("resources", {"value": "v", "other": {"list": [1, {"deep": True}]}, "serial": 1}), resource("plain", id="plain-1"))),
    Feature("secrets", "Secrets, from program to state and back", secrets),
    Feature("config", "Configuration with types, and secret", every(
        output("config", {"number": 3, "truth": True, "tree": "x"}), output("configSecret", "hush", is_secret=True))),
    Feature("assets", "Assets and archives", output("assets", ASSET_HASH)),
    # The same contents, fetched: through a proxy, and from an address of a file.
    Feature("remoteAssets", "Remote assets and archives", output("remoteAssets", ASSET_HASH)),
    Feature("components", "Components in the program", components, lacks={"yaml": YAML_HAS_NONE.format("components of their own; plugins in YAML have")}),
    Feature("remoteComponents", "Components of plugins", remote),
    Feature("providers", "Explicit providers", output("providers", "eu")),
    Feature("aliases", "Aliases", aliases),
    Feature("protect", "`protect`", protected),
    Feature("retainOnDelete", "`retainOnDelete`", retained),
    Feature("dependsOn", "`dependsOn`", depends),
    Feature("customTimeouts", "`customTimeouts`", output("customTimeouts", 300)),
    Feature("ignoreChanges", "`ignoreChanges`", output("ignoreChanges", "1")),
    Feature("replaceOnChanges", "`replaceOnChanges`, `deleteBeforeReplace`", resource("replaced", id="replaced-2")),
    Feature("additionalSecretOutputs", "`additionalSecretOutputs`", output("additionalSecretOutputs", "psst", is_secret=True)),
    Feature("importing", "`import`", resource("adopted", id="importable-1")),
    Feature("get", "Reading resources (`get`)", every(output("get", "found"), resource("found", external=True))),
    Feature("stackReferences", "Stack references", every(
        output("stackReferences", "w"), output("stackReferenceSecret", "h", is_secret=True))),
    Feature("invokes", "Functions (invokes), plain and with outputs", output("invokes", {"plain": "hello", "output": "v"})),
    Feature("methods", "Methods of resources", output("methods", "hi described", is_secret=True), lacks={
        "yaml": YAML_HAS_NONE.format("calls of methods")}),
    Feature("transforms", "Transforms of resources", output("transforms", "after"), lacks={
        "yaml": YAML_HAS_NONE.format("transforms")}, notes={
        "java": "The SDK has only transformations, which do not reach children of components of plugins."}),
    Feature("invokeTransforms", "Transforms of functions", output("invokeTransforms", "after"), lacks={
        "java": "The SDK has no transforms of functions.", "yaml": YAML_HAS_NONE.format("transforms")}),
    Feature("hooks", "Hooks of resources", called("made hooked"), lacks={
        "java": "The SDK has no hooks.", "yaml": YAML_HAS_NONE.format("hooks")}),
    Feature("errorHooks", "Error hooks", every(resource("stubborn", id="stubborn-1"), called("again stubborn", "again stubborn")),
            lacks={"java": "The SDK has no hooks.", "yaml": YAML_HAS_NONE.format("hooks")}),
    Feature("dynamicProviders", "Dynamic providers", output("dynamicProviders", 42), lacks={
        "go": "The SDK has no dynamic providers.", "java": "The SDK has no dynamic providers.",
        "yaml": YAML_HAS_NONE.format("dynamic providers")}),
    Feature("outputs", "Stack outputs of every kind", output("outputs", {
        "text": "ünïcödé ✓", "number": 1.5, "truth": False, "list": [1, "two", []], "map": {"k": {"l": "m"}}})),
    Feature("strangeOutput", "Printed bytes that are no text", said("before \ufffd\ufffd after"), lacks={"yaml": YAML_PRINTS}),
    Feature("longLines", "Printed lines of 10 MB", long_lines, lacks={"yaml": YAML_PRINTS}),
]

# Each in a run of its own.
ALONE = [
    Feature("logs", "Logs of all levels", logged, lacks={"yaml": YAML_HAS_NONE.format("logs")}),
    Feature("errors", "An unhandled error", only_errors),
    Feature("missing", "A program that is not there", no_program),
    Feature("killed", "A program that is killed", killed, lacks={"yaml": "YAML programs have no process."}),
    Feature("syntax", "A program that cannot be parsed", None),
]

# What is written in place of the program, and what has to be said.
BROKEN = {
    "python": ("__main__.py", "def broken(:\n", ("SyntaxError", "__main__.py")),
    "nodejs": ("index.js", "const broken = ;\n", ("SyntaxError", "index.js:1")),
    "go": ("main.go", "package main\n\nfunc main() { broken( }\n", ("syntax error", "main.go:3")),
    "java": ("src/main/java/matrix/App.java", "package matrix;\n\npublic class App { void broken( }\n", ("App.java:[3",)),
    "yaml": ("Pulumi.yaml", "name: matrix\nruntime: yaml\nresources: {broken: [}\n", ("Pulumi.yaml",)),
}
