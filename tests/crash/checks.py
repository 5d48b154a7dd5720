"""What must hold after a kill, after the run that follows it, and after everything is destroyed.

Each check answers a list of problems in words; an empty list is good.
"""

from collections import Counter

from lab_stack import STACK, name_of


def after_kill(stack, state):
    """The state as it can be read right after the kill, before anything is repaired."""
    known = {one["id"]: name_of(one["urn"]) for one in state.things()}
    begun = set(state.pending_creates())
    creates, _ = stack.calls()
    problems = unknown_objects(stack, state) + lost_objects(stack, state) + twice(state)
    for name in creates:
        if name not in begun and name not in known.values():
            problems.append(f"{name} was created before that was written down: the state knows nothing of it")
        for other in stack.program.dependencies[name]:
            if other not in known.values():
                problems.append(f"{name} was begun before the outcome of {other}, which it depends on, was written down")
    return problems


def after_finish(stack, state, interrupted):
    """The state after a run that nobody disturbed. `interrupted` counts, by name, creates that a kill cut off."""
    problems = unknown_objects(stack, state) + lost_objects(stack, state) + twice(state)
    there = {name_of(one["urn"]) for one in state.things()}
    problems += [f"{name} is not in the state" for name in stack.program.names if name not in there]
    problems += [f"{name} is in the state and not in the program" for name in sorted(there - set(stack.program.names))]
    problems += [f"{one['urn']} waits for deletion" for one in state.things() if one.get("delete")]
    for name, count in Counter(stack.calls()[0]).items():
        if count > 1 + interrupted[name]:
            problems.append(f"{name} was created {count} times and interrupted {interrupted[name]} times")
    objects = Counter(stack.objects().values())
    for name, count in objects.items():
        if count > 1 + interrupted[name]:
            problems.append(f"the cloud holds {count} objects of {name}, which was interrupted {interrupted[name]} times")
    return problems


def after_destroy(stack, state, interrupted):
    """Nothing is left but objects of interrupted creates, of which the state still says that they may exist."""
    problems = unknown_objects(stack, state)
    problems += [f"{one['urn']} is still in the state" for one in state.things()]
    for name in stack.objects().values():
        if not interrupted[name]:
            problems.append(f"an object of {name} was not deleted, and its creation was never interrupted")
    return problems


def unknown_objects(stack, state):
    """Objects that the state does not know: neither by id nor as what a pending create may have made."""
    known = {one["id"] for one in state.things()}
    room = Counter(state.pending_creates())
    problems = []
    for object_id, name in sorted(stack.objects().items()):
        if object_id in known:
            continue
        if room[name] == 0:
            problems.append(f"orphan: {object_id} exists, and the state knows nothing of it")
        room[name] -= 1
    return problems


def lost_objects(stack, state):
    """Resources of the state whose object does not exist."""
    objects = stack.objects()
    return [f"{one['urn']} has the id {one['id']}, and no such object exists"
            for one in state.things() if one["id"] not in objects]


def twice(state):
    """Resources that the state lists more than once, and objects that two resources claim."""
    urns = Counter(one["urn"] for one in state.resources if not one.get("delete"))
    ids = Counter(one["id"] for one in state.things())
    return ([f"{urn} is {count} times in stack {STACK}" for urn, count in urns.items() if count > 1]
            + [f"{count} resources have the id {one}" for one, count in ids.items() if count > 1])
