#!/usr/bin/env python3
"""Programs are children of the engine, and the only ones: the hosts of languages have no processes of their own.

    tests/e2e/processes.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python \
        --sdk .cache/node/pulumi-3.248.0 --go .cache/go

Each program looks at the processes around it while it runs. `--go` is the folder that `tests/setup-go.sh` makes; without it
Go is left out. Linux only. Nothing is fetched.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GO_SDK = "sdk-3.260.0"

PYTHON = """
import glob, os, pulumi
parent = os.getppid()
children = [pid for path in glob.glob(f"/proc/{parent}/task/*/children") for pid in open(path).read().split()]
pulumi.export("parent", os.readlink(f"/proc/{parent}/exe"))
pulumi.export("children", ["program" if int(pid) == os.getpid() else pid for pid in children])
"""

NODE = """
const fs = require("fs");
const parent = `/proc/${process.ppid}`;
const children = fs.readdirSync(`${parent}/task`)
    .flatMap((task) => fs.readFileSync(`${parent}/task/${task}/children`, "utf8").split(" ")).filter((pid) => pid);
exports.parent = fs.readlinkSync(`${parent}/exe`);
exports.children = children.map((pid) => (Number(pid) === process.pid ? "program" : pid));
"""

GO = """
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		parent := fmt.Sprintf("/proc/%d", os.Getppid())
		executable, err := os.Readlink(parent + "/exe")
		if err != nil {
			return err
		}
		files, err := filepath.Glob(parent + "/task/*/children")
		if err != nil {
			return err
		}
		children := pulumi.StringArray{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, pid := range strings.Fields(string(text)) {
				if pid == strconv.Itoa(os.Getpid()) {
					pid = "program"
				}
				children = append(children, pulumi.String(pid))
			}
		}
		ctx.Export("parent", pulumi.String(executable))
		ctx.Export("children", children)
		return nil
	})
}
"""


def main():
    parser = argparse.ArgumentParser(description="Look at the processes around programs.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the package pulumi")
    parser.add_argument("--sdk", required=True, type=Path, help="the folder of tests/setup-node.sh")
    parser.add_argument("--go", type=Path, help="the folder of tests/setup-go.sh")
    options = parser.parse_args()
    failed = False
    for name, write in [("python", python), ("nodejs", nodejs), ("go", go)]:
        if name == "go" and options.go is None:
            continue
        with tempfile.TemporaryDirectory(prefix="plumb-processes-") as root:
            problem = look(Path(root).resolve(), options, write)
        failed = failed or problem is not None
        print(f"passed {name}" if problem is None else f"FAILED {name}\n    {problem}", flush=True)
    return 1 if failed else 0


def python(project, options):
    (project / "__main__.py").write_text(PYTHON)
    environment = options.python.absolute().parents[1]
    return {"name": "python", "options": {"virtualenv": str(environment)}}, {}


def nodejs(project, options):
    (project / "index.js").write_text(NODE)
    (project / "package.json").write_text('{"name": "prog"}')
    (project / "node_modules").symlink_to(options.sdk.resolve() / "node_modules")
    return {"name": "nodejs"}, {}


def go(project, options):
    caches = options.go.resolve()
    (project / "main.go").write_text(GO)
    for file in ("go.mod", "go.sum"):
        shutil.copy(caches / GO_SDK / file, project)
    variables = {
        "GOMODCACHE": str(caches / "mod"), "GOCACHE": str(caches / "build"), "GOPROXY": "off", "GOFLAGS": "-buildvcs=false"}
    return {"name": "go"}, variables


def look(root, options, write):
    """Runs a program, and answers what is wrong with the processes that it saw."""
    project, binary = root / "project", options.bin.resolve()
    for name in ("project", "backend", "home"):
        (root / name).mkdir()
    runtime, variables = write(project, options)
    # JSON is YAML.
    (project / "Pulumi.yaml").write_text(f"name: prog\nruntime: {json.dumps(runtime)}\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "home"),
        "PULUMI_HOME": str(root / "home"),
        "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "processes",
        **variables,
    }
    for words in (["stack", "init", "dev"], ["up", "--yes", "--skip-preview"], ["stack", "output", "--json"]):
        command = [str(binary), *words, "--non-interactive", "--color", "never"]
        done = subprocess.run(
            command, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            return f"`plumb {' '.join(words)}` failed:\n{done.stdout}{done.stderr}"
    seen, wanted = json.loads(done.stdout), {"parent": str(binary), "children": ["program"]}
    return None if seen == wanted else f"{seen}, not {wanted}"


if __name__ == "__main__":
    sys.exit(main())
