#!/usr/bin/env python3
"""Lists the libraries in the program as a CycloneDX document, from `cargo metadata` and Cargo.lock.

    release/sbom.py > plumb.cdx.json

Only what a build of the program for Linux contains is listed: no build scripts' tools, no tests, no other systems. The same commit
gives the same document.
"""

import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "plumb-cli"
TARGET = "x86_64-unknown-linux-musl"


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    program = next(it["id"] for it in metadata["packages"] if it["name"] == PROGRAM)
    linked = reachable(program, nodes)
    digests = dict(locked_digests())
    order = sorted(linked - {program}, key=lambda it: (packages[it]["name"], packages[it]["version"]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, commit())}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc).isoformat(),
            "component": {**component(packages[program], digests), "type": "application", "name": "plumb"},
        },
        "components": [component(packages[it], digests) for it in order],
        "dependencies": [
            {"ref": reference(packages[it]), "dependsOn": sorted(reference(packages[to]) for to in needed(nodes[it]))}
            for it in [program, *order]
        ],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


def reachable(program, nodes):
    found, left = set(), [program]
    while left:
        at = left.pop()
        if at not in found:
            found.add(at)
            left.extend(needed(nodes[at]))
    return found


def needed(node):
    """What a package is linked with."""
    return {it["pkg"] for it in node["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])}


def component(package, digests):
    purl = reference(package)
    found = {"type": "library", "bom-ref": purl, "name": package["name"], "version": package["version"], "purl": purl}
    if package.get("license"):
        # Cargo still allows the older form `MIT/Apache-2.0`.
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if digest := digests.get((package["name"], package["version"])):
        found["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return found


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def locked_digests():
    """The digests of packages from the registry, by name and version."""
    for block in (ROOT / "Cargo.lock").read_text().split("[[package]]")[1:]:
        values = dict(re.findall(r'^(\w+) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in values:
            yield (values["name"], values["version"]), values["checksum"]


def commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    main()
