"""What must hold after a kill, after the run that follows it, and after everything is destroyed.

Each check answers a list of problems in words; an empty list is good. `interrupted` counts, by name, the creations that
kills cut off.
"""

from collections import Counter

from lab_stack import made_for, name_of


def after_kill(stack, state):
    """The state as it can be read right after a kill, before anything is repaired."""
    return (unknown_objects(stack, state) + lost_objects(stack, state) + twice(state)
            + unwritten_creates(stack, state))


def after_finish(stack, state, interrupted):
    """The state after a run that nobody disturbed."""
    problems = unknown_objects(stack, state) + lost_objects(stack, state) + twice(state)
    wanted, there = set(stack.program.names), state.names()
    problems += [f"{name} is not in the state" for name in sorted(wanted - there)]
    problems += [f"{name} is in the state and not in the program" for name in sorted(there - wanted)]
    problems += [f"{one['urn']} still waits for deletion" for one in state.things() if one.get("delete")]
    return problems + too_many(stack, interrupted) + stale_objects(stack, state)


def after_destroy(stack, state, interrupted):
    """Nothing is left but objects of interrupted creates, of which the state still says that they may exist."""
    problems = unknown_objects(stack, state)
    problems += [f"{one['urn']} is still in the state" for one in state.things()]
    left = Counter(made_for(object_id) for object_id in stack.objects())
    problems += [f"{count} objects of {name} are left, which was interrupted {interrupted[name]} times"
                 for name, count in left.items() if count > interrupted[name]]
    return problems


def warnings(output, interrupted_urns, has_journal):
    """A run that recovers another says so, and names each resource of which an object may exist that nobody knows."""
    problems = [f"the run did not warn of {urn}" for urn in sorted(set(interrupted_urns))
                if f"{urn}, interrupted while creating" not in output]
    if has_journal and "an update was interrupted" not in output:
        problems.append("the run did not say that it recovered another one")
    return problems


def unknown_objects(stack, state):
    """Objects that the state does not know: neither by id nor as what a pending create may have made."""
    known = {one["id"] for one in state.things()}
    room = Counter(map(name_of, state.pending_creates()))
    problems = []
    for object_id in stack.objects():
        name = made_for(object_id)
        if object_id in known:
            continue
        if room[name] == 0:
            problems.append(f"orphan: {object_id} exists, and the state knows nothing of it")
        room[name] -= 1
    return problems


def lost_objects(stack, state):
    """Resources of the state whose object does not exist, and whose deletion was not under way either."""
    objects, deleting = stack.objects(), state.pending_deletes()
    return [f"{one['urn']} has the id {one['id']}, and no such object exists"
            for one in state.things() if one["id"] not in objects and one["id"] not in deleting]


def twice(state):
    """Resources that the state lists more than once, and objects that two resources claim."""
    urns = Counter(one["urn"] for one in state.resources if not one.get("delete"))
    ids = Counter(one["id"] for one in state.things())
    return ([f"{urn} is in the state {count} times" for urn, count in urns.items() if count > 1]
            + [f"{count} resources have the id {one}" for one, count in ids.items() if count > 1])


def unwritten_creates(stack, state):
    """Creates that were asked for before they, or what they depend on, were written down."""
    recorded, begun = state.names(), set(map(name_of, state.pending_creates()))
    problems = []
    for name in stack.creates():
        if name not in stack.program.names:
            continue
        if name not in begun and name not in recorded:
            problems.append(f"{name} was created before that was written down")
        problems += [f"{name} was created before the outcome of {other}, on which it depends, was written down"
                     for other in stack.program.dependencies[name] if other not in recorded]
    return problems


def too_many(stack, interrupted):
    """Creates, and objects, beyond one for each that was wanted or interrupted."""
    problems = []
    for name, count in Counter(stack.creates()).items():
        if count > stack.program.wanted_creates[name] + interrupted[name]:
            problems.append(f"{name} was created {count} times and interrupted {interrupted[name]} times")
    for name, count in Counter(made_for(object_id) for object_id in stack.objects()).items():
        if count > (name in stack.program.names) + interrupted[name]:
            problems.append(f"{count} objects of {name} exist, which was interrupted {interrupted[name]} times")
    return problems


def stale_objects(stack, state):
    """Objects that are not what the program says."""
    objects = stack.objects()
    problems = []
    for one in state.things():
        wanted = stack.program.inputs.get(name_of(one["urn"]), {}).get("value")
        found = objects.get(one["id"], {}).get("data", {}).get("value")
        if found != wanted:
            problems.append(f"{one['id']} has the value {found!r} instead of {wanted!r}")
    return problems
