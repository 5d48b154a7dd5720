"""Servers of stores on this machine, for tests/e2e/stores.py: each with an address for Plumb and the variables that it takes."""

import base64
import contextlib
import email.utils
import hashlib
import hmac
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from ports import free_port

START = 60
BUCKET = "states"
KEYS = {"AWS_ACCESS_KEY_ID": "plumbtestkey", "AWS_SECRET_ACCESS_KEY": "plumbtestsecret", "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true"}


class Server:
    """A server that is being started in a folder."""

    name = ""
    is_atomic = True
    """Whether writes at the same time do not come between each other."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.log = folder / "log"
        self.process = None
        self.environment = {}

    def address(self, part):
        """The address of a store of its own, by name."""
        raise NotImplementedError

    wrong = {}
    """Variables with credentials that are not right."""

    def refusals(self, part):
        """Addresses that are refused, with a part of what is said."""
        raise NotImplementedError

    has_plain_files = False
    """Whether its folder has a file for each object, with nothing else in it."""

    def kept(self, part):
        """All that a store has, where its files do not show it."""
        return b""

    @property
    def shows_what_it_keeps(self):
        """Whether what a store has now can be told from what it had before."""
        return self.has_plain_files or type(self).kept is not Server.kept

    outlives_kills = False
    """Whether it has after a kill what it had before."""

    def kill(self):
        """Ends the server and all of its processes at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def start_again(self):
        self.start(*self.started)

    def start(self, command, options=None):
        self.started = command, options
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([str(it) for it in command], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, cwd=self.folder, start_new_session=True, **(options or {}))
        deadline = time.monotonic() + START
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{self.name} does not start:\n{self.log.read_text(errors='replace')[-3000:]}") from None
                time.sleep(0.1)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def request(self, method, path, body=None, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body, method=method,
                                         headers={name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{self.name} answers {error.code}: {error.read()[:500]}") from None


class Moto(Server):
    """S3, by moto, which compares and writes in two steps."""

    name = "moto"
    is_atomic = False

    def __init__(self, folder, programs):
        super().__init__(folder)
        self.start([programs / "python/bin/moto_server", "-H", "127.0.0.1", "-p", self.port])
        self.request("PUT", f"/{BUCKET}")
        self.environment = KEYS

    def address(self, part):
        return f"s3://{BUCKET}/{part}?endpoint=http://127.0.0.1:{self.port}&s3ForcePathStyle=true"

    def refusals(self, part):
        return [(self.address(part).replace(BUCKET, "no-such-bucket"), "no-such-bucket"),
                (self.address(part) + "&regon=x", "unknown query parameter \"regon\"")]


class Versity(Server):
    """S3, by the gateway of Versity over files."""

    name = "versitygw"
    outlives_kills = True
    has_plain_files = True

    def __init__(self, folder, programs):
        super().__init__(folder)
        (folder / "data" / BUCKET).mkdir(parents=True)
        command = [programs / "bin/versitygw", "--port", f"127.0.0.1:{self.port}", "--access", KEYS["AWS_ACCESS_KEY_ID"],
                   "--secret", KEYS["AWS_SECRET_ACCESS_KEY"], "--region", "us-east-1", "--quiet", "posix", folder / "data"]
        self.start(command)
        # The keys are in a profile, as users have them.
        (folder / "credentials").write_text(
            f"[states]\naws_access_key_id={KEYS['AWS_ACCESS_KEY_ID']}\naws_secret_access_key={KEYS['AWS_SECRET_ACCESS_KEY']}\n")
        with open(folder / "credentials", "a") as file:
            # An unknown key is answered with 404 by this server, as if the bucket were missing.
            file.write(f"[others]\naws_access_key_id={KEYS['AWS_ACCESS_KEY_ID']}\naws_secret_access_key=with-a-wrong-secret\n")
        self.wrong = {"AWS_ACCESS_KEY_ID": "plumbtestkey", "AWS_SECRET_ACCESS_KEY": "not-the-right-secret"}
        self.environment = {"AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"), "AWS_EC2_METADATA_DISABLED": "true"}

    def address(self, part):
        return (f"s3://{BUCKET}/{part}?endpoint=127.0.0.1:{self.port}&disableSSL=true&profile=states"
                "&use_path_style=true&awssdk=v2")

    def refusals(self, part):
        return [(self.address(part).replace("profile=states", "profile=others"), "s3:GetObject on arn:aws:s3:::states/"),
                (self.address(part).replace("&profile=states", ""), "s3:GetObject on arn:aws:s3:::states/"),
                (self.address(part).replace(BUCKET, "no-such-bucket", 1), "no-such-bucket")]


class Azurite(Server):
    """Azure Blob Storage, by its emulator."""

    name = "azurite"
    account = "devstoreaccount1"
    # The key that everybody knows.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, folder, programs):
        super().__init__(folder)
        self.start([programs / "node_modules/.bin/azurite-blob", "--blobHost", "127.0.0.1", "--blobPort", self.port,
                    "--location", folder, "--silent", "--skipApiVersionCheck", "--disableTelemetry"])
        self.make_container()
        self.environment = {"AZURE_STORAGE_ACCOUNT": self.account, "AZURE_STORAGE_KEY": self.key}

    def make_container(self):
        date = email.utils.formatdate(usegmt=True)
        path = f"/{self.account}/{BUCKET}"
        signed = (f"PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-08-06\n"
                  f"/{self.account}{path}\nrestype:container")
        digest = hmac.new(base64.b64decode(self.key), signed.encode(), hashlib.sha256).digest()
        self.request("PUT", f"{path}?restype=container", x_ms_date=date, x_ms_version="2021-08-06",
                     Authorization=f"SharedKey {self.account}:{base64.b64encode(digest).decode()}")

    def address(self, part):
        return f"azblob://{BUCKET}/{part}?localemu=true&domain=127.0.0.1:{self.port}"

    wrong = {"AZURE_STORAGE_KEY": base64.b64encode(b"x" * 64).decode()}

    def refusals(self, part):
        return [(self.address(part), "Storage Blob Data Contributor")]


class Google(Server):
    """Google Cloud Storage, by a stand-in of ours."""

    name = "google"

    def __init__(self, folder, programs):
        super().__init__(folder)
        self.start([sys.executable, programs / "google_storage.py", self.port, BUCKET])
        self.environment = {"STORAGE_EMULATOR_HOST": f"127.0.0.1:{self.port}"}

    def address(self, part):
        return f"gs://{BUCKET}/{part}"

    def refusals(self, part):
        return [(f"gs://no-such-bucket/{part}", "no-such-bucket"),
                (f"{self.address(part)}?region=x", "unknown query parameter \"region\"")]


class Postgres(Server):
    """PostgreSQL, which does not run as root, with a password and a certificate."""

    name = "postgres"
    outlives_kills = True
    password = "pg-secret-of-the-test"

    def __init__(self, folder, programs):
        super().__init__(folder)
        user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        self.programs, data = programs, folder / "data"
        (folder / "password").write_text(self.password)
        self.certificate = folder / "server.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "server.key", "-out", self.certificate],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.chmod(folder / "server.key", 0o600)
        if user:
            for path in (folder, *folder.iterdir()):
                os.chown(path, user.pw_uid, user.pw_gid)
            # The folders above are only for root.
            for above in folder.parents:
                if above.stat().st_uid == 0 and above not in (Path("/"), Path("/tmp")):
                    os.chmod(above, above.stat().st_mode | 0o011)
        subprocess.run([str(programs / "initdb"), "-D", str(data), "-U", "plumb", "-A", "scram-sha-256", "-E", "UTF8",
                        "--no-locale", "--pwfile", str(folder / "password")],
                       check=True, stdout=subprocess.DEVNULL, cwd=folder, **options)
        self.start([programs / "postgres", "-D", data, "-p", self.port, "-h", "127.0.0.1", "-k", folder, "-c", "ssl=on",
                    "-c", f"ssl_cert_file={self.certificate}", "-c", f"ssl_key_file={folder}/server.key", "-c", "fsync=off"],
                   options)
        self.environment = {"PGPASSWORD": self.password}

    def address(self, part):
        # The database that every server has; the table tells stores apart.
        return (f"postgres://plumb@localhost:{self.port}/postgres?table={part.replace('-', '_')}"
                f"&sslmode=verify-full&sslrootcert={self.certificate}")

    def kept(self, part):
        table = part.replace("-", "_")
        # Long values are packed in the files of the server.
        command = [self.programs / "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "plumb", "-d", "postgres", "-A", "-t",
                   "-c", f"SELECT key, data->>'data' FROM {table}"]
        rows = subprocess.run(command, env=self.environment, check=True, capture_output=True).stdout
        # Contents are in base64.
        contents = [base64.b64decode(row.rpartition(b"|")[2]) for row in rows.splitlines()]
        return b"\n".join([rows, *contents])

    wrong = {"PGPASSWORD": "a-wrong-password"}

    def refusals(self, part):
        by_number = self.address(part).replace("@localhost", "@127.0.0.1")
        return [(self.address(part), "password authentication failed"), (by_number, "certificate"),
                (self.address(part).replace("sslmode=verify-full", "sslmode=sometimes"), "cannot be \"sometimes\"")]


@contextlib.contextmanager
def temporary(kind, programs):
    """A server in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="plumb-stores-") as folder:
        server = kind(Path(folder), programs)
        try:
            yield server
        finally:
            server.stop()


def all_of(stores, postgres):
    """How to start each server that can be, and what is left out."""
    kinds, left_out = [(Google, Path(__file__).resolve().parent)], []
    for kind, program in ((Moto, "python/bin/moto_server"), (Versity, "bin/versitygw"),
                          (Azurite, "node_modules/.bin/azurite-blob")):
        if stores and (stores / program).exists():
            kinds.append((kind, stores))
        else:
            left_out.append(f"{kind.name}: it is not installed")
    if postgres and shutil.which("openssl"):
        kinds.append((Postgres, postgres))
    else:
        left_out.append("postgres: it is not installed, or there is no `openssl`")
    return kinds, left_out
