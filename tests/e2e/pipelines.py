#!/usr/bin/env python3
"""The action for GitHub and the component for GitLab: their scripts, as these systems run them, against a stand-in of their APIs.

    .cache/venvs/pulumi-3.259/bin/python tests/e2e/pipelines.py --bin target/debug/plumb

The interpreter has PyYAML, which comes with the SDK. Scripts come from `integrations`: expressions of inputs are filled in, variables are set as the system
sets them, and the shell is `sh`. What cannot be seen here is how the systems themselves read these files.
"""

import argparse
import functools
import http.server
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import yaml

from forges import TOKEN, Forge
from stories import Failed, LeftOut, expect, expect_in, expect_out, tell

HERE = Path(__file__).resolve().parents[2]
LAB = HERE / "tests/lab"
LIMIT = 120
SECRET = "canary-pipeline-77ab"


def program(size=1, gone=False):
    """Two things, one of them with a secret."""
    things = {
        "first": {"type": "lab:index:Thing", "properties": {"value": f"size {size}", "other": "${token}"}},
        "second": {"type": "lab:index:Thing", "properties": {"value": "`| @team </details>"}},
    }
    if gone:
        del things["second"]
    return {"name": "shop", "runtime": "yaml", "config": {"token": {"type": "string", "secret": True}}, "resources": things}


def github_change(world):
    """A pull request gets one comment, which later runs replace, and the job a summary."""
    world.install()
    world.forge = Forge("github")
    world.forge.comments = [{"id": at, "body": f"a comment {at}"} for at in range(250)]
    expect("the exit code", world.github("pull_request").code, 0)
    comment = world.comment()
    expect_in("### Previewing update (shop/production)", comment)
    expect_in("| `+ create` | `first` | `lab:index:Thing` |", comment)
    expect_in("[Log](https://forge.example/someone/shop/actions/runs/99)", comment)
    expect_in("Commit 0123abcd", comment)
    expect("comment and summary", world.summary, comment)
    world.write(program(size=2))
    world.forge.busy = 2
    expect("the exit code", world.github("pull_request").code, 0)
    expect_in("size 2", world.comment())
    expect("the outputs", world.outputs, {"operation": "preview", "exit-code": "0"})


def github_failure(world):
    """Failures are reported as well: of resources, of the program, and those before an operation."""
    world.write({**program(), "outputs": {"wrong": "${nobody}"}})
    ran = world.github("pull_request")
    expect("the exit code", ran.code, 1)
    expect_in("**The preview failed.", world.comment())
    expect_in("nobody", world.comment())
    expect("the outputs", world.outputs, {"operation": "preview", "exit-code": "1"})
    (world.project / "Pulumi.yaml").write_text("name: [")
    expect("the exit code", world.github("pull_request").code != 0, True)
    expect_in("failed\n\n```text\n", world.comment())


def github_forks(world):
    """A token that may not write is a warning, with what to grant; the preview counts."""
    world.forge = Forge("github")
    world.forge.refused = {("POST", "issues")}
    ran = world.github("pull_request")
    expect("the exit code", ran.code, 0)
    expect_in("it answered 403 Forbidden; the token needs the permissions `pull-requests: write`", ran.output)
    expect_in("| `+ create` | `first` |", world.summary)
    ran = world.github("pull_request", token="")
    expect("the exit code", ran.code, 0)
    expect_in("there is no token: set GITHUB_TOKEN, or pass --comment=false", ran.output)
    requests = len(world.forge.requests)
    expect("the exit code", world.github("pull_request", comment="false").code, 0)
    expect("requests", len(world.forge.requests), requests)


def github_branches(world):
    """The default branch is updated, and others are previewed."""
    expect("the exit code", world.github("push", ref="feature").code, 0)
    expect("resources", world.resources(), [])
    expect("the exit code", world.github("push", ref="main").code, 0)
    expect("resources", world.resources(), ["first", "production", "second"])
    expect_in("### Updating (shop/production)", world.summary)
    expect("requests", world.forge.requests, [])


def github_plan(world):
    """The update keeps to the plan that the preview has saved."""
    expect("the exit code", world.github("pull_request", plan="plan.json").code, 0)
    expect("the plan", (world.project / "plan.json").exists(), True)
    world.write(program(size=3))
    ran = world.github("push", plan="plan.json")
    expect("the exit code", ran.code, 1)
    expect_in("violates plan", ran.output)
    world.write(program())
    expect("the exit code", world.github("push", plan="plan.json").code, 0)
    expect("the operation", world.outputs["operation"], "up")


def github_drift(world):
    """Drift opens an issue, once, and is closed when nothing has drifted any more."""
    expect("the exit code", world.github("push").code, 0)
    expect("the exit code", world.github("schedule", issue="true").code, 0)
    expect("issues", world.forge.issues, [])
    expect("the exit code", world.github("schedule", issue="true", flags="--stack gone").code, 6)
    expect("issues after a failure", world.forge.issues, [])
    world.drift()
    for _ in range(2):
        expect("the exit code", world.github("schedule", issue="true").code, 2)
        [issue] = world.forge.issues
        expect("the title", issue["title"], "Drift in shop/production")
        expect_in("somebody else", issue["body"])
    expect("the exit code", world.github("push", flags="--refresh").code, 0)
    expect("the exit code", world.github("schedule", issue="true").code, 0)
    expect("whether it is open", world.forge.issues[0]["is_open"], False)


def gitlab_life(world):
    """Merge request, default branch and schedule, with the jobs of the component."""
    world.install()
    expect("the exit code", world.gitlab("merge_request_event").code, 0)
    expect_in("| `+ create` | `first` |", world.comment())
    expect_in("[Log](https://forge.example/jobs/99)", world.comment())
    expect("the plan", (world.project / "plan.json").exists(), True)
    world.write(program(size=2))
    expect("the exit code", world.gitlab("merge_request_event").code, 0)
    expect_in("size 2", world.comment())
    expect("the exit code", world.gitlab("push").code, 0)
    expect("resources", world.resources(), ["first", "production", "second"])
    world.drift()
    expect("the exit code", world.gitlab("schedule", issue="true").code, 2)
    expect_in("somebody else", world.forge.issues[0]["description"])
    expect("the exit code", world.gitlab("schedule", issue="true", flags="--exclude **first").code, 0)
    expect("whether it is open", world.forge.issues[0]["is_open"], False)


def gitlab_refused(world):
    """The error says what the token needs."""
    ran = world.gitlab("merge_request_event", token="wrong")
    expect("the exit code", ran.code, 0)
    expect_in("GITLAB_TOKEN needs the scope `api`", ran.output)
    expect_out("wrong", ran.output)


def by_hand(world):
    """Without a pipeline the operation is named; mistakes end with what to do."""
    ran = world.plumb("ci", "--stack", "production")
    expect_in("there is no event that says what to do; name the operation, such as `plumb ci preview`", ran.output)
    ran = world.plumb("ci", "preview", "--stack", "production", "--", "--cwd", "elsewhere")
    expect_in("the flag --cwd is one of `ci` itself", ran.output)
    ran = world.plumb("ci", "deploy", "--stack", "production")
    expect_in("the operations are preview, up, drift, destroy", ran.output)
    ran = world.plumb("ci", "drift", "--stack", "production", "--plan", "x")
    expect_in("`drift` has no plan", ran.output)
    ran = world.plumb("ci", "preview", "--stack", "production", "--", "--show-secrets")
    expect_in("it does not take --show-secrets", ran.output)
    (world.project / "old.md").write_text("an old report")
    ran = world.plumb("ci", "preview", "--stack", "nobody", "--report", "old.md")
    expect("the exit code", ran.code, 6)
    expect("whether the old report is there", (world.project / "old.md").exists(), False)
    ran = world.plumb("ci", "preview", "--stack", "production", "--", "--nonsense")
    expect_in("unknown flag: --nonsense", ran.output)
    expect("the exit code", world.plumb("ci", "up", "--stack", "production", "--report", "r.md", "--", "--diff").code, 0)
    expect_in("### Updating (shop/production)", (world.project / "r.md").read_text())
    expect("the exit code", world.plumb("ci", "destroy", "--stack", "production").code, 0)
    expect("resources", world.resources(), [])


STORIES = [github_change, github_failure, github_forks, github_branches, github_plan, github_drift, gitlab_life, gitlab_refused,
           by_hand]


class Ran:
    def __init__(self, code, output):
        self.code, self.output = code, output


class World:
    """A project with a stack, a forge, and a release to install."""

    def __init__(self, root, binary, release, installed):
        self.root, self.binary, self.release = root, binary, release
        self.project, self.cloud = root / "repository/infrastructure", root / "cloud"
        for folder in (self.project, self.cloud, root / "home", root / "store", root / "runner"):
            folder.mkdir(parents=True)
        self.forge, self.outputs, self.summary = None, {}, ""
        self.said = []
        self.variables = {
            "PATH": f"{installed}:{Path(sys.executable).parent}:{LAB}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root}/store",
            "PULUMI_CONFIG_PASSPHRASE": "pipeline",
            "LAB_PYTHON": sys.executable,
            "LAB_CLOUD": str(self.cloud),
            "PULUMI_EXPERIMENTAL": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        self.write(program())
        self.plumb("stack", "init", "production")
        self.plumb("config", "set", "--stack", "production", "--secret", "token", SECRET)

    def close(self):
        if self.forge:
            self.forge.close()
        for text in [*self.said, *(str(it) for it in (self.forge.comments + self.forge.issues if self.forge else []))]:
            for secret in (SECRET, TOKEN):
                if secret in text:
                    raise Failed(f"{secret} is in:\n{text}")

    def install(self):
        """From now on there is no program on PATH, so that the scripts install one."""
        if not shutil.which("curl"):
            raise LeftOut("the installation needs curl")
        self.variables["PATH"] = self.variables["PATH"].partition(":")[2]

    def write(self, document):
        (self.project / "Pulumi.yaml").write_text(json.dumps(document, indent=2))

    def comment(self):
        """The one comment that is ours."""
        found = [it["body"] for it in self.forge.comments if it["body"].startswith("<!-- plumb ci")]
        if len(found) != 1:
            raise Failed(f"there are {len(found)} comments")
        expect_in("<!-- plumb ci: preview of production in /infrastructure -->\n", found[0])
        return found[0]

    def resources(self):
        state = json.loads(self.plumb("stack", "export", "--stack", "production").output)["deployment"]
        names = (it["urn"].rsplit("::", 1)[1] for it in state.get("resources") or [])
        return sorted(it.removeprefix("shop-") for it in names if "default" not in it)

    def drift(self):
        [file] = self.cloud.glob("Thing__first*.json")
        thing = json.loads(file.read_text())
        thing["data"]["value"] = "somebody else"
        file.write_text(json.dumps(thing))

    def plumb(self, *words):
        return self.run([str(self.binary), *words, "--non-interactive"] if "--" not in words else [str(self.binary), *words], {})

    def run(self, words, variables, folder=None):
        done = subprocess.run(words, env={**self.variables, **variables}, cwd=folder or self.project, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        self.said.append(done.stdout)
        return Ran(done.returncode, done.stdout)

    def github(self, event, ref="main", token=TOKEN, **inputs):
        """The steps of the action, as a runner of GitHub runs them."""
        self.forge = self.forge or Forge("github")
        action = read("integrations/github/action.yml")
        given = {"stack": "production", "working-directory": "infrastructure", "releases": self.release, "token": token, **inputs}
        given = {name: given.get(name, declared.get("default")) for name, declared in action["inputs"].items()}
        event_file, runner = self.root / "event.json", self.root / "runner"
        event_file.write_text(json.dumps({
            "number": 7, "repository": {"default_branch": "main"},
            "pull_request": {"number": 7, "head": {"sha": "0123abcd4567", "ref": "feature"}}}))
        files = {name: runner / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        variables = {
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "99", "GITHUB_RUN_NUMBER": "3", "GITHUB_EVENT_NAME": event,
            "GITHUB_SHA": "fedcba98", "GITHUB_REPOSITORY": "someone/shop", "GITHUB_SERVER_URL": "https://forge.example",
            "GITHUB_WORKSPACE": str(self.root / "repository"), "GITHUB_API_URL": f"{self.forge.url}/api", "GITHUB_EVENT_PATH": str(event_file), "RUNNER_TEMP": str(runner),
            "GITHUB_REF": "refs/pull/7/merge" if event == "pull_request" else f"refs/heads/{ref}",
            "GITHUB_REF_NAME": "7/merge" if event == "pull_request" else ref, "GITHUB_REF_TYPE": "branch",
            **{name: str(file) for name, file in files.items()},
        }
        output = ""
        for step in [it for it in action["runs"]["steps"] if "run" in it]:
            expect("the shell", step["shell"], "sh")
            extra = {name: fill(value, given) for name, value in step.get("env", {}).items()}
            folder = self.root / "repository" / fill(step.get("working-directory", "."), given)
            path = ":".join([*files["GITHUB_PATH"].read_text().split(), self.variables["PATH"]])
            # What runners start for `shell: sh`.
            ran = self.run(["sh", "-e", "-c", step["run"]], {**variables, **extra, "PATH": path}, folder)
            output += ran.output
            if ran.code:
                break
        self.outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        self.summary = files["GITHUB_STEP_SUMMARY"].read_text()
        return Ran(ran.code, output)

    def gitlab(self, source, token=TOKEN, **inputs):
        """The job of the component that the rules choose, as a runner of GitLab runs it."""
        self.forge = self.forge or Forge("gitlab")
        text = (HERE / "integrations/gitlab/templates/plumb.yml").read_text()
        declared, jobs = text.split("\n---\n")
        given = {"stack": "production", "working-directory": "infrastructure", "releases": self.release, **inputs}
        declared = load(declared)["spec"]["inputs"]
        given = {name: given.get(name, about.get("default")) for name, about in declared.items()}
        given = {name: json.dumps(value) if isinstance(value, bool) else value for name, value in given.items()}
        jobs = load(re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda found: given[found[1]], jobs))
        variables = {
            "CI": "true", "GITLAB_CI": "true", "CI_PIPELINE_ID": "5", "CI_PIPELINE_IID": "6", "CI_JOB_URL": "https://forge.example/jobs/99",
            "CI_PIPELINE_SOURCE": source, "CI_COMMIT_SHA": "0123abcd4567", "CI_COMMIT_REF_NAME": "main",
            "CI_PROJECT_DIR": str(self.root / "repository"), "CI_API_V4_URL": f"{self.forge.url}/api/v4", "CI_PROJECT_ID": "42", "CI_DEFAULT_BRANCH": "main", "GITLAB_TOKEN": token,
            **({"CI_MERGE_REQUEST_IID": "7"} if source == "merge_request_event" else {"CI_COMMIT_BRANCH": "main"}),
        }
        chosen = [it for it in jobs.values() if "rules" in it and any(holds(rule["if"], variables) for rule in it["rules"])]
        expect("the number of jobs", len(chosen), 1)
        base = jobs[chosen[0]["extends"]]
        script = "\n".join([*base["before_script"], *chosen[0]["script"]])
        return self.run(["sh", "-e", "-c", script], {**variables, **base["variables"]}, self.root / "repository")


def make_release(folder, binary):
    """A release as `release/build.sh` makes it, with the program that is tested, and nothing else in the archive."""
    name = f"plumb-0.0.1-{platform.machine()}-unknown-linux-musl"
    tree = folder / name
    (tree / "bin").mkdir(parents=True)
    (tree / "share").mkdir()
    # Without what is for debuggers, which is most of the file.
    subprocess.run(["strip", "-o", tree / "bin/plumb", binary], check=True)
    subprocess.run(["tar", "--use-compress-program=gzip -1", "-cf", f"{name}.tar.gz", name], cwd=folder, check=True)
    sums = subprocess.run(["sha256sum", f"{name}.tar.gz"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    (folder / "SHA256SUMS").write_text(sums)
    script = (HERE / "release/install.sh").read_text().replace("@VERSION@", "0.0.1").replace("@URL@", "")
    (folder / "install.sh").write_text(script)


def serve(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def fill(text, inputs):
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], text)


def holds(rule, variables):
    """Whether a condition of GitLab holds; only comparisons and `&&` are in the component."""
    def value(word):
        return variables.get(word[1:], "") if word.startswith("$") else word.strip('"')

    for part in rule.split(" && "):
        left, comparison, right = part.split(" ")
        if (value(left) == value(right)) != {"==": True, "!=": False}[comparison]:
            return False
    return True


def read(path):
    return load((HERE / path).read_text())


def load(text):
    return yaml.safe_load(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, required=True, help="the plumb binary")
    parser.add_argument("--only", help="the name of one story")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumb-release-") as folder:
        make_release(Path(folder) / "release", options.bin.absolute())
        address = f"http://127.0.0.1:{serve(Path(folder) / 'release').server_port}"
        installed = Path(folder) / "bin"
        installed.mkdir()
        (installed / "plumb").symlink_to(options.bin.absolute())
        return tell(STORIES, lambda root: World(root, options.bin.absolute(), address, installed), options.only)


if __name__ == "__main__":
    sys.exit(main())
