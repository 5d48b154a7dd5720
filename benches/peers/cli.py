"""The command line."""

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from . import report, targets
from .engines import Baseline, PulumiLike, Terraform
from .projects import WORKLOADS
from .runner import Runner
from .setup import EXECUTOR, ROOT, MissingError, binary, find_peer, say

SMOKE_COUNT = 20


def main(arguments=None):
    options = parse(arguments)
    try:
        engines = find_engines(options)
    except MissingError as error:
        say(f"error: {error}")
        return 2
    results = Runner(engines, options).run()
    titles = {workload.name: workload.title for workload in options.workloads}
    print(report.render(results, titles))
    write_json(options, engines, results)
    return exit_code(options, results)


def parse(arguments):
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(
        prog="benches/run", description="Runs the same work on Plumb and on its peers, and prints how they compare."
    )
    parser.add_argument("--plumb", metavar="FILE", help="the binary to measure; built if not given")
    parser.add_argument("--pulumi", metavar="FILE", help="the official program; looked up on PATH if not given")
    parser.add_argument("--terraform", metavar="FILE", help="Terraform; looked up on PATH if not given")
    parser.add_argument("--null-monitor", metavar="FILE", help="the baseline for programs; built if not given")
    parser.add_argument("--slow-provider", metavar="FILE", help="the provider of `slow-yaml`; built if not given")
    parser.add_argument("--no-peers", action="store_true", help="measure Plumb alone")
    parser.add_argument("--workloads", metavar="NAMES", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--counts", metavar="NUMBERS", default="100,1000,10000", help="how many resources")
    parser.add_argument("--peer-limit", metavar="N", type=int, default=1000, help="most resources for peers (1000)")
    parser.add_argument("--runs", metavar="N", type=int, default=3, help="how often to measure everything (3)")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=900, help="for one operation (900)")
    json_file = ROOT / "target" / "benches" / "peers.json"
    parser.add_argument("--json", metavar="FILE", default=json_file, type=Path, help="where to write all numbers")
    parser.add_argument("--smoke", action="store_true", help=f"see that it works: {SMOKE_COUNT} resources, one run")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    options = parser.parse_args(arguments)
    unknown = set(options.workloads.split(",")) - set(names)
    if unknown:
        parser.error(f"unknown workloads: {', '.join(sorted(unknown))}")
    options.workloads = [workload for workload in WORKLOADS if workload.name in options.workloads.split(",")]
    try:
        options.counts = [int(count) for count in options.counts.split(",")]
    except ValueError:
        parser.error("--counts takes numbers with commas between them")
    if options.runs < 1 or min(options.counts) < 1:
        parser.error("--runs and --counts start at 1")
    if options.smoke:
        options.counts, options.runs = [SMOKE_COUNT], 1
    return options


def find_engines(options):
    plumb = binary(options.plumb, "plumb-cli", "plumb")
    slow_provider = None
    if any(workload.is_slow for workload in options.workloads):
        slow_provider = binary(options.slow_provider, "slow-provider", "pulumi-resource-slow")
    engines = [PulumiLike("plumb", plumb, slow_provider)]
    if any(workload.program for workload in options.workloads):
        engines.append(Baseline(binary(options.null_monitor, "null-monitor", "null-monitor"), EXECUTOR))
    if options.no_peers:
        return engines
    for name, path, make in [
        ("pulumi", options.pulumi, lambda found: PulumiLike("pulumi", found, slow_provider)),
        ("terraform", options.terraform, Terraform),
    ]:
        found = find_peer(name, path, plumb)
        if found is None:
            say(f"{name} is not on PATH: not measured; reference figures stand in where there are any")
        else:
            say(f"{name}: {found}")
            engines.append(make(found))
    return engines


def write_json(options, engines, results):
    document = {
        "machine": {
            "system": platform.platform(),
            "processor": processor(),
            "cpus": os.cpu_count(),
            "load": os.getloadavg(),
        },
        "engines": {engine.name: engine.binary for engine in engines},
        "runs": options.runs,
        "results": results.to_json(),
        "targets": [asdict(target) for target in targets.all_targets(results)],
        "references": [
            {"engine": engine, "phase": phase, "seconds": value}
            for (engine, phase), value in targets.REFERENCES.items()
        ],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=2) + "\n")
    say(f"wrote {options.json}")


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def exit_code(options, results):
    """1 when Plumb or the baseline failed, or, if asked for, when a target was missed."""
    if any(key.engine in ("plumb", "baseline") for key in results.failures):
        return 1
    missed = any(target.passed is False for target in targets.all_targets(results))
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
