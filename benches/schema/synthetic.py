#!/usr/bin/env python3
"""Writes a large package schema: 1,200 resources and 40 MB unless told otherwise. The same arguments give the same bytes.

    benches/schema/synthetic.py OUT [--resources N] [--megabytes M]

Its resources look like those of the large cloud packages: modules, nested types a few levels deep, enums, long descriptions
with examples in several languages, aliases, secrets, defaults, and a function beside every second resource.
"""

import argparse
import json
import random

WORDS = (
    "the resource network address policy access group name identifier of a an region zone when set is used to for which "
    "service must be unique within account default value storage cluster instance enabled key rule target source "
).split()


def sentence(chance, words):
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize() + "."


def prose(chance, size):
    text = []
    length = 0
    while length < size:
        text.append(sentence(chance, 14))
        length += len(text[-1]) + 1
    return " ".join(text)


def examples(chance, size):
    fences = ("typescript", "python", "go", "csharp", "java", "yaml")
    parts = ["{{% examples %}}\n## Example Usage\n{{% example %}}\n### Basic\n\n"]
    for fence in fences:
        parts.append(f"```{fence}\n{prose(chance, size // len(fences))}\n```\n")
    parts.append("{{% /example %}}\n{{% /examples %}}\n")
    return "".join(parts)


def scalar(chance):
    return {"type": chance.choice(["string", "string", "string", "boolean", "integer", "number"])}


def properties(chance, count, types, size):
    result = {}
    for index in range(count):
        kind = chance.randrange(10)
        if kind < 5 or not types:
            spec = scalar(chance)
            if kind == 0 and spec["type"] == "string":
                spec["default"] = "standard"
        elif kind == 5:
            spec = {"type": "array", "items": scalar(chance)}
        elif kind == 6:
            spec = {"type": "object", "additionalProperties": {"type": "string"}}
        elif kind == 7:
            spec = {"$ref": f"#/types/{chance.choice(types)}"}
        elif kind == 8:
            spec = {"type": "array", "items": {"$ref": f"#/types/{chance.choice(types)}"}}
        else:
            spec = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
        spec["description"] = prose(chance, size)
        if chance.randrange(20) == 0:
            spec["secret"] = True
        if chance.randrange(12) == 0:
            spec["willReplaceOnChanges"] = True
        result[f"property{index:03}"] = spec
    return result


def build(count, scale):
    chance = random.Random(1)
    schema = {
        "name": "synthetic",
        "version": "1.0.0",
        "meta": {"moduleFormat": "(.*)(?:/[^/]*)"},
        "language": {"nodejs": {"compatibility": "tfbridge20"}, "python": {"compatibility": "tfbridge20"}},
        "config": {"variables": {"region": {"type": "string", "defaultInfo": {"environment": ["REGION"]}}}},
        "types": {},
        "provider": {"inputProperties": {"region": {"type": "string"}}},
        "resources": {},
        "functions": {},
    }
    for index in range(count):
        module = f"module{index % 80:02}"
        name = f"Thing{index:04}"
        lower = name.lower()
        types = []
        for level in range(6):
            token = f"synthetic:{module}/{name}Part{level}:{name}Part{level}"
            if level == 0:
                values = [{"value": f"choice{value}", "description": sentence(chance, 8)} for value in range(6)]
                schema["types"][token] = {"type": "string", "enum": values}
            else:
                members = properties(chance, 10, types, int(120 * scale))
                schema["types"][token] = {"type": "object", "properties": members, "required": sorted(members)[:2]}
            types.append(token)
        inputs = properties(chance, 22, types, int(160 * scale))
        outputs = {**inputs, "arn": {"type": "string"}, "state": {"type": "string"}}
        schema["resources"][f"synthetic:{module}/{lower}:{name}"] = {
            "description": prose(chance, int(600 * scale)) + "\n\n" + examples(chance, int(3000 * scale)),
            "properties": outputs,
            "required": ["arn", "property000", "state"],
            "inputProperties": inputs,
            "requiredInputs": ["property000"],
            "stateInputs": {"properties": outputs, "type": "object"},
            "aliases": [{"type": f"synthetic:{module}/old{lower}:Old{name}"}],
        }
        if index % 2 == 0:
            schema["functions"][f"synthetic:{module}/get{name}:get{name}"] = {
                "description": prose(chance, int(300 * scale)),
                "inputs": {"properties": properties(chance, 6, types, int(100 * scale)), "type": "object"},
                "outputs": {"properties": properties(chance, 14, types, int(100 * scale)), "type": "object"},
            }
    return schema


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--resources", type=int, default=1200)
    parser.add_argument("--megabytes", type=float, default=40)
    args = parser.parse_args()
    # What is no text has a size of its own; two samples tell both.
    sample = 40
    small, large = (len(json.dumps(build(sample, scale), indent=1)) / sample for scale in (0.5, 1.0))
    wanted = args.megabytes * 1e6 / args.resources
    scale = max(0.05, 0.5 + 0.5 * (wanted - small) / (large - small))
    text = json.dumps(build(args.resources, scale), indent=1)
    with open(args.out, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{args.out}: {len(text) / 1e6:.1f} MB, {args.resources} resources")


if __name__ == "__main__":
    main()
