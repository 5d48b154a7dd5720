#!/usr/bin/env python3
"""A stand-in for Google Cloud Storage: the part of its XML API that stores of stacks use, kept to strictly.

    tests/e2e/google_storage.py PORT BUCKET

Objects have generations, and writes may ask for one (`x-goog-if-generation-match`, 0 for none). Listings come in short pages.
No other server on this machine has this API: fake-gcs-server takes no plain uploads in it.
"""

import sys
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 7


class Storage:
    """Objects by key: content, generation, and the time of writing."""

    def __init__(self, bucket):
        self.bucket, self.objects, self.generation, self.lock = bucket, {}, 0, threading.Lock()

    def write(self, key, content, expected):
        """The new generation; none if another one than `expected` is there."""
        with self.lock:
            present = self.objects.get(key, (None, 0, None))[1]
            if expected is not None and present != expected:
                return None
            self.generation += 1
            self.objects[key] = (content, self.generation, time.time())
            return self.generation

    def page(self, prefix, delimiter, after):
        """Keys and folders after a place, and where the next page begins, if there is one."""
        with self.lock:
            entries = {}
            for key in self.objects:
                if key.startswith(prefix):
                    rest = key[len(prefix):]
                    folder = delimiter and delimiter in rest
                    name = prefix + rest.split(delimiter)[0] + delimiter if folder else key
                    entries[name] = None if folder else self.objects[key]
        names = sorted(name for name in entries if name > after)
        return [(name, entries[name]) for name in names[:PAGE]], names[PAGE - 1] if len(names) > PAGE else None


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def address(self):
        """Key, none for the bucket itself, and query."""
        parts = urlsplit(self.path)
        bucket, _, key = parts.path.lstrip("/").partition("/")
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        return bucket == self.server.storage.bucket, unquote(key) or None, query

    def answer(self, status, content=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def problem(self, status, code):
        self.answer(status, f"<Error><Code>{code}</Code></Error>".encode(), Content_Type="application/xml")

    def do_GET(self):
        is_here, key, query = self.address()
        if not is_here:
            return self.problem(404, "NoSuchBucket")
        if key is None:
            return self.listing(query)
        found = self.server.storage.objects.get(key)
        if found is None:
            return self.problem(404, "NoSuchKey")
        content, generation, written = found
        return self.answer(200, content, ETag=f'"{generation:x}"', x_goog_generation=generation,
                           Last_Modified=formatdate(written, usegmt=True))

    do_HEAD = do_GET

    def listing(self, query):
        if query.get("list-type") != "2":
            return self.problem(400, "InvalidArgument")
        page, following = self.server.storage.page(query.get("prefix", ""), query.get("delimiter", ""),
                                                   query.get("continuation-token", ""))
        out = "<ListBucketResult>"
        for name, entry in page:
            if entry is None:
                out += f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
                continue
            content, generation, written = entry
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(written)) + f".{int(written % 1 * 1000):03}Z"
            out += (f"<Contents><Key>{escape(name)}</Key><Generation>{generation}</Generation><LastModified>{stamp}"
                    f"</LastModified><ETag>\"{generation:x}\"</ETag><Size>{len(content)}</Size></Contents>")
        if following:
            out += f"<NextContinuationToken>{escape(following)}</NextContinuationToken>"
        return self.answer(200, (out + "</ListBucketResult>").encode(), Content_Type="application/xml")

    def do_PUT(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_here, key, _ = self.address()
        if not is_here or key is None:
            return self.problem(404, "NoSuchBucket")
        if not self.headers.get("Authorization", "").startswith("Bearer "):
            return self.problem(401, "AuthenticationRequired")
        source = self.headers.get("x-goog-copy-source")
        if source:
            found = self.server.storage.objects.get(unquote(source.lstrip("/")).partition("/")[2])
            if found is None:
                return self.problem(404, "NoSuchKey")
            content = found[0]
        expected = self.headers.get("x-goog-if-generation-match")
        generation = self.server.storage.write(key, content, None if expected is None else int(expected))
        if generation is None:
            return self.problem(412, "PreconditionFailed")
        return self.answer(200, ETag=f'"{generation:x}"', x_goog_generation=generation)

    def do_DELETE(self):
        is_here, key, _ = self.address()
        with self.server.storage.lock:
            gone = self.server.storage.objects.pop(key, None) if is_here else None
        return self.problem(404, "NoSuchKey") if gone is None else self.answer(204)

    def log_message(self, *_):
        """Nothing: requests are many."""


def main():
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.storage = Storage(sys.argv[2])
    server.serve_forever()


if __name__ == "__main__":
    main()
