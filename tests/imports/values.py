"""Values that fit the types of a schema, drawn from a seed.

The same seed, token and id give the same object, so the plugin can read it again and again without keeping it.
"""

import random

ASSET, ARCHIVE = "pulumi.json#/Asset", "pulumi.json#/Archive"
# Types that contain themselves end here.
DEEPEST = 4
# The beginning of texts that nobody may see.
HIDDEN = "hidden-text-"

TEXTS = [
    "plain", "two words", "", " lead and trail ", "007", "1e3", "0x1f", "1_000", "12:30:45", "true", "No", "null", "~", "y",
    "a: b", "# not a comment", "- item", "*alias", "&anchor", "!tag", "{brace", "[bracket", "%percent", "@at", "`tick`", "'single'",
    '"double"', "back\\slash", "tab\there", "line\nfeed", "line\n\n  indented\n", "\nfirst", "trailing newline\n", "\r\n", "${name}",
    "$${name}", "${", "$", "%{ if }", "{{ mustache }}", "f{string}", "ünïcode", "日本語", "emoji 😀", "\u2028", "\x7f", "?", "=", "<<", "|", ">",
    "x" * 120, "2024-01-02", "1.0", ".5", "-1", "+1", ".inf", "/etc/passwd", "arn:aws:iam::1:role/x", "*/", "//", "/*", "'''", '"""', "\\n",
    "#{ruby}", "${resource.id}", "\\u0041", "$(command)",
]
KEYS = ["key", "two words", "dotted.key", "dash-ed", "1", "true", "null", "", "a/b", "$ref", "ünï", "class", "~", "- x", "a: b",
        "quo\"te", "${x}", "UPPER", "camelCase", "snake_case"]
NUMBERS = [0, 1, -1, 42, 0.5, -2.25, 1e21, 1e-7, 4294967296, 9007199254740991, 123456789.125]
INTEGERS = [0, 1, -1, 42, 8080, 2147483647, -2147483648]


class Values:
    """The objects of one package."""

    def __init__(self, schema, seed):
        self.schema, self.seed = schema, seed
        self.types = schema.get("types", {})

    def shapes(self, token):
        resource = self.schema["resources"][token]
        return resource.get("inputProperties", {}), set(resource.get("requiredInputs", []))

    def inputs(self, token, identity):
        rng = random.Random(f"{self.seed} {token} {identity}")
        properties, required = self.shapes(token)
        # Some have little more than what is required, and some have nearly all.
        share = rng.choice([0.1, 0.5, 0.9])
        # An object names those before it alone: a circle would have no program.
        self.earlier = int(identity.rsplit("-", 1)[1])
        return self.fields(rng, properties, required, share, 0)

    def fields(self, rng, properties, required, share, depth):
        found = {}
        for name, shape in properties.items():
            if name not in required and "const" not in shape and rng.random() > share / (1 + depth):
                continue
            value = self.value(rng, shape, share, depth)
            if value is None:
                continue
            # Published SDKs drop a secret text that is empty.
            if shape.get("secret") and value == "":
                value = "filled"
            if shape.get("secret") and rng.random() < 0.5:
                value = ("secret", f"{HIDDEN}{rng.random()}" if isinstance(value, str) and rng.random() < 0.5 else value)
            found[name] = value
        return found

    def value(self, rng, shape, share, depth):
        if "const" in shape:
            return shape["const"]
        if "default" in shape and rng.random() < 0.3:
            return shape["default"]
        if "oneOf" in shape:
            return self.member(rng, shape, share, depth)
        if "$ref" in shape:
            return self.reference(rng, shape, share, depth)
        kind = shape.get("type")
        if kind == "array":
            drawn = [self.value(rng, shape.get("items", {}), share, depth + 1) for _ in range(rng.randrange(3))]
            return [it for it in drawn if it is not None]
        if kind == "object":
            element = shape.get("additionalProperties", {"type": "string"})
            drawn = {key: self.value(rng, element, share, depth + 1) for key in rng.sample(KEYS, rng.randrange(3))}
            return {key: it for key, it in drawn.items() if it is not None}
        return self.scalar(rng, kind)

    def scalar(self, rng, kind):
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "integer":
            return rng.choice(INTEGERS)
        if kind == "number":
            return rng.choice(NUMBERS)
        if rng.random() < 0.1 and self.earlier:
            return f"id-{rng.randrange(self.earlier)}"
        return rng.choice(TEXTS)

    def member(self, rng, shape, share, depth):
        members = shape["oneOf"]
        discriminator = shape.get("discriminator")
        drawn = rng.choice(members)
        value = self.value(rng, drawn, share, depth)
        mapping = (discriminator or {}).get("mapping", {})
        names = [name for name, target in mapping.items() if target == drawn.get("$ref")]
        if isinstance(value, dict) and names:
            value[discriminator["propertyName"]] = names[0]
        return value

    def reference(self, rng, shape, share, depth):
        ref = shape["$ref"]
        if ref == ASSET:
            return rng.choice([("text", "content of\na file"), ("path", "./some/file.txt")])
        if ref == ARCHIVE:
            return rng.choice([("archive", "./some/folder"), ("members", {"a.txt": ("text", "of a"), "b": ("archive", "./b")})])
        if ref.startswith("pulumi.json#/"):
            return self.anything(rng, depth) if ref.endswith("Any") else '{"json": [1, "two"]}'
        if not ref.startswith("#/types/"):
            # Types of other packages, and resources themselves.
            return self.scalar(rng, shape["type"]) if "type" in shape else None
        shape = self.types.get(ref.removeprefix("#/types/").replace("%2F", "/"))
        if shape is None:
            return None
        if "enum" in shape:
            return rng.choice(shape["enum"])["value"]
        if depth >= DEEPEST and not shape.get("required"):
            return {}
        if depth > 3 * DEEPEST:
            return None
        return self.fields(rng, shape.get("properties", {}), set(shape.get("required", [])), share, depth + 1)

    def anything(self, rng, depth):
        kind = rng.randrange(6 if depth < DEEPEST else 4)
        if kind == 0:
            return rng.random() < 0.5
        if kind == 1:
            return rng.choice(NUMBERS)
        if kind < 4:
            return rng.choice(TEXTS)
        if kind == 4:
            return [self.anything(rng, depth + 1) for _ in range(rng.randrange(3))]
        return {key: self.anything(rng, depth + 1) for key in rng.sample(KEYS, rng.randrange(3))}

    def with_defaults(self, token, inputs):
        """What a provider checks: the inputs, with the defaults of the schema."""
        return self.filled(inputs, self.shapes(token)[0])

    def filled(self, value, properties):
        found = {key: self.filled_value(it, properties.get(key, {})) for key, it in value.items()}
        for name, shape in properties.items():
            if name not in found and "default" in shape:
                found[name] = shape["default"]
        return found

    def filled_value(self, value, shape):
        if isinstance(value, list):
            return [self.filled_value(it, shape.get("items", {})) for it in value]
        target = self.types.get(shape.get("$ref", "").removeprefix("#/types/").replace("%2F", "/"), {})
        if isinstance(value, dict) and "properties" in target:
            return self.filled(value, target["properties"])
        return value
