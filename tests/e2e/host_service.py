#!/usr/bin/env python3
"""Every call of the LanguageRuntime service, asked of the host of every language on its own.

    PYTHON tests/e2e/host_service.py --bin target/debug/plumb --sdk .cache/node/pulumi-3.248.0 [--go .cache/go] \\
        [--only LANGUAGE]

PYTHON is that of an environment with the SDK (`tests/setup-python.sh`), whose stubs make the calls. Tools that are missing
on this machine have to be named in an error that says what to do.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import language_pb2 as pb
from pulumi.runtime.proto import language_pb2_grpc as stubs

SCHEMA = json.dumps({
    "name": "lab", "version": "1.0.0",
    "resources": {"lab:index:Thing": {
        "properties": {"value": {"type": "string"}}, "inputProperties": {"value": {"type": "string"}}}},
})
# What the SDK of each language has.
MADE = {"nodejs": "package.json", "bun": "package.json", "python": "setup.py", "go": "lab/thing.go", "dotnet": "Thing.cs",
        "java": "src/main/java/com/pulumi/lab/Thing.java", "yaml": "lab-1.0.0.yaml", "rust": "src/lib.rs"}
# The main file of a program.
PROGRAMS = {"nodejs": "index.ts", "bun": "index.ts", "python": "__main__.py", "go": "main.go", "dotnet": "Program.cs",
            "java": "src/main/java/app/App.java", "rust": "src/main.rs"}
# What is asked for when it is missing.
TOOLS = {"nodejs": "node", "bun": "bun", "python": "python3", "go": "go", "dotnet": "dotnet", "java": "mvn", "rust": "cargo",
         "yaml": None}


class Failed(Exception):
    """Something was not as it should be."""


class Host:
    """A host of one language and a project for it."""

    def __init__(self, language, root, options):
        self.language, self.root, self.options = language, root, options
        self.project = root / "project"
        self.project.mkdir()
        binary = root / f"pulumi-language-{language}"
        shutil.copy(options.bin.resolve(), binary)
        self.settings = {}
        getattr(self, f"project_{language}", lambda: None)()
        environment = {**os.environ, "PULUMI_HOME": str(root / "home"), "GOFLAGS": "-mod=mod"}
        if options.go:
            cache = options.go.resolve()
            environment.update(GOMODCACHE=str(cache / "mod"), GOCACHE=str(cache / "build"), GOPROXY="off")
        self.environment = environment
        self.process = subprocess.Popen([str(binary), "127.0.0.1:1"], env=environment, stdout=subprocess.PIPE, text=True)
        channel = grpc.insecure_channel(f"127.0.0.1:{int(self.process.stdout.readline())}")
        self.calls = stubs.LanguageRuntimeStub(channel)

    def project_nodejs(self):
        (self.project / "package.json").write_text('{"name": "asked", "version": "1.0.0", "dependencies": {"dep": "*"}}')
        (self.project / "package-lock.json").write_text(json.dumps({
            "name": "asked", "lockfileVersion": 3,
            "packages": {"": {"dependencies": {"dep": "*"}}, "node_modules/dep": {"version": "1.2.3"}}}))
        (self.project / "node_modules").symlink_to(self.options.sdk.resolve() / "node_modules")

    project_bun = project_nodejs

    def project_python(self):
        self.settings = {"virtualenv": sys.prefix}
        (self.project / "requirements.txt").write_text("pulumi\n")

    def project_go(self):
        if self.options.go:
            for file in ("go.mod", "go.sum"):
                shutil.copy(self.options.go.resolve() / "sdk-3.260.0" / file, self.project)
        (self.project / "main.go").write_text("package main\n\nfunc main() {}\n")

    def project_java(self):
        (self.project / "pom.xml").write_text("<project/>")

    def project_yaml(self):
        (self.project / "Pulumi.yaml").write_text(
            "name: asked\nruntime: yaml\nresources: {one: {type: \"lab:index:Thing\", options: {version: 1.2.3}}}\n")

    def project_rust(self):
        (self.project / "Cargo.toml").write_text('[package]\nname = "asked"\nversion = "0.1.0"\n')
        (self.project / "src").mkdir()
        (self.project / "src" / "main.rs").write_text("fn main() {}\n")

    def info(self, folder=None):
        options = struct_pb2.Struct()
        options.update(self.settings)
        folder = str(folder or self.project)
        return pb.ProgramInfo(root_directory=folder, program_directory=folder, entry_point=".", options=options)

    def has_tool(self):
        tool = TOOLS[self.language]
        return tool is None or shutil.which(tool) is not None

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def expect(what, actual, expected):
    if actual != expected:
        raise Failed(f"{what}:\n    {actual!r}\nexpected:\n    {expected!r}")


def needs_tool(host, call):
    """The answer of a call that a tool makes; without the tool, its name has to be in the error."""
    try:
        answer = call()
    except grpc.RpcError as error:
        tool = TOOLS[host.language]
        if host.has_tool() or f"`{tool}`" not in error.details() or "install" not in error.details().lower():
            raise Failed(f"{error.code()}: {error.details()}") from None
        return None
    return answer


def refused(what, code, call):
    try:
        call()
    except grpc.RpcError as error:
        expect(f"the status of {what}", error.code(), code)
        return error.details()
    raise Failed(f"{what} was not refused")


def about_hosts(host):
    host.calls.Handshake(pb.LanguageHandshakeRequest(engine_address="127.0.0.1:1"))
    version = host.calls.GetPluginInfo(empty_pb2.Empty()).version
    if not version.startswith("3."):
        raise Failed(f"{version!r} is no version")
    host.calls.Cancel(empty_pb2.Empty())


def about_programs(host):
    about = needs_tool(host, lambda: host.calls.About(pb.AboutRequest(info=host.info())))
    if about and host.language != "yaml" and not (about.executable and about.version):
        raise Failed(f"nothing is said of the tools: {about}")
    needs_tool(host, lambda: host.calls.GetRequiredPackages(pb.GetRequiredPackagesRequest(info=host.info())))
    if host.language == "java":
        return  # Maven goes to the network; tests/e2e/java.py has a repository
    listed = needs_tool(host, lambda: host.calls.GetProgramDependencies(
        pb.GetProgramDependenciesRequest(info=host.info(), transitiveDependencies=True)))
    names = [one.name for one in listed.dependencies] if listed else []
    expected = {"nodejs": "dep", "bun": "dep", "python": "pulumi", "yaml": "lab"}.get(host.language)
    if expected and expected not in names:
        raise Failed(f"{expected} is not among the dependencies {names}")


def about_new_projects(host):
    prompts = host.calls.RuntimeOptionsPrompts(pb.RuntimeOptionsRequest(info=host.info())).prompts
    wanted = {"nodejs": ["packagemanager"], "python": ["toolchain"]}.get(host.language, [])
    if host.language == "python":
        host.settings = {}
        prompts = host.calls.RuntimeOptionsPrompts(pb.RuntimeOptionsRequest(info=host.info())).prompts
        host.settings = {"virtualenv": sys.prefix}
    expect("the questions", [prompt.key for prompt in prompts][:1], wanted)
    host.calls.Template(pb.TemplateRequest(info=host.info(), project_name="asked"))


def installations(host):
    if host.language in ("java", "python"):
        return  # they go to the network; `cargo test -p plumb-language` and tests/e2e have them
    request = pb.InstallDependenciesRequest(info=host.info())
    folder = host.project / "node_modules"
    if folder.is_symlink():
        return  # what is linked must not be changed
    parts = needs_tool(host, lambda: list(host.calls.InstallDependencies(request)))
    if parts:
        said = b"".join(part.stdout for part in parts).decode()
        if host.language != "yaml" and "Finished installing dependencies" not in said:
            raise Failed(said)


def packages(host):
    target = host.root / "sdk"
    request = pb.GeneratePackageRequest(directory=str(target), schema=SCHEMA, extra_files={"more/notes": b"text"})
    made = MADE[host.language]
    if host.language == "yaml":
        request.extra_files.clear()
    expect("the problems", list(host.calls.GeneratePackage(request).diagnostics), [])
    files = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    if made not in files or host.language != "yaml" and "more/notes" not in files:
        raise Failed(f"{made} is not among {files}")
    broken = pb.GeneratePackageRequest(directory=str(host.root / "none"), schema='{"name": "x", "resources": 1}')
    problems = host.calls.GeneratePackage(broken).diagnostics
    if not problems or (host.root / "none").exists():
        raise Failed(f"a schema that makes no sense was taken: {problems}")
    outside = pb.GeneratePackageRequest(directory=str(target), schema=SCHEMA, extra_files={"../out": b""})
    refused("a file outside", grpc.StatusCode.INVALID_ARGUMENT, lambda: host.calls.GeneratePackage(outside))


def programs(host):
    return yaml_programs(host) if host.language == "yaml" else typed_programs(host)


def typed_programs(host):
    source, target = host.root / "pcl", host.root / "generated"
    source.mkdir()
    text = 'config "who" "string" {}\noutput "said" { value = "hello ${who}" }\n'
    (source / "main.pp").write_text(text)
    request = pb.GenerateProjectRequest(
        source_directory=str(source), target_directory=str(target), project=json.dumps({"name": "made"}))
    expect("the problems", list(host.calls.GenerateProject(request).diagnostics), [])
    file = PROGRAMS[host.language]
    texts = host.calls.GenerateProgram(pb.GenerateProgramRequest(source={"main.pp": text})).source
    expect("the text", texts[file].decode(), (target / file).read_text())
    if host.language == "go" and host.options.go and host.has_tool():
        shutil.copy(host.options.go.resolve() / "sdk-3.260.0" / "go.sum", target)
        done = subprocess.run(["go", "vet", "."], cwd=target, env=host.environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise Failed(f"the program in Go: {done.stdout}{done.stderr}")


def yaml_programs(host):
    source, target = host.root / "pcl", host.root / "generated"
    source.mkdir()
    (source / "main.pp").write_text('config "who" "string" {}\noutput "said" { value = "hello ${who}" }\n')
    declaration = host.root / "lab-1.0.0.yaml"
    declaration.write_text("packageDeclarationVersion: 1\nname: lab\nversion: 1.0.0\n")
    request = pb.GenerateProjectRequest(
        source_directory=str(source), target_directory=str(target), local_dependencies={"lab": str(declaration)},
        project=json.dumps({"name": "made", "main": "inner"}))
    expect("the problems", list(host.calls.GenerateProject(request).diagnostics), [])
    expect("the project", (target / "Pulumi.yaml").read_text(), "name: made\nruntime: yaml\nmain: inner\n")
    program = (target / "inner" / "Main.yaml").read_text()
    expect("the program", program, "configuration:\n  who:\n    type: string\noutputs:\n  said: hello ${who}\n")
    expect("the package", (target / "inner" / "sdks" / "lab.yaml").read_text(), declaration.read_text())
    (source / "main.pp").write_text("a = x ? 1 : 2\n")
    told = [it.summary for it in host.calls.GenerateProject(request).diagnostics]
    expect("the problems", told, ["main.pp:1:5: YAML programs have no form for conditions"])
    texts = host.calls.GenerateProgram(pb.GenerateProgramRequest(source={"main.pp": "a = 1\n"})).source
    expect("the text", texts["Main.yaml"], b"variables:\n  a: 1\n")


def libraries(host):
    target = host.root / "packed"
    if host.language in ("go", "yaml", "nodejs") and host.has_tool():
        library = host.root / "library"
        library.mkdir()
        (library / "go.mod").write_text("module example.com/library\n")
        (library / "package.json").write_text('{"name": "library", "version": "1.0.0"}')
        if host.language == "yaml":
            library = library / "package.json"
        packed = host.calls.Pack(pb.PackRequest(package_directory=str(library), destination_directory=str(target)))
        if not Path(packed.artifact_path).exists():
            raise Failed(f"there is no {packed.artifact_path}")
    if host.language != "java":
        needs_tool(host, lambda: host.calls.Link(pb.LinkRequest(info=host.info())))


def plugins(host):
    """Plugins in YAML are served by the host itself; others are processes, whose end is told."""
    folder = host.root / "plugin"
    folder.mkdir()
    (folder / "PulumiPlugin.yaml").write_text(
        f"runtime: {host.language}\nname: asked\n" + ("components: {One: {}}\n" if host.language == "yaml" else ""))
    (folder / "__main__.py").write_text("print(4321)\nraise SystemExit(5)\n")
    (folder / "main.go").write_text('package main\n\nimport "os"\n\nfunc main() { println("x"); os.Exit(5) }\n')
    (folder / "go.mod").write_text("module asked\n\ngo 1.20\n")
    if host.language not in ("python", "go", "yaml") or not host.has_tool():
        return  # tests/e2e/node_plugins.py and java.py have them
    request = pb.RunPluginRequest(pwd=str(folder), args=["127.0.0.1:1"], kind="resource", info=host.info(folder))
    request.env.extend(f"{key}={value}" for key, value in os.environ.items())
    answers = host.calls.RunPlugin(request)
    if host.language == "yaml":
        port = int(next(answers).stdout)
        expect("the port is one", 0 < port < 65536, True)
        answers.cancel()
    else:
        expect("the exit code", [one.exitcode for one in answers][-1], 5)


STORIES = (about_hosts, about_programs, about_new_projects, installations, packages, programs, libraries, plugins)


def main():
    parser = argparse.ArgumentParser(description="Ask language hosts everything.")
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--sdk", required=True, type=Path)
    parser.add_argument("--go", type=Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = False
    for language in MADE:
        if options.only and language != options.only:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="plumb-service-") as root:
            host = Host(language, Path(root).resolve(), options)
            for story in STORIES:
                try:
                    story(host)
                except (Failed, grpc.RpcError, ValueError) as problem:
                    failed = True
                    print(f"FAILED {language}: {story.__name__}\n    {problem}", flush=True)
            if host.end() != 0:
                failed = True
                print(f"FAILED {language}: it did not end well", flush=True)
        print(f"asked the host of {language} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
