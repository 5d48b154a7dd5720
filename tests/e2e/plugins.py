#!/usr/bin/env python3
"""Gets a provider from a server on this machine, as users get theirs from elsewhere.

    tests/e2e/plugins.py --bin target/debug/plumb --python .cache/venvs/pulumi-3.259/bin/python

The provider is the one of tests/lab; `--python` runs it. Only the standard library is used here.
"""

import argparse
import hashlib
import http.server
import io
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

LAB = Path(__file__).resolve().parents[1] / "lab"
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
SYSTEM = f"{sys.platform}-{ARCH}"
ASSET = f"pulumi-resource-lab-v1.0.0-{SYSTEM}.tar.gz"
OFF = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"


class Server:
    """Serves one archive; `delay` is how long it waits in the middle, and `gate` what it waits for. `releases` are other answers, by path, for whoever
    shows the `token`."""

    def __init__(self, content):
        self.content, self.delay, self.asked = content, 0, []
        self.releases, self.token = {}, None
        self.gate = threading.Event()
        self.gate.set()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.asked.append(self.path)
                if self.path in owner.releases:
                    if self.headers.get("Authorization") != owner.token:
                        return self.send_error(404)
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(owner.releases[self.path])))
                    self.end_headers()
                    return self.wfile.write(owner.releases[self.path])
                if self.path != f"/{ASSET}":
                    return self.send_error(404)
                self.send_response(200)
                self.send_header("Content-Length", str(len(owner.content)))
                self.end_headers()
                half = len(owner.content) // 2
                try:
                    self.wfile.write(owner.content[:half])
                    self.wfile.flush()
                    time.sleep(owner.delay)
                    owner.gate.wait(60)
                    self.wfile.write(owner.content[half:])
                except OSError:
                    pass  # whoever asked is gone

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def archive(note=""):
    """The lab provider as plugins are published."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for file in sorted(LAB.iterdir()):
            if file.is_file():
                tar.add(file, file.name)
        data = note.encode()
        entry = tarfile.TarInfo("NOTE")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return content.getvalue()


class World:
    def __init__(self, root, binary, python):
        self.root, self.binary, self.python = root, binary, python
        self.server = Server(archive())
        self.project = root / "project"
        self.project.mkdir()
        self.homes = 0
        self.new_home()
        self.write_program(self.server.url)

    def new_home(self):
        """A machine that has no plugins."""
        self.homes += 1
        self.home = self.root / f"home-{self.homes}"
        self.home.mkdir()

    def write_program(self, url):
        place = f"\n      pluginDownloadURL: {url}" if url else ""
        (self.project / "Pulumi.yaml").write_text(f"""name: fetched
runtime: yaml
resources:
  thing:
    type: lab:index:Thing
    properties:
      value: one
    options:
      version: 1.0.0{place}
""")

    def start(self, *words, **variables):
        environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(self.home), "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_BACKEND_URL": f"file://{self.root}", "LAB_PYTHON": str(self.python),
            # A plugin that writes beside itself is no longer the one that was locked.
            "LAB_CLOUD": str(self.root / "cloud"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.Popen(
            [str(self.binary), *words, "--cwd", str(self.project), "--non-interactive"], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *words, **variables):
        process = self.start(*words, **variables)
        out, _ = process.communicate(timeout=120)
        return process.returncode, out

    def ok(self, *words, **variables):
        code, out = self.run(*words, **variables)
        check(code == 0, f"`{' '.join(words)}` ended with {code}:\n{out}")
        return out

    def fails(self, text, *words, **variables):
        code, out = self.run(*words, **variables)
        check(code != 0, f"`{' '.join(words)}` did not fail:\n{out}")
        check(text in out, f"`{' '.join(words)}` does not say {text!r}:\n{out}")

    def plugins(self):
        folder = self.home / ".pulumi" / "plugins"
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []


def check(holds, text):
    if not holds:
        raise AssertionError(text)


def an_update_gets_what_is_missing(world):
    out = world.ok("up", "--yes", "--stack", "dev", "--create")
    for line in ("Downloading plugin lab-1.0.0: starting", "Downloading plugin lab-1.0.0: done",
                 "Installing plugin lab-1.0.0: starting", "Installing plugin lab-1.0.0: done"):
        check(out.count(f"{line}\n") == 1, out)
    check(world.server.asked == [f"/{ASSET}"], world.server.asked)
    lock = json.loads((world.project / "plumb.lock").read_text())
    digest = hashlib.sha256(world.server.content).hexdigest()
    locked = lock["plugins"].pop("resource-lab-v1.0.0")
    check(lock == {"version": 2, "plugins": {}}, lock)
    check(list(locked) == [SYSTEM] and locked[SYSTEM]["archive"] == digest and "content" in locked[SYSTEM], locked)
    out = world.ok("up", "--yes", "--stack", "dev", "--expect-no-changes")
    check("installing" not in out and len(world.server.asked) == 1, out)


def downloads_are_events(world):
    """Programs that drive this one see how far downloads are; the last event of each has everything."""
    world.ok("stack", "init", "dev")
    out = world.ok("up", "--yes", "--skip-preview", "--stack", "dev", "--json")
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    found = [event["progressEvent"] for event in events if "progressEvent" in event]
    size = len(world.server.content)
    ends = [(it["type"], it["id"], it["message"], it["received"], it["total"]) for it in found if it["done"]]
    check(ends == [
        ("plugin-download", "plugin-download:lab-1.0.0", "Downloading plugin lab-1.0.0", size, size),
        ("plugin-install", "plugin-install:lab-1.0.0", "Installing plugin lab-1.0.0", size, size),
    ], found)
    check(found[0]["received"] <= size and not found[0]["done"], found)
    check("installing" not in out, out)


def nothing_is_asked_when_all_is_there(world):
    world.ok("install")
    world.server.stop()
    world.ok("install", "--locked")
    world.ok("up", "--yes", "--stack", "dev", "--create", "--locked")
    out = world.ok("plugin", "ls", "--json")
    check(json.loads(out)[0]["name"] == "lab", out)


def another_archive_is_refused(world):
    world.ok("install")
    lock = world.project / "plumb.lock"
    good = lock.read_text()
    lock.write_text(good.replace(hashlib.sha256(world.server.content).hexdigest(), "00" * 32))
    world.fails("must not be used", "up", "--yes", "--stack", "dev", "--create")
    lock.write_text(good)
    world.new_home()
    world.server.content = archive("changed on the way")
    world.fails("is not the one that", "install")
    world.fails("is not the one that", "up", "--yes", "--stack", "dev", "--create")
    check(world.plugins() == [], world.plugins())
    out = world.ok("stack", "export", "--stack", "dev")
    kinds = [it["type"] for it in json.loads(out)["deployment"].get("resources", [])]
    check("lab:index:Thing" not in kinds, kinds)


def a_locked_project_uses_nothing_new(world):
    world.ok("install")
    (world.project / "plumb.lock").unlink()
    world.fails("plumb.lock does not name", "up", "--yes", "--stack", "dev", "--create", "--locked")
    world.ok("up", "--yes", "--stack", "dev")
    world.ok("up", "--yes", "--stack", "dev", "--locked")


def a_locked_project_runs_nothing_that_was_changed(world):
    world.ok("install")
    world.server.stop()
    marker = world.root / "ran"
    evil = f"#!/bin/sh\ntouch {marker}\nexit 1\n"
    on_path = world.root / "ambient"
    on_path.mkdir()
    (on_path / "pulumi-resource-lab").write_text(evil)
    (on_path / "pulumi-resource-lab").chmod(0o755)
    path = f"{on_path}{os.pathsep}{os.environ['PATH']}"
    world.ok("up", "--yes", "--stack", "dev", "--create", "--locked", PATH=path)
    world.fails("cannot name", "up", "--yes", "--stack", "dev", "--locked", PULUMI_DEBUG_PROVIDERS="lab:1")
    [program] = (world.home / ".pulumi" / "plugins").glob("resource-lab-v1.0.0/pulumi-resource-lab")
    program.write_text(evil)
    for verb in ("up", "refresh", "destroy"):
        world.fails("are not those that", verb, "--yes", "--stack", "dev", "--locked")
    check(not marker.exists(), "a plugin was run that the lock file does not name")


def a_locked_project_admits_nothing_new(world):
    world.fails("plumb.lock does not name resource-lab-v1.0.0", "install", "--locked")
    world.fails("plumb.lock does not name", "up", "--yes", "--stack", "dev", "--create", "--locked")
    check(world.plugins() == [] and not (world.project / "plumb.lock").exists(), world.plugins())


def who_wants_no_downloads_gets_none(world):
    told = "no resource plugin 'pulumi-resource-lab' found in the workspace at version v1.0.0"
    world.fails(told, "up", "--yes", "--stack", "dev", "--create", **{OFF: "true"})
    check(world.server.asked == [], world.server.asked)


def places_can_be_overridden(world):
    world.write_program("")
    overrides = f"nothing=http://127.0.0.1:1,pulumi-(\\w+)$={world.server.url}"
    world.ok("install", PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES=overrides)
    check(world.plugins() == ["resource-lab-v1.0.0"], world.plugins())


def one_plugin_is_installed_by_name(world):
    digest = hashlib.sha256(world.server.content).hexdigest()
    install = ["plugin", "install", "resource", "lab", "v1.0.0", "--server", world.server.url]
    world.fails("invalid checksum", *install, "--checksum", "00" * 32)
    world.ok(*install, "--checksum", digest)
    check(world.ok(*install) == "", "what is there is installed again")
    check(len(world.server.asked) == 2, world.server.asked)
    world.fails("404", "plugin", "install", "resource", "other", "1.0.0", "--server", world.server.url)


def private_releases_need_a_token(world):
    """Releases of a GitHub Enterprise server, and of a GitLab one, of the newest version that there is."""
    server, host = world.server, world.server.url.removeprefix("http://")
    release = {"tag_name": "v1.0.0", "assets": [{"name": ASSET, "url": f"{server.url}/assets/7"}]}
    server.releases = {
        "/repos/us/pulumi-lab/releases/latest": json.dumps(release).encode(),
        "/repos/us/pulumi-lab/releases/tags/v1.0.0": json.dumps(release).encode(),
        "/assets/7": server.content,
    }
    server.token = "token hush"
    install = ["plugin", "install", "resource", "lab", "--server", f"github://{host}/us"]
    world.fails("404", *install)
    out = world.ok(*install, GITHUB_TOKEN="hush")
    check(world.plugins() == ["resource-lab-v1.0.0"] and "hush" not in out, out)

    world.new_home()
    server.releases = {
        "/api/v4/projects/42/releases/permalink/latest": json.dumps({"tag_name": "v1.0.0"}).encode(),
        f"/api/v4/projects/42/releases/v1.0.0/downloads/{ASSET}": server.content,
    }
    server.token = "Bearer hush"
    install = ["plugin", "install", "resource", "lab", "--server", f"gitlab://{host}/42"]
    world.fails("404", *install, GITLAB_TOKEN="other")
    out = world.ok(*install, GITLAB_TOKEN="hush")
    check(world.plugins() == ["resource-lab-v1.0.0"] and "hush" not in out, out)


def those_who_install_at_once_share_the_work(world):
    world.server.delay = 0.5
    running = [world.start("install") for _ in range(4)]
    for process in running:
        out, _ = process.communicate(timeout=60)
        check(process.returncode == 0, out)
    check(len(world.server.asked) == 1, world.server.asked)


def whoever_dies_is_in_nobodys_way(world):
    world.server.delay = 30
    process = world.start("install")
    while not world.server.asked:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    check(world.plugins() == [], world.plugins())
    world.server.delay = 0
    world.ok("up", "--yes", "--stack", "dev", "--create")


CASES = [
    an_update_gets_what_is_missing,
    downloads_are_events,
    nothing_is_asked_when_all_is_there,
    another_archive_is_refused,
    a_locked_project_admits_nothing_new,
    a_locked_project_uses_nothing_new,
    a_locked_project_runs_nothing_that_was_changed,
    who_wants_no_downloads_gets_none,
    places_can_be_overridden,
    one_plugin_is_installed_by_name,
    private_releases_need_a_token,
    those_who_install_at_once_share_the_work,
    whoever_dies_is_in_nobodys_way,
]


def main():
    parser = argparse.ArgumentParser(description="Get plugins from a server on this machine.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--python", required=True, type=Path, help="a Python with the SDK, for the lab provider")
    parser.add_argument("--only", help="name of one case")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in (None, case.__name__)]
    if not cases:
        parser.error("there is no such case")
    failed = 0
    for case in cases:
        root = Path(tempfile.mkdtemp(prefix="plumb-plugins-")).resolve()
        try:
            # Not resolved: a virtual environment's interpreter is a link out of it.
            case(World(root, options.bin.resolve(), options.python.absolute()))
            print(f"passed {case.__name__}")
        except AssertionError as problem:
            failed += 1
            print(f"FAILED {case.__name__}\n    " + str(problem).replace("\n", "\n    "))
        finally:
            shutil.rmtree(root, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
