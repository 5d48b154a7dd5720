"""Events, signals, cancellation, and several operations at once."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pulumi
from pulumi import automation
from pulumi.automation import CommandError, ConcurrentUpdateError
from semver import VersionInfo

from support import Background, World, children, expect, expect_error, expect_in, names, plain, run, stash, test, until


def kinds(events):
    """What each event is."""
    return [next(key for key, value in vars(event).items() if key.endswith("_event") and value) for event in events]


@test
def events_of_an_update_arrive_in_order_with_a_summary_at_the_end():
    def program():
        stash("a", 1)
        pulumi.log.info("said")

    events = []
    World().inline(program).up(on_event=events.append)
    expect(kinds(events)[0], "prelude_event")
    expect(kinds(events).count("summary_event"), 1)
    # The stack, the resource, and the default provider between them.
    expect([event.resource_pre_event.metadata.op for event in events if event.resource_pre_event], ["create"] * 3)
    sequence = [event.sequence for event in events]
    expect(sequence, sorted(set(sequence)))
    assert any("said" in event.diagnostic_event.message for event in events if event.diagnostic_event)
    (summary,) = [event.summary_event for event in events if event.summary_event]
    expect(summary.resource_changes, {"create": 2})


@test
def events_of_every_operation_arrive():
    stack = World().inline(lambda: stash("a", 1))
    stack.up()
    for operation in ("preview", "up", "preview_refresh", "refresh", "preview_destroy", "destroy"):
        events = []
        getattr(stack, operation)(on_event=events.append)
        expect((operation, kinds(events).count("summary_event")), (operation, 1))


@test
def events_tell_what_changes():
    value = 1
    stack = World().inline(lambda: stash("a", value))
    stack.up()
    value, events = 2, []
    stack.up(on_event=events.append)
    (step,) = [event.resource_pre_event.metadata for event in events
               if event.resource_pre_event and event.resource_pre_event.metadata.urn.endswith("::a")]
    expect((step.op, step.old.inputs, step.new.inputs), ("update", {"input": 1}, {"input": 2}))
    (done,) = [event.res_outputs_event.metadata for event in events
               if event.res_outputs_event and event.res_outputs_event.metadata.urn.endswith("::a")]
    expect((done.op, done.new.id), ("update", step.old.id))


@test
def events_hold_no_secrets():
    texts = []
    original = automation.EngineEvent.from_json
    automation.EngineEvent.from_json = lambda data: texts.append(str(data)) or original(data)
    try:
        World().inline(lambda: stash("a", pulumi.Output.secret("hunter2"))).up(on_event=lambda event: None)
    finally:
        automation.EngineEvent.from_json = original
    expect_in("[secret]", "".join(texts))
    assert "hunter2" not in "".join(texts)


@test
def events_are_written_to_a_file_for_older_command_lines():
    stack = World().inline(lambda: stash("a", 1))
    command = stack.workspace.pulumi_command
    command.version = VersionInfo(3, 205, 0)
    events = []
    stack.up(on_event=events.append)
    expect((kinds(events)[0], kinds(events).count("summary_event")), ("prelude_event", 1))
    expect(stack.preview().change_summary, {"same": 2})
    expect(stack.preview_destroy().change_summary, {"delete": 2})


@test
def events_of_a_failed_update_arrive():
    def program():
        stash("a", 1).urn.apply(lambda _: 1 / 0)

    events = []
    expect_error(automation.InlineSourceRuntimeError, lambda: World().inline(program).up(on_event=events.append))
    said = [event.diagnostic_event for event in events if event.diagnostic_event]
    assert any(one.severity == "error" and "division by zero" in one.message for one in said)


@test
def an_early_failure_ends_the_call_although_there_are_no_events():
    stack = World().inline()
    expect_error(CommandError, lambda: stack.preview(color="green", on_event=lambda event: None))


@test
def an_event_handler_that_fails_does_not_stop_the_update():
    def fail(_):
        raise ValueError("not interested")

    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expect(World().inline(lambda: stash("a", 1)).up(on_event=fail).summary.result, "succeeded")


class Waiting:
    """A program that waits until it may end."""

    def __init__(self, secret=None):
        self.secret, self.started, self.finish = secret, threading.Event(), threading.Event()

    def __call__(self):
        value = 1 if self.secret is None else pulumi.Output.secret(self.secret)
        stash("a", value).urn.apply(lambda _: self.started.set())
        pulumi.Output.from_input(asyncio.to_thread(self.finish.wait, 60))


@test
def an_update_under_way_is_in_the_way_of_another():
    program = Waiting()
    stack = World().inline(program)
    first = Background(stack.up)
    assert program.started.wait(60)
    expect_error(ConcurrentUpdateError, stack.up, "the stack is currently locked by")
    expect_error(ConcurrentUpdateError, stack.destroy, "the stack is currently locked by")
    program.finish.set()
    expect(first.join().result.summary.result, "succeeded")


@test
def cancel_takes_the_lock_of_a_run_away():
    stack = World().inline()
    stack.up()
    stack.cancel()
    stack.up()


@test
def a_cancelled_update_ends_with_an_error():
    program = Waiting()
    stack = World().inline(program)
    first = Background(stack.up)
    assert program.started.wait(60)
    stack.cancel()
    program.finish.set()
    first.join()
    assert isinstance(first.error, CommandError), first.error
    program.finish.set()
    expect(stack.up().summary.result, "succeeded")


def signalled(number, stack=None, program=None):
    """An update that gets a signal while its program runs."""
    program = program or Waiting()
    stack = stack or World().inline(program)
    stack.workspace.program = program
    before = set(children())
    first = Background(stack.up)
    assert program.started.wait(60)
    (process,) = set(children()) - before
    os.kill(int(process), number)
    if number == signal.SIGINT:
        until(lambda: first.error or first.result, 60)
    else:
        # The program must not end before the signal has been noticed, on a busy machine either.
        time.sleep(2)
    program.finish.set()
    return stack, first.join()


@test
def an_interrupt_ends_an_operation_and_the_next_one_goes_on_from_there():
    stack, first = signalled(signal.SIGINT)
    assert type(first.error) is CommandError, first.error
    expect_in("code: 1", str(first.error))
    expect(stack.up().summary.result, "succeeded")
    expect_in("a", names(stack))


@test
def a_termination_ends_an_operation():
    stack, first = signalled(signal.SIGTERM)
    assert type(first.error) is CommandError, first.error
    expect_in("code: 1", str(first.error))
    expect(stack.up().summary.result, "succeeded")


@test
def what_a_killed_operation_leaves_is_taken_over():
    stack, first = signalled(signal.SIGKILL)
    expect_in("code: -9", str(first.error))
    result = stack.up()
    expect(result.summary.result, "succeeded")
    expect_in("a", names(stack))


@test
def secrets_of_a_killed_operation_can_be_read():
    given = os.environ.pop("PULUMI_CONFIG_PASSPHRASE")
    stack = World().inline()
    os.environ["PULUMI_CONFIG_PASSPHRASE"] = given
    settings = os.path.join(stack.workspace.work_dir, "Pulumi.dev.yaml")
    # The first secret of a stack; then one that is encrypted anew, for the settings are lost.
    for value in ("first", "second"):
        assert not os.path.exists(settings), "the stack has a secrets manager"
        signalled(signal.SIGKILL, stack, Waiting(value))
        stack.workspace.program = lambda: pulumi.export("a", stash("a", pulumi.Output.secret(value)).input)
        expect(plain(stack.up().outputs), {"a": (value, True)})
        os.remove(settings)


SCRIPT = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from support import World, stash
def program():
    stash("a", 1)
    print("started", flush=True)
    time.sleep(600)
world = World()
world.root = pathlib.Path(sys.argv[2])
world.inline(program, work_dir=str(world.project)).up()
"""


@test
def an_operation_ends_when_its_script_is_killed():
    world = World()
    here = os.path.dirname(os.path.abspath(__file__))
    options = world.options(work_dir=str(world.project))
    stack = automation.create_stack("dev", "auto", lambda: stash("a", 1), opts=options)
    arguments = [sys.executable, "-c", SCRIPT, here, str(world.root)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True)
    expect(process.stdout.readline(), "started\n")
    assert group(process.pid)
    process.kill()
    process.wait()
    until(lambda: not group(process.pid))
    expect(stack.up().summary.result, "succeeded")


def group(number):
    """Living processes of a group."""
    listed = subprocess.run(["ps", "-eo", "pgid=,pid=,stat="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(number) and "Z" not in line.split()[2]]


@test
def several_stacks_are_updated_at_once_from_one_process():
    world = World()

    def program():
        stash("a", pulumi.get_stack())
        pulumi.export("stack", pulumi.get_stack())

    stacks = [world.inline(program, name) for name in ("one", "two", "three")]
    running = [Background(stack.up) for stack in stacks]
    results = [one.join() for one in running]
    expect([one.error for one in results], [None] * 3)
    expect([one.result.outputs["stack"].value for one in results], ["one", "two", "three"])


@test
def a_program_updates_another_stack():
    world = World()
    inner = world.inline(lambda: pulumi.export("word", "w"), "inner")
    inner.up()

    def program():
        pulumi.export("word", inner.outputs()["word"].value)

    expect(plain(world.inline(program, "outer").up().outputs), {"word": ("w", False)})


@test
def nothing_is_left_behind():
    before = set(children())
    stack = World().inline(lambda: stash("a", 1))
    stack.up(on_event=lambda event: None)
    stack.destroy()
    expect(set(children()) - before, set())


run()
