"""Lines and fronts between Plumb and a server on this machine: they cut, lose, refuse or change requests."""

import http.client
import itertools
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Line:
    """A line to a server that can be cut, or swallow all that is sent."""

    def __init__(self, port):
        self.server, self.is_cut, self.is_silent, self.open = port, False, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            if self.is_cut:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.server))
            except OSError:
                client.close()
                continue
            self.open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=(source, target), daemon=True).start()

    def pass_on(self, source, target):
        try:
            while data := source.recv(1 << 16):
                if not self.is_silent:
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            hang_up(source)
            hang_up(target)

    def cut(self):
        self.is_cut = True
        for end in self.open:
            hang_up(end)
        self.open = []

    def heal(self):
        self.is_cut = False

    def close(self):
        self.listener.close()
        self.cut()


def hang_up(end):
    """Ends a connection, also for those who wait for something from it."""
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


class Front:
    """A front of a server of HTTP, which passes everything on."""

    def __init__(self, port):
        self.server = port
        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.listener.daemon_threads = True
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def handler(self):
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                self.answer(*front.ask(self, self.rfile.read(int(self.headers.get("Content-Length") or 0))))

            def answer(self, status, headers, content):
                self.send_response_only(status)
                is_head = self.command == "HEAD"
                # The length of an answer without content is that of the object.
                own = {"transfer-encoding", "connection"} | (set() if is_head else {"content-length"})
                for name, value in headers:
                    if name.lower() not in own:
                        self.send_header(name, value)
                if not is_head and status not in (204, 304):
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if not is_head:
                    self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        return Handler

    hidden = ()
    """Headers that are not passed on."""

    def ask(self, request, body):
        """Status, headers and content of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server, timeout=60)
        try:
            connection.putrequest(request.command, request.path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                if name.lower() not in self.hidden:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()


class BusyFront(Front):
    """Of each ten requests, refuses one that is not carried out, and one that is."""

    REFUSED, CARRIED_OUT = 3, 7

    def __init__(self, port):
        super().__init__(port)
        self.numbers, self.refused = itertools.count(), 0

    def ask(self, request, body):
        number = next(self.numbers) % 10
        answer = None if number == self.REFUSED else super().ask(request, body)
        if number not in (self.REFUSED, self.CARRIED_OUT):
            return answer
        self.refused += 1
        return 503, [], b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class CarelessFront(Front):
    """Passes over the conditions of writes, as older servers of S3 do."""

    hidden = ("if-match", "if-none-match")
