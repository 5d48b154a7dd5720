"""Runs steps side by side, in the order of a list, as far as the cores of the machine reach.

A step starts when the steps whose results it names have passed and enough cores are free. Each writes to a file of its own;
the file is shown when the step ends. The first step that fails stops the others. A step that exceeds its limit of time is
stopped and has failed, so that one that hangs leaves its output behind.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PLACEHOLDER = re.compile(r"\{(\w+)\}")
LINES_OF_A_PASSED_STEP = 15
# The rest is in the file of the step. What shows the output of all steps may keep only the first part of it, so the
# reason of a failure must not stand behind the names of five hundred crates.
LINES_OF_A_FAILED_STEP = 150
GIGABYTES_THAT_STEPS_NEED = 2
SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True)
class Step:
    """A command of the tests.

    `{name}` in the command stands for the last line of the standard output of the step `name`, and makes this step wait for
    that one.
    """

    name: str
    command: list
    after: tuple = ()
    """Further steps that must have passed."""
    cores: int = 1
    """Cores that the step keeps busy: none if it waits for the network most of the time."""
    alone: bool = False
    """Measures time, so nothing else may run."""
    lock: str = ""
    """Steps with the same lock never run at the same time."""
    share: int = 1
    """One commit out of so many runs the step; 0: none does."""
    group: str = ""
    """Steps of one group and share run for the same commits."""
    env: dict = field(default_factory=dict)
    reason: str = ""
    """Why the step may take more than three minutes."""
    minutes: float = 20
    """How long the step may take, on a slow machine too."""

    def needs(self):
        """Names of the steps that must have passed before this one starts."""
        return {*self.after, *self.reads()}

    def reads(self):
        """Names of the steps whose output the command takes."""
        return {name for text in [*self.command, *self.env.values()] for name in PLACEHOLDER.findall(text)}


@dataclass
class Running:
    step: Step
    process: subprocess.Popen
    log: Path
    output: Path
    """The standard output: a file of its own if other steps read it, because tools that a script runs reset the terminal's
    colours on the standard error, and that would become part of a line."""
    started: float

    def is_late(self, deadline):
        """Whether the step has exceeded its limit, or the time of all steps is over."""
        now = time.monotonic()
        return now - self.started > 60 * self.step.minutes or now > deadline


@dataclass
class Result:
    step: Step
    seconds: float
    cpu: float
    passed: bool


class Schedule:
    """The steps that wait, run and have ended."""

    def __init__(self, steps, cores, logs, root, passed=(), keep_going=False, minutes=float("inf")):
        """`passed` names steps that need not run, because they have passed before. With `keep_going` a failure stops only
        the steps that need what failed. After so many minutes what still runs is stopped, and has failed."""
        self.waiting, self.keep_going = list(steps), keep_going
        self.deadline = time.monotonic() + 60 * minutes
        self.cores, self.logs, self.root = cores, logs, root
        self.running, self.results, self.printed = [], [], dict.fromkeys(passed, "")
        self.read = {name for step in steps for name in step.reads()}
        logs.mkdir(parents=True, exist_ok=True)
        known = {step.name for step in steps} | self.printed.keys()
        for step in steps:
            if missing := step.needs() - known:
                sys.exit(f"step {step.name} needs {', '.join(sorted(missing))}, which is no step")

    def run(self):
        """Runs all steps; answers the results of those that ended."""
        try:
            while self.waiting or self.running:
                self.start_what_can()
                if not self.running:
                    sys.exit(f"nothing can start any more: {', '.join(step.name for step in self.waiting)}")
                result = self.collect()
                if not result.passed and not self.keep_going:
                    break
                if not result.passed:
                    self.drop_what_needs({result.step.name})
        finally:
            self.stop_all()
        return self.results

    def drop_what_needs(self, names):
        """Steps that cannot run any more are no longer waited for."""
        while dropped := {step.name for step in self.waiting if step.needs() & names} - names:
            names |= dropped
        self.waiting = [step for step in self.waiting if step.name not in names]

    def start_what_can(self):
        for step in list(self.waiting):
            if not self.can_start(step):
                # Whatever comes later in the list must not keep a wide step from its cores for ever.
                if step.needs() <= self.printed.keys() and (step.alone or step.cores > 1):
                    self.start_waits_for_network()
                    return
                continue
            self.start(step)

    def start_waits_for_network(self):
        for step in list(self.waiting):
            if step.cores == 0 and self.can_start(step):
                self.start(step)

    def can_start(self, step):
        if not step.needs() <= self.printed.keys():
            return False
        if any(other.step.alone or step.lock and other.step.lock == step.lock for other in self.running):
            return False
        if step.alone:
            return not self.running
        if step.cores == 0:
            return sum(other.step.cores == 0 for other in self.running) < 2
        return sum(other.step.cores for other in self.running) + min(step.cores, self.cores) <= self.cores

    def start(self, step):
        self.waiting.remove(step)
        fill = lambda text: PLACEHOLDER.sub(lambda match: self.printed[match[1]], text)  # noqa: E731
        command = [fill(part) for part in step.command]
        log = self.logs / f"{step.name}.log"
        output = log.with_suffix(".out") if step.name in self.read else log
        print(f"=== {step.name}: {' '.join(command)} ({time.strftime('%T')})", flush=True)
        with log.open("wb") as errors, (errors if output == log else output.open("wb")) as results:
            process = subprocess.Popen(
                command, cwd=self.root, stdin=subprocess.DEVNULL, stdout=results, stderr=errors,
                env={**os.environ, **{key: fill(value) for key, value in step.env.items()}}, start_new_session=True)
        self.running.append(Running(step, process, log, output, time.monotonic()))

    def collect(self):
        """Waits until a step ends, and shows what it printed."""
        one, status, usage, is_late = self.wait()
        one.process.returncode = os.waitstatus_to_exitcode(status)
        self.running.remove(one)
        passed = one.process.returncode == 0 and not is_late
        result = Result(one.step, time.monotonic() - one.started, usage.ru_utime + usage.ru_stime, passed)
        self.results.append(result)
        self.show(one, result)
        if is_late:
            print(f"=== {one.step.name}: stopped, because it took too long", flush=True)
        return result

    def wait(self):
        """The next step that ends, with its status and use of the machine, and whether it was stopped for its time."""
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            one = next((one for one in self.running if one.process.pid == pid), None)
            if one:
                return one, status, usage, False
            late = next((one for one in self.running if one.is_late(self.deadline)), None)
            if late:
                os.killpg(late.process.pid, signal.SIGKILL)
                _, status, usage = os.wait4(late.process.pid, 0)
                return late, status, usage, True
            if not pid:
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def show(self, one, result):
        printed = one.output.read_text(errors="replace").splitlines()
        self.printed[one.step.name] = printed[-1].strip() if printed else ""
        lines = printed if one.output == one.log else [*one.log.read_text(errors="replace").splitlines(), *printed]
        cut = len(lines) - (LINES_OF_A_PASSED_STEP if result.passed else LINES_OF_A_FAILED_STEP)
        if cut > 0:
            print(f"    … {cut} lines in {one.log}")
        print("\n".join(lines[max(cut, 0):]))
        print(f"=== {one.step.name}: {'passed' if result.passed else 'FAILED'} in {result.seconds:.0f} s", flush=True)
        if not result.passed:
            self.say_when_disk_is_full()

    def say_when_disk_is_full(self):
        """A full disk fails steps with messages that name anything but it."""
        free = shutil.disk_usage(self.logs).free / 1e9
        if free < GIGABYTES_THAT_STEPS_NEED:
            print(f"=== The disk of {self.logs} is nearly full: {free:.1f} GB are free", flush=True)

    def stop_all(self):
        for one in self.running:
            try:
                os.killpg(one.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            one.process.wait()
