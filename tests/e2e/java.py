#!/usr/bin/env python3
"""Java programs with the published SDK, through the built binary.

    tests/e2e/java.py --bin target/debug/plumb --repository .cache/java/sdk-1.36.1 [--gradle .cache/java/gradle]

`--repository` is the folder that `tests/setup-java.sh` makes, `--gradle` that of `tests/setup-gradle.sh`. Both tools work
without a network. JBang and sbt, and newer versions of Gradle, are scripts that write down how they are called.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from stories import Failed, LeftOut, expect, expect_in, tell

PROGRAM = Path(__file__).resolve().parent / "java" / "program"
STACK = "dev"


def main():
    parser = argparse.ArgumentParser(description="Run Java programs.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--repository", required=True, type=Path, help="the folder of tests/setup-java.sh")
    parser.add_argument("--gradle", type=Path, help="the folder of tests/setup-gradle.sh")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


class World:
    """A project with its stack."""

    def __init__(self, root, options):
        self.root, self.binary, self.project = root, options.bin.absolute(), root / "project"
        self.gradle = options.gradle
        for name in ("backend", "home", "tools"):
            (root / name).mkdir()
        shutil.copytree(PROGRAM, self.project)
        self.settings("name: prog\nruntime: java\n")
        self.repository = options.repository.resolve()
        self.environment = {
            "PATH": os.pathsep.join([str(root / "tools"), str(Path(shutil.which("mvn")).parent), "/usr/bin", "/bin"]),
            "HOME": str(root / "home"),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "java",
            "MAVEN_ARGS": f"--offline -Dmaven.repo.local={self.repository}",
            "CALLS": str(root / "calls"),
        }
        # Older Mavens read no arguments from the environment.
        settings = root / "home" / ".m2"
        settings.mkdir()
        (settings / "settings.xml").write_text(
            f"<settings><localRepository>{self.repository}</localRepository><offline>true</offline></settings>")
        self.environment["MAVEN_OPTS"] = f"-Duser.home={root / 'home'}"
        self.plumb("stack", "init", STACK)

    def settings(self, text):
        (self.project / "Pulumi.yaml").write_text(text)

    def plumb(self, *words, code=0, **variables):
        """Runs a command that has to end with `code`; answers what it prints."""
        done = subprocess.run(
            [str(self.binary), *words, "--non-interactive", "--color", "never"], cwd=self.project,
            env={**self.environment, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != code:
            raise Failed(f"`plumb {' '.join(words)}` ended with {done.returncode}, not {code}:\n{done.stdout[-4000:]}")
        return done.stdout

    def up(self, story=None, code=0, stack=STACK, **variables):
        if story:
            variables["STORY"] = story
        return self.plumb("up", "--stack", stack, "--yes", "--skip-preview", code=code, **variables)

    def outputs(self, *flags, stack=STACK):
        return json.loads(self.plumb("stack", "output", "--json", "--stack", stack, *flags))

    def tool(self, name, path=None, answer="[]"):
        """A tool that writes down its arguments, and says which packages there are."""
        path = path or self.root / "tools" / name
        path.write_text(
            f'#!/bin/sh\necho "{name} $(pwd | sed s,{self.root},,) $*" >>"$CALLS"\n'
            f'case "$*" in *packages*) echo \'{answer}\';; esac\n')
        path.chmod(0o755)

    def calls(self):
        """The calls of tools since the last time."""
        calls = Path(self.environment["CALLS"])
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return lines


def maven(world):
    """A program that Maven compiles and runs: resources, secrets, configuration, references to stacks, failures."""
    for word in (("length", "3"), ("token", "hidden", "--secret")):
        world.plumb("config", "set", *word, "--stack", STACK)
    world.plumb("preview", "--stack", STACK, STORY="resources")
    said = world.up("resources")
    expect_in("hello from dev", said)
    expect_in("take care", said)
    expect("a secret", world.outputs()["prefix"], "[secret]")
    expect("outputs", world.outputs("--show-secrets"), {
        "project": "prog", "organization": "organization", "directory": str(world.project), "length": 3, "prefix": "hidden"})
    expect_in("3 unchanged", world.up("resources"))

    world.plumb("stack", "init", "second")
    world.plumb("config", "set", "other", f"organization/prog/{STACK}", "--stack", "second")
    world.up("reference", stack="second")
    expect("outputs", world.outputs("--show-secrets", stack="second"), {"length": 3, "prefix": "hidden"})

    said = world.up("fails", code=1)
    expect_in("the weather is bad", said)
    source = world.project / "src" / "main" / "java" / "prog" / "App.java"
    source.write_text(source.read_text().replace("ctx.projectName()", "ctx.undefinedName()"))
    expect_in("cannot find symbol", world.up(code=1))
    expect_in("Installing dependencies...", world.plumb("install", code=1))


def jars(world):
    """A program that is built already is run by Java alone."""
    subprocess.run(["mvn", "--batch-mode", "--quiet", "compile", "dependency:build-classpath", "-Dmdep.outputFile=path"],
                   cwd=world.project, env=world.environment, check=True)
    entries = (world.project / "path").read_text().strip().split(":")
    manifest = world.root / "manifest"
    text = "Main-Class: prog.App\nClass-Path: " + " ".join(f"file://{entry}" for entry in entries)
    # Lines of manifests have at most 72 bytes.
    lines = [line[at:at + 70] for line in text.splitlines() for at in range(0, len(line), 70)]
    starts = {line[:70] for line in text.splitlines()}
    manifest.write_text("\n".join(line if line in starts else f" {line}" for line in lines) + "\n")
    classes = ["-C", str(world.project / "target" / "classes"), "."]
    subprocess.run(["jar", "cfm", str(world.project / "prog.jar"), str(manifest), *classes], check=True)
    shutil.rmtree(world.project / "src")
    world.settings("name: prog\nruntime: {name: java, options: {binary: prog.jar}}\n")
    for word in (("length", "2"), ("token", "hidden", "--secret")):
        world.plumb("config", "set", *word, "--stack", STACK)
    world.up("resources")
    expect("outputs", world.outputs("--show-secrets")["prefix"], "hidden")
    expect_in("the weather is bad", world.up("fails", code=1))


def interrupts(world):
    """An interrupt ends a program that does not end by itself."""
    update = subprocess.Popen(
        [str(world.binary), "up", "--stack", STACK, "--yes", "--skip-preview", "--non-interactive", "--color", "never"],
        cwd=world.project, env={**world.environment, "STORY": "sleeps"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in update.stdout:
        said += line
        if "sleeping as" in line:
            break
    else:
        raise Failed(f"the program does not sleep:\n{said}")
    process = int(line.split("sleeping as")[1].split()[0])
    update.send_signal(signal.SIGINT)
    began = time.monotonic()
    said += update.communicate(timeout=60)[0]
    if update.returncode == 0 or time.monotonic() - began > 20:
        raise Failed(f"it ended with {update.returncode}:\n{said}")
    if Path(f"/proc/{process}").exists():
        raise Failed("the program is still there")


def gradle(world):
    """A program that Gradle compiles and runs. This one is so old that it cannot be asked for packages, which is no harm."""
    if not world.gradle:
        raise LeftOut("there is no Gradle")
    (world.project / "pom.xml").unlink()
    shutil.copytree(PROGRAM.parent / "gradle", world.project, dirs_exist_ok=True)
    world.environment["PATH"] = os.pathsep.join([str(world.gradle.resolve() / "bin"), world.environment["PATH"]])
    for word in (("length", "3"), ("token", "hidden", "--secret")):
        world.plumb("config", "set", *word, "--stack", STACK)
    expect_in("hello from dev", world.up("resources"))
    expect("outputs", world.outputs("--show-secrets"), {
        "project": "prog", "organization": "organization", "directory": str(world.project), "length": 3, "prefix": "hidden"})
    expect("what it depends on", json.loads(world.plumb("about", "--json"))["dependencies"], [
        {"name": "com.pulumi:pulumi", "version": "1.36.1"}])
    source = world.project / "src" / "main" / "java" / "prog" / "App.java"
    source.write_text(source.read_text().replace("ctx.projectName()", "ctx.undefinedName()"))
    said = world.up(code=1)
    expect_in("cannot find symbol", said)
    expect_in("App.java:", said)


def other_tools(world):
    """Gradle, JBang and sbt are called as they should be, their wrappers before them."""
    (world.project / "pom.xml").unlink()
    expect_in("could not find a pom.xml, a settings.gradle", world.up(code=1))
    (world.project / "settings.gradle").write_text("")
    expect_in("could not find `gradle` on the PATH; install Gradle", world.up(code=1))
    world.tool("gradle", answer='[{"resource":true,"name":"random","version":"4.0.0"}]')
    world.up()
    packages = "-PmainClass=com.pulumi.bootstrap.internal.Main --args=packages"
    expect("Gradle", world.calls(), [
        f"gradle /project -q --console=plain run {packages}", "gradle /project run --console=plain"])
    world.settings("name: prog\nruntime: java\nmain: sub/deploy\n")
    (world.project / "sub" / "deploy").mkdir(parents=True)
    world.tool("gradlew", world.project / "gradlew")
    world.plumb("install")
    world.up()
    asks = f"gradlew /project -q --console=plain :sub:deploy:run {packages}"
    expect("a project below, and a wrapper", world.calls(), [
        "gradlew /project :sub:deploy:classes --console=plain", asks, asks,
        "gradlew /project :sub:deploy:run --console=plain"])
    source = world.project / "sub" / "deploy" / "Main.java"
    source.write_text("")
    world.tool("jbang")
    world.up()
    expect("JBang, whose file is nearer", world.calls(), [
        f"jbang /project/sub/deploy run --main=com.pulumi.bootstrap.internal.Main {source} packages",
        f"jbang /project/sub/deploy run {source}"])
    world.settings("name: prog\nruntime: {name: java, options: {use-executor: sbt}}\n")
    (world.project / "build.sbt").write_text("")
    world.tool("sbt")
    world.up()
    expect("sbt", world.calls(), [
        "sbt /project -batch -error runMain com.pulumi.bootstrap.internal.Main packages", "sbt /project -batch run"])
    world.settings("name: prog\nruntime: {name: java, options: {use-executor: ant}}\n")
    expect_in('unknown value "ant" of the runtime option `use-executor`', world.up(code=1))


STORIES = (maven, jars, gradle, interrupts, other_tools)

if __name__ == "__main__":
    sys.exit(main())
