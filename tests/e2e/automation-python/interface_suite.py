"""The command line as newer SDKs call it: a method for each command, with the canonical words and long flags."""

import json

from pulumi import automation
from pulumi.automation import CommandError

from support import World, expect, expect_error, expect_in, names, plain, run, stash, test, urn


class Surface:
    """The methods of `interface.API`, called for a stack."""

    def __init__(self, stack):
        self.stack, self.api = stack, stack.workspace.cli_api

    def __getattr__(self, name):
        method, workspace = getattr(self.api, name), self.stack.workspace
        variables = {"PULUMI_HOME": workspace.pulumi_home, **workspace.env_vars}
        return lambda *words, **more: method(*words, cwd=workspace.work_dir, additional_env=variables, **more).stdout


def surface(program=lambda: None, **more):
    stack = World().inline(program, **more)
    return stack, Surface(stack)


@test
def version_and_who_are_told():
    stack, api = surface()
    expect_in("v3.", api.version())
    assert json.loads(api.whoami())["user"]


@test
def about_tells_of_the_program_and_the_machine():
    _, api = surface()
    told = json.loads(api.about())
    expect(told["currentStack"]["fullyQualifiedName"].rsplit("/")[-1], "dev")


@test
def configuration_is_set_read_copied_and_removed():
    stack, api = surface()
    api.config_set("word", "w", stack="dev", plaintext=True)
    api.config_set("hidden", "h", stack="dev", secret=True)
    api.config_set("tree.a", "1", stack="dev", path=True)
    expect(json.loads(api.config_get("word", stack="dev")), {"secret": False, "value": "w"})
    stack.workspace.create_stack("other")
    api.config_copy(stack="dev", dest="other")
    expect(json.loads(api.config_get("hidden", stack="other")), {"secret": True, "value": "h"})
    api.config_remove("word", stack="dev")
    api.config_remove_all("tree.a", stack="dev", path=True)
    expect(sorted(json.loads(api.config(stack="dev"))), ["auto:hidden", "auto:tree"])
    api.config_set_all(stack="dev", plaintext=["a=1", "b=2"], secret=["c=3"])
    expect(plain(stack.get_all_config())["auto:c"], ("3", True))


@test
def configuration_is_refreshed():
    stack, api = surface()
    stack.set_config("word", automation.ConfigValue("w"))
    stack.up()
    stack.set_config("word", automation.ConfigValue("changed"))
    api.config_refresh(stack="dev")
    expect(stack.get_config("word").value, "w")


@test
def the_state_is_edited_by_commands():
    def program():
        stash("a", 1)
        stash("b", 1)

    stack, api = surface(program)
    stack.up()
    api.state_protect(urn("a"), stack="dev")
    expect_error(CommandError, lambda: stack.destroy(target=[urn("a")]), "protected")
    api.state_unprotect(urn("a"), stack="dev")
    api.state_taint(urn("a"), stack="dev")
    expect(stack.preview().change_summary["replace"], 1)
    api.state_untaint(urn("a"), stack="dev")
    api.state_rename(urn("b"), "renamed", stack="dev")
    assert "renamed" in names(stack), names(stack)
    api.state_remove(urn("renamed"), stack="dev")
    expect(stack.preview().change_summary, {"create": 1, "same": 2})
    api.state_repair(stack="dev")


@test
def resources_are_moved_to_another_stack():
    stack, api = surface(lambda: stash("a", 1))
    stack.up()
    stack.workspace.create_stack("other")
    api.state_move(urn("a"), source="dev", dest="other")
    assert "a" not in names(stack)


@test
def one_operation_cancels_and_another_refreshes():
    stack, api = surface(lambda: stash("a", 1))
    stack.up()
    api.cancel(stack="dev")
    expect_in("Duration", api.refresh(stack="dev"))


@test
def a_resource_is_imported_by_its_words():
    world = World()
    world.written("")
    stack = world.local()
    api = Surface(stack)
    api._import("random:index/randomPassword:RandomPassword", "password", "hunter2hunter2", stack="dev", generate_code=False)
    assert "password" in names(stack)


if hasattr(__import__("pulumi.automation.interface").automation.interface.API, "config_set"):
    run()
else:
    print("passed: this SDK has no such methods")
