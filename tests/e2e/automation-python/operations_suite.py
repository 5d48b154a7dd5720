"""Operations with inline programs and with programs on disk."""

import asyncio
import json
import os

import pulumi
from pulumi import automation
from pulumi.automation import CommandError
from pulumi.automation.errors import CompilationError, InlineSourceRuntimeError, RuntimeError

from support import World, expect, expect_error, expect_in, names, plain, run, stash, test, urn


@test
def an_inline_program_lives_from_up_to_destroy():
    value = 1

    def program():
        a = stash("a", value)
        for key, it in {"plain": "p", "hidden": pulumi.Output.secret("h"), "list": [1, {"two": 2}], "of": a.output}.items():
            pulumi.export(key, it)

    stack = World().inline(program)
    made = stack.up(message="the first")
    expect(made.summary.resource_changes, {"create": 2})
    expect((made.summary.kind, made.summary.result, made.summary.message), ("update", "succeeded", "the first"))
    expect(plain(made.outputs), {"plain": ("p", False), "hidden": ("h", True), "list": ([1, {"two": 2}], False), "of": (1, False)})
    value = 2
    expect(stack.preview().change_summary, {"same": 1, "update": 1})
    expect(stack.up().summary.resource_changes, {"same": 1, "update": 1})
    refreshed = stack.refresh().summary
    expect((refreshed.kind, refreshed.result), ("refresh", "succeeded"))
    destroyed = stack.destroy().summary
    expect((destroyed.kind, destroyed.resource_changes), ("destroy", {"delete": 2}))
    stack.workspace.remove_stack("dev")


@test
def an_inline_program_may_be_asynchronous():
    async def program():
        await asyncio.sleep(0.01)
        pulumi.export("out", stash("a", "later").output)

    expect(World().inline(program).up().outputs["out"].value, "later")


@test
def a_program_on_disk_lives_from_up_to_destroy():
    world = World()
    world.written("a = pulumi.Stash('a', input=1); pulumi.export('out', a.output)")
    stack = world.local()
    expect(stack.preview().change_summary, {"create": 2})
    made = stack.up()
    expect(made.outputs["out"].value, 1)
    expect_in("2 created", made.stdout)
    expect(stack.destroy(remove=True).summary.resource_changes, {"delete": 2})
    expect(stack.workspace.list_stacks(), [])


@test
def a_yaml_program_needs_no_sdk():
    world = World()
    world.file("Pulumi.yaml", "name: auto\nruntime: yaml\noutputs:\n  word: w\n")
    expect(world.local().up().outputs["word"].value, "w")


@test
def a_program_can_be_given_to_one_operation():
    stack = World().inline()
    expect(stack.up(program=lambda: pulumi.export("word", "w")).outputs["word"].value, "w")
    expect(stack.preview(program=lambda: stash("a", 1)).change_summary, {"create": 1, "same": 1})


@test
def output_is_streamed():
    lines = []
    World().inline(lambda: stash("a", 1)).up(on_output=lines.append)
    expect_in("pulumi:index:Stash", "\n".join(lines))


@test
def previews_of_refresh_and_destroy_change_nothing():
    stack = World().inline(lambda: stash("a", 1))
    stack.up()
    expect(stack.preview_refresh().change_summary, {"same": 2})
    expect(stack.preview_destroy().change_summary, {"delete": 2})
    expect(len(names(stack)), 3)


@test
def refresh_and_destroy_run_the_program_when_they_are_told_to():
    runs = []

    def program():
        runs.append(1)
        stash("a", 1)

    stack = World().inline(program)
    for operation in (stack.up, stack.preview_refresh, stack.refresh, stack.preview_destroy, stack.destroy):
        operation(**({} if operation == stack.up else {"run_program": True}))
    expect(len(runs), 5)


@test
def an_up_without_the_program_keeps_what_there_is():
    stack = World().inline(lambda: stash("a", 1))
    stack.up()
    expect(stack.up(run_program=False, program=None).summary.resource_changes, {"same": 2})


@test
def an_error_of_an_inline_program_has_its_class():
    def program():
        raise ValueError("it broke")

    stack = World().inline(program)
    expect_error(InlineSourceRuntimeError, stack.up, "it broke")
    expect_error(InlineSourceRuntimeError, stack.preview, "python inline source runtime error: it broke")


@test
def an_error_in_an_apply_of_an_inline_program_fails_the_call():
    def later(_):
        raise ValueError("later")

    expect_error(InlineSourceRuntimeError, World().inline(lambda: pulumi.Output.from_input(1).apply(later)).up, "later")
    other = World().inline(lambda: pulumi.export("fine", True))
    expect(other.up().outputs["fine"].value, True)


@test
def what_was_made_before_an_error_is_kept():
    def program():
        stash("a", 1).urn.apply(lambda _: 1 / 0)

    stack = World().inline(program)
    expect_error(InlineSourceRuntimeError, stack.up, "division by zero")
    expect_in("a", names(stack))


@test
def an_error_of_a_program_on_disk_has_its_class():
    world = World()
    world.written("raise ValueError('it broke')")
    error = expect_error(RuntimeError, world.local().up, "it broke")
    expect_in("__main__.py", str(error))


@test
def a_program_that_cannot_be_parsed_fails_with_its_place():
    world = World()
    world.written("def broken(:")
    error = expect_error(RuntimeError, world.local().up, "SyntaxError")
    expect_in("def broken(:", str(error))


@test
def a_compiler_of_a_program_has_its_class():
    world = World()
    world.file("Pulumi.yaml", "name: auto\nruntime: yaml\n")
    world.local()
    world.file("Pulumi.yaml", "name: auto\nruntime: yaml\noutputs: {a: '${nothing}'}\n")
    error = expect_error((CommandError), world.local().up)
    expect_in("nothing", str(error))
    assert not isinstance(error, CompilationError)


@test
def a_project_that_is_not_there_is_an_error():
    world = World()
    expect_error(CommandError, world.local, "pass the fully qualified stack name")


@test
def no_changes_can_be_expected():
    value = 1
    stack = World().inline(lambda: stash("a", value))
    stack.up()
    stack.up(expect_no_changes=True)
    stack.refresh(expect_no_changes=True)
    value = 2
    expect_error(CommandError, lambda: stack.up(expect_no_changes=True), "no changes were expected")


@test
def targets_replacements_and_exclusions_limit_an_update():
    value = 1

    def program():
        stash("a", value)
        stash("b", value)

    stack = World().inline(program)
    stack.up()
    value = 2
    expect(stack.up(target=[urn("a")]).summary.resource_changes["update"], 1)
    value = 3
    expect(stack.preview(exclude=[urn("a")]).change_summary["update"], 1)
    expect(stack.up(replace=[urn("b")]).summary.resource_changes["replace"], 1)
    expect(stack.destroy(target=[urn("a")], target_dependents=True).summary.resource_changes["delete"], 1)
    assert "a" not in names(stack) and "b" in names(stack)


@test
def protected_resources_can_be_left_out_of_a_destroy():
    def program():
        stash("a", 1, protect=True)
        stash("b", 1)

    stack = World().inline(program)
    stack.up()
    expect_error(CommandError, stack.destroy, "protected")
    stack.destroy(exclude_protected=True)
    left = names(stack)
    assert "a" in left and "b" not in left, left


@test
def a_plan_is_saved_and_kept_to():
    world, value = World(), 1
    stack = world.inline(lambda: stash("a", value))
    plan = str(world.root / "plan.json")
    stack.preview(plan=plan)
    json.load(open(plan))
    value = 2
    expect_error(CommandError, lambda: stack.up(plan=plan), "violates plan")
    value = 1
    stack.up(plan=plan)


@test
def a_preview_tells_what_it_would_do_as_json():
    stack = World().inline(lambda: stash("a", 1))
    told = json.loads(stack.preview(json=True).stdout)
    expect(sorted(step["op"] for step in told["steps"]), ["create", "create"])
    expect(told["changeSummary"], {"create": 2})


@test
def a_preview_writes_an_import_file():
    world = World()
    stack = world.inline(lambda: stash("a", 1))
    target = str(world.root / "import.json")
    stack.preview(import_file=target)
    expect([one["name"] for one in json.load(open(target))["resources"]], ["a"])


@test
def the_history_has_all_updates_and_the_newest_first():
    stack = World().inline()
    stack.set_config("hidden", automation.ConfigValue("hush", secret=True))
    for message in ("one", "two", "three"):
        stack.up(message=message)
    history = stack.history()
    expect([it.message for it in history], ["three", "two", "one"])
    assert history[0].end_time >= history[0].start_time
    expect([it.message for it in stack.history(2, 2)], ["one"])
    expect(history[0].environment["exec.kind"], "auto.inline")
    expect(plain(stack.info(True).config), {"auto:hidden": ("hush", True)})
    expect(plain(stack.info(False).config), {"auto:hidden": ("[secret]", True)})


@test
def a_failed_update_is_in_the_history():
    def program():
        raise ValueError("it broke")

    stack = World().inline(program)
    expect_error(InlineSourceRuntimeError, stack.up)
    expect(stack.info().result, "failed")


@test
def a_stack_without_updates_has_no_history():
    stack = World().inline()
    expect((stack.history(), stack.info(), stack.outputs()), ([], None, {}))


@test
def an_inline_program_reads_another_stack():
    world = World()

    def first():
        pulumi.export("word", "w")
        pulumi.export("hidden", pulumi.Output.secret("h"))

    def second():
        one = pulumi.StackReference("organization/auto/one")
        pulumi.export("word", one.get_output("word"))
        pulumi.export("hidden", one.require_output("hidden"))

    world.inline(first, "one").up()
    expect(plain(world.inline(second, "two").up().outputs), {"word": ("w", False), "hidden": ("h", True)})


@test
def components_transforms_and_hooks_work_in_inline_programs():
    calls = []

    def transform(args):
        if args.type_ == "pulumi:index:Stash":
            return pulumi.ResourceTransformResult({**args.props, "input": "transformed"}, args.opts)
        return None

    def program():
        made = pulumi.ResourceHook("made", lambda args: calls.append(("made", args.name)))
        gone = pulumi.ResourceHook("gone", lambda args: calls.append(("gone", args.name)))
        pulumi.runtime.register_resource_transform(transform)
        group = pulumi.ComponentResource("auto:index:Group", "group")
        hooks = pulumi.ResourceHookBinding(after_create=[made], before_delete=[gone])
        pulumi.export("out", stash("a", 1, parent=group, hooks=hooks).output)

    stack = World().inline(program)
    expect(stack.up().outputs["out"].value, "transformed")
    expect_error(CommandError, stack.destroy, "--run-program")
    stack.destroy(run_program=True)
    expect(calls, [("made", "a"), ("gone", "a")])


@test
def a_hook_that_fails_fails_the_update():
    def fail(_):
        raise ValueError("oh no")

    def program():
        hooks = pulumi.ResourceHookBinding(before_create=[pulumi.ResourceHook("fails", fail)])
        stash("a", 1, hooks=hooks)

    stack = World().inline(program)
    expect_error(CommandError, stack.up, 'before hook "fails" failed')
    assert "a" not in names(stack)


@test
def dynamic_providers_work_in_inline_programs():
    class Provider(pulumi.dynamic.ResourceProvider):
        def create(self, props):
            return pulumi.dynamic.CreateResult("id-1", {"doubled": props["value"] * 2})

    class Doubled(pulumi.dynamic.Resource):
        doubled: pulumi.Output[int]

        def __init__(self, name, value):
            super().__init__(Provider(), name, {"value": value, "doubled": None})

    stack = World().inline(lambda: pulumi.export("doubled", Doubled("d", 21).doubled))
    expect(stack.up().outputs["doubled"].value, 42)
    expect(stack.destroy().summary.resource_changes, {"delete": 2})


@test
def options_of_the_command_line_are_passed_on():
    def program():
        pulumi.log.debug("whispered")
        stash("a", 1)

    errors = []
    result = World().inline(program).up(
        parallel=2, diff=True, color="never", debug=True, suppress_progress=True, continue_on_error=True, refresh=True,
        show_secrets=True, log_verbosity=1, log_to_std_err=True, log_flow=True, on_error=errors.append)
    expect_in("whispered", result.stderr)
    expect_in("whispered", "\n".join(errors))
    expect_in("input", result.stdout)
    expect_error(CommandError, lambda: World().inline().up(color="green"), "unsupported color option")


@test
def outputs_can_be_kept_from_standard_output():
    stack = World().inline(lambda: pulumi.export("loud", "here I am"))
    assert "here I am" not in stack.up(suppress_outputs=True).stdout


@test
def secrets_are_on_no_stream():
    def program():
        pulumi.export("hidden", pulumi.Output.secret("hunter2"))
        stash("a", pulumi.Output.secret("hunter2"))

    result = World().inline(program).up(diff=True)
    assert "hunter2" not in result.stdout + result.stderr, result.stdout


@test
def resources_are_imported():
    world = World()
    world.written("")
    stack = world.local()
    password = {"type": "random:index/randomPassword:RandomPassword", "name": "password", "id": "hunter2hunter2"}
    result = stack.import_resources(resources=[password], protect=False, generate_code=False, message="mine")
    expect((result.summary.kind, result.summary.result, result.summary.message), ("resource-import", "succeeded", "mine"))
    (imported,) = [one for one in stack.export_stack().deployment["resources"] if one["urn"].endswith("::password")]
    expect((imported["id"], imported.get("protect", False)), ("none", False))


@test
def code_of_imported_resources_is_given_back():
    world = World()
    world.file("Pulumi.yaml", "name: auto\nruntime: yaml\n")
    password = {"type": "random:index/randomPassword:RandomPassword", "name": "password", "id": "hunter2hunter2"}
    code = world.local().import_resources(resources=[password]).generated_code
    expect_in("password:", code)
    expect_in("random", code)


@test
def a_policy_pack_that_is_not_there_is_an_error():
    stack = World().inline(lambda: stash("a", 1))
    expect_error(CommandError, lambda: stack.up(policy_packs=["/nowhere"]), "/nowhere")


@test
def a_program_on_disk_finds_its_own_modules_and_folder():
    world = World()
    world.file("mine.py", "WORD = 'from a module'\n")
    world.written("import os, mine; pulumi.export('word', mine.WORD); pulumi.export('folder', os.getcwd())")
    outputs = world.local().up().outputs
    expect((outputs["word"].value, outputs["folder"].value), ("from a module", os.path.realpath(world.project)))


@test
def what_a_program_needs_is_installed():
    world = World()
    world.written("", "name: auto\nruntime: nodejs\n")
    world.file("mine/package.json", {"name": "mine", "version": "1.0.0"})
    world.file("package.json", {"name": "auto", "dependencies": {"mine": "file:./mine"}})
    lines = []
    world.local().workspace.install(no_plugins=True, on_output=lines.append)
    expect_in("Finished installing dependencies", "\n".join(lines))
    assert (world.project / "node_modules" / "mine" / "package.json").exists()


run()
