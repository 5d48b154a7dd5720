"""Stacks and workspaces: what needs no program to run, or only a small one."""

import json
import os

import pulumi
from pulumi import automation
from pulumi.automation import CommandError, ConfigValue, StackAlreadyExistsError, StackNotFoundError
from pulumi.automation.errors import InvalidVersionError

from support import World, expect, expect_error, expect_in, names, nothing, plain, run, stash, test


def inline(world, function, name="dev", **more):
    return function(stack_name=name, project_name="auto", program=nothing, opts=world.options(**more))


@test
def the_version_of_the_command_line_is_new_enough():
    command = automation.PulumiCommand()
    assert command.version.major == 3 and command.version.compare("3.260.0") >= 0, command.version


@test
def the_binary_is_found_by_the_path_option():
    world = World()
    (world.root / "else" / "bin").mkdir(parents=True)
    binary = next(folder for folder in os.environ["PATH"].split(":") if os.path.exists(f"{folder}/pulumi"))
    (world.root / "else" / "bin" / "pulumi").symlink_to(os.path.realpath(f"{binary}/pulumi"))
    found = os.environ["PATH"]
    os.environ["PATH"] = ":".join(folder for folder in found.split(":") if folder != binary)
    try:
        expect_error(FileNotFoundError, automation.PulumiCommand)
        command = automation.PulumiCommand(root=str(world.root / "else"))
        stack = world.inline(lambda: pulumi.export("word", "w"), pulumi_command=command)
        expect(stack.up().outputs["word"].value, "w")
    finally:
        os.environ["PATH"] = found


@test
def a_version_that_is_too_old_is_refused_by_the_sdk():
    version = automation.PulumiCommand().version
    expect_error(InvalidVersionError, lambda: automation.PulumiCommand(version=version.bump_minor()), "Minimum version")
    expect_error(InvalidVersionError, lambda: automation.PulumiCommand(version=version.bump_major()), "Minimum version")
    automation.PulumiCommand(version=version.bump_minor(), skip_version_check=True)


@test
def a_stack_is_created_and_only_once():
    world = World()
    expect(inline(world, automation.create_stack).name, "dev")
    expect_error(StackAlreadyExistsError, lambda: inline(world, automation.create_stack), "already exists")


@test
def a_stack_is_selected_and_has_to_be_there():
    world = World()
    expect_error(StackNotFoundError, lambda: inline(world, automation.select_stack), "no stack named 'dev' found")
    inline(world, automation.create_stack)
    expect(inline(world, automation.select_stack).name, "dev")


@test
def a_stack_is_created_or_selected():
    world = World()
    for _ in range(2):
        expect(inline(world, automation.create_or_select_stack).name, "dev")


@test
def bad_names_are_refused():
    expect_error(CommandError, lambda: World().inline(name="no spaces"))


@test
def fully_qualified_names_mean_the_same_stack():
    world = World()
    stack = world.inline(name=automation.fully_qualified_stack_name("organization", "auto", "dev"))
    stack.set_config("word", ConfigValue("w"))
    short = inline(world, automation.select_stack, work_dir=stack.workspace.work_dir)
    expect(short.get_config("word").value, "w")


@test
def stacks_are_listed_and_one_of_them_is_current():
    stack = World().inline()
    stack.workspace.create_stack("other")
    expect(sorted((one.name, one.current) for one in stack.workspace.list_stacks()), [("dev", False), ("other", True)])
    expect(stack.workspace.stack().name, "other")
    stack.workspace.select_stack("dev")
    expect(stack.workspace.stack().name, "dev")


@test
def stacks_of_all_projects_are_listed():
    world = World()
    stack = world.inline()
    other = world.options()
    other.project_settings.name = "more"
    automation.create_stack(stack_name="dev", project_name="more", program=nothing, opts=other)
    expect([one.name for one in stack.workspace.list_stacks()], ["dev"])
    every = [one.name for one in stack.workspace.list_stacks(include_all=True)]
    expect(len(every), 2)
    assert any("more" in name for name in every), every


@test
def a_list_tells_of_the_last_update():
    stack = World().inline(lambda: stash("a", 1))
    stack.up()
    (listed,) = stack.workspace.list_stacks()
    expect(listed.resource_count, 3)
    assert listed.last_update is not None and not listed.update_in_progress


@test
def a_stack_is_removed_but_not_with_resources():
    stack = World().inline(lambda: stash("a", 1))
    stack.up()
    expect_error(CommandError, lambda: stack.workspace.remove_stack("dev"), "still has resources")
    stack.workspace.remove_stack("dev", force=True)
    expect(stack.workspace.list_stacks(), [])


@test
def a_removed_stack_can_keep_its_settings():
    world = World()
    world.written("")
    stack = world.local()
    stack.set_config("word", ConfigValue("w"))
    stack.workspace.remove_stack("dev", preserve_config=True)
    stack.workspace.create_stack("dev")
    expect(stack.get_config("word").value, "w")
    stack.workspace.remove_stack("dev")
    expect([one.name for one in world.project.glob("Pulumi.dev.*")], [])


@test
def a_stack_is_renamed_with_its_settings_and_its_history():
    world = World()
    world.written("pulumi.export('a', 1)")
    stack = world.local()
    stack.set_config("word", ConfigValue("w"))
    stack.up(message="before")
    result = stack.rename("prod")
    expect((stack.name, result.summary.message), ("prod", "before"))
    expect([one.name for one in stack.workspace.list_stacks()], ["prod"])
    renamed = world.local("prod")
    expect(renamed.get_config("word").value, "w")
    expect(renamed.outputs()["a"].value, 1)


@test
def a_renamed_stack_without_updates_has_no_summary():
    stack = World().inline()
    expect(stack.rename("prod").summary, None)


@test
def tags_are_set_read_listed_and_removed():
    stack = World().inline()
    stack.set_tag("owner", "me")
    stack.set_tag("note", "with spaces = and signs")
    expect(stack.get_tag("owner"), "me")
    expect(stack.list_tags()["note"], "with spaces = and signs")
    stack.remove_tag("owner")
    assert "owner" not in stack.list_tags()
    expect_error(CommandError, lambda: stack.get_tag("owner"), "owner")


@test
def a_state_is_exported_changed_and_imported():
    def program():
        stash("a", 1)
        pulumi.export("out", 1)

    stack = World().inline(program)
    stack.up()
    state = stack.export_stack()
    expect(state.version, 3)
    before = len(state.deployment["resources"])
    state.deployment["resources"] = [one for one in state.deployment["resources"] if not one["urn"].endswith("::a")]
    stack.import_stack(state)
    expect(len(names(stack)), before - 1)
    expect(stack.up().summary.resource_changes, {"create": 1, "same": 1})


@test
def a_state_that_makes_no_sense_is_refused():
    stack = World().inline(lambda: stash("a", 1))
    stack.up()
    state = stack.export_stack()
    state.deployment["resources"].reverse()
    expect_error(CommandError, lambda: stack.import_stack(state))
    expect(len(names(stack)), 3)


@test
def exported_secrets_are_in_the_clear_and_secret_again_after_an_import():
    world = World()
    stack = world.inline(lambda: pulumi.export("hidden", pulumi.Output.secret("hush")))
    stack.up()
    state = stack.export_stack()
    expect_in("hush", json.dumps(state.deployment))
    stack.import_stack(state)
    expect(plain(stack.outputs()), {"hidden": ("hush", True)})
    kept = [one for one in (world.root / "backend").rglob("*.json") if "hush" in one.read_text()]
    expect(kept, [])


@test
def a_state_moves_to_another_stack():
    world = World()
    one, two = world.inline(lambda: pulumi.export("a", pulumi.Output.secret(1)), "one"), world.inline(name="two")
    one.up()
    state = one.export_stack()
    text = json.dumps(state.deployment).replace("urn:pulumi:one::", "urn:pulumi:two::").replace("auto-one", "auto-two")
    state.deployment = json.loads(text)
    two.import_stack(state)
    expect(plain(two.outputs()), {"a": (1, True)})


@test
def whoami_tells_user_and_address():
    world = World()
    who = world.inline().workspace.who_am_i()
    assert who.user
    expect(who.url, world.backend)


@test
def organizations_need_the_service_and_say_so():
    workspace = World().inline().workspace
    expect_error(CommandError, lambda: workspace.org_set_default("acme"), "unable to set a default organization")
    expect_error(CommandError, workspace.org_get_default, "do not support organizations")


@test
def plugins_are_listed_and_removed():
    workspace = World().inline().workspace
    expect(workspace.list_plugins(), [])
    workspace.remove_plugin()
    expect_error(CommandError, lambda: workspace.install_plugin_from_server("nothing", "v1.0.0", "http://127.0.0.1:9"))


@test
def settings_of_project_and_stack_are_read_and_written():
    for extension in ("yaml", "yml", "json"):
        world = World()
        project = {"name": "auto", "runtime": {"name": "python", "options": {"toolchain": "pip"}}, "description": "Mine"}
        settings = {"config": {"auto:word": "w"}}
        # JSON is YAML.
        world.file(f"Pulumi.{extension}", project)
        world.file(f"Pulumi.dev.{extension}", settings)
        world.file("__main__.py", "")
        stack = world.local()
        expect(stack.workspace.project_settings().name, "auto")
        expect(stack.get_config("word").value, "w")
        own = stack.workspace.stack_settings("dev")
        own.config["auto:more"] = "m"
        stack.workspace.save_stack_settings("dev", own)
        expect(stack.get_config("more").value, "m")
        changed = stack.workspace.project_settings()
        changed.description = "Changed"
        stack.workspace.save_project_settings(changed)
        expect(stack.workspace.project_settings().description, "Changed")
        expect(stack.up().summary.result, "succeeded")


@test
def settings_of_stacks_are_given_to_a_workspace():
    settings = {"dev": automation.StackSettings(config={"auto:word": "w"})}
    stack = World().inline(lambda: pulumi.export("word", pulumi.Config().get("word")), stack_settings=settings)
    expect(stack.get_config("word").value, "w")
    expect(stack.up().outputs["word"].value, "w")


@test
def unknown_settings_survive_a_change():
    world = World()
    world.written("", "name: auto\nruntime: python\nmine: {key: value}\n")
    world.file("Pulumi.dev.yaml", "# a comment\nmine: [1, 2]\nconfig:\n  auto:word: w\n")
    stack = world.local()
    stack.set_config("more", ConfigValue("m"))
    text = (world.project / "Pulumi.dev.yaml").read_text()
    expect_in("# a comment", text)
    expect_in("mine: [1, 2]", text)
    stack.up()


@test
def environment_variables_of_the_workspace_reach_the_program():
    world = World()
    world.written("import os; pulumi.export('word', os.environ['WORD'])")
    expect(world.local(env_vars={"WORD": "w"}).up().outputs["word"].value, "w")


@test
def a_secrets_provider_is_chosen_and_its_passphrase_needed():
    world = World()
    stack = world.inline(secrets_provider="passphrase", env_vars={"PULUMI_CONFIG_PASSPHRASE": "another"})
    stack.set_config("hidden", ConfigValue("hush", secret=True))
    expect(stack.get_config("hidden").value, "hush")
    wrong = inline(world, automation.select_stack, work_dir=stack.workspace.work_dir,
                   env_vars={"PULUMI_CONFIG_PASSPHRASE": "wrong"})
    expect_error(CommandError, lambda: wrong.get_config("hidden"), "passphrase")


@test
def environments_need_the_service_and_say_so():
    stack = World().inline()
    expect_error(CommandError, lambda: stack.add_environments("one"))


@test
def remote_operations_need_the_service_and_say_so():
    def create():
        return automation.create_remote_stack_git_source("organization/auto/dev", url="https://example.com/r.git", branch="main")

    expect_error(CommandError, create().up, "`--remote` requires the cloud service")


@test
def a_project_is_made_from_a_template():
    world = World()
    template = world.root / "template"
    template.mkdir()
    (template / "Pulumi.yaml").write_text(
        "name: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: yaml\ntemplate: {description: a template}\noutputs: {word: w}\n")
    target = world.root / "made"
    workspace = world.inline().workspace
    workspace.new(str(template), dir=str(target), name="fresh", description="Fresh", generate_only=True, force=True)
    expect_in("name: fresh", (target / "Pulumi.yaml").read_text())
    stack = automation.create_stack(stack_name="dev", work_dir=str(target), opts=world.local_options())
    expect(stack.up().outputs["word"].value, "w")


run()
