"""Programs of lab resources, made by chance."""

import json

PROJECT = "crash"
TYPE = "lab:index:Thing"


class Program:
    """Resources by name, with their inputs, and what they depend on."""

    def __init__(self):
        self.inputs = {}
        self.dependencies = {}
        # How often each resource is to be created while the stack lives; a replacement counts as one more.
        self.wanted_creates = {}

    @classmethod
    def first(cls, chance, count):
        program = cls()
        for number in range(count):
            program._add(chance, f"r{number:03d}")
        return program

    def changed(self, chance):
        """Another version: a tenth goes and as many come, some are updated, some are replaced."""
        program = Program()
        program.wanted_creates = dict(self.wanted_creates)
        # Everything depends on what was made before it, so the last ones can go.
        tenth = max(1, len(self.inputs) // 10)
        for name in list(self.inputs)[:-tenth]:
            inputs = dict(self.inputs[name])
            fate = chance.random()
            if fate < 0.3:
                inputs["value"] = f"{name}, changed"
            elif fate < 0.4:
                inputs |= {"third": "something else", "replaceOn": ["third"]}
                program.wanted_creates[name] += 1
            program.inputs[name], program.dependencies[name] = inputs, self.dependencies[name]
        for number in range(tenth):
            program._add(chance, f"n{number:03d}")
        return program

    def _add(self, chance, name):
        earlier = list(self.inputs)[-25:]
        depends_on = sorted(chance.sample(earlier, min(len(earlier), chance.choice([0, 0, 1, 2]))))
        inputs = {
            "value": name,
            "items": ["${%s.serial}" % other for other in depends_on],
            "sleepMs": {operation: chance.randint(2, 150) for operation in ("create", "update", "delete")},
        }
        if chance.random() < 0.1:
            inputs["password"] = {"fn::secret": f"secret of {name}"}
        self.inputs[name], self.dependencies[name] = inputs, depends_on
        self.wanted_creates[name] = 1

    @property
    def names(self):
        return list(self.inputs)

    def text(self):
        """The project file. JSON is YAML."""
        resources = {name: {"type": TYPE, "properties": inputs} for name, inputs in self.inputs.items()}
        return json.dumps({"name": PROJECT, "runtime": "yaml", "resources": resources}, indent=1)
