"""Servers of the HTTP contracts of Azure Key Vault, Google Cloud KMS and the transit engine of Vault.

They refuse whatever the real services would refuse: other paths, API versions, bodies and tokens. They encrypt with keys of
their own, so that only what they have made can be decrypted. Azure and Google are reached under their own names, through a
proxy that ends the encrypted connection: nothing in the program knows that they are pretended.
"""

import base64
import json
import os
import ssl
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ports import free_port

TENANT, CLIENT, PASSWORD = "11111111-2222-3333-4444-555555555555", "plumb-client", "azure-password"
ACCOUNT = "stacks@plumb.iam.gserviceaccount.com"
VAULT_TOKEN = "vault-token"
GOOGLE_KEY = "projects/plumb/locations/global/keyRings/stacks/cryptoKeys/dev"


class Refused(Exception):
    """The answer to a request that is not as it should be."""

    def __init__(self, status, body):
        self.status, self.body = status, body


def need(is_so, what):
    """Something that the contract prescribes. A breach is a defect of the program, and the story fails by the status."""
    if not is_so:
        raise Refused(400, {"error": {"code": "BadParameter", "message": f"breach of contract: {what}"},
                            "errors": [f"breach of contract: {what}"]})


def unpadded(text, what):
    need(isinstance(text, str) and not set("+/=") & set(text), f"{what} is not base64url without padding")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def url_text(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def standard(text, what):
    need(isinstance(text, str), f"{what} is no text")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        need(False, f"{what} is not standard base64")


class Azure:
    """A vault with one RSA key of two versions, and the service that gives tokens for it."""

    VERSIONS = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210")

    def __init__(self):
        self.keys = {version: rsa.generate_private_key(65537, 2048) for version in self.VERSIONS}
        self.tokens = set()

    def answer(self, counted, host, method, url, headers, body):
        if host == "login.microsoftonline.com":
            return self.token(method, url, body)
        need(host == "plumb.vault.azure.net", f"there is no host {host}")
        return self.operate(counted, method, url, headers, body)

    def token(self, method, url, body):
        need((method, url.path) == ("POST", f"/{TENANT}/oauth2/v2.0/token"), f"{method} {url.path}")
        form = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
        need(form.get("grant_type") == "client_credentials", "grant_type")
        need(form.get("scope") == "https://vault.azure.net/.default", f"the scope {form.get('scope')}")
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT, PASSWORD):
            raise Refused(401, {"error": "invalid_client", "error_description": "invalid client secret",
                                "error_codes": [7000215]})
        token = os.urandom(16).hex()
        self.tokens.add(token)
        return {"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": token}

    def operate(self, counted, method, url, headers, body):
        if headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            raise Refused(401, {"error": {"code": "Unauthorized", "message": "no valid token"}})
        need(url.query == "api-version=7.4", f"the query {url.query}")
        parts = url.path.split("/")
        need(method == "POST" and len(parts) == 5 and parts[:3] == ["", "keys", "dev"], f"{method} {url.path}")
        version, action = parts[3] or self.VERSIONS[-1], parts[4]
        counted.called(action)
        counted.check(action, Refused(403, {"error": {"code": "Forbidden", "message": "caller is not authorized"}}))
        if version not in self.keys:
            raise Refused(404, {"error": {"code": "KeyNotFound", "message": "there is no such version"}})
        request = json.loads(body)
        need(set(request) == {"alg", "value"} and request["alg"] == "RSA-OAEP-256", f"the request {sorted(request)}")
        value = unpadded(request["value"], "value")
        key = self.keys[version]
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        if action == "encrypt":
            result = key.public_key().encrypt(value, oaep)
        else:
            need(action == "decrypt", f"the action {action}")
            try:
                result = key.decrypt(value, oaep)
            except ValueError:
                raise Refused(400, {"error": {"code": "BadParameter", "message": "the operation failed"}}) from None
        kid = f"https://plumb.vault.azure.net/keys/dev/{version}"
        return {"kid": kid, "value": url_text(result)}

    def unwrap(self, wrapped):
        """The data key, as a program of other hands would get it."""
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        return self.keys[self.VERSIONS[-1]].decrypt(unpadded(wrapped.decode(), "the wrapped key"), oaep)


class Google:
    """A key ring with one key, for a service account that signs its tokens itself."""

    def __init__(self):
        self.account_key = rsa.generate_private_key(65537, 2048)
        self.key = AESGCM(os.urandom(32))

    def answer(self, counted, host, method, url, headers, body):
        need(host == "cloudkms.googleapis.com", f"there is no host {host}")
        self.check_token(headers.get("Authorization", "").removeprefix("Bearer "))
        name, _, action = url.path.removeprefix("/v1/").rpartition(":")
        need(method == "POST" and not url.query and url.path.startswith("/v1/"), f"{method} {url.path}")
        counted.called(action)
        counted.check(action, Refused(403, {"error": {"code": 403, "status": "PERMISSION_DENIED",
                                                      "message": f"Permission denied on resource {name}"}}))
        if name != GOOGLE_KEY:
            raise Refused(404, {"error": {"code": 404, "status": "NOT_FOUND", "message": f"{name} not found"}})
        request = json.loads(body)
        sent, answered = ("plaintext", "ciphertext") if action == "encrypt" else ("ciphertext", "plaintext")
        need(action in ("encrypt", "decrypt"), f"the action {action}")
        need(set(request) <= {sent, "additionalAuthenticatedData"}, f"the request {sorted(request)}")
        data = standard(request.get("additionalAuthenticatedData", ""), "additionalAuthenticatedData") or None
        content = standard(request.get(sent), sent)
        if action == "encrypt":
            nonce = os.urandom(12)
            result = nonce + self.key.encrypt(nonce, content, data)
        else:
            try:
                result = self.key.decrypt(content[:12], content[12:], data)
            except InvalidTag:
                raise Refused(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT",
                                              "message": "Decryption failed"}}) from None
        return {"name": name, answered: base64.b64encode(result).decode()}

    def check_token(self, token):
        unauthorized = Refused(401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "no valid token"}})
        try:
            head, claims, signature = token.split(".")
            self.account_key.public_key().verify(unpadded(signature, "signature"), f"{head}.{claims}".encode(),
                                                 padding.PKCS1v15(), hashes.SHA256())
            claims = json.loads(unpadded(claims, "claims"))
        except (ValueError, InvalidSignature):
            raise unauthorized from None
        if claims["iss"] != ACCOUNT or claims["exp"] < time.time():
            raise unauthorized
        need(claims.get("scope") == "https://www.googleapis.com/auth/cloudkms", f"the scope {claims.get('scope')}")

    def unwrap(self, wrapped):
        return self.key.decrypt(wrapped[:12], wrapped[12:], None)


class Vault:
    """The transit engine at `transit`, with one key."""

    def __init__(self):
        self.key = AESGCM(os.urandom(32))

    def answer(self, counted, _, method, url, headers, body):
        parts = url.path.split("/")
        need(method in ("PUT", "POST") and parts[:2] == ["", "v1"] and not url.query, f"{method} {url.path}")
        need(headers.get("X-Vault-Request") == "true", "the header X-Vault-Request")
        if len(parts) != 5 or parts[2] != "transit":
            raise Refused(404, {"errors": [f"no handler for route {'/'.join(parts[2:])}"]})
        action, key = parts[3:]
        counted.called(action)
        denied = Refused(403, {"errors": ["1 error occurred:\n\t* permission denied\n\n"]})
        if headers.get("X-Vault-Token") != VAULT_TOKEN:
            raise denied
        counted.check(action, denied)
        if key != "dev":
            raise Refused(400, {"errors": ["encryption key not found"]})
        request = json.loads(body)
        if action == "encrypt":
            nonce = os.urandom(12)
            content = nonce + self.key.encrypt(nonce, standard(request.get("plaintext"), "plaintext"), None)
            return {"data": {"ciphertext": f"vault:v1:{base64.b64encode(content).decode()}", "key_version": 1}}
        need(action == "decrypt", f"the action {action}")
        text = request.get("ciphertext", "")
        if not text.startswith("vault:v1:"):
            raise Refused(400, {"errors": ["invalid ciphertext: no prefix"]})
        return {"data": {"plaintext": base64.b64encode(self.unwrap(text.encode())).decode()}}

    def unwrap(self, wrapped):
        content = base64.b64decode(wrapped.decode().removeprefix("vault:v1:"))
        try:
            return self.key.decrypt(content[:12], content[12:], None)
        except InvalidTag:
            raise Refused(400, {"errors": ["cipher: message authentication failed"]}) from None


class Counted:
    """A contract whose calls are counted, and that refuses actions when it is told to."""

    def __init__(self, contract):
        self.contract, self.calls, self.refused = contract, [], set()

    def called(self, action):
        self.calls.append(action)

    def check(self, action, refusal):
        if action in self.refused:
            raise refusal

    def answer(self, host, *request):
        return self.contract.answer(self, host, *request)


class Port:
    """Contracts at a port of this machine, by the names of hosts, which can be closed and opened."""

    def __init__(self, contract_of, certificate=None):
        self.contract_of = contract_of
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        # Nothing else gets the port while the server is closed.
        self.number, self.server = free_port(), None
        self.open()

    def open(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", self.number), handler_of(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def handler_of(port):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        host = None

        def do_CONNECT(self):  # noqa: N802, the name is that of the method
            host, _, number = self.path.partition(":")
            if port.tls is None or number != "443":
                self.send_error(405)
                return
            self.send_response(200)
            self.end_headers()
            try:
                stream = port.tls.wrap_socket(self.connection, server_side=True)
            except OSError:
                self.close_connection = True
                return
            inner = type("Inner", (Handler,), {"host": host})
            inner(stream, self.client_address, self.server)
            self.close_connection = True

        def do_POST(self):  # noqa: N802
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                status, answer = 200, port.contract_of(self.host).answer(
                    self.host, self.command, urllib.parse.urlsplit(self.path), self.headers, body)
            except Refused as refused:
                status, answer = refused.status, refused.body
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST

        def log_message(self, *_):
            pass

    return Handler
