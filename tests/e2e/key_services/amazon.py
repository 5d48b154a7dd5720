"""AWS KMS by moto, with what moto leaves out: signatures are checked, and permissions can be taken away."""

import json
import threading
import uuid

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from ports import free_port

REGION, ACCESS_KEY, SECRET_KEY = "eu-west-1", "AKIAPLUMBTESTS", "amazon-secret-key"


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


class Amazon:
    """A server with one key, which has an alias."""

    def __init__(self):
        self.calls, self.refused, self.is_counting = [], set(), False
        self.application = DomainDispatcherApplication(create_backend_app)
        # Clients are made by several threads at once, which the default session of the library does not stand.
        self.session = boto3.session.Session()
        # Nothing else gets the port while the server is closed.
        self.number, self.server = free_port(), None
        self.open()
        client = self.client()
        self.key = client.create_key()["KeyMetadata"]["Arn"]
        # All servers of this process have the same aliases.
        self.alias = f"alias/dev-{uuid.uuid4()}"
        client.create_alias(AliasName=self.alias, TargetKeyId=self.key)
        self.is_counting = True

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.number}"

    def client(self):
        return self.session.client("kms", region_name=REGION, endpoint_url=self.endpoint, aws_access_key_id=ACCESS_KEY,
                                   aws_secret_access_key=SECRET_KEY)

    def open(self):
        self.server = make_server("127.0.0.1", self.number, self, threaded=True, request_handler=Quiet)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __call__(self, environ, start_response):
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        action = target.removeprefix("TrentService.").lower()
        if self.is_counting:
            body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            environ["wsgi.input"] = Replayed(body)
            self.calls.append(action)
            if environ["CONTENT_TYPE"] != "application/x-amz-json-1.1" or not is_signed(environ, body):
                return refusal(start_response, "InvalidSignatureException", "The request signature does not match")
            if action in self.refused:
                return refusal(start_response, "AccessDeniedException",
                               f"User is not authorized to perform: kms:{action.capitalize()} on resource: {self.key}")
        return self.application(environ, start_response)

    def unwrap(self, wrapped, context=None):
        self.is_counting = False
        key = self.client().decrypt(CiphertextBlob=wrapped, EncryptionContext=context or {})["Plaintext"]
        self.is_counting = True
        return key


class Replayed:
    """A body that was read, for whoever reads it once more."""

    def __init__(self, body):
        self.body = body

    def read(self, size=-1):
        size = len(self.body) if size is None or size < 0 else size
        part, self.body = self.body[:size], self.body[size:]
        return part

    def readline(self):
        return self.read()


def refusal(start_response, code, message):
    start_response("400 Bad Request", [("Content-Type", "application/x-amz-json-1.1")])
    return [json.dumps({"__type": code, "message": message}).encode()]


def is_signed(environ, body):
    """Whether the signature is the one that the official library computes for the same request."""
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    fields = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    if scheme != "AWS4-HMAC-SHA256" or "SignedHeaders" not in fields:
        return False

    def header(name):
        name = name.upper().replace("-", "_")
        return environ.get(name if name == "CONTENT_TYPE" else f"HTTP_{name}", "")

    names = fields["SignedHeaders"].split(";")
    if not {"host", "x-amz-date", "x-amz-target"} <= set(names):
        return False
    url = f"http://{environ['HTTP_HOST']}{environ['PATH_INFO']}"
    request = AWSRequest("POST", url, data=body, headers={name: header(name) for name in names})
    request.context["timestamp"] = header("x-amz-date")
    signer = SigV4Auth(Credentials(ACCESS_KEY, SECRET_KEY), "kms", REGION)
    text = signer.string_to_sign(request, signer.canonical_request(request))
    scope = f"{ACCESS_KEY}/{header('x-amz-date')[:8]}/{REGION}/kms/aws4_request"
    return (fields.get("Credential"), fields.get("Signature")) == (scope, signer.signature(text, request))
