"""Measures each program in pairs: alone, then with Plumb, and again.

A slow minute of the machine then hits both of a pair, and the fastest of many runs is what the machine can do.
"""

import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from peers import measure
from peers.projects import STACK
from peers.setup import say

from . import projects

CREATE, SAME, PREVIEW = "create", "nothing-to-do", "preview"
PHASES = [CREATE, SAME, PREVIEW]
START = "first registration"
VERBS = {
    CREATE: ["up", "--yes", "--skip-preview"],
    SAME: ["up", "--yes", "--skip-preview"],
    PREVIEW: ["preview"],
    "destroy": ["destroy", "--yes", "--skip-preview"],
}
# Starts are short: it takes more runs to tell them from noise.
START_RUNS_FACTOR = 3


@dataclass
class Pairs:
    """Runs of one thing, with Plumb and without, in pairs. Times are in seconds."""

    language: str
    shape: str
    phase: str
    alone: list = field(default_factory=list)
    plumb: list = field(default_factory=list)
    cpu_alone: list = field(default_factory=list)
    cpu_plumb: list = field(default_factory=list)
    engine_cpu: list = field(default_factory=list)

    @property
    def ratio_of_minima(self):
        return min(self.plumb) / min(self.alone)

    @property
    def ratio_of_medians(self):
        return statistics.median(self.plumb) / statistics.median(self.alone)

    @property
    def added_cpu(self):
        return min(self.cpu_plumb) - min(self.cpu_alone)


@dataclass
class Starts:
    """Seconds until a program knew the answer to its first registration."""

    language: str
    # Loading the SDK, and nothing else.
    bare: list = field(default_factory=list)
    alone: list = field(default_factory=list)
    plumb: list = field(default_factory=list)

    @property
    def over_bare(self):
        return min(self.plumb) - min(self.bare)


class FailedError(Exception):
    """Something that was to be measured did not work."""


class Runner:
    def __init__(self, plumb, null_monitor, options):
        self.plumb = str(plumb)
        self.null_monitor = str(null_monitor)
        self.options = options

    def run(self):
        pairs, starts = [], []
        for language in self.options.languages:
            folder = Path(tempfile.mkdtemp(prefix="plumb-overhead-"))
            try:
                project = projects.make(language, folder / "case", self.plumb)
                starts.append(self.starts(project))
                for shape in self.options.shapes:
                    pairs += self.pairs(project, shape)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        return pairs, starts

    def pairs(self, project, shape):
        found = {phase: Pairs(project.language, shape, phase) for phase in PHASES}
        for run in range(self.options.runs):
            say(f"{project.language}: {shape}, run {run + 1} of {self.options.runs}")
            for phase in PHASES:
                pair = found[phase]
                alone = self.measure(project, shape, self.alone(project))
                plumb = self.measure(project, shape, self.verb(phase))
                self.check(project, phase)
                pair.alone.append(alone.wall)
                pair.cpu_alone.append(alone.cpu)
                pair.plumb.append(plumb.wall)
                pair.cpu_plumb.append(plumb.cpu)
                pair.engine_cpu.append(plumb.engine_cpu)
            self.measure(project, shape, self.verb("destroy"))
        return list(found.values())

    def check(self, project, phase):
        """What was measured must have done what it was measured for."""
        expected, found = self.options.count, project.resources()
        if phase != PREVIEW and found != expected:
            raise FailedError(f"{project.language}: {phase} left {found} resources instead of {expected}")

    def starts(self, project):
        starts = Starts(project.language)
        for run in range(self.options.runs * START_RUNS_FACTOR):
            say(f"{project.language}: start, run {run + 1} of {self.options.runs * START_RUNS_FACTOR}")
            starts.bare.append(self.measure(project, "", project.bare).wall)
            starts.alone.append(self.until_note(project, self.alone(project)))
            starts.plumb.append(self.until_note(project, self.verb(PREVIEW)))
        return starts

    def until_note(self, project, command):
        note = project.folder / "note"
        note.unlink(missing_ok=True)
        began = time.time_ns()
        self.measure(project, projects.ONE, command)
        return (int(note.read_text()) - began) / 1e9

    def alone(self, project):
        return [self.null_monitor, *project.alone, str(project.program)]

    def verb(self, phase):
        return [self.plumb, *VERBS[phase], "--stack", STACK, "--non-interactive", "--color", "never"]

    def measure(self, project, shape, command):
        environment = project.environment(shape, self.options.count)
        log = project.folder / "log"
        sample = measure.run(command, environment, project.program, log, self.options.timeout)
        if sample.error is not None:
            raise FailedError(f"{project.language}: {' '.join(command[:3])}: {sample.error}")
        return sample
