"""The steps of the tests, the fast ones first.

A step belongs here if `tests/run.sh` runs it. What takes long and rarely finds anything has a share: one commit out of so
many runs it, and `tests/nightly.sh` runs it every night.
"""

import os
import shutil
import subprocess
from pathlib import Path

from schedule import Step

NIGHTLY = 0
"""The share of steps that only `tests/nightly.sh` runs."""

RECORDED_SDK = "3.259"
NEWEST_SDK = "3.272"

AT_NIGHT = {"share": NIGHTLY, "minutes": 600}
# Clippy is the compiler with more lints: as the compiler of the workspace it makes what the tests run, so that nothing is
# compiled a second time for the lints alone.
LINTING = {"RUSTC_WORKSPACE_WRAPPER": "clippy-driver", "CLIPPY_ARGS": "-Dwarnings__CLIPPY_HACKERY__"}

# What takes minutes, or SDKs that take minutes to install, is in one of these groups. Each commit runs one of them.
GROUPS = 5
GO = {"share": GROUPS, "group": "go"}
JAVA = {"share": GROUPS, "group": "java"}
SCRIPTS = {"share": GROUPS, "group": "node and python"}
STORES = {"share": GROUPS, "group": "stores"}
SPEED = {"share": GROUPS, "group": "speed"}
# Everything in Rust shares a target folder, so that the crates around the SDK are compiled once.
RUST = {"share": GROUPS, "group": "speed", "cores": 2, "lock": "rust", "minutes": 10}

FAST = {"scheduler", "format", "build", "unit-tests"}
"""The steps of `--fast`."""
REPRODUCE = {"writers", "writers-long", "crashes", "crashes-long", "readers", "simulate", "simulate-fresh", "simulate-from-state", "simulate-long"}
"""Steps with a seed, whose command repeats a failure exactly."""
SETUPS = set()
"""Steps that run only where another one needs them."""


def setup(name, script, *arguments, cores=0, after=(), reason=""):
    SETUPS.add(name)
    return Step(name, [f"tests/{script}", *arguments], after=after, cores=cores, reason=reason)


def python(name, script, *arguments, interpreter="python3", **options):
    """A script that is given the built program."""
    return Step(name, [interpreter, f"tests/{script}", "--bin", "{plumb}", *arguments], **options)


class Machine:
    """What the machine has, and what is left out because it has not."""

    def __init__(self):
        self.left_out = []
        self.go = shutil.which("go") is not None
        self.java = shutil.which("javac") is not None and shutil.which("mvn") is not None
        self.debian = shutil.which("apt-get") is not None and os.geteuid() == 0
        if not self.go:
            self.left_out.append("programs and generated SDKs in Go, debugging them, and a server of Vault: there is no `go`")
        if not self.java:
            self.left_out.append("programs and generated SDKs in Java, and debugging them: there is no JDK, or no `mvn`")
        elif not self.debian:
            self.left_out.append("programs in Java that Gradle runs: Debian's packages take `apt-get` and root")
        if not self.debian:
            self.left_out.append("debugging programs in Rust: gdbserver takes `apt-get` and root")

    def installs(self, programs, what):
        """Whether there are `programs`, or they can be installed."""
        missing = [program for program in programs if not shutil.which(program)]
        if missing and not self.debian:
            self.left_out.append(f"{what}: no {', '.join(missing)}, and installing takes `apt-get` and root")
        return not missing or self.debian


def number_of_commit(root):
    """A number that stands for the commit that is tested."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    return int(head.stdout.strip()[:8] or "0", 16)


def table(target, commit):
    """All steps in their order, and what is left out on this machine."""
    machine = Machine()
    steps = [
        *setups(machine),
        *compiling(target, commit),
        *histories(commit),
        *end_to_end(machine),
        *stores(machine, target, commit),
        *generated_sdks(machine, target, commit),
        *go_and_java(machine),
        *several_languages(machine),
        *rust(machine, target),
        *recorded(),
        *measuring(machine, target),
        *nightly(machine, target),
    ]
    return steps, machine.left_out


def setups(machine):
    yield setup("python", "setup-python.sh", RECORDED_SDK)
    yield setup("sdk", "setup-node.sh", "3.248.0")
    yield setup("python_policies", "setup-python.sh", RECORDED_SDK, "pulumi-policy")
    # The reference was recorded with a provider's package beside the SDK, which decides about default providers.
    yield setup("python_recorded", "setup-python.sh", RECORDED_SDK, "pulumi-random")
    yield setup("python_newest", "setup-python.sh", NEWEST_SDK)
    yield setup("python_terminal", "setup-python.sh", RECORDED_SDK, "pyte")
    yield setup("python_mypy", "setup-python.sh", RECORDED_SDK, "mypy")
    yield setup("python_pyright", "setup-python.sh", RECORDED_SDK, "pyright")
    yield setup("pythons", "setup-pythons.sh", RECORDED_SDK)
    yield setup("sdk_newest", "setup-node.sh", "3.276.0")
    yield setup("sdk_policies", "setup-node.sh", "3.248.0", "@pulumi/policy")
    yield setup("node_tools", "setup-node-tools.sh")
    yield setup("old_sdks", "setup-old-sdks.sh")
    yield setup("python_packages", "setup-python-packages.sh")
    yield setup("node_packages", "setup-node-packages.sh")
    yield setup("codespell", "setup-codespell.sh")
    yield setup("mdbook", "setup-mdbook.sh", cores=2)
    yield setup("csharp_grammar", "setup-csharp-grammar.sh")
    yield setup("program_tools", "setup-programs.sh")
    yield setup("key_services", "setup-key-services.sh")
    yield setup("store_servers", "setup-stores.sh", cores=1)
    if machine.go:
        yield setup("go_sdk", "setup-go-automation.sh")
        yield setup("delve", "setup-delve.sh", cores=1, after=("build",))
        yield setup("vault", "setup-vault.sh", cores=2, after=("build",), reason="compiles the server of Vault")
    if machine.java:
        yield setup("java_sdk", "setup-java.sh")
        if machine.debian:
            yield setup("gradle", "setup-gradle.sh", after=("java_sdk", "shells"))
    if machine.debian:
        yield setup("shells", "setup-shells.sh")
        yield setup("valgrind", "setup-valgrind.sh", after=("shells",))
        yield setup("postgres", "setup-postgres.sh", after=("valgrind",))
        yield setup("gdbserver", "setup-gdbserver.sh", after=("postgres",))


def compiling(target, commit):
    yield Step("scheduler", ["python3", "tests/ci/test_schedule.py"])
    yield Step("format", ["cargo", "fmt", "--all", "--check"])
    yield Step("build", ["cargo", "test", "--workspace", "--no-run"], env=LINTING, cores=2,
               minutes=45, reason="compiles everything, with the lints")
    # Property tests draw other values for each commit, and the same ones when it is tested again.
    yield Step("unit-tests", ["cargo", "test", "--workspace"], env={**LINTING, "PROPTEST_RNG_SEED": str(commit)}, cores=2,
               after=("scheduler", "format", "build"), reason="all tests of all crates")
    SETUPS.add("plumb")
    yield Step("plumb", ["echo", str(target / "debug" / "plumb")], after=("unit-tests",), cores=0)


def histories(commit):
    """Histories that nobody wrote down: the same as ever, and others for each commit, the same ones when it is tested again."""
    simulate = ["cargo", "xtask", "simulate", "--threads", "2"]
    yield Step("simulate", [*simulate, "--ops", "200000", "--seed", "0"], after=("unit-tests",), cores=2)
    state = str(Path(__file__).resolve().parents[1] / "data/vectors/deployment-v3.json")
    yield Step("simulate-from-state", [*simulate, "--ops", "20000", "--seed", "0", "--from-state", state],
               after=("simulate",), cores=2)
    yield Step("simulate-fresh", [*simulate, "--ops", "50000", "--seed", str(commit)], after=("simulate",), cores=2)


def end_to_end(machine):
    run_python = ["--python", "{python}/bin/python"]
    yield python("docs", "docs.py")
    yield Step("spelling", ["{codespell}", "--skip", "*.svg,*.json", "docs", "release", "integrations", ".github",
                            *(path.name for path in sorted(Path(__file__).resolve().parents[2].glob("*.md")))])
    yield python("examples", "e2e/examples.py")
    yield python("defects", "e2e/defects.py")
    yield python("interrupts", "e2e/interrupts.py", *run_python)
    yield python("terminal", "e2e/terminal.py", "--python", "{python_terminal}/bin/python",
                 interpreter="{python_terminal}/bin/python")
    yield python("side-by-side", "side_by_side.py", "--python", "{python_terminal}/bin/python",
                 interpreter="{python_terminal}/bin/python")
    if machine.installs(["zsh", "fish"], "completion in shells"):
        shells = ("shells",) if machine.debian else ()
        yield python("completion", "e2e/completion.py", after=shells)
    yield python("hooks", "e2e/hooks.py", *run_python)
    yield python("hooks-newest", "e2e/hooks.py", "--python", "{python_newest}/bin/python", **SCRIPTS)
    yield python("plugins", "e2e/plugins.py", *run_python)
    yield python("python-plugins", "e2e/python_plugins.py", *run_python)
    yield python("converters", "e2e/converters.py", *run_python)
    yield python("direct", "e2e/direct.py", *run_python)
    yield python("canary", "e2e/canary.py", *run_python, "--only", "life")
    yield python("pipelines", "e2e/pipelines.py", interpreter="{python}/bin/python")
    yield python("secrets-providers", "e2e/secrets_providers.py", interpreter="{key_services}/bin/python")
    yield python("policies", "e2e/policies.py", "--python", "{python_policies}/bin/python")
    yield python("provider-check", "e2e/provider_check.py", *run_python)
    yield python("rules", "e2e/rules.py", "--python", "{python_policies}/bin/python", "--sdk", "{sdk_policies}")
    yield python("editor", "e2e/editor.py", "--server", "{node_tools}/yaml-language-server")
    yield python("node", "e2e/node.py", "--sdk", "{sdk}", "--tools", "{node_tools}", *run_python)
    yield python("node-newest", "e2e/node.py", "--sdk", "{sdk_newest}", *run_python,
                 "--only", "modules,typescript,hooks,failures,loaded_later", **SCRIPTS)
    yield python("node-plugins", "e2e/node_plugins.py", "--sdk", "{sdk_policies}", *run_python, **SCRIPTS)
    yield python("debuggers", "e2e/debuggers.py", *run_python, "--sdk", "{sdk}", "--tools", "{node_tools}",
                 *(["--go", "{go_sdk}", "--delve", "{delve}"] if machine.go else []),
                 *(["--repository", "{java_sdk}"] if machine.java else []),
                 *(["--debug-server", "{gdbserver}"] if machine.debian else []), lock="java", **JAVA)
    automation = "tests/e2e/automation-"
    yield Step("automation-node", [f"{automation}node/run", "--bin", "{plumb}", "--sdk", "{sdk}"], **SCRIPTS)
    yield Step("automation-node-newest", [f"{automation}node/run", "--bin", "{plumb}", "--sdk", "{sdk_newest}"],
               env={"ONLY": "event"}, **SCRIPTS)
    yield Step("automation-python", [f"{automation}python/run", "--bin", "{plumb}", *run_python])
    yield Step("automation-python-newest", [f"{automation}python/run", "--bin", "{plumb}", "--python",
                                            "{python_newest}/bin/python"],
               env={"SUITES": "events,interface"}, **SCRIPTS)
    yield python("many-updates", "e2e/automation-python/many_updates.py", interpreter="{python}/bin/python")


def stores(machine, target, commit):
    if not machine.debian:
        machine.left_out.append("state in PostgreSQL, and the provider for it: its server takes `apt-get` and root")
    postgres = ["--postgres", "{postgres}"] if machine.debian else []
    yield python("stores", "e2e/stores.py", "--stores", "{store_servers}", *postgres,
                 "--examples", str(target / "debug/examples"), "--seed", str(commit),
                 reason="leases that must end, for each of five servers", **STORES)
    canary = ["--python", "{python}/bin/python"]
    yield python("canary-all", "e2e/canary.py", *canary, "--policies", "{python_policies}/bin/python", **STORES)
    yield python("canary-stores", "e2e/canary.py", *canary, "--stores", "{store_servers}", *postgres, **STORES)
    if machine.go:
        yield python("vault-server", "e2e/vault.py", "--vault", "{vault}", **STORES)
    yield python("credentials", "e2e/credentials.py", "--stores", "{store_servers}", **STORES)
    yield python("stores-lost", "e2e/stores_lost.py", "--stores", "{store_servers}", *postgres, **STORES)
    yield Step("writers", [str(target / "debug/examples/histories"), "10000", str(commit)], cores=2, **STORES)
    yield Step("crashes", [str(target / "debug/examples/crashes"), "4000", str(commit), "10"], cores=2, **STORES)


def programs(machine, target, name="programs", *arguments, **options):
    go = ["--go", "{go_sdk}"] if machine.go else []
    java = ["--java", "{java_sdk}"] if machine.java else []
    rust = ["--rust", str(target / "rust-sdk")]
    return python(name, "programs.py", "--tools", "{program_tools}", *go, *java, *rust, *arguments, lock="go", **options)


def generated_sdks(machine, target, commit):
    packages = "{python_packages}/bin/python"
    checkers = ("python_mypy", "python_pyright")
    yield python("sdks-python", "codegen/python.py", "--packages", "{python_packages}", interpreter=packages,
                 after=checkers, **SCRIPTS)
    yield python("use-python", "codegen/use_python.py", interpreter=packages, after=checkers, **SCRIPTS)
    yield python("parameters", "codegen/parameters.py", "--python", "{python}/bin/python", **SCRIPTS)
    yield programs(machine, target, "programs", "--share", "4", "--seed", str(commit), **SCRIPTS)
    yield python("exported", "exported.py", "--tools", "{program_tools}", "--share", "4", "--seed", str(commit), **SCRIPTS)
    mirrored = ["imports.py", "--python", "{python}/bin/python", "--seed", str(commit)]
    yield python("imports", *mirrored, "--each", "8")
    yield python("imports-python", *mirrored, "--each", "20", "--only", "^random$", "--language", "python", "--sdks",
                 "{python_recorded}", **SCRIPTS)
    yield python("terraform", "terraform.py", "--tools", "{program_tools}", "--rust", str(target / "rust-sdk"), **SCRIPTS)
    yield python("packages", "codegen/packages.py", "--python", "{python}/bin/python",
                 *(["--repository", "{java_sdk}"] if machine.java else []), lock="java", **JAVA)
    modules = ["--modules", "{node_packages}"]
    yield Step("sdks-node", ["node", "tests/codegen/nodejs.js", "--bin", "{plumb}", *modules], **SCRIPTS)
    yield Step("use-node", ["node", "tests/codegen/use-nodejs.js", "--bin", "{plumb}", *modules], **SCRIPTS)
    yield python("sdks-csharp", "codegen/csharp.py", interpreter="{csharp_grammar}/bin/python", **SCRIPTS)
    yield python("programs-csharp", "codegen/csharp_programs.py", interpreter="{csharp_grammar}/bin/python", **SCRIPTS)
    if machine.java:
        yield python("sdks-java", "codegen/java.py", "--repository", "{java_sdk}", lock="java", **JAVA)
        yield python("use-java", "codegen/use-java.py", "--repository", "{java_sdk}", "--python", "{python}/bin/python",
                     lock="java", **JAVA)
    if machine.go:
        yield python("sdks-go", "codegen/go.py", "--go", "{go_sdk}", lock="go", **GO)
        yield python("use-go", "codegen/use-go.py", "--go", "{go_sdk}", "--python", "{python}/bin/python", lock="go", **GO)


def go_and_java(machine):
    run_python = ["--python", "{python}/bin/python"]
    go = ["--go", "{go_sdk}"] if machine.go else []
    if machine.go:
        yield python("go", "e2e/go.py", *go, *run_python, lock="go", **GO)
        yield Step("automation-go", ["tests/e2e/automation-go/run", "--bin", "{plumb}", *go], lock="go", **GO)
    yield python("served", "e2e/served.py", *go, *run_python, lock="go", **GO)
    yield python("host-service", "e2e/host_service.py", "--sdk", "{sdk}", *go, interpreter="{python}/bin/python", lock="go", **GO)
    yield python("yaml-components", "e2e/yaml_components.py", *run_python, "--sdk", "{sdk}", *go, lock="go", **GO)
    if machine.java:
        gradle = ["--gradle", "{gradle}"] if machine.debian else []
        yield python("java", "e2e/java.py", "--repository", "{java_sdk}", *gradle, lock="java", **JAVA)


def several_languages(machine):
    go = ["--go", "{go_sdk}"] if machine.go else []
    repository = ["--repository", "{java_sdk}"] if machine.java else []
    run_python = ["--python", "{python}/bin/python"]
    yield python("processes", "e2e/processes.py", *run_python, "--sdk", "{sdk}", *go, lock="go", **GO)
    for language in ["yaml", "python", "nodejs"]:
        yield python(f"languages-{language}", "e2e/languages.py", *run_python, "--sdk", "{sdk}", "--only", language)
    yield python("languages", "e2e/languages.py", *run_python, "--sdk", "{sdk}", *go, *repository, lock="go", **JAVA)
    yield python("bad-input", "e2e/bad_input.py", *run_python, "--sdk", "{sdk}", "--old", "{old_sdks}", *go, *repository,
                 lock="java", **GO)
    yield Step("other-pythons", ["tests/ci/other-pythons.sh", "{plumb}", "{python}/bin/python", RECORDED_SDK],
               after=("pythons",), **SCRIPTS)


def rust(machine, target):
    folder = ["--target", str(target / "rust-sdk")]
    schemas = Path(__file__).resolve().parents[1] / "data/schemas"
    yield Step("rust-sdk", ["tests/rust/sdk.sh"], **RUST)
    yield python("rust-programs", "rust/e2e.py", *folder, after=("rust-sdk",), **RUST)
    yield python("rust-plugins", "rust/plugins.py", *folder, after=("rust-programs",), **RUST)
    if machine.debian:
        yield python("rust-postgres", "rust/postgres.py", *folder, "--postgres", "{postgres}", after=("rust-programs",), **RUST)
    yield python("rust-packages", "rust/sdks.py", *folder, "--schema", str(schemas / "random.json"), "--schema",
                 str(schemas / "docker.json"), after=("rust-programs",), **RUST)


def recorded():
    yield python("recorded-cases", "recorded_cases.py", "--python-bin", "{python_recorded}/bin", "--jobs", "2", cores=2,
                 env={"ORACLE_NODE_MODULES": "{sdk}/node_modules"},
                 reason="several commands for each of two hundred cases")
    yield Step("crash", ["tests/crash/run", "--bin", "{plumb}", "--python", "{python}/bin/python", "--jobs", "2"], cores=2)


def measuring(machine, target):
    fast = target / "bench-fast"
    # Instructions, unlike seconds, are the same on a busy machine.
    if machine.installs(["valgrind"], "the count of instructions"):
        valgrind = ("valgrind",) if machine.debian else ()
        yield build_fast("core-bench", after=("simulate",))
        yield Step("instructions", ["benches/instructions", "--core-bench", str(fast / "core-bench")],
                   after=("core-bench", *valgrind))
    yield build_fast("plumb-cli", "null-monitor", "plumb-bench-library", "slow-provider", name="optimised", after=("unit-tests",))
    plumb = ["--plumb", str(fast / "plumb")]
    monitor = ["--null-monitor", str(fast / "null-monitor")]
    # The benchmarks take the SDKs that the setups have put into the cache.
    speed = {"after": ("optimised", "python", "sdk"), "alone": True, **SPEED}
    yield Step("commands", ["benches/commands/run", *plumb, "--runs", "15", "--margin", "3"], **speed)
    yield Step("workloads", ["benches/run", "--smoke", "--no-peers", *plumb, *monitor,
                             "--slow-provider", str(fast / "pulumi-resource-slow"),
                             "--workloads", "empty,stash-yaml,slow-yaml,component-python,component-node",
                             "--json", str(target / "benches/smoke.json")], **speed)
    yield Step("policy-rules", ["benches/policies/run", *plumb, "--margin", "3"], **speed)
    yield Step("rust-speed", ["benches/rust/run", *plumb, "--target", str(target / "rust-sdk"), "--runs", "5", "--margin", "2"],
               **speed)
    yield Step("library", [str(fast / "plumb-bench-library"), "--updates", "400", "--check", "--margin", "3"], **speed)
    languages = "python,nodejs,go" if machine.go else "python,nodejs"
    speed["after"] += ("go_sdk",) if machine.go else ()
    yield Step("overhead", ["benches/overhead", "--smoke", *plumb, *monitor, "--shapes", "mixed", "--languages", languages,
                            "--json", str(target / "benches/overhead-smoke.json")], **speed)


def nightly(machine, target):
    """Suites that no commit waits for."""
    seed = str(int.from_bytes(os.urandom(4), "big"))
    yield Step("simulate-long", ["cargo", "xtask", "simulate", "--threads", "2", "--ops", "10000000", "--seed", seed],
               after=("simulate",), cores=2, **AT_NIGHT)
    yield Step("writers-long", ["cargo", "run", "--quiet", "--profile", "bench-fast", "-p", "plumb-backend",
                                "--features", "conformance", "--example", "histories", "--", "500000", seed], cores=2, **AT_NIGHT)
    yield Step("crashes-long", ["cargo", "run", "--quiet", "--profile", "bench-fast", "-p", "plumb-backend",
                                "--features", "conformance", "--example", "crashes", "--", "1000000", seed], cores=2, **AT_NIGHT)
    yield Step("readers", ["cargo", "run", "--quiet", "--profile", "bench-fast", "-p", "plumb-backend",
                           "--features", "conformance", "--example", "readers", "--", "1800", seed], cores=2, **AT_NIGHT)
    postgres = ["--postgres", "{postgres}"] if machine.debian else []
    yield python("stores-histories", "e2e/stores.py", "--stores", "{store_servers}", *postgres, "--examples",
                 str(target / "debug/examples"), "--only", "histories", "--histories", "1000", "--seed", seed, **AT_NIGHT)
    yield python("canary-failures", "e2e/canary.py", "--python", "{python}/bin/python", "--stores", "{store_servers}",
                 *postgres, "--failures", **AT_NIGHT)
    yield Step("mutations", ["cargo", "xtask", "mutations"], after=("simulate",), cores=2, **AT_NIGHT)
    for number in range(3):
        yield python(f"recorded-cases-{number + 1}", "recorded_cases.py", "--python-bin", "{python_recorded}/bin", "--jobs", "2",
                     "--jitter", f"{seed}{number}", cores=2, env={"ORACLE_NODE_MODULES": "{sdk}/node_modules"}, **AT_NIGHT)
    yield programs(machine, target, "programs-all", **AT_NIGHT)
    mirrored = ["imports.py", "--python", "{python}/bin/python", "--seed", seed, "--each", "100"]
    yield python("imports-all", *mirrored, **AT_NIGHT)
    yield python("imports-cases", *mirrored, "--schemas", "tests/data/schemas/cases", **AT_NIGHT)
    yield python("exported-all", "exported.py", "--tools", "{program_tools}", **AT_NIGHT)
    yield python("docs-network", "docs.py", "--network", **AT_NIGHT)
    yield Step("book", ["tests/book.sh", "{mdbook}"], **AT_NIGHT)
    fast = str(target / "bench-fast/plumb")
    yield Step("large-schema", ["benches/schema/run", "--plumb", fast, "--check"], after=("optimised",), alone=True, **AT_NIGHT)
    yield Step("state-figures", ["benches/state/run", "--plumb", fast, "--stores", "{store_servers}", "--slow-provider",
                                 str(target / "bench-fast/pulumi-resource-slow"), "--check", "--margin", "3"],
               after=("optimised",), alone=True, **AT_NIGHT)
    if machine.debian or shutil.which("chromium"):
        yield setup("chromium", "setup-chromium.sh")
        yield Step("documentation", ["python3", "tests/codegen/docs.py", "--plumb", "{plumb}", "--browser", "{chromium}"],
                   **AT_NIGHT)


def build_fast(*packages, name=None, after):
    """Programs with optimisation, for what measures."""
    name = name or packages[0]
    SETUPS.add(name)
    arguments = [part for package in packages for part in ("-p", package)]
    return Step(name, ["cargo", "build", "--profile", "bench-fast", *arguments], cores=2, after=after,
                minutes=45, reason="compiles everything once more, with optimisation")
