#!/usr/bin/env python3
"""Credentials for buckets, found where the tools of AWS, Azure and Google find theirs: which ones reach the store.

    tests/e2e/credentials.py --bin target/debug/plumb --stores "$(tests/setup-stores.sh)"

A front of each server stands in for the services that give credentials (STS, single sign-on, metadata of machines and
containers, the identities of Azure and Google), and notes with which credentials the store is asked. Keys of Azure are checked by its
emulator. Credentials of Google are only sent over TLS to a name of its domain, so those stories take root, for a file of hosts of
their own, and `openssl`.
"""

import argparse
import base64
import datetime
import functools
import hashlib
import hmac
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import store_servers
from stories import Failed, LeftOut, expect, expect_in, tell

LIMIT = 60
LATER = "2035-01-01T00:00:00Z"
TOKEN = "token-of-an-identity"
REFUSED = ("<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender</Type><Code>AccessDenied</Code>"
           "<Message>User base is not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>")


class Front(BaseHTTPRequestHandler):
    """Gives credentials, and passes everything else on to the store."""

    protocol_version = "HTTP/1.1"

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.refuses:
            return self.answer(403, REFUSED.encode(), {"Content-Type": "text/xml"})
        path, form = urlsplit(self.path).path, parse_qs(body.decode(errors="replace"))
        for pattern, give in GIVERS.items():
            if re.fullmatch(pattern, f"{self.command} {path}"):
                given = give(self, form)
                if given is not None:
                    # The lifetime of a token of a machine, in seconds.
                    return self.answer(200, given.encode(), {"x-aws-ec2-metadata-token-ttl-seconds": "600"})
        self.server.used.add(user_of(self.headers))
        if self.server.behind is None:
            return self.answer(403, b"<Error><Code>AuthorizationFailure</Code></Error>")
        connection = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=LIMIT)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        answer = connection.getresponse()
        headers = {name: value for name, value in answer.getheaders()
                   if name.lower() in ("etag", "last-modified", "content-type", "x-ms-request-id", "x-ms-error-code")}
        return self.answer(answer.status, answer.read(), headers)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

    def answer(self, status, content, headers=None):
        self.send_response_only(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


def user_of(headers):
    """The key that has signed a request, or its token."""
    text = headers.get("Authorization") or "nobody"
    found = re.search("Credential=([^/]+)/|Bearer (.+)", text)
    return next(filter(None, found.groups()), text) if found else text.split(":")[0]


def given_by_sts(request, form):
    action = form.get("Action", [""])[0]
    signed = user_of(request.headers)
    if action == "AssumeRole":
        key = f"ROLE-{signed}"
    elif action == "AssumeRoleWithWebIdentity" and form["WebIdentityToken"] == [TOKEN]:
        key = "ROLE-WEB"
    else:
        return None
    return (f"<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result><Credentials>"
            f"<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
            f"<Expiration>{LATER}</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/deploy/plumb</Arn>"
            f"<AssumedRoleId>ID:plumb</AssumedRoleId></AssumedRoleUser></{action}Result></{action}Response>")


def given_by_sso(request, _):
    if request.headers.get("x-amz-sso_bearer_token") != TOKEN:
        return None
    return json.dumps({"roleCredentials": {"accessKeyId": "FROM-SSO", "secretAccessKey": "s", "sessionToken": "t",
                                           "expiration": 2051222400000}})


def keys(name):
    return json.dumps({"Version": 1, "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": name, "SecretAccessKey": "s", "Token": "t",
                       "SessionToken": "t", "Expiration": LATER, "LastUpdated": "2025-01-01T00:00:00Z"})


def given_by_azure(request, form):
    if request.command == "POST" and form.get("client_assertion", form.get("client_secret")) != [TOKEN]:
        return None
    if request.command == "GET" and request.headers.get("X-IDENTITY-HEADER") != TOKEN:
        return None
    how = "application" if "client_secret" in form else "workload" if form else "machine"
    return json.dumps({"access_token": f"token-of-a-{how}", "expires_in": 3600, "expires_on": "2051222400", "token_type": "Bearer"})


def given_by_google(name):
    """A token of this name, if the request is signed by the user where that matters."""
    def give(request, _):
        if name == "IMPERSONATED" and user_of(request.headers) != "USER":
            return None
        if name == "MACHINE" and request.headers.get("Metadata-Flavor") != "Google":
            return None
        return json.dumps({"access_token": name, "accessToken": name, "expires_in": 3600, "expireTime": LATER, "token_type": "Bearer"})
    return give


GIVERS = {
    "POST /": given_by_sts,
    "GET /federation/credentials": given_by_sso,
    "GET /container": lambda *_: keys("FROM-CONTAINER"),
    "PUT /latest/api/token": lambda *_: TOKEN,
    "GET /latest/meta-data/iam/security-credentials(-extended)?/?": lambda *_: "role",
    "GET /latest/meta-data/iam/security-credentials(-extended)?/role": lambda *_: keys("FROM-MACHINE"),
    "(GET|POST) /(identity|tenant/oauth2/v2.0/token)": given_by_azure,
    "POST /google/token": given_by_google("USER"),
    "POST /v1/projects/-/serviceAccounts/deploy:generateAccessToken": given_by_google("IMPERSONATED"),
    "GET /computeMetadata/v1/instance/service-accounts/default/token": given_by_google("MACHINE"),
}


class World:
    """A home folder with the configuration of the tools, and a front of a store."""

    def __init__(self, root, options, server):
        self.root, self.binary, self.server = root, options.bin.resolve(), server
        self.front = ThreadingHTTPServer(("127.0.0.1", 0), Front)
        self.front.daemon_threads = True
        self.front.used, self.front.behind, self.front.refuses = set(), server.port, False
        threading.Thread(target=self.front.serve_forever, daemon=True).start()
        self.port = self.front.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.variables = {"PATH": os.environ.get("PATH", ""), "HOME": str(root), "PULUMI_CONFIG_PASSPHRASE": "x",
                          "AWS_ENDPOINT_URL_STS": self.url, "AWS_ENDPOINT_URL_SSO": self.url, "AWS_REGION": "us-east-1",
                          "AWS_EC2_METADATA_DISABLED": "true"}

    def configure(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def run(self, address, before=()):
        words = [*before, str(self.binary), "stack", "ls", "--all"]
        done = subprocess.run(words, cwd=self.root, env={**self.variables, "PULUMI_BACKEND_URL": address}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        return done.returncode, done.stdout

    def expect_s3(self, key, more=""):
        code, said = self.run(f"s3://{store_servers.BUCKET}/part?endpoint={self.url}&s3ForcePathStyle=true{more}")
        expect(f"the keys that are used, where it says\n{said}\n  ", self.front.used, {key})
        expect(f"the exit code of\n{said}\n  ", code, 0)

    def azure(self):
        return f"azblob://{store_servers.BUCKET}/part?localemu=true&domain=127.0.0.1:{self.port}"

    def expect_azure(self, user):
        code, said = self.run(self.azure())
        expect(f"who asks, where it says\n{said}\n  ", self.front.used, {user})
        expect(f"the exit code of\n{said}\n  ", code, 0)

    def expect_token(self, token):
        """Tokens need HTTPS at the emulator, so the request with one is refused."""
        self.front.behind = None
        self.variables["AZURE_STORAGE_ACCOUNT"] = self.server.account
        code, said = self.run(self.azure())
        expect(f"the tokens that are used, where it says\n{said}\n  ", self.front.used, {token})
        if code == 0 or "Storage Blob Data Contributor" not in said:
            raise Failed(f"it does not say what to grant:\n{said}")

    def expect_google(self, user):
        """The bucket is asked over TLS, at a name that only this process finds."""
        if os.geteuid() or not shutil.which("unshare") or not shutil.which("openssl"):
            raise LeftOut("it takes root, `unshare` and `openssl`")
        secure = ThreadingHTTPServer(("127.0.0.1", 0), Front)
        secure.daemon_threads = True
        secure.used, secure.behind, secure.refuses = self.front.used, self.front.behind, False
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate(self.root))
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        threading.Thread(target=secure.serve_forever, daemon=True).start()
        hosts = self.configure("hosts", "127.0.0.1 localhost storage.universe.test\n")
        before = ("unshare", "--mount", "sh", "-c", f'mount --bind "{hosts}" /etc/hosts && exec "$@"', "-")
        self.variables["SSL_CERT_FILE"] = str(self.root / "authority.pem")
        try:
            address = f"gs://{store_servers.BUCKET}/part?universe_domain=universe.test:{secure.server_address[1]}"
            code, said = self.run(address, before)
        finally:
            secure.shutdown()
            secure.server_close()
        expect(f"the tokens that are used, where it says\n{said}\n  ", {owner_of(it) for it in self.front.used}, {user})
        expect(f"the exit code of\n{said}\n  ", code, 0)

    def google_user(self):
        return {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r",
                "token_uri": f"{self.url}/google/token"}

    def close(self):
        self.front.shutdown()
        self.front.server_close()


def certificate(folder):
    """Files with the certificate of a server, by an authority of its own in `authority.pem`, and its key."""
    openssl = functools.partial(subprocess.run, check=True, cwd=folder, stderr=subprocess.DEVNULL)
    new = ["-newkey", "rsa:2048", "-nodes"]
    openssl(["openssl", "req", "-x509", *new, "-days", "2", "-subj", "/CN=authority", "-keyout", "authority.key", "-out", "authority.pem",
             "-addext", "basicConstraints=critical,CA:TRUE"])
    openssl(["openssl", "req", *new, "-subj", "/CN=storage.universe.test", "-keyout", "server.key", "-out", "server.csr"])
    (folder / "names").write_text("subjectAltName=DNS:storage.universe.test")
    openssl(["openssl", "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
             "-days", "2", "-extfile", "names", "-out", "server.pem"])
    return folder / "server.pem", folder / "server.key"


def owner_of(token):
    """A token, or the issuer of one that says who that is."""
    parts = token.split(".")
    if len(parts) != 3:
        return token
    return json.loads(base64.urlsafe_b64decode(parts[1] + "=="))["iss"]


def aws_variables(world):
    world.variables |= {"AWS_ACCESS_KEY_ID": "FROM-VARIABLES", "AWS_SECRET_ACCESS_KEY": "s"}
    world.expect_s3("FROM-VARIABLES")


def aws_profiles(world):
    """The profile of the variable, then that of the address, which comes before keys in variables."""
    world.configure(".aws/credentials", "[one]\naws_access_key_id=ONE\naws_secret_access_key=s\n"
                                        "[two]\naws_access_key_id=TWO\naws_secret_access_key=s\n")
    world.variables["AWS_PROFILE"] = "one"
    world.expect_s3("ONE")
    world.front.used.clear()
    world.variables |= {"AWS_ACCESS_KEY_ID": "FROM-VARIABLES", "AWS_SECRET_ACCESS_KEY": "s"}
    world.expect_s3("TWO", "&profile=two")


def aws_roles(world):
    """A role of a profile that names the source of its keys, and a role in the address."""
    world.configure(".aws/config", "[profile deploy]\nrole_arn=arn:aws:iam::123456789012:role/deploy\nsource_profile=base\n"
                                   "[profile base]\naws_access_key_id=BASE\naws_secret_access_key=s\n")
    world.variables["AWS_PROFILE"] = "deploy"
    world.expect_s3("ROLE-BASE")
    world.front.used.clear()
    world.variables["AWS_PROFILE"] = "base"
    world.expect_s3("ROLE-BASE", "&role=" + quote("arn:aws:iam::123456789012:role/other"))


def aws_process(world):
    program = world.configure("keys.sh", f"#!/bin/sh\necho '{keys('FROM-PROCESS')}'\n")
    program.chmod(0o755)
    world.configure(".aws/config", f"[default]\ncredential_process={program}\n")
    world.expect_s3("FROM-PROCESS")


def aws_web_identity(world):
    token = world.configure("token", TOKEN)
    world.variables |= {"AWS_WEB_IDENTITY_TOKEN_FILE": str(token), "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/pod"}
    world.expect_s3("ROLE-WEB")


def aws_single_sign_on(world):
    world.configure(".aws/config", "[default]\nsso_session=team\nsso_account_id=123456789012\nsso_role_name=dev\n"
                                   "[sso-session team]\nsso_region=us-east-1\nsso_start_url=https://team.awsapps.com/start\n"
                                   "sso_registration_scopes=sso:account:access\n")
    name = hashlib.sha1(b"team").hexdigest()
    world.configure(f".aws/sso/cache/{name}.json", json.dumps({
        "accessToken": TOKEN, "expiresAt": LATER, "region": "us-east-1", "startUrl": "https://team.awsapps.com/start"}))
    world.expect_s3("FROM-SSO")


def aws_container(world):
    world.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = f"{world.url}/container"
    world.expect_s3("FROM-CONTAINER")


def aws_machine(world):
    del world.variables["AWS_EC2_METADATA_DISABLED"]
    world.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = world.url
    world.expect_s3("FROM-MACHINE")


def aws_refuses(world):
    """The reason why a role cannot be assumed, and what to do, are in the error."""
    world.configure(".aws/config", "[default]\nrole_arn=arn:aws:iam::123456789012:role/deploy\nsource_profile=base\n"
                                   "[profile base]\naws_access_key_id=BASE\naws_secret_access_key=s\n")
    world.front.refuses = True
    code, said = world.run(f"s3://{store_servers.BUCKET}/part?endpoint={world.url}")
    expect("the requests to the store", (world.front.used, code != 0), (set(), True))
    expect_in("credentials of AWS could not be loaded: ", said)
    expect_in("not authorized to perform: sts:AssumeRole", said)
    expect_in("aws sso login", said)


def azure_key(world):
    world.variables |= world.server.environment
    world.expect_azure(f"SharedKey {world.server.account}")


def azure_connection_string(world):
    server = world.server
    world.variables["AZURE_STORAGE_CONNECTION_STRING"] = (
        f"DefaultEndpointsProtocol=http;AccountName={server.account};AccountKey={server.key};"
        f"BlobEndpoint={world.url}/{server.account};")
    world.expect_azure(f"SharedKey {server.account}")


def azure_shared_access_signature(world):
    server = world.server
    until = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = {"sp": "rwdlac", "ss": "b", "srt": "sco", "st": "", "se": until, "sip": "", "spr": "https,http", "sv": "2020-08-04"}
    signed = "\n".join([server.account, *(parts[it] for it in ("sp", "ss", "srt", "st", "se", "sip", "spr", "sv")), ""])
    digest = hmac.new(base64.b64decode(server.key), signed.encode(), hashlib.sha256).digest()
    parts["sig"] = base64.b64encode(digest).decode()
    token = "&".join(f"{name}={quote(value, safe='')}" for name, value in parts.items() if value)
    world.variables |= {"AZURE_STORAGE_ACCOUNT": server.account, "AZURE_STORAGE_SAS_TOKEN": token}
    world.expect_azure("nobody")


def azure_machine(world):
    world.variables |= {"IDENTITY_ENDPOINT": f"{world.url}/identity", "IDENTITY_HEADER": TOKEN}
    world.expect_token("token-of-a-machine")


def azure_application(world):
    world.variables |= {"AZURE_AUTHORITY_HOST": world.url, "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "client",
                        "AZURE_CLIENT_SECRET": TOKEN}
    world.expect_token("token-of-a-application")


def azure_workload(world):
    token = world.configure("token", TOKEN)
    world.variables |= {"AZURE_AUTHORITY_HOST": world.url, "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "client",
                        "AZURE_FEDERATED_TOKEN_FILE": str(token)}
    world.expect_token("token-of-a-workload")


def azure_command_line(world):
    world.configure(".azure/azureProfile.json", "{}")
    answer = json.dumps({"accessToken": "token-of-az", "expiresOn": "2035-01-01 00:00:00.000000", "expires_on": 2051222400,
                         "subscription": "s", "tenant": "t", "tokenType": "Bearer"})
    world.configure("bin/az", f"#!/bin/sh\necho '{answer}'\n").chmod(0o755)
    world.variables["PATH"] = f"{world.root}/bin:{world.variables['PATH']}"
    world.expect_token("token-of-az")


def google_token(world):
    world.variables["GOOGLE_OAUTH_ACCESS_TOKEN"] = "GIVEN"
    world.expect_google("GIVEN")


def google_text(world):
    world.variables["GOOGLE_CREDENTIALS"] = json.dumps(world.google_user())
    world.expect_google("USER")


def google_login(world):
    """The file that `gcloud auth application-default login` writes."""
    world.configure(".config/gcloud/application_default_credentials.json", json.dumps(world.google_user()))
    world.expect_google("USER")


def google_service_account(world):
    key = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    account = {"type": "service_account", "client_email": "builder@project", "private_key_id": "k", "project_id": "p",
               "private_key": key.stdout.decode(), "token_uri": f"{world.url}/google/token"}
    world.variables["GOOGLE_APPLICATION_CREDENTIALS"] = str(world.configure("account.json", json.dumps(account)))
    world.expect_google("builder@project")


def google_impersonation(world):
    account = {"type": "impersonated_service_account", "source_credentials": world.google_user(),
               "service_account_impersonation_url": f"{world.url}/v1/projects/-/serviceAccounts/deploy:generateAccessToken"}
    world.variables["GOOGLE_APPLICATION_CREDENTIALS"] = str(world.configure("account.json", json.dumps(account)))
    world.expect_google("IMPERSONATED")


def google_machine(world):
    world.variables["GCE_METADATA_HOST"] = f"127.0.0.1:{world.port}"
    world.expect_google("MACHINE")


STORIES = {
    store_servers.Moto: [aws_variables, aws_profiles, aws_roles, aws_process, aws_web_identity, aws_single_sign_on, aws_container,
                         aws_machine, aws_refuses],
    store_servers.Azurite: [azure_key, azure_connection_string, azure_shared_access_signature, azure_machine, azure_application,
                            azure_workload, azure_command_line],
    store_servers.Google: [google_token, google_text, google_login, google_service_account, google_impersonation, google_machine],
}


def main():
    parser = argparse.ArgumentParser(description="Find credentials for buckets.")
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--stores", required=True, type=Path, help="the folder that tests/setup-stores.sh printed")
    parser.add_argument("--only", help="tell this story alone")
    options = parser.parse_args()
    ended = []
    for kind, stories in STORIES.items():
        if options.only and options.only not in (it.__name__ for it in stories):
            continue
        programs = Path(__file__).resolve().parent if kind is store_servers.Google else options.stores.resolve()
        with store_servers.temporary(kind, programs) as server:
            make_world = functools.partial(World, options=options, server=server)
            ended.append(tell(stories, make_world, options.only, jobs=4))
    return max(ended, default=2)


if __name__ == "__main__":
    sys.exit(main())
