#!/usr/bin/env python3
"""Runs the recorded cases that must pass, and compares them with what the reference did.

    tests/recorded_cases.py --bin target/bench-fast/plumb --python-bin .cache/venvs/pulumi-3.259/bin

`oracle-passing.txt` names the cases, and behind a name what may differ from its record: words from `EXPLANATIONS` below, and
steps that are not compared (`STEPS`). `docs/compatibility.md` says why. Everything else must be as recorded.
`oracle/run_cases.py` compares without explanations, and shows more of each difference.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ORACLE = TESTS / "oracle"
OWN = TESTS / "oracle-own" / "cases"
PASSING = TESTS / "oracle-passing.txt"
sys.path.insert(0, str(ORACLE))

import run_cases  # noqa: E402


# ---------------------------------------------------------------------------------------------------- explanations
#
# Each takes a step, its record and what happened now, makes the latter like the record where the explanation holds, and
# answers whether it did so anywhere.


def leave_out_calls(expected, actual, method, is_about):
    """Fewer calls of `method` than recorded, and nothing else different, for the resources that `is_about` picks."""
    others = lambda calls: [call for call in calls if call["method"] != method]  # noqa: E731
    found = False
    for urn, recorded in expected.get("calls", {}).get("calls", {}).items():
        made = actual.get("calls", {}).get("calls", {}).get(urn, [])
        if is_about(urn) and len(made) < len(recorded) and others(made) == others(recorded):
            actual.setdefault("calls", {}).setdefault("calls", {})[urn] = recorded
            found = True
    return found


def providers_of(record):
    """The provider instances that serve each resource: of the new object, or of the old one where there is no new one."""
    found = {}
    for state in (record.get("state") or {}).values():
        for one in ((state or {}).get("deployment") or {}).get("resources") or []:
            found[one["urn"]] = {one.get("provider", "")}
    for run in record.get("events", []):
        for urn, events in run["resources"].items():
            for side in ("new", "old"):
                named = {(event.get(side) or {}).get("provider") for event in events} - {None}
                if named:
                    found[urn] = named
                    break
    return found


def configure_when_needed(_, expected, actual):
    """A provider instance that is asked nothing is not configured. A preview asks nothing of one that only deletes."""
    made = actual.get("calls", {}).get("calls", {})
    asked = {}
    for urn, providers in providers_of(expected).items():
        for provider in providers:
            asked.setdefault(provider, set()).update(call["method"] for call in made.get(urn, []))
    has_preview = any((run.get("summary") or {}).get("isPreview") for run in expected.get("events", []))

    def configured(calls):
        return [call.get("id") for call in calls if call["method"] == "Configure"]

    def is_idle(urn):
        if "::pulumi:providers:" not in urn:
            return False
        left = configured(made.get(urn, []))
        for instance in configured(expected["calls"]["calls"][urn]):
            methods = asked.get(f"{urn}::{instance}", set())
            if instance in left:
                left.remove(instance)
            elif methods - {"Delete"} or (methods and not has_preview):
                return False
        return True

    return leave_out_calls(expected, actual, "Configure", is_idle)


def destroy_without_comparing(step, expected, actual):
    """What depends on a target goes with it, whatever its provider would say to a comparison."""
    is_destroy = step["run"].split()[0] == "destroy"
    return is_destroy and leave_out_calls(expected, actual, "Diff", lambda urn: "::pulumi:providers:" not in urn)


def replace_where(expected, actual, is_explained):
    """Puts what is recorded into `actual`, at any depth, wherever `is_explained` takes the two under a key for the same."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = expected.keys() & actual.keys()
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        keys = range(len(expected))
    else:
        return False
    found = False
    for key in keys:
        if expected[key] != actual[key] and is_explained(key, expected[key], actual[key]):
            actual[key], found = expected[key], True
        else:
            found |= replace_where(expected[key], actual[key], is_explained)
    return found


def is_secret(value):
    return isinstance(value, dict) and value.keys() == {"$secret"}


def secret_texts(value):
    """The plaintexts of all secrets inside `value`."""
    if is_secret(value):
        return {json.dumps(value["$secret"])}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set().union(*map(secret_texts, inner))


def secrets_passed_on(_, expected, actual):
    """A secret inside an output of type Any stays what it is, where the reference makes it `{}` in the outputs of the stack.

    In a state it must be a secret that the record has elsewhere, where it was passed on from.
    """
    known = secret_texts(expected.get("state"))

    def in_outputs(key, one, two):
        if key != "outputs":
            return False
        kept = lambda _, one, two: one == {} and is_secret(two) and (  # noqa: E731
            two["$secret"] == "<ciphertext>" or json.dumps(two["$secret"]) in known)
        changed = json.loads(json.dumps(two))
        return replace_where(one, changed, kept) and changed == one

    def in_what_is_said(_, one, two):
        if isinstance(one, str) and isinstance(two, str):  # a line of text
            return "{}" in one and one.replace("{}", '"[secret]"') == two
        return one == {} and (two == "[secret]" or json.dumps(two) in known)

    said = {key: expected[key] for key in ("stdout", "stderr") if key in expected}
    return replace_where(said, actual, in_what_is_said) | replace_where(expected, actual, in_outputs)


def secret_at_once(_, expected, actual):
    """What the program says is secret is secret from the import on, where the reference has it in the clear."""
    def is_explained(_, one, two):
        return not is_secret(one) and is_secret(two) and two["$secret"] in (one, "<ciphertext>")

    return replace_where(expected, actual, is_explained)


def secrets_kept(_, expected, actual):
    """A refresh keeps secret what was, where the reference takes over the clear value, and so counts it as modified."""
    def is_explained(key, one, two):
        is_kept = not is_secret(one) and is_secret(two) and two["$secret"] in (one, "<ciphertext>")
        return is_kept or (key == "times" and (one, two) == ("created+modified later", "created+modified"))

    return replace_where(expected, actual, is_explained)


def listed_properties_only(_, expected, actual):
    """An import that lists properties takes no other inputs over."""
    def is_explained(key, one, two):
        are_inputs = key in ("inputs", "news") and isinstance(one, dict) and isinstance(two, dict)
        return are_inputs and two.items() < one.items()

    return replace_where(expected, actual, is_explained)


def advice_in_own_words(_, expected, actual):
    """The same error, with other lines of advice below it."""
    recorded, said = expected.get("stderr") or [], actual.get("stderr") or []
    is_same_error = bool(said) and recorded != said and recorded[:1] == said[:1] and said[0].startswith("error: ")
    if is_same_error:
        actual["stderr"] = recorded
    return is_same_error


EXPLANATIONS = {
    "advice-in-own-words": advice_in_own_words,
    "configure-when-needed": configure_when_needed,
    "destroy-without-comparing": destroy_without_comparing,
    "listed-properties-only": listed_properties_only,
    "secret-at-once": secret_at_once,
    "secrets-kept": secrets_kept,
    "secrets-passed-on": secrets_passed_on,
}


def in_recorded_order(recorded, made, is_delete):
    """`made`, with its deletions in the order of `recorded` if they are the same."""
    deletes = [one for one in made if is_delete(one)]
    wanted = [one for one in recorded if is_delete(one)]
    if len(deletes) != len(wanted) or any(one not in deletes for one in wanted):
        return made
    in_order = iter(wanted)
    return [next(in_order) if is_delete(one) else one for one in made]


def order_copies(expected, actual):
    """Deletions of several objects of one resource are side by side: any of them may begin and end first."""
    pairs = [(expected.get("calls", {}).get("calls", {}), actual.get("calls", {}).get("calls", {}))]
    for recorded, made in zip(expected.get("events", []), actual.get("events", [])):
        pairs.append((recorded["resources"], made["resources"]))
    is_delete = lambda one: one.get("method") == "Delete" or one.get("op", "").startswith("delete")  # noqa: E731
    for recorded, made in pairs:
        for urn in recorded.keys() & made.keys():
            made[urn] = in_recorded_order(recorded[urn], made[urn], is_delete)


# ---------------------------------------------------------------------------------------------------- cases


def folder_of(name):
    """`own/NAME` is a case of the project's own, `histories/NAME` a history, any other name a recorded case."""
    if name.startswith("own/"):
        return OWN / name.removeprefix("own/")
    return ORACLE / (name if "/" in name else f"cases/{name}")


STEPS = re.compile(r"(differs|races)=([0-9]+(?:,[0-9]+)*)")
"""Steps that are not compared: with `differs` there must be a difference, with `races` there may be one."""


class Words:
    """What may differ in a case."""

    def __init__(self, words, may_be_unused=False):
        self.may_be_unused = may_be_unused
        self.explanations = [word for word in words if not STEPS.fullmatch(word)]
        self.differs, self.races = (self.steps(words, kind) for kind in ("differs", "races"))

    @staticmethod
    def steps(words, kind):
        found = (STEPS.fullmatch(word) for word in words)
        return {int(step) for match in found if match and match[1] == kind for step in match[2].split(",")}


def listed():
    """The cases of the list: name, folder and what may differ."""
    cases = []
    for line in PASSING.read_text().splitlines():
        name, *explanations = line.split("#")[0].split() or [None]
        if name is None:
            continue
        folder = folder_of(name)
        if not (folder / "case.json").exists():
            sys.exit(f"{PASSING.name} names {name}, and there is no such case")
        words = Words(explanations)
        for unknown in set(words.explanations) - EXPLANATIONS.keys():
            sys.exit(f"{PASSING.name}: {name}: {unknown} explains nothing")
        cases.append((name, folder, words))
    return cases


def random_histories(folder):
    """The cases in a folder of `differential/histories`. Nobody knows which explanations they need."""
    if folder is None:
        return []
    return [(one.name, one, Words(EXPLANATIONS, may_be_unused=True)) for one in sorted(folder.iterdir())]


ATTEMPTS = 4
"""How often a case runs whose steps follow a race: they compare with the recording only if the race ends as it did there."""


def compare(setup, folder, words, jitter):
    """Differences of a case that are not explained, and the words that were not needed."""
    for _ in range(ATTEMPTS):
        problems, unused, is_race_lost = compare_once(setup, folder, words, jitter)
        if not problems or not is_race_lost:
            break
    return problems, unused


def compare_once(setup, folder, words, jitter):
    """Differences of one run, the words that were not needed, and whether a race ended in another way than in the recording."""
    case = json.loads((folder / "case.json").read_text())
    if reason := setup.lacks(case):
        return [reason], [], False
    is_race_lost = False
    problems, unused = [], set() if words.may_be_unused else set(words.explanations)
    records = run_cases.Run(setup, folder, case, jitter).run()
    for number, (step, actual) in enumerate(zip(case["steps"], records), 1):
        expected = json.loads(run_cases.step_file(folder, number, step).read_text())
        order_copies(expected, actual)
        for name in words.explanations:
            if EXPLANATIONS[name](step, expected, actual):
                unused.discard(name)
        lines = run_cases.compare_step(expected, actual)
        if number in words.differs and not lines:
            unused.add(f"differs={number}")
        is_race_lost |= number in words.races and bool(lines)
        if number not in words.differs | words.races:
            problems += [f"step {number} {step.get('name', '')}: {line}" for line in lines]
    return problems, sorted(unused), is_race_lost


def main():
    parser = argparse.ArgumentParser(description="Run the recorded cases that must pass.")
    parser.add_argument("--bin", required=True, help="the built `plumb`")
    parser.add_argument("--python-bin", required=True, help="bin folder of a Python with the packages pulumi and grpcio")
    parser.add_argument("--filter", default="", help="regular expression on names")
    parser.add_argument("--histories", type=Path, help="compare the cases in this folder instead, with every explanation")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one command")
    parser.add_argument("--jitter", help="a seed: concurrent calls end in another order than they began")
    parser.add_argument("--max-lines", type=int, default=12, help="differences shown per case")
    options = parser.parse_args()
    options.lab, options.path, options.keep = str(TESTS / "lab"), None, False
    options.node_modules = os.environ.get("ORACLE_NODE_MODULES")
    with tempfile.TemporaryDirectory(prefix="plumb-cases-") as folder:
        # The reference calls itself `pulumi`, and so does this program when it is started as that.
        options.bin = copied(Path(options.bin), Path(folder) / "pulumi")
        return run(run_cases.Setup(options), options)


def copied(binary, to):
    """The binary under another name; not a symbolic link, which the runner would follow."""
    try:
        os.link(binary, to)
    except OSError:
        shutil.copy2(binary, to)
    return str(to)


def run(setup, options):
    def one(case):
        name, folder, words = case
        started = time.time()
        try:
            problems, unused = compare(setup, folder, words, options.jitter)
        except Exception as error:  # a broken case must not stop the others
            problems, unused = [f"{type(error).__name__}: {error}"], []
        return name, problems, unused, time.time() - started

    failed = 0
    cases = [case for case in random_histories(options.histories) or listed() if re.search(options.filter, case[0])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, problems, unused, seconds in pool.map(one, cases):
            failed += bool(problems or unused)
            print(f"{'failed' if problems or unused else 'passed'} {name} ({seconds:.1f}s)", flush=True)
            for line in problems[:options.max_lines]:
                print(f"    {line}", flush=True)
            if len(problems) > options.max_lines:
                print(f"    … and {len(problems) - options.max_lines} more", flush=True)
            for explanation in unused:
                print(f"    {explanation} was not needed: remove the word from {PASSING.name}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
