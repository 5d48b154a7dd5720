#!/usr/bin/env python3
"""Uses generated SDKs in a Java program, with the lab provider, and looks at what is sent and what comes back.

    tests/codegen/use-java.py --bin PLUMB --repository .cache/java/sdk-1.36.1 --python PYTHON

`--repository` is the folder that `tests/setup-java.sh` makes; PYTHON has the packages that the lab provider needs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
LAB = TESTS / "lab"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--repository", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    args = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="plumb-use-java-"))
    try:
        use(args, root)
    finally:
        shutil.rmtree(root)
    print("the generated SDKs do what they should")


def use(args, root):
    project, home = root / "project", root / "home"
    for folder in (root / "backend", root / "cloud", home / ".m2"):
        folder.mkdir(parents=True)
    shutil.copytree(TESTS / "e2e" / "java" / "program", project)
    shutil.rmtree(project / "src")
    shutil.copytree(HERE / "java" / "use", project / "src" / "main" / "java" / "prog")
    # The SDK brings it for running alone; generated sources need it to compile.
    pom = (project / "pom.xml").read_text()
    (project / "pom.xml").write_text(pom.replace("</dependencies>", f"{NULLABLE}</dependencies>"))
    (project / "Pulumi.yaml").write_text("name: prog\nruntime: java\n")
    repository = args.repository.resolve()
    (home / ".m2" / "settings.xml").write_text(
        f"<settings><localRepository>{repository}</localRepository><offline>true</offline></settings>")
    environment = {
        "PATH": os.pathsep.join([str(LAB), str(Path(shutil.which("mvn")).parent), "/usr/bin", "/bin"]),
        "HOME": str(home),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "java",
        "MAVEN_ARGS": f"--offline -Dmaven.repo.local={repository}",
        "MAVEN_OPTS": f"-Duser.home={home}",
        "LAB_PYTHON": str(args.python.absolute()),
        "LAB_CLOUD": str(root / "cloud"),
        "LAB_LOG": str(root / "log"),
        "LAB_FAST": "f",
        "LAB_REGION": "north",
    }

    def plumb(*words):
        done = subprocess.run(
            [args.bin.absolute(), *words], cwd=project, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{words}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    # A local SDK is copied into the project that uses it.
    for schema in (TESTS / "data" / "schemas" / "lab.json", HERE / "use.json"):
        plumb("package", "gen-sdk", "--language", "java", "--local", "--version", "1.0.0", "--out", str(root / "sdk"), str(schema))
        shutil.copytree(root / "sdk" / "java" / "src", project / "src", dirs_exist_ok=True)
    plumb("stack", "init", "dev")
    plumb("config", "set", "lab:tags", '{"a":"b"}')
    plumb("up", "--stack", "dev", "--yes", "--skip-preview", "--non-interactive")
    outputs = json.loads(plumb("stack", "output", "--json", "--show-secrets", "--stack", "dev"))
    assert outputs == OUTPUTS, json.dumps(outputs, indent=2, sort_keys=True)
    hidden = json.loads(plumb("stack", "output", "--json", "--stack", "dev"))
    assert {name for name, value in hidden.items() if value == "[secret]"} == {"password", "secret"}, hidden
    sent = [json.loads(line) for line in (root / "log").read_text().splitlines()]
    made = {entry["urn"].rsplit("::", 1)[1]: entry for entry in sent if entry.get("method") == "Create" and "urn" in entry}
    properties = made["thing"]["properties"]
    assert properties["password"] == {"$secret": "pw"}, properties
    assert (properties["value"], properties["tags"], properties["items"]) == ("v", {"k": 1}, ["one", "two"]), properties
    configured = [entry for entry in sent if entry.get("method") == "Configure"]
    assert "south" in json.dumps(configured), configured
    assert {entry["version"] for entry in sent if "version" in entry} == {"1.0.0"}, "the version of the SDK is asked for"


NULLABLE = """<dependency>
  <groupId>com.google.code.findbugs</groupId><artifactId>jsr305</artifactId><version>3.0.2</version>
</dependency>"""

# What the program exports.
OUTPUTS = {
    "serial": 1,
    "region": "south",
    "value": "v",
    "password": "pw",
    "echo": {"deep": [1, 2]},
    "secret": "hush",
    "values": ["a"],
    "same": True,
    "missing": "size",
    "constant": "v1",
    "fast": False,
    "slowest": 7,
    "lock": "0000",
    "kind": "1234",
    "union": 7,
    "openEnum": "any",
    "spares": 2,
    "byName": "1234",
    "configRegion": "north",
    "configRetries": 3,
    "configTags": {"a": "b"},
    "version": "1.0.0",
}

if __name__ == "__main__":
    sys.exit(main())
