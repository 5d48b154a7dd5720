"""Programs, states and files that scripts use."""

import hashlib
import json

ROOT = "urn:pulumi:dev::lab::pulumi:pulumi:Stack::lab-dev"
PROVIDER = "urn:pulumi:dev::lab::pulumi:providers:lab::default_1_0_0"
PROVIDER_ID = "00000000-0000-4000-8000-000000000001"
A = "urn:pulumi:dev::lab::lab:index:Thing::a"
B = "urn:pulumi:dev::lab::lab:index:Thing::b"
C = "urn:pulumi:dev::lab::lab:index:Thing::c"
KID = "urn:pulumi:dev::lab::lab:index:Thing$lab:index:Thing::kid"
NAMES = [A, B, C, KID, ROOT, PROVIDER]

SIGNATURE = "4dabf18193072939515e22adb298388d"


def thing(urn, parent=ROOT, **more):
    name = urn.rsplit("::", 1)[1]
    state = {
        "urn": urn, "custom": True, "id": f"{name}-1", "type": "lab:index:Thing",
        "inputs": {"value": name}, "outputs": {"region": "nowhere", "serial": 1, "value": name},
        "parent": parent, "provider": f"{PROVIDER}::{PROVIDER_ID}",
    }
    state.update(more)
    return state


def resources():
    """Four resources with dependencies of each kind, below a stack with outputs."""
    outputs = {"text": "one", "n": 1.5, "list": [1, "b", None], "map": {"k": {"d": True}}, "nil": None, "html": "<a&b>",
               "lines": "l1\nl2\n"}
    return [
        {"urn": ROOT, "custom": False, "type": "pulumi:pulumi:Stack", "outputs": outputs},
        {"urn": PROVIDER, "custom": True, "id": PROVIDER_ID, "type": "pulumi:providers:lab",
         "inputs": {"version": "1.0.0"}, "outputs": {"version": "1.0.0"}},
        thing(A),
        thing(B, dependencies=[A], propertyDependencies={"value": [A], "other": []}),
        thing(KID, parent=A),
        thing(C, dependencies=[B], deletedWith=B, protect=True),
    ]


def deployment(change=None):
    """A state as `stack import` takes it; `change` edits the list of resources."""
    listed = resources()
    if change:
        listed = change(listed)
    version = "v3.250.0"
    manifest = {"time": "2024-05-06T07:08:09.123Z", "magic": hashlib.sha256(version.encode()).hexdigest(),
                "version": version}
    return {"version": 3, "deployment": {"manifest": manifest, "resources": listed}}


def text(value):
    return json.dumps(value, indent=2)


def without(urn):
    return lambda listed: [state for state in listed if state["urn"] != urn]


def reordered(listed):
    return [*listed[:2], *reversed(listed[2:])]


def doubled(listed):
    return [*listed, dict(listed[2], delete=True, id="a-0")]


def foreign(listed):
    return [*listed, thing(A.replace(":dev:", ":else:"), parent="")]


def pending():
    state = deployment()
    operation = {"resource": thing(A.replace("::a", "::new")), "type": "creating"}
    state["deployment"]["pending_operations"] = [operation]
    return state


# Files that `stack import` is given; the second half is broken.
STATES = {
    "state.json": text(deployment()),
    "doubled.json": text(deployment(doubled)),
    "pending.json": text(pending()),
    "empty.json": text(deployment(lambda _: [])),
    "rootless.json": text(deployment(lambda listed: [dict(state, parent="") for state in listed[1:]])),
    "reordered.json": text(deployment(reordered)),
    "missing.json": text(deployment(without(A))),
    "foreign.json": text(deployment(foreign)),
    "noprovider.json": text(deployment(without(PROVIDER))),
    "nodeployment.json": '{"version": 3}',
    "newer.json": '{"version": 9, "deployment": {}}',
    "old.json": '{"version": 0, "deployment": {}}',
    "torn.json": '{"version": 3, "deployment": {"manifest"',
    "list.json": "[]",
    "nothing.json": "",
}

PROGRAM = """name: lab
runtime: yaml
config:
  size:
    type: integer
    default: 3
resources:
  a:
    type: lab:Thing
    properties: {value: a}
  b:
    type: lab:Thing
    properties: {value: "${a.value}"}
outputs:
  b: ${b.value}
  size: ${size}
  secret: {fn::secret: hush}
"""

CHANGED = PROGRAM.replace("{value: a}", "{value: changed, tags: {k: v}}").replace("  size: ${size}\n", "")

# Resources with options, a provider of its own, functions and nested outputs; then what changes about them. Each needs the one before
# it: the order of others is of chance.
OPTIONS = """name: lab
runtime: yaml
variables:
  said: {fn::invoke: {function: lab:echo, arguments: {value: [1, two]}, return: value, options: {provider: "${p}"}}}
resources:
  p:
    type: pulumi:providers:lab
    properties: {region: here}
  a:
    type: lab:Thing
    properties: {value: a, tags: {k: v, n: {x: 1}}, items: [1, two], password: hush}
    options: {provider: "${p}", additionalSecretOutputs: [other]}
  kid:
    type: lab:Thing
    properties: {value: "<&>", replaceOn: [value], detailedDiff: true}
    options: {parent: "${a}", provider: "${p}", deleteBeforeReplace: true}
  b:
    type: lab:Thing
    properties: {value: "${a.serial}", replaceOn: [other], other: first}
    options: {provider: "${p}", dependsOn: ["${kid}"], ignoreChanges: [tags], customTimeouts: {create: 5m}}
  kept:
    type: lab:Thing
    properties: {value: kept, items: [a, b, c]}
    options: {provider: "${p}", retainOnDelete: true, aliases: [{name: old}], dependsOn: ["${b}"]}
outputs:
  said: ${said}
  password: ${a.password}
  all: {a: "${a.value}", list: ["${b.serial}", null, 1e21, 0.0000001]}
  many: "line 1\\nline 2"
"""

OPTIONS_CHANGED = (OPTIONS.replace("region: here", "region: there").replace('value: "<&>"', "value: changed").replace("other: first", "other: second")
                   .replace("items: [a, b, c]", "items: [a, c, d]").replace("  many:", "  more: true\n  lots:"))
GUARDED = OPTIONS.replace("retainOnDelete: true", "protect: true").replace("  kid:", "  child:").replace("${kid}", "${child}")
FAILING = """name: lab
runtime: yaml
resources:
  a:
    type: lab:Thing
    properties: {value: "${d.value}", failOn: {create: {message: no room, times: 2}, update: {message: not now, times: 1}}}
  b: {type: lab:Thing, properties: {value: "${a.value}"}}
  c:
    type: lab:Thing
    properties: {value: c, partialOn: {create: {reasons: [not ready, "too <slow>"], times: 1}}}
  d: {type: lab:Thing, properties: {value: "${c.value}", failOn: {delete: stuck}}}
outputs:
  c: ${c.value}
"""
REFUSED = "name: lab\nruntime: yaml\nresources:\n  a: {type: 'lab:Thing', properties: {value: a, checkFailures: [{property: value, reason: no good}]}}\n"

# Projects: without resources, with some, broken.
PROJECTS = {
    "plain": "name: lab\nruntime: yaml\n",
    "outputs": "name: lab\nruntime: yaml\noutputs:\n  one: 1\n  text: two words\n  deep: {a: [1, x]}\n",
    "program": PROGRAM,
    "changed": CHANGED,
    "options": OPTIONS,
    "optionschanged": OPTIONS_CHANGED,
    "guarded": GUARDED,
    "failing": FAILING,
    "refused": REFUSED,
    "described": "name: lab\ndescription: A lab\nruntime:\n  name: yaml\nconfig:\n  lab:needed: {type: string}\n",
    "unnamed": "runtime: yaml\n",
    "badtype": "name: lab\nruntime: yaml\nresources:\n  a: {type: 'lab:Nothing'}\n",
    "badpackage": "name: lab\nruntime: yaml\nresources:\n  a: {type: 'nowhere:index:Thing'}\n",
    "badreference": "name: lab\nruntime: yaml\nresources:\n  a: {type: 'lab:Thing', properties: {value: '${nothing.x}'}}\n",
    "badcircle": "name: lab\nruntime: yaml\nresources:\n  a: {type: 'lab:Thing', properties: {value: '${b.value}'}}\n"
                 "  b: {type: 'lab:Thing', properties: {value: '${a.value}'}}\n",
    "badoption": "name: lab\nruntime: yaml\nresources:\n  a: {type: 'lab:Thing', options: {protect: maybe, nothing: 1}}\n",
    "badproperty": "name: lab\nruntime: yaml\nresources:\n  a: {type: 'lab:Thing', properties: {value: [1], strange: 2}}\n",
    "badconfig": "name: lab\nruntime: yaml\nconfig:\n  size: {type: number, default: x}\n",
    "badname": "name: 'a b'\nruntime: yaml\n",
    "badkey": "name: lab\nruntime: yaml\nstrange: 1\nresource: {}\n",
    "badbackend": "name: lab\nruntime: yaml\nbackend: {url: 'nonsense://x'}\n",
    "badversion": "name: lab\nruntime: yaml\nrequiredPulumiVersion: '>=99.0.0'\n",
    "badruntime": "name: lab\nruntime: 3\n",
    "unclosed": "name: [lab\nruntime: yaml\n",
    "other": "name: other\nruntime: yaml\n",
}

# Stack settings: in good order, and broken.
SETTINGS = {
    "good": "config:\n  lab:plain: text\n  lab:num: 12\n  lab:flag: true\n  lab:obj:\n    k: [1, two]\n  aws:region: eu\n",
    "comment": "# first\nconfig:\n  # about\n  lab:z: 1 # behind\n  lab:a: x\n",
    "empty": "",
    "duplicate": "config:\n  lab:a: 1\n  lab:a: 2\n",
    "list": "config: [1]\n",
    "broken": "config:\n  lab:a: [\n",
    "null": "config:\n  lab:n:\n",
    "secure": "config:\n  lab:s:\n    secure: nonsense\n",
    "environment": "environment: [e]\nconfig:\n  lab:a: 1\n",
    "unknown": "strange: 1\nconfig:\n  lab:a: 1\n",
}

IMPORTS = {
    "import.json": text({"resources": [{"type": "lab:index:Thing", "name": "n", "id": "n-1"}]}),
    "noid.json": text({"resources": [{"type": "lab:index:Thing", "name": "n"}]}),
    "noname.json": text({"resources": [{"type": "lab:index:Thing", "id": "x"}]}),
    "badtype.json": text({"resources": [{"type": "Thing", "name": "n", "id": "x"}]}),
    "twice.json": text({"resources": [{"type": "lab:index:Thing", "name": "n", "id": "n-1"}] * 2}),
    "noresources.json": "{}",
    "badparent.json": text({"resources": [{"type": "lab:index:Thing", "name": "n", "id": "n-1", "parent": "p"}]}),
}
