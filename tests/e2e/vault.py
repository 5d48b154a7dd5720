#!/usr/bin/env python3
"""The secrets provider of HashiCorp Vault, with a real server, through the built binary.

    tests/e2e/vault.py --bin target/debug/plumb --vault "$(tests/setup-vault.sh)"

`secrets_providers.py` tells the same and more with a server of the contract; this one shows that the contract is Vault's.
"""

import argparse
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

from stories import Failed, expect, expect_in, expect_out, tell

CANARY = "canary-19c4-do-not-write"
PROGRAM = """\
name: proj
runtime: yaml
config: {token: {type: string, secret: true}}
resources:
  kept: {type: "pulumi:index:Stash", properties: {input: "${token}"}}
outputs: {kept: "${kept.output}"}
"""
POLICY = 'path "%s/encrypt/dev" { capabilities = ["update"] }\npath "%s/decrypt/dev" { capabilities = ["update"] }'


class Server:
    """Vault in memory, unsealed, with a transit engine."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program], env={"HOME": str(folder)}, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        if not line:
            raise Failed("vault does not start")
        self.address, self.root = line.split()
        self.make_engine("transit")

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.address}/v1/{path}", data, {"X-Vault-Token": self.root}, method=method)
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def make_engine(self, path):
        self.call("POST", f"sys/mounts/{path}", {"type": "transit"})
        self.call("POST", f"{path}/keys/dev", {})
        self.call("PUT", f"sys/policies/acl/{path}", {"policy": POLICY % (path, path)})

    def token(self, *policies):
        """A token with these policies alone: the one of an engine lets it encrypt and decrypt."""
        made = self.call("POST", "auth/token/create", {"policies": policies, "no_default_policy": True})
        return made["auth"]["client_token"]

    def stop(self):
        self.process.kill()
        self.process.wait()


class World:
    """A project, and a server of its own."""

    def __init__(self, root, options):
        self.root, self.binary = root, options.bin.absolute()
        self.project, self.store = root / "project", root / "store"
        for name in ("project", "store", "home"):
            (root / name).mkdir()
        (self.project / "Pulumi.yaml").write_text(PROGRAM)
        self.server = Server(options.vault.absolute(), root / "home")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(root / "home"), "PULUMI_BACKEND_URL": f"file://{self.store}",
            "VAULT_ADDR": self.server.address, "VAULT_TOKEN": self.server.token("transit"),
        }

    def run(self, *words, status=0, text="", **variables):
        ran = subprocess.run([self.binary, *words, "--non-interactive", "--cwd", self.project], input=text, text=True,
                             env={**self.environment, **variables}, capture_output=True, timeout=120)
        output = ran.stdout + ran.stderr
        expect(f"the exit code of {words}, which says\n{output}\n   ", ran.returncode, status)
        return output

    def begin(self, provider="hashivault://dev"):
        self.run("stack", "init", "dev", "--secrets-provider", provider)
        self.run("config", "set", "--secret", "token", text=CANARY)
        self.run("up", "--yes", "--skip-preview")
        self.expect_kept()

    def expect_kept(self):
        expect("the output", self.run("stack", "output", "kept", "--show-secrets"), CANARY + "\n")
        for file in [*self.project.rglob("*"), *self.store.rglob("*")]:
            if file.is_file():
                expect_out(CANARY, file.read_text(errors="replace"))

    def close(self):
        self.server.stop()


def a_stack_lives_with_a_token_that_may_only_encrypt_and_decrypt(world):
    world.begin()
    expect_in("encryptedkey: ", (world.project / "Pulumi.dev.yaml").read_text())
    world.run("stack", "encrypt")
    world.expect_kept()
    world.run("up", "--yes")
    world.run("stack", "decrypt")
    world.run("destroy", "--yes")


def rotated_keys_open_what_older_versions_have_wrapped(world):
    world.begin()
    world.server.call("POST", "transit/keys/dev/rotate", {})
    world.expect_kept()
    world.run("stack", "change-secrets-provider", "hashivault://dev")
    world.expect_kept()
    # The older version is gone, and nothing needs it.
    world.server.call("POST", "transit/keys/dev/config", {"min_decryption_version": 2})
    world.run("up", "--yes", "--skip-preview")
    world.expect_kept()


def another_engine_can_take_over(world):
    world.begin()
    world.server.make_engine("teams/transit")
    both = world.server.token("transit", "teams/transit")
    world.run("stack", "change-secrets-provider", "hashivault://dev?engine=teams/transit", VAULT_TOKEN=both)
    world.environment["VAULT_TOKEN"] = world.server.token("teams/transit")
    world.expect_kept()


def a_refusal_names_what_to_allow(world):
    world.begin()
    none = world.server.token("default")
    said = world.run("stack", "output", "--show-secrets", status=1, VAULT_TOKEN=none)
    expect_in("permission denied", said)
    expect_in("`update` on `transit/decrypt/dev`", said)
    said = world.run("up", "--yes", status=1, VAULT_TOKEN="no-token-at-all")
    expect_in("permission denied", said)
    world.server.call("PUT", "sys/seal", {})
    said = world.run("up", "--yes", status=1)
    expect_in("sealed", said)


STORIES = [
    a_stack_lives_with_a_token_that_may_only_encrypt_and_decrypt,
    rotated_keys_open_what_older_versions_have_wrapped,
    another_engine_can_take_over,
    a_refusal_names_what_to_allow,
]


def main():
    parser = argparse.ArgumentParser(description="Keep secrets with a real HashiCorp Vault.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--vault", required=True, type=Path, help="the server that tests/setup-vault.sh printed")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    return tell(STORIES, lambda root: World(root, options), options.only)


if __name__ == "__main__":
    sys.exit(main())
