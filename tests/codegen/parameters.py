#!/usr/bin/env python3
"""Schemas of a plugin that runs, and of packages that parameters make of it.

    tests/codegen/parameters.py --bin PLUMB --python PYTHON

PYTHON is that of an environment with the SDK (`tests/setup-python.sh`).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="plumb-parameters-"))
    plumb = args.bin.resolve()
    folders = [str(args.python.absolute().parent), "/usr/bin", "/bin"]
    environment = {"HOME": str(work), "PATH": os.pathsep.join(folders)}

    def run(*words):
        command = [plumb, "package", *words]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def schema(*words):
        code, out, errors = run("get-schema", *words)
        assert code == 0, errors
        return json.loads(out)

    plugin = HERE / "plugin" / "pulumi-resource-shape"
    for source in (plugin, plugin.parent):
        plain = schema(source)
        assert (plain["name"], plain["version"]) == ("shape", "0.3.0"), plain

    round_ = schema(plugin, "round", "circle", "disc")
    assert (round_["name"], round_["version"]) == ("round", "2.0.0"), round_
    assert list(round_["resources"]) == ["round:index:Circle", "round:index:Disc"], round_

    code, out, errors = run("info", str(plugin), "round", "circle")
    assert code == 0 and "Name: round\nVersion: 2.0.0\n" in out, (out, errors)

    code, _, errors = run("gen-sdk", str(plugin), "round", "circle", "--language", "nodejs", "--out", "sdk")
    assert code == 0, errors
    manifest = json.loads((work / "sdk/nodejs/package.json").read_text())
    assert manifest["version"] == "2.0.0", manifest
    assert manifest["pulumi"] == {
        "resource": True,
        "name": "shape",
        "version": "0.3.0",
        "parameterization": {"name": "round", "version": "2.0.0", "value": "cm91bmQgY2lyY2xl"},
    }, manifest

    code, _, errors = run("gen-sdk", str(plugin), "round", "circle", "--language", "python", "--out", "sdk")
    assert code == 0, errors
    package = work / "sdk" / "python" / "pulumi_round"
    assert json.loads((package / "pulumi-plugin.json").read_text()) == manifest["pulumi"], package
    utilities = (package / "_utilities.py").read_text()
    assert 'SemVersion.parse("2.0.0")' in utilities and 'base64_parameter="cm91bmQgY2lyY2xl"' in utilities, utilities

    for words, expected in (
        (("round", "--", "--lie"), 'its schema is that of "other"'),
        (("round", "--", "--silent"), "neither parameterization nor extensionParameterization"),
    ):
        code, _, errors = run("get-schema", str(plugin), *words)
        assert code == 1 and expected in errors, errors
    print("schemas of a running plugin are as they should be")


if __name__ == "__main__":
    sys.exit(main())
