"""Measures every engine on every workload."""

import os
import shutil
import tempfile

from . import measure
from .engines import DESTROY, PREVIEW, VERSION, Case, SetupError
from .results import Key, Results
from .setup import say, sdk

# Start-up is short: it takes more runs to tell it from noise.
VERSION_RUNS_FACTOR = 5


class Runner:
    """Runs what was asked for. An engine that fails on a workload is not run on it again."""

    def __init__(self, engines, options):
        self.engines = engines
        self.options = options
        self.results = Results()
        self.given_up = set()

    def run(self):
        self.measure_versions()
        for workload in self.options.workloads:
            environment = sdk(workload)
            if environment is not None and not workload.is_go:
                warm_up(environment, workload)
            for count in self.options.counts if workload.resource_type else [0]:
                # Engines take turns, so that a slow minute of the machine hits all of them.
                for run in range(self.options.runs):
                    for engine in self.engines:
                        self.measure_case(engine, workload, count, environment, run)
        return self.results

    def measure_versions(self):
        with tempfile.TemporaryDirectory(prefix="plumb-bench-") as folder:
            for engine in self.engines:
                command = engine.version()
                if command is None:
                    continue
                say(f"{engine.name}: {VERSION}")
                case = Case(None, 0, os.path.join(folder, engine.name), None)
                (case.directory / "terraform.rc").touch()
                for _ in range(self.options.runs * VERSION_RUNS_FACTOR):
                    self.measure(engine, case, VERSION, command, Key(engine.name, "", 0, VERSION))

    def measure_case(self, engine, workload, count, environment, run):
        """All phases on a fresh project."""
        skipped = engine.name != "plumb" and engine.name != "baseline" and count > self.options.peer_limit
        if skipped or not engine.runs(workload) or (engine.name, workload.name) in self.given_up:
            return
        say(f"{engine.name}: {workload.name}, {count} resources, run {run + 1} of {self.options.runs}")
        folder = tempfile.mkdtemp(prefix="plumb-bench-")
        case = Case(workload, count, os.path.join(folder, "case"), environment)
        try:
            self.run_phases(engine, case)
        except SetupError as error:
            self.give_up(Key(engine.name, workload.name, count, "setup"), str(error))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run_phases(self, engine, case):
        engine.setup(case)
        for phase in engine.phases:
            key = Key(engine.name, case.workload.name, case.count, phase)
            sample = self.measure(engine, case, phase, engine.operation(phase, case), key)
            problem = sample.error or wrong_count(engine, case, phase)
            if problem is not None:
                self.give_up(key, problem)
                return

    def measure(self, engine, case, phase, command, key):
        environment = engine.environment(case)
        sample = measure.run(command, environment, case.project, case.log(phase), self.options.timeout)
        self.results.add(key, sample)
        return sample

    def give_up(self, key, problem):
        self.results.fail(key, problem)
        self.given_up.add((key.engine, key.workload))
        say(f"{key.engine}: {key.workload}, {key.count} resources, {key.phase} failed: {problem}")


def wrong_count(engine, case, phase):
    """A problem when an operation did not do what it was measured for."""
    if phase == PREVIEW or not case.workload.resource_type:
        return None
    expected = 0 if phase == DESTROY else case.count
    found = engine.found(case, phase)
    return None if found == expected else f"{found} resources instead of {expected}"


def warm_up(environment, workload):
    """Has Python compile what programs import, which it does once; what Node.js reads is in memory afterwards."""
    if not workload.is_python:
        command = ["node", "-e", 'require("@pulumi/pulumi")']
        with tempfile.TemporaryDirectory(prefix="plumb-bench-") as folder:
            measure.run(command, dict(os.environ), environment, os.path.join(folder, "log"), 600)
        return
    with tempfile.TemporaryDirectory(prefix="plumb-bench-") as folder:
        module = "pulumi_random" if workload.needs_random else "pulumi"
        command = [str(environment / "bin" / "python"), "-c", f"import {module}"]
        measure.run(command, dict(os.environ), folder, os.path.join(folder, "log"), 600)
