"""Runs a command and measures it: wall time, CPU time and peak memory.

Memory is kept apart: that of the command itself (the engine), that of programs below it, and that of all other
processes below it (language hosts, plugins). The kernel's own account of a process (`ru_maxrss`) mixes these: it is the
maximum over the process and its children, so it is used only when there were no children. Otherwise `VmHWM` is read
while the processes run. It only ever grows, so what a reading misses is the growth after the last one.

Linux only: it needs `/proc` and `pidfd_open`.
"""

import os
import resource
import select
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")
# Seconds between two readings: short at first, for short commands, then longer, to leave the machine alone.
FIRST_PAUSE = 0.002
LONGEST_PAUSE = 0.02
GROWTH = 1.1
# Seconds between two looks for new processes.
DESCENDANTS_PAUSE = 0.1
GRACE = 5
TAIL = 2000
# Names of the processes of programs: an interpreter, or what was compiled.
PROGRAMS = ("python", "program")


@dataclass
class Sample:
    """One run of a command. Times are in seconds, memory in bytes; memory is None when nothing could be read."""

    wall: float = 0.0
    cpu: float = 0.0
    engine_cpu: float = 0.0
    engine_memory: int | None = None
    program_memory: int | None = None
    plugin_memory: int | None = None
    error: str | None = None


@dataclass
class Watch:
    """Peak memory of a process and of those below it."""

    root: int
    peaks: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)
    next_look: float = 0.0

    def read(self, now):
        if now >= self.next_look:
            for pid in descendants(self.root):
                self.names[pid] = process_name(pid) or self.names.get(pid, "")
                self.peaks.setdefault(pid, 0)
            self.next_look = now + DESCENDANTS_PAUSE
            known = [self.root, *self.names]
        else:
            known = [self.root]
        for pid in known:
            peak = peak_memory(pid)
            if peak:
                self.peaks[pid] = max(self.peaks.get(pid, 0), peak)

    def engine(self):
        return self.peaks.get(self.root)

    def below(self, is_program):
        """The sum of the peaks, or None without such processes."""
        peaks = [self.peaks[pid] for pid, name in self.names.items() if name.startswith(PROGRAMS) == is_program]
        return sum(peaks) if peaks else None


def run(command, environment, directory, log, timeout):
    """Runs `command` to its end; what it prints goes to the file `log`."""
    with open(log, "wb") as output:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        watch = Watch(process.pid)
        try:
            in_time = wait(process.pid, watch, start + timeout)
        except BaseException:
            end(process.pid)
            raise
        wall = time.monotonic() - start
        if not in_time:
            end(process.pid)
    engine_cpu = own_cpu(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    sample = Sample(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        engine_cpu=engine_cpu,
        engine_memory=engine_memory(watch, usage),
        program_memory=watch.below(is_program=True),
        plugin_memory=watch.below(is_program=False),
    )
    if not in_time:
        sample.error = f"not finished after {timeout:g} s"
    elif process.returncode != 0:
        sample.error = f"exit code {process.returncode}: {tail(log)}"
    return sample


def wait(pid, watch, deadline):
    """Reads memory until the process has ended, but leaves it for `wait4`; False when the time is over."""
    descriptor = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    pause = FIRST_PAUSE
    try:
        while not poll.poll(pause * 1000):
            now = time.monotonic()
            if now > deadline:
                return False
            watch.read(now)
            pause = min(pause * GROWTH, LONGEST_PAUSE)
        return True
    finally:
        os.close(descriptor)


def end(pid):
    """Ends the process and its group, and waits until it is gone."""
    signal_group(pid, signal.SIGTERM)
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(GRACE * 1000)
        signal_group(pid, signal.SIGKILL)
        poll.poll()
    finally:
        os.close(descriptor)


def signal_group(pid, number):
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


def engine_memory(watch, usage):
    """`ru_maxrss` is exact, but starts at what this script had when it started the process, and includes children."""
    exact = usage.ru_maxrss * 1024
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if not watch.names and exact > floor:
        return exact
    return watch.engine()


def own_cpu(pid):
    """CPU time of an ended process without its children, to a clock tick."""
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK if len(fields) > 12 else 0.0


def peak_memory(pid):
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def process_name(pid):
    return read(f"/proc/{pid}/comm").strip()


def descendants(pid):
    """All processes below `pid`."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in read(path).split():
            found.append(int(child))
            found.extend(descendants(int(child)))
    return found


def read(path):
    """The text of a file in `/proc`; empty when the process is gone."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def tail(log):
    text = Path(log).read_text(encoding="utf-8", errors="replace").strip()
    return text[-TAIL:]
