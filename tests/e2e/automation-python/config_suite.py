"""Configuration in all its forms."""

import json

import pulumi
from pulumi.automation import CommandError, ConfigValue
from pulumi.automation.errors import RuntimeError

from support import World, expect, expect_error, plain, run, test


def both(all_config, *keys):
    return plain({key: all_config[key] for key in keys})


@test
def a_value_is_set_read_and_removed():
    stack = World().inline()
    stack.set_config("word", ConfigValue("w"))
    expect(plain({"word": stack.get_config("word")}), {"word": ("w", False)})
    stack.remove_config("word")
    expect_error(CommandError, lambda: stack.get_config("word"), "configuration key 'word' not found")


@test
def a_secret_is_one_and_its_value_is_not_in_the_file():
    world = World()
    world.written("")
    stack = world.local()
    stack.set_config("word", ConfigValue("hunter2", secret=True))
    expect(plain({"word": stack.get_config("word")}), {"word": ("hunter2", True)})
    text = (world.project / "Pulumi.dev.yaml").read_text()
    assert "hunter2" not in text and "secure:" in text, text


@test
def values_may_be_anything():
    stack = World().inline()
    values = ["-starts-with-a-dash", "--flag", "a=b", "two\nlines", "ünïcödé ✓", " spaces ", "", '"quoted"', "{}", "$HOME `x`"]
    for value in values:
        stack.set_config("value", ConfigValue(value))
        expect(stack.get_config("value").value, value)


@test
def keys_have_namespaces():
    stack = World().inline()
    stack.set_config("aws:region", ConfigValue("eu"))
    stack.set_config("auto:word", ConfigValue("w"))
    expect(stack.get_config("word").value, "w")
    expect(sorted(stack.get_all_config()), ["auto:word", "aws:region"])


@test
def paths_lead_into_structures():
    stack = World().inline()
    stack.set_config("tree.list[0]", ConfigValue("first"), path=True)
    stack.set_config("tree.list[1]", ConfigValue("hush", secret=True), path=True)
    stack.set_config("tree.number", ConfigValue("3"), path=True)
    stack.set_config('tree["odd.key"]', ConfigValue("o"), path=True)
    expect(stack.get_config("tree.list[0]", path=True).value, "first")
    expect(plain({"it": stack.get_config("tree.list[1]", path=True)}), {"it": ("hush", True)})
    whole = {"list": ["first", "hush"], "number": 3, "odd.key": "o"}
    expect(json.loads(stack.get_config("tree").value), whole)
    stack.remove_config("tree.list[0]", path=True)
    expect(json.loads(stack.get_config("tree").value), {**whole, "list": ["hush"]})


@test
def many_values_are_set_and_removed_at_once():
    stack = World().inline()
    stack.set_all_config({
        "plain": ConfigValue("p"), "hidden": ConfigValue("h", secret=True), "other:key": ConfigValue("a=b")})
    expect(plain(stack.get_all_config()),
           {"auto:plain": ("p", False), "auto:hidden": ("h", True), "other:key": ("a=b", False)})
    stack.remove_all_config(["plain", "other:key"])
    expect(list(stack.get_all_config()), ["auto:hidden"])


@test
def many_values_are_set_and_removed_by_path():
    stack = World().inline()
    stack.set_all_config({"tree.a": ConfigValue("1"), "tree.b": ConfigValue("hush", secret=True)}, path=True)
    expect(json.loads(stack.get_config("tree").value), {"a": 1, "b": "hush"})
    stack.remove_all_config(["tree.a"], path=True)
    expect(json.loads(stack.get_config("tree").value), {"b": "hush"})


@test
def without_paths_dots_and_brackets_are_part_of_a_key():
    stack = World().inline()
    stack.set_all_config({"tree.a": ConfigValue("1"), "list[0]": ConfigValue("2")})
    expect(both(stack.get_all_config(), "auto:tree.a", "auto:list[0]"), {"auto:tree.a": ("1", False), "auto:list[0]": ("2", False)})
    stack.remove_all_config(["tree.a", "list[0]"])
    expect(stack.get_all_config(), {})


@test
def values_are_set_from_json():
    stack = World().inline()
    stack.set_all_config_json(json.dumps({
        "auto:word": {"value": "w", "secret": False},
        "auto:hidden": {"value": "h", "secret": True},
        "auto:tree": {"value": '{"a":[1,2]}', "objectValue": {"a": [1, 2]}, "secret": False},
    }))
    config = stack.get_all_config()
    expect(both(config, "auto:word", "auto:hidden"), {"auto:word": ("w", False), "auto:hidden": ("h", True)})
    expect(json.loads(config["auto:tree"].value), {"a": [1, 2]})


@test
def configuration_of_one_stack_becomes_that_of_another():
    world = World()
    one, two = world.inline(name="one"), world.inline(name="two")
    one.set_all_config({"word": ConfigValue("w"), "hidden": ConfigValue("h", secret=True)})
    two.set_all_config(one.get_all_config())
    expect(plain(two.get_all_config()), plain(one.get_all_config()))


@test
def a_program_gets_its_configuration_with_types_and_secrets():
    def program():
        config = pulumi.Config()
        for key, value in {
            "number": config.require_int("number"), "part": config.require_float("part"),
            "truth": config.require_bool("truth"), "tree": config.require_object("tree"),
            "hidden": config.require_secret("hidden"), "other": pulumi.Config("other").get("word"),
            "missing": config.get("no", "none"),
        }.items():
            pulumi.export(key, value)

    stack = World().inline(program)
    stack.set_all_config({
        "number": ConfigValue("3"), "part": ConfigValue("0.5"), "truth": ConfigValue("true"),
        "hidden": ConfigValue("hush", secret=True), "other:word": ConfigValue("o")})
    stack.set_config("tree.list[0]", ConfigValue("x"), path=True)
    expect(plain(stack.up().outputs), {
        "number": (3, False), "part": (0.5, False), "truth": (True, False), "tree": ({"list": ["x"]}, False),
        "hidden": ("hush", True), "other": ("o", False), "missing": ("none", False)})


@test
def a_missing_value_is_an_error_of_the_program():
    stack = World().inline(lambda: pulumi.export("word", pulumi.Config().require("word")))
    expect_error(RuntimeError, stack.up, "Missing required configuration variable 'auto:word'")


@test
def another_file_can_hold_the_configuration():
    world = World()
    world.written("pulumi.export('word', pulumi.Config().get('word') or 'none')")
    stack = world.local()
    other = world.file("settings.yaml", "config:\n  auto:word: from the file\n")
    expect(stack.up(config_file=other).outputs["word"].value, "from the file")
    expect(stack.preview(config_file=other).change_summary, {"same": 1})
    expect(stack.up().outputs["word"].value, "none")


@test
def configuration_is_refreshed_from_the_last_update():
    stack = World().inline()
    stack.set_config("word", ConfigValue("deployed"))
    stack.set_config("hidden", ConfigValue("hush", secret=True))
    stack.up()
    stack.set_config("word", ConfigValue("changed"))
    stack.set_config("more", ConfigValue("gone"))
    stack.refresh_config()
    expect(plain(stack.get_all_config()), {"auto:word": ("deployed", False), "auto:hidden": ("hush", True)})


@test
def project_settings_give_defaults_and_types():
    world = World()
    world.written("c = pulumi.Config(); pulumi.export('sum', c.require_int('number') + 1)",
                  "name: auto\nruntime: python\nconfig:\n  number: {type: integer, default: 7}\n")
    stack = world.local()
    expect(stack.up().outputs["sum"].value, 8)
    stack.set_config("number", ConfigValue("many"))
    expect_error(CommandError, stack.up, "must be of type 'integer'")
    stack.set_config("number", ConfigValue("1"))
    expect(stack.up().outputs["sum"].value, 2)


@test
def settings_of_a_stack_may_be_json():
    world = World()
    world.file("__main__.py", "import pulumi\npulumi.export('word', pulumi.Config().get('word'))")
    world.file("Pulumi.json", {"name": "auto", "runtime": "python"})
    world.file("Pulumi.dev.json", {"config": {"auto:word": "w"}})
    stack = world.local()
    expect(stack.get_config("word").value, "w")
    stack.set_config("word", ConfigValue("changed"))
    stack.set_config("hidden", ConfigValue("h", secret=True))
    expect(json.loads((world.project / "Pulumi.dev.json").read_text())["config"]["auto:word"], "changed")
    assert not (world.project / "Pulumi.dev.yaml").exists()
    expect(stack.up().outputs["word"].value, "changed")


run()
