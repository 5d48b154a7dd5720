#!/usr/bin/env python3
"""Packages of all origins, added to projects and used there: from repositories, with extensions, with what mappings tell.

    tests/codegen/packages.py --bin PLUMB --python PYTHON [--repository FOLDER] [--only STORY] [--jobs N]

PYTHON is that of an environment with the SDK (`tests/setup-python.sh`). Repositories are on this machine; `git` is told to
look there for an address that does not exist.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
SHAPE = HERE / "plugin" / "pulumi-resource-shape"
HOST = "git.example.org"

sys.path.insert(0, str(TESTS / "e2e"))
import stories

COMPONENT = '''
from typing import Optional, TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host


class PartArgs(TypedDict):
    size: pulumi.Input[int]


class Part(pulumi.ComponentResource):
    doubled: pulumi.Output[int]

    def __init__(self, name: str, args: PartArgs, opts: Optional[pulumi.ResourceOptions] = None):
        super().__init__("parts:index:Part", name, {}, opts)
        self.doubled = pulumi.Output.from_input(args["size"]).apply(lambda size: int(size) * FACTOR)
        self.register_outputs({"doubled": self.doubled})


component_provider_host(name="parts", components=[Part])
'''


class World:
    def __init__(self, root, options):
        self.root, self.plumb_binary = root, options.bin.resolve()
        self.repository_of_java = options.repository and options.repository.resolve()
        self.virtualenv = options.python.absolute().parent.parent
        self.project, self.repositories = root / "project", root / "repositories"
        for folder in (self.project, self.repositories, root / "backend", root / "home"):
            folder.mkdir()
        self.environment = {
            "HOME": str(root / "home"),
            "PATH": os.pathsep.join([str(options.python.absolute().parent), "/usr/bin", "/bin"]),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "packages",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{self.repositories}/.insteadOf",
            "GIT_CONFIG_VALUE_0": f"https://{HOST}/",
        }

    def settings(self, runtime, rest=""):
        (self.project / "Pulumi.yaml").write_text(f"name: prog\nruntime: {runtime}\n{rest}")

    def plumb(self, *words, code=0, **variables):
        done = subprocess.run(
            [self.plumb_binary, *words], cwd=self.project, env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=300)
        said = f"{words}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert done.returncode == code, said
        return done.stdout if code == 0 else done.stdout + done.stderr

    def up(self):
        self.plumb("up", "--stack", "dev", "--yes", "--skip-preview", "--non-interactive")
        return json.loads(self.plumb("stack", "output", "--json", "--stack", "dev"))

    def git(self, folder, *words):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def own_virtualenv(self):
        """A copy of the environment, for what installs something into it."""
        own = self.root / "venv"
        if not own.exists():
            subprocess.run(["cp", "-a", self.virtualenv, own], check=True)
        return own

    def repository(self, factor):
        """A repository with a component in a folder of it; another version of it if it is there."""
        folder = self.repositories / "Acme" / "things"
        component = folder / "parts"
        if not folder.exists():
            component.mkdir(parents=True)
            self.git(folder, "init", "--quiet")
        (component / "PulumiPlugin.yaml").write_text(
            f"runtime:\n  name: python\n  options:\n    toolchain: pip\n    virtualenv: {self.own_virtualenv()}\n")
        (component / "__main__.py").write_text(COMPONENT.replace("FACTOR", str(factor)))
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "--quiet", "--message", f"times {factor}")
        return folder


def sources_in_a_repository(world):
    """A component in a folder of a repository: by commit and by tag, for a program in YAML and one in Python."""
    repository = world.repository(2)
    commit = world.git(repository, "rev-parse", "HEAD")
    address = f"{HOST}/Acme/things/parts"

    schema = json.loads(world.plumb("package", "get-schema", address))
    assert schema["name"] == "parts" and schema["version"] == f"0.0.0-x{commit}", schema
    assert schema["pluginDownloadURL"] == f"git://{address}" and schema["namespace"] == "acme", schema
    installed = world.root / "home" / "plugins" / f"resource-{HOST}_Acme_things_parts-v0.0.0-x{commit}"
    assert (installed / "parts" / "__main__.py").is_file() and not (installed / ".git").exists()

    world.git(repository, "tag", "v1.0.0")
    world.repository(3)
    world.git(repository, "tag", "v1.1.0")
    world.settings(f"{{name: python, options: {{toolchain: pip, virtualenv: {world.own_virtualenv()}}}}}")
    (world.project / "requirements.txt").write_text("")
    said = world.plumb("package", "add", f"{address}@v1.0.0")
    assert "Added package parts" in said, said
    listed = (world.project / "Pulumi.yaml").read_text()
    assert f"{address}@1.0.0" in listed, listed
    (world.project / "__main__.py").write_text(
        "import pulumi\nimport acme_parts as parts\n\n"
        "part = parts.Part('part', size=21)\npulumi.export('doubled', part.doubled)\n")
    world.plumb("stack", "init", "dev")
    assert world.up() == {"doubled": 42}

    # Without a version, the newest one is taken and written down.
    world.plumb("package", "add", address)
    assert f"{address}@1.1.0" in (world.project / "Pulumi.yaml").read_text()
    assert world.up() == {"doubled": 63}

    # Elsewhere, the plugin comes from where the SDK says.
    shutil.rmtree(world.root / "home" / "plugins")
    assert world.up() == {"doubled": 63}


def repositories_that_are_none(world):
    """What cannot be fetched is told, with what to do, and never with a password."""
    world.settings("yaml")
    said = world.plumb("package", "get-schema", f"https://me:hidden@{HOST}/Acme/nothing", code=1)
    assert f"git://{HOST}/Acme/nothing" in said and "hidden" not in said, said
    world.repository(2)
    said = world.plumb("package", "get-schema", f"{HOST}/Acme/things", code=1)
    assert "there is no plugin in" in said and "PulumiPlugin.yaml" in said, said
    said = world.plumb("package", "get-schema", f"{HOST}/Acme/things/parts@v9.9.9", code=1)
    assert "could not fetch" in said, said
    said = world.plumb("package", "get-schema", f"ssh://{HOST}/Acme/things", code=1)
    assert "ssh" in said, said


def extensions(world):
    """An SDK is made of what parameters add to a package."""
    folder = world.root / "elsewhere"
    folder.mkdir()
    done = subprocess.run(
        [world.plumb_binary, "package", "add", str(SHAPE), "--language", "python", "--extension", "more --extend tri-angle"],
        cwd=folder, env=world.environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    package = folder / "sdks" / "more" / "pulumi_more"
    described = json.loads((package / "pulumi-plugin.json").read_text())
    assert described["extensionParameterization"]["name"] == "more" and described["name"] == "shape", described
    assert not (package / "provider.py").exists(), "extensions have no provider of their own"
    world.settings("nodejs")
    said = world.plumb("package", "add", str(SHAPE), "--extension", "round circle", code=1)
    assert "no extensionParameterization" in said, said
    said = world.plumb("package", "add", str(SHAPE), "--extension", "round 'circle", code=1)
    assert "quote" in said, said


def extensions_in_a_program(world):
    """Resources of extensions are made by the provider that they extend, and every later run knows how to extend it."""
    world.settings(f"{{name: python, options: {{toolchain: pip, virtualenv: {world.own_virtualenv()}}}}}")
    (world.project / "requirements.txt").write_text("")
    world.plumb("package", "add", str(SHAPE), "--extension", "more --extend tri-angle", "--extension", "extra --extend hexagon")
    listed = (world.project / "Pulumi.yaml").read_text()
    assert "more --extend tri-angle" in listed and "extra --extend hexagon" in listed, listed
    (world.project / "__main__.py").write_text(
        "import pulumi\nimport pulumi_more as more\nimport pulumi_extra as extra\n\n"
        "pulumi.export('urns', [more.TriAngle('a').urn, extra.Hexagon('b').urn])\n")
    world.plumb("stack", "init", "dev")
    urns = world.up()["urns"]
    assert [urn.split("::")[2] for urn in urns] == ["shape:index:TriAngle", "shape:index:Hexagon"], urns
    state = json.loads(world.plumb("stack", "export", "--stack", "dev"))["deployment"]
    providers = [it for it in state["resources"] if it["type"].startswith("pulumi:providers:")]
    assert [it["type"] for it in providers] == ["pulumi:providers:shape"], providers
    refs = {it["extensionRef"] for it in state["resources"] if "extensionRef" in it}
    assert len(refs) == 2 and refs == set(state["extensions"]), state

    # Elsewhere, SDKs are made of what the project file says.
    shutil.rmtree(world.project / "sdks")
    world.plumb("install")
    assert (world.project / "sdks" / "more" / "pulumi_more").is_dir()
    world.plumb("refresh", "--stack", "dev", "--yes", "--skip-preview", "--non-interactive")
    world.plumb("destroy", "--stack", "dev", "--yes", "--skip-preview", "--non-interactive")


def parameters_of_a_local_plugin(world):
    """A package that parameters make of a plugin on this machine runs with nothing but what the project file says; so does
    another one of the same plugin, and one whose schema is a file."""
    world.settings(f"{{name: python, options: {{toolchain: pip, virtualenv: {world.own_virtualenv()}}}}}")
    (world.project / "requirements.txt").write_text("")
    world.plumb("package", "add", str(SHAPE), "round", "circle")
    world.plumb("package", "add", str(SHAPE), "flat", "sheet")
    schema = world.project / "shape.json"
    schema.write_text(json.dumps({"name": "shape", "version": "0.3.0", "resources": {"shape:index:Square": {}}}))
    world.plumb("package", "add", "./shape.json")
    (world.project / "__main__.py").write_text(
        "import pulumi\nimport pulumi_round as round_\nimport pulumi_flat as flat\nimport pulumi_shape as shape\n\n"
        "pulumi.export('urns', [round_.Circle('a').urn, flat.Sheet('b').urn, shape.Square('c').urn])\n")
    world.plumb("stack", "init", "dev")
    urns = world.up()["urns"]
    types = [urn.split("::")[2] for urn in urns]
    assert types == ["round:index:Circle", "flat:index:Sheet", "shape:index:Square"], urns


def mappings(world):
    """What a provider knows of the packages of another ecosystem."""
    world.settings("yaml")
    assert world.plumb("package", "get-mapping", "terraform", str(SHAPE)) == '{"of":"tfshape"}'
    assert world.plumb("package", "get-mapping", "terraform", str(SHAPE), "tfshape") == '{"of":"tfshape"}'
    out = world.root / "mapping.json"
    world.plumb("package", "get-mapping", "terraform", str(SHAPE), "--out", str(out))
    assert out.read_text() == '{"of":"tfshape"}'
    said = world.plumb("package", "get-mapping", "other", str(SHAPE), code=1)
    assert "no mapping of other packages" in said, said


def resolving(world):
    """Plugins ask which plugin serves a package, and what makes it do so."""
    world.settings("yaml", f"""plugins:
  providers:
    - name: shape
      path: {SHAPE}
resources:
  square:
    type: shape:index:Square
""")
    asked = world.root / "asked"
    world.plumb("stack", "init", "dev")
    world.plumb("up", "--stack", "dev", "--yes", "--skip-preview", "--non-interactive", SHAPE_ASKS=str(asked))
    answers = {}
    for line in asked.read_text().splitlines():
        answer = json.loads(line)
        answers[answer["source"]] = answer
    assert answers["random"]["name"] == "random" and answers["random"]["kind"] == "resource", answers
    assert answers["random"]["version"], answers
    assert answers["pulumi/random"]["name"] == "random", answers
    path = answers[str(SHAPE)]
    assert (path["name"], path["version"]) == ("shape", "0.3.0"), path
    assert path["parameterization"] == {"name": "round", "version": "2.0.0", "value": "round circle"}, path
    assert "acme/random" in answers["acme/random"]["error"], answers


def schemas_of_installed_plugins(world):
    """The schema of a plugin in the cache is asked for once, until the plugin is installed anew; others are always asked."""
    world.settings("yaml")
    starts = world.root / "starts"
    world.environment["SHAPE_STARTS"] = str(starts)

    def started():
        return len(starts.read_text().splitlines()) if starts.exists() else 0

    world.plumb("plugin", "install", "resource", "shape", "0.3.0", "--file", str(SHAPE))
    first = world.plumb("package", "get-schema", "shape@0.3.0")
    assert json.loads(first)["version"] == "0.3.0" and started() == 1, first
    kept = world.root / "home" / "schemas" / "shape-0.3.0.json"
    assert json.loads(kept.read_text())["name"] == "shape"
    assert world.plumb("package", "get-schema", "shape@0.3.0") == first
    assert "Resource: shape:index:Square" in world.plumb("package", "info", "shape", "-r", "Square")
    assert started() == 1
    kept.write_text(kept.read_text()[:20])
    assert world.plumb("package", "get-schema", "shape@0.3.0") == first and started() == 2
    world.plumb("plugin", "install", "resource", "shape", "0.3.0", "--reinstall", "--file", str(SHAPE))
    assert world.plumb("package", "get-schema", "shape@0.3.0") == first and started() == 3
    for _ in range(2):
        world.plumb("package", "get-schema", str(SHAPE))
    assert started() == 5


def looking_up(world):
    """The second look at a member of a large schema reads only that member; changes and damage are seen."""
    world.settings("yaml")
    file = world.project / "schema.json"
    resources = {f"big:m{index % 7}:Thing{index}": {"description": f"Thing {index}. " + "Words. " * 20} for index in range(3000)}

    def write(word):
        resources["big:m1:Thing1"]["description"] = word
        file.write_text(json.dumps({"name": "big", "version": "1.0.0", "resources": resources}))
        # What has only just changed is not trusted.
        past = time.time() - 60
        os.utime(file, (past, past))

    def look():
        return world.plumb("package", "info", str(file), "-r", "Thing1")

    notes = world.root / "home" / "plumb" / "schemas"
    write("First.")
    assert "Description: First." in look()
    deadline = time.monotonic() + 60
    while not list(notes.glob("*.index")) and time.monotonic() < deadline:
        time.sleep(0.2)
        look()
    [index] = notes.glob("*.index")
    assert "Description: First." in look()
    write("Second.")
    assert "Description: Second." in look()
    for note in [*notes.glob("*.index"), *notes.glob("files/*")]:
        note.write_bytes(b"damage")
    assert "Description: Second." in look()
    results = []
    threads = [threading.Thread(target=lambda: results.append(look())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6 and all("Description: Second." in result for result in results)


JAVA = """package prog;

import com.pulumi.Pulumi;
import com.pulumi.lab.Thing;
import com.pulumi.lab.ThingArgs;
import com.pulumi.round.Circle;

public class App {
    public static void main(String[] args) {
        Pulumi.run(ctx -> {
            ctx.export("circle", new Circle("circle").urn());
            ctx.export("value", new Thing("thing", ThingArgs.builder().value("v").build()).value());
        });
    }
}
"""


def java_project(world):
    """SDKs are compiled into a Java program by an edit of its pom.xml; one is of a package that parameters make."""
    if not world.repository_of_java:
        print("LEFT OUT: a Java project, no --repository was given", flush=True)
        return
    world.settings("java")
    shutil.copy(TESTS / "e2e" / "java" / "program" / "pom.xml", world.project)
    source = world.project / "src" / "main" / "java" / "prog" / "App.java"
    source.parent.mkdir(parents=True)
    source.write_text("package prog;\n\npublic class App {\n    public static void main(String[] args) {}\n}\n")
    repository, home = world.repository_of_java, world.root / "home"
    (home / ".m2").mkdir()
    (home / ".m2" / "settings.xml").write_text(
        f"<settings><localRepository>{repository}</localRepository><offline>true</offline></settings>")
    tools = [str(TESTS / "lab"), world.environment["PATH"], str(Path(shutil.which("mvn")).parent)]
    world.environment.update(
        PATH=os.pathsep.join(tools),
        MAVEN_ARGS=f"--offline -Dmaven.repo.local={repository}", MAVEN_OPTS=f"-Duser.home={home}",
        LAB_PYTHON=str(world.virtualenv / "bin" / "python"), LAB_CLOUD=str(world.root / "cloud"), LAB_LOG=str(world.root / "log"))
    (world.root / "cloud").mkdir()
    said = world.plumb("package", "add", str(SHAPE), "round", "circle")
    assert "import com.pulumi.round.*;" in said and "Added package round" in said, said
    world.plumb("package", "add", str(TESTS / "data" / "schemas" / "lab.json"))
    pom = (world.project / "pom.xml").read_text()
    assert pom.count("build-helper-maven-plugin") == 1 and pom.count("<source>") == 2, pom
    source.write_text(JAVA)
    world.plumb("stack", "init", "dev")
    outputs = world.up()
    assert outputs["circle"].endswith("::round:index:Circle::circle") and outputs["value"] == "v", outputs
    state = json.loads(world.plumb("stack", "export", "--stack", "dev"))["deployment"]["resources"]
    [provider] = [it for it in state if it["type"] == "pulumi:providers:round"]
    internal = provider["inputs"]["__internal"]
    assert internal["name"] == "shape" and internal["parameterization"], provider
    # Elsewhere, `install` makes the SDKs anew, and leaves the pom.xml as it is.
    shutil.rmtree(world.project / "sdks")
    world.plumb("install")
    assert (world.project / "pom.xml").read_text() == pom
    assert world.up() == outputs


STORIES = [sources_in_a_repository, repositories_that_are_none, extensions,
           extensions_in_a_program, parameters_of_a_local_plugin, mappings, resolving,
           schemas_of_installed_plugins, looking_up, java_project]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--python", required=True, type=Path)
    parser.add_argument("--repository", type=Path, help="the folder of tests/setup-java.sh")
    parser.add_argument("--only", help="name of one story")
    parser.add_argument("--jobs", type=int, default=2, help="how many stories are told at a time (2)")
    options = parser.parse_args()
    return stories.tell(STORIES, lambda root: World(root, options), options.only, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
