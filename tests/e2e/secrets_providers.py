#!/usr/bin/env python3
"""Secrets providers of AWS, Azure, Google and Vault, through the built binary.

    $(tests/setup-key-services.sh)/bin/python tests/e2e/secrets_providers.py --bin target/debug/plumb

AWS KMS is moto; the others are servers of their HTTP contracts, see `key_services`.
"""

import argparse
import base64
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID
from key_services import amazon, contract
from stories import Failed, expect, expect_in, expect_out, tell

STACK = "dev"
CANARY = "canary-7f3a-do-not-write"
CLOUDS = ("aws", "azure", "google", "vault")
HOSTS = ("plumb.vault.azure.net", "login.microsoftonline.com", "cloudkms.googleapis.com")

PROGRAM = """name: proj
runtime: yaml
config:
  token: {type: string, secret: true}
resources:
  kept:
    type: pulumi:index:Stash
    properties: {input: "${token}"}
outputs:
  kept: ${kept.output}
"""


def main():
    parser = argparse.ArgumentParser(description="Run stacks whose secrets are encrypted with keys of clouds.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--only", help="name of one story")
    options = parser.parse_args()
    certificates = Certificates()
    return tell(STORIES, lambda root: World(root, options.bin.absolute(), certificates), options.only)


class Certificates:
    """An authority of tests, and a certificate for the hosts of Azure and Google."""

    def __init__(self):
        authority, host = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of tests")])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOSTS[0])])
        names = x509.SubjectAlternativeName([x509.DNSName(name) for name in HOSTS])
        root = self.builder(issuer, authority).subject_name(issuer).add_extension(x509.BasicConstraints(True, None), True)
        leaf = self.builder(issuer, host).subject_name(subject).add_extension(names, False)
        leaf = leaf.add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), False)
        text = serialization.Encoding.PEM
        self.root = root.sign(authority, hashes.SHA256()).public_bytes(text)
        self.chain = leaf.sign(authority, hashes.SHA256()).public_bytes(text) + host.private_bytes(
            text, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def builder(self, issuer, key):
        now = datetime.now(timezone.utc)
        builder = x509.CertificateBuilder().issuer_name(issuer).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))


class World:
    """A project, and all key services."""

    def __init__(self, root, binary, certificates):
        self.root, self.binary, self.said = root, binary, []
        for name in ("project", "backend", "home", "outside"):
            (root / name).mkdir()
        self.project, self.settings = root / "project", root / "project" / f"Pulumi.{STACK}.yaml"
        outside = root / "outside"
        (outside / "root.pem").write_bytes(certificates.root)
        (outside / "host.pem").write_bytes(certificates.chain)
        self.services = {"aws": amazon.Amazon(), "azure": contract.Counted(contract.Azure()),
                         "google": contract.Counted(contract.Google()), "vault": contract.Counted(contract.Vault())}
        self.front = contract.Port(self.of_host, outside / "host.pem")
        vault = contract.Port(lambda _: self.services["vault"])
        self.ports = {"aws": self.services["aws"], "azure": self.front, "google": self.front, "vault": vault}
        self.environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(root / "home"), "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'backend'}", "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
            "HTTPS_PROXY": f"http://127.0.0.1:{self.front.number}", "SSL_CERT_FILE": str(outside / "root.pem"),
            "AWS_ACCESS_KEY_ID": amazon.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": amazon.SECRET_KEY,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AZURE_TENANT_ID": contract.TENANT, "AZURE_CLIENT_ID": contract.CLIENT,
            "AZURE_CLIENT_SECRET": contract.PASSWORD,
            "GOOGLE_CREDENTIALS": google_account(self.services["google"].contract),
            "VAULT_ADDR": f"http://127.0.0.1:{vault.number}", "VAULT_TOKEN": contract.VAULT_TOKEN,
        }
        (self.project / "Pulumi.yaml").write_text(PROGRAM)

    def of_host(self, host):
        return self.services["google" if host == "cloudkms.googleapis.com" else "azure"]

    def url(self, cloud):
        aws = self.services["aws"]
        return {
            "aws": f"awskms://{aws.alias}?endpoint={aws.endpoint}&region={amazon.REGION}",
            "azure": "azurekeyvault://plumb.vault.azure.net/keys/dev",
            "google": f"gcpkms://{contract.GOOGLE_KEY}",
            "vault": "hashivault://dev",
        }[cloud]

    def run(self, *words, status=0, text=None, **variables):
        environment = {name: value for name, value in {**self.environment, **variables}.items() if value is not None}
        ran = subprocess.run([self.binary, *words, "--non-interactive"], cwd=self.project, env=environment, input=text or "",
                             capture_output=True, text=True, timeout=120)
        output = ran.stdout + ran.stderr
        self.said.append(f"$ plumb {' '.join(words)}\n{output}")
        if ran.returncode != status:
            raise Failed(f"plumb {' '.join(words)} ended with {ran.returncode}:\n{output[-6000:]}")
        return output

    def make(self, cloud):
        self.run("stack", "init", STACK, "--secrets-provider", self.url(cloud))

    def calls(self, cloud):
        """The calls since this was asked the last time."""
        calls, self.services[cloud].calls = self.services[cloud].calls, []
        return calls

    def settings_say(self, key):
        for line in self.settings.read_text().splitlines():
            name, _, value = line.partition(": ")
            if name == key:
                return value.strip('"')
        return None

    def provider(self):
        return json.loads(self.run("stack", "export"))["deployment"]["secrets_providers"]

    def unwrap(self, cloud):
        """The data key of the stack, by other means than those of the program."""
        service = self.services[cloud]
        service = service if cloud == "aws" else service.contract
        return service.unwrap(base64.b64decode(self.settings_say("encryptedkey")))

    def check_files(self):
        """Nothing that is written holds a secret, nor the data key of the stack."""
        hidden = [CANARY.encode(), contract.PASSWORD.encode(), amazon.SECRET_KEY.encode()]
        for path in self.root.rglob("*"):
            if path.is_file() and "outside" not in path.parts:
                content = path.read_bytes()
                for text in hidden:
                    if text in content or base64.b64encode(text)[:-4] in content:
                        raise Failed(f"a secret is in {path}")

    def account(self):
        return "\n" + "\n".join(self.said[-3:])[-3000:]

    def close(self):
        for port in {id(port): port for port in self.ports.values()}.values():
            port.close()


def google_account(google):
    key = google.account_key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                           serialization.NoEncryption()).decode()
    return json.dumps({"type": "service_account", "client_email": contract.ACCOUNT, "private_key_id": "1",
                       "private_key": key, "project_id": "plumb", "token_uri": "https://oauth2.googleapis.com/token"})


def decrypted(key, value):
    """state.md 5.1, written down once more."""
    version, nonce, data = value.split(":")
    expect("the version of a value", version, "v1")
    return AESGCM(key).decrypt(base64.b64decode(nonce), base64.b64decode(data), None).decode()


def lifecycle(cloud):
    def story(world):
        world.make(cloud)
        expect("calls of `stack init`", world.calls(cloud), ["encrypt"])
        url, key = world.settings_say("secretsprovider"), world.settings_say("encryptedkey")
        expect("the provider in the settings", url, world.url(cloud))
        expect("the provider in the state", world.provider(),
               {"type": "cloud", "state": {"url": url, "encryptedkey": key}})
        expect("calls without a secret", world.calls(cloud), [])
        world.run("config", "set", "--secret", "token", CANARY)
        expect("calls of `config set`", world.calls(cloud), ["decrypt"])
        secure = world.settings.read_text().split("secure: ")[1].split()[0].strip('"')
        expect("a value that others decrypt", decrypted(world.unwrap(cloud), secure), CANARY)
        world.calls(cloud)
        expect("the value", world.run("config", "get", "token"), CANARY + "\n")
        world.calls(cloud)
        expect_in("created", world.run("up", "--yes"))
        expect("calls of an update with its preview", world.calls(cloud), ["decrypt"])
        if cloud == "aws":
            # state.md 5.6: states are compared by their bytes, and the reference escapes this one.
            state = (world.root / "backend/.pulumi/stacks/proj" / f"{STACK}.json").read_text()
            expect_in("\\u0026region=", state)
        expect_in("unchanged", world.run("up", "--yes", "--expect-no-changes"))
        expect("the output", world.run("stack", "output", "kept", "--show-secrets"), CANARY + "\n")
        expect_out(CANARY, world.run("stack", "output", "kept"))
        expect_out(CANARY, world.run("stack", "export"))
        expect_in(CANARY, world.run("stack", "export", "--show-secrets"))
        expect("the settings", (world.settings_say("secretsprovider"), world.settings_say("encryptedkey")), (url, key))
        world.check_files()
        # Without its settings, the stack is destroyed with what its state says, and has it in its settings afterwards.
        world.settings.unlink()
        world.run("destroy", "--yes")
        expect("the settings", (world.settings_say("secretsprovider"), world.settings_say("encryptedkey")), (url, key))
        expect("no salt", world.settings_say("encryptionsalt"), None)

    story.__name__ = f"lifecycle_{cloud}"
    return story


def refused(cloud):
    grants = {"aws": "allow `kms:Decrypt` on the key", "azure": "`Key Vault Crypto User`",
              "google": "`cloudkms.cryptoKeyVersions.useToDecrypt`", "vault": "allows `update` on `transit/decrypt/dev`"}

    def story(world):
        world.make(cloud)
        world.run("config", "set", "--secret", "token", CANARY)
        world.services[cloud].refused = {"encrypt", "decrypt"}
        before = world.run("stack", "export")
        said = world.run("up", "--yes", status=1)
        expect_in(f"could not decrypt the data key with `{world.url(cloud)}`: the service answered 40", said)
        expect_in(grants[cloud], said)
        said = world.run("stack", "init", "other", "--secrets-provider", world.url(cloud), status=1)
        expect_in("could not encrypt the data key with", said)
        expect_out("other", world.run("stack", "ls"))
        expect("the state", world.run("stack", "export"), before)
        if cloud == "aws":
            expect_in("no usable credentials", world.run("config", "get", "token", status=1, AWS_ACCESS_KEY_ID=None,
                                                         AWS_SECRET_ACCESS_KEY=None))
        if cloud == "azure":
            expect_in("`az login`", world.run("config", "get", "token", status=1, AZURE_CLIENT_SECRET="wrong"))
        if cloud == "google":
            expect_in("not the JSON of credentials", world.run("config", "get", "token", status=1, GOOGLE_CREDENTIALS="{}"))
        if cloud == "vault":
            expect_in("set VAULT_TOKEN", world.run("config", "get", "token", status=1, VAULT_TOKEN="wrong"))
        world.services[cloud].refused = set()
        world.run("up", "--yes")
        world.check_files()

    story.__name__ = f"refused_{cloud}"
    return story


def killed(cloud):
    """The service goes away between a preview and its update; then in the middle of an update, which is finished."""

    def story(world):
        world.make(cloud)
        world.run("config", "set", "--secret", "token", CANARY)
        expect_in("create", world.run("preview"))
        world.ports[cloud].close()
        began = time.monotonic()
        said = world.run("up", "--yes", status=1)
        expect_in(f"could not decrypt the data key with `{world.url(cloud)}`", said)
        expect_in("cannot be reached", said)
        if time.monotonic() - began > 15:
            raise Failed("the update took too long to fail")
        expect("the resources", json.loads(world.run("stack", "export"))["deployment"].get("resources", []), [])
        world.check_files()
        world.ports[cloud].open()
        stop, stopped = world.root / "outside" / "stop", world.root / "outside" / "stopped"
        (world.project / "Pulumi.yaml").write_text(PROGRAM.replace("resources:\n", f"""resources:
  stops:
    type: command:local:Command
    properties:
      create: touch {stop}; until [ -e {stopped} ]; do sleep 0.02; done
""") + f"""  other:
    fn::secret: {CANARY[:6]}${{stops.stdout}}{CANARY[6:]}
""")

        def close():
            while not stop.exists():
                time.sleep(0.02)
            world.ports[cloud].close()
            stopped.touch()

        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        expect_in("3 created", world.run("up", "--yes"))
        closing.join()
        world.ports[cloud].open()
        expect("an output", world.run("stack", "output", "other", "--show-secrets"), CANARY + "\n")
        world.check_files()

    story.__name__ = f"killed_{cloud}"
    return story


def every_provider_can_follow_every_other(world):
    kinds = (*CLOUDS, "passphrase")
    world.environment["PULUMI_CONFIG_PASSPHRASE"] = "one"
    world.make("aws")
    world.run("config", "set", "--secret", "token", CANARY)
    world.run("up", "--yes", "--skip-preview")
    # The key of the state, and with it the whole history, follows too.
    world.run("stack", "encrypt")
    now, left = "aws", set(itertools.product(kinds, kinds))
    while left:
        follower = next((it for it in kinds if (now, it) in left), None)
        if follower is None:
            # A way to one that still has followers.
            follower = next(iter(left))[0]
        change(world, now, follower)
        left.discard((now, follower))
        now = follower


def change(world, old, new):
    before, salt = world.settings_say("encryptedkey"), world.settings_say("encryptionsalt")
    exported = world.run("stack", "export")
    target = "passphrase" if new == "passphrase" else world.url(new)
    if old == new == "passphrase":
        passphrase = world.environment["PULUMI_CONFIG_PASSPHRASE"] + "+"
        world.run("stack", "change-secrets-provider", target, text=passphrase + "\n", PULUMI_TEST_PASSPHRASE="true")
        world.environment["PULUMI_CONFIG_PASSPHRASE"] = passphrase
    else:
        expect("what is said", world.run("stack", "change-secrets-provider", target),
               "Migrating old configuration and state to new secrets provider\n")
    way = f"from {old} to {new}"
    expect(f"the value, {way}", world.run("config", "get", "token"), CANARY + "\n")
    expect(f"the output, {way}", world.run("stack", "output", "kept", "--show-secrets"), CANARY + "\n")
    expect(f"the type, {way}", world.provider()["type"], "passphrase" if new == "passphrase" else "cloud")
    expect(f"the provider, {way}", world.settings_say("secretsprovider"), None if new == "passphrase" else target)
    members = (world.settings_say("encryptedkey"), world.settings_say("encryptionsalt"))
    expect(f"one of key and salt, {way}", [member is None for member in members], [new == "passphrase", new != "passphrase"])
    if before in members and before or salt in members and salt:
        raise Failed(f"the data key is the same, {way}")
    after = world.run("stack", "export")
    taken = {text for text in ciphertexts(exported) if text in after}
    expect(f"ciphertexts that were kept, {way}", taken, set())
    expect(f"updates in the history, {way}", len(json.loads(world.run("stack", "history", "--json"))), 1)


def ciphertexts(exported):
    return [part.split('"')[0] for part in exported.split('"ciphertext": "')[1:]]


def states_are_imported(world):
    world.make("vault")
    world.run("config", "set", "--secret", "token", CANARY)
    world.run("up", "--yes", "--skip-preview")
    encrypted = world.root / "encrypted.json"
    encrypted.write_text(world.run("stack", "export"))
    plain = world.root / "outside" / "plain.json"
    plain.write_text(world.run("stack", "export", "--show-secrets"))
    for file in (encrypted, plain):
        world.run("stack", "rm", "--force", "--yes")
        world.settings.unlink(missing_ok=True)
        world.run("stack", "init", STACK)
        world.run("stack", "import", "--file", str(file))
        expect("settings after the import", world.settings.exists(), False)
        expect("the output", world.run("stack", "output", "kept", "--show-secrets"), CANARY + "\n")
        world.run("config", "set", "--secret", "token", CANARY, PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER="true")
        expect("the provider", world.settings_say("secretsprovider"), world.url("vault"))
        world.check_files()
    broken = json.loads(encrypted.read_text())
    broken["deployment"]["secrets_providers"]["state"] = {"url": world.url("vault")}
    encrypted.write_text(json.dumps(broken))
    expect_in('constructing secrets manager of type "cloud"', world.run("stack", "import", "--file", str(encrypted), status=1))


def the_state_lends_its_provider(world):
    """`PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER`: the settings are lost, and written again."""
    world.make("google")
    world.run("config", "set", "--secret", "token", CANARY)
    world.run("up", "--yes", "--skip-preview")
    key = world.settings_say("encryptedkey")
    world.settings.unlink()
    world.run("config", "set", "--secret", "token", CANARY, status=1)
    world.run("config", "set", "--secret", "token", CANARY, PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER="true")
    expect("the key", world.settings_say("encryptedkey"), key)
    expect_in("unchanged", world.run("up", "--yes", "--expect-no-changes"))
    world.check_files()


def another_key_for_one_run(world):
    """`PULUMI_CLOUD_SECRET_OVERRIDE`: a data key of its own for the other address, which the settings have then."""
    world.make("vault")
    other = world.url("google")
    world.run("config", "set", "--secret", "token", CANARY, PULUMI_CLOUD_SECRET_OVERRIDE=other)
    expect("the provider", world.settings_say("secretsprovider"), other)
    expect("the value", world.run("config", "get", "token"), CANARY + "\n")
    world.run("config", "get", "token", PULUMI_CLOUD_SECRET_OVERRIDE=other)
    said = world.run("config", "get", "token", status=1, PULUMI_CLOUD_SECRET_OVERRIDE=world.url("vault"))
    expect_in(f"the secrets were not encrypted with `{world.url('vault')}`", said)
    world.check_files()


def settings_with_an_address_alone_get_a_key(world):
    world.run("stack", "init", STACK)
    world.settings.write_text(f"secretsprovider: {world.url('aws')}\n")
    world.run("config", "set", "plain", "1")
    expect("calls without a secret", world.calls("aws"), [])
    world.run("config", "set", "--secret", "token", CANARY)
    expect("calls", world.calls("aws"), ["encrypt"])
    expect("the value", world.run("config", "get", "token"), CANARY + "\n")
    world.run("up", "--yes")
    expect("the provider", world.provider()["type"], "cloud")
    world.check_files()


def a_project_is_made_with_a_key(world):
    folder = world.root / "fresh"
    folder.mkdir()
    world.project, world.settings = folder, folder / f"Pulumi.{STACK}.yaml"
    world.run("new", "yaml", "--yes", "--name", "fresh", "--stack", STACK, "--secrets-provider", world.url("azure"))
    expect("the provider", world.settings_say("secretsprovider"), world.url("azure"))
    expect("calls", world.calls("azure"), ["encrypt"])
    world.run("config", "set", "--secret", "token", CANARY)
    expect("the value", world.run("config", "get", "token"), CANARY + "\n")
    world.run("stack", "select", "more", "--create", "--secrets-provider", world.url("vault"))
    world.settings = folder / "Pulumi.more.yaml"
    expect("the provider", world.settings_say("secretsprovider"), world.url("vault"))
    world.check_files()


def contexts_belong_to_the_key(world):
    """Data that both requests must name: for AWS `context_…`, for Google `additional_authenticated_data`."""
    aws = f"{world.url('aws')}&context_stack=dev&context_team=a"
    google = f"{world.url('google')}?additional_authenticated_data={contract.url_text(b'stack dev')}"
    for cloud, url in (("aws", aws), ("google", google)):
        world.run("stack", "init", cloud, "--secrets-provider", url)
        settings = world.project / f"Pulumi.{cloud}.yaml"
        world.run("config", "set", "--secret", "token", CANARY)
        expect("the value", world.run("config", "get", "token"), CANARY + "\n")
        settings.write_text(settings.read_text().replace("=dev", "=prod").replace(url[-4:], "AAAA"))
        expect_in("the data key was encrypted with another", world.run("config", "get", "token", status=1))


def a_version_of_azure_is_named(world):
    version = contract.Azure.VERSIONS[0]
    world.run("stack", "init", STACK, "--secrets-provider", f"{world.url('azure')}/{version}")
    world.run("config", "set", "--secret", "token", CANARY)
    expect("the value", world.run("config", "get", "token"), CANARY + "\n")
    # The bytes alone, as some programs keep them.
    key = world.settings_say("encryptedkey")
    text = base64.b64decode(key).decode()
    single = base64.b64encode(contract.unpadded(text, "the key")).decode()
    world.settings.write_text(world.settings.read_text().replace(key, single))
    expect("the value", world.run("config", "get", "token"), CANARY + "\n")
    world.settings.write_text(world.settings.read_text().replace(f"/{version}", ""))
    expect_in("name the version of the key", world.run("config", "get", "token", status=1))


def the_doctor_sees_whether_the_key_can_be_used(world):
    world.make("vault")
    expect_in("cloud: the state can be decrypted", world.run("doctor"))
    world.ports["vault"].close()
    expect_in("cannot be reached", world.run("doctor", status=1))
    world.ports["vault"].open()


STORIES = [
    every_provider_can_follow_every_other,
    *(lifecycle(cloud) for cloud in CLOUDS),
    *(refused(cloud) for cloud in CLOUDS),
    killed("aws"),
    killed("vault"),
    states_are_imported,
    the_state_lends_its_provider,
    another_key_for_one_run,
    settings_with_an_address_alone_get_a_key,
    a_project_is_made_with_a_key,
    contexts_belong_to_the_key,
    a_version_of_azure_is_named,
    the_doctor_sees_whether_the_key_can_be_used,
]

if __name__ == "__main__":
    sys.exit(main())
