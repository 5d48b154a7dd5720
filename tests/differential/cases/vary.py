"""Varies a recorded case: flags added to its operations, commands put between its steps, steps left out or exchanged."""

import copy
import random

SHOWN = ["--diff", "--show-sames", "--show-reads", "--show-replacement-steps", "--suppress-outputs", "--show-config",
         "--show-full-output", "--urns", "--suppress-progress", "--show-secrets"]
FLAGS = {
    "up": [*SHOWN, "--json", "--refresh", "--continue-on-error", "--parallel 1", "--expect-no-changes", "--replace '**Thing*'",
           "--target '**::a*'", "--target '**Thing*' --target-dependents", "--exclude '**::b*'", "--exclude '**::a*' --exclude-dependents",
           "--exclude-protected", "--run-program=false", "--message words", "--target-replace '**::a*'", "--attach-debugger=false"],
    "preview": [*SHOWN, "--json", "--refresh", "--parallel 1", "--expect-no-changes", "--replace '**::a*'", "--target '**::a*'",
                "--target '**Thing*' --target-dependents", "--exclude '**::b*'", "--exclude '**::a*' --exclude-dependents",
                "--import-file {scratch}/i.json", "--save-plan {scratch}/p.json", "--target-replace '**::b*'"],
    "refresh": [*SHOWN, "--json", "--preview-only", "--run-program", "--expect-no-changes", "--target '**::a*'", "--exclude '**::a*'",
                "--clear-pending-creates", "--parallel 1", "--target '**::a*' --target-dependents", "--skip-pending-creates"],
    "destroy": [*SHOWN, "--json", "--preview-only", "--refresh", "--exclude-protected", "--target '**::a*'",
                "--target '**::a*' --target-dependents", "--exclude '**::a*'", "--continue-on-error", "--parallel 1", "--remove"],
    "import": ["--diff", "--protect=false", "--generate-code=false", "--json", "--preview-only", "--out {scratch}/o.txt",
               "--suppress-outputs"],
}
BETWEEN = [
    "preview --diff", "preview --json", "preview --refresh", "preview", "preview --show-sames --diff", "preview --run-program=false",
    "up --yes --skip-preview", "up --yes", "up --yes --diff", "up --yes --skip-preview --refresh", "up --yes --skip-preview --json",
    "up --yes --skip-preview --continue-on-error", "up --yes --skip-preview --target '**::a*'",
    "up --yes --skip-preview --exclude '**::a*'", "up --yes --target-dependents --target '**::a*'",
    "refresh --yes --skip-preview", "refresh --yes", "refresh --preview-only --diff", "refresh --yes --run-program --skip-preview",
    "destroy --preview-only", "destroy --preview-only --diff", "destroy --yes --skip-preview --exclude-protected",
    "destroy --yes --skip-preview", "destroy --yes --skip-preview --target '**::a*'",
    "destroy --yes --skip-preview --target '**::a*' --target-dependents", "destroy --preview-only --json",
    "stack output", "stack output --json", "stack output --shell",
    "stack output --show-secrets", "stack ls --json", "stack ls", "stack history", "stack history --json --show-secrets",
    "stack export", "stack tag ls", "stack rm --yes", "config", "config --json", "config --show-secrets",
    "config refresh --force", "state protect --all --yes", "state unprotect --all --yes", "state repair --yes",
    "about --json", "whoami", "stack ls --all", "cancel --yes", "stack rm --force --yes --preserve-config",
]
OPERATIONS = tuple(FLAGS)
UNSTEADY = ("about",)
"""Commands whose output depends on the machine."""


def varied(case, seed):
    """`case` as a random variation of it: the same for the same seed."""
    dice = random.Random(seed)
    case = copy.deepcopy(case)
    first, *others = case["steps"]
    steps = [first]
    for step in others:
        if dice.random() < 0.12 and not carries_more(step):
            continue
        steps.append(step)
    if len(steps) > 3 and dice.random() < 0.3:
        place = dice.randrange(1, len(steps) - 1)
        steps[place], steps[place + 1] = steps[place + 1], steps[place]
    found = []
    for step in steps:
        found.append(with_flags(step, dice))
        while dice.random() < 0.35:
            found.append({"name": "between", "run": dice.choice(BETWEEN)})
    case["steps"] = [shown(step) for step in found]
    return case


def carries_more(step):
    """Whether later steps depend on this one: it changes the program, the settings, the files or the pretend cloud."""
    return any(key in step for key in ("program", "files", "cloud", "config", "editState", "env", "removeFiles"))


def with_flags(step, dice):
    run = step["run"]
    if not isinstance(run, str) or run.split()[0] not in OPERATIONS or "--help" in run:
        return step
    while dice.random() < 0.4:
        flag = dice.choice(FLAGS[run.split()[0]])
        if flag.split()[0].split("=")[0] not in run:
            run = f"{run} {flag}"
    return {**step, "run": run}


def shown(step):
    """The step, with its texts compared: as sets of lines where the order of events decides."""
    verb = step["run"].split()[0] if isinstance(step["run"], str) else step["run"][0]
    if verb in OPERATIONS and "stdout" not in step and "--help" not in step["run"]:
        kind = "jsonl" if "--json" in step["run"] and verb != "preview" else "json" if "--json" in step["run"] else "sorted"
        return {**step, "stdout": kind}
    if step["run"] == "stack export":
        # Resources are in the order in which they were recorded.
        return {**step, "stdout": "json"}
    if verb in UNSTEADY:
        return {**step, "stdout": "info"}
    return step
