"""A stand-in of the APIs of GitHub and GitLab: comments on a change, and issues. What it refuses, the real ones refuse too."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "forge-token-1b7c"


class Forge:
    """A server with the comments and issues of one repository."""

    def __init__(self, kind):
        self.kind = kind
        self.comments, self.issues = [], []
        self.requests, self.busy, self.refused = [], 0, set()
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                status, answer = forge.answer(self.command, self.path, self.headers, body)
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_PUT = handle_any

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, path, headers, body):
        self.requests.append((method, path))
        if self.busy:
            self.busy -= 1
            return 503, {"message": "busy"}
        if self.kind == "github":
            token = headers.get("Authorization", "").removeprefix("Bearer ")
            root, update, text, number = "/api/repos/someone/shop", "PATCH", "body", "number"
            comments, comment = r"/issues/7/comments", r"/issues/comments/(\d+)"
            is_open, closing = ("state", "open"), {"state": "closed"}
        else:
            token = headers.get("PRIVATE-TOKEN", "")
            root, update, text, number = "/api/v4/projects/42", "PUT", "description", "iid"
            comments, comment = r"/merge_requests/7/notes", r"/merge_requests/7/notes/(\d+)"
            is_open, closing = ("state", "opened"), {"state_event": "close"}
        if token != TOKEN:
            return 401, {"message": "Bad credentials"}
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if not parts.path.startswith(root):
            return 404, {"message": "Not Found"}
        place = parts.path[len(root):]
        if method != "GET" and (method, place.split("/")[1]) in self.refused:
            return 403, {"message": "Resource not accessible by integration"}
        if re.fullmatch(comments, place):
            return self.list_of(self.comments, method, query, body, "body", "id", 65_536)
        if found := re.fullmatch(comment, place):
            return self.element(self.comments, found[1], "id", method, update, body, {}, "body")
        if place == "/issues":
            if method == "GET" and query.get(is_open[0]) != is_open[1]:
                return 400, {"message": f"{is_open[0]} is wanted"}
            shown = [it for it in self.issues if it["is_open"]] if method == "GET" else self.issues
            return self.list_of(shown, method, query, body, text, number, 65_536)
        if found := re.fullmatch(r"/issues/(\d+)", place):
            return self.element(self.issues, found[1], number, method, update, body, closing, text)
        return 404, {"message": "Not Found"}

    def list_of(self, elements, method, query, body, text, number, most):
        if method == "GET":
            size, page = int(query.get("per_page", 20)), int(query.get("page", 1))
            return 200, elements[(page - 1) * size:page * size]
        if method != "POST" or not body.get(text) or len(body[text]) > most:
            return 422, {"message": "Validation Failed"}
        added = {**body, "id": 1000 + len(elements), number: 1000 + len(elements), "is_open": True}
        elements.append(added)
        return 201, added

    def element(self, elements, wanted, number, method, update, body, closing, text):
        found = [it for it in elements if str(it[number]) == wanted]
        if not found:
            return 404, {"message": "Not Found"}
        if method != update:
            return 405, {"message": "Method Not Allowed"}
        if closing and body == closing:
            found[0]["is_open"] = False
        elif not body.get(text):
            return 422, {"message": "Validation Failed"}
        found[0].update(body)
        return 200, found[0]
