"""A proxy before a server of HTTP: each request arrives later by a fixed time, as over a distance."""

import asyncio
import threading


class Delay:
    """Listens on `port` while it is entered, passes everything on to another port of this machine, and counts requests."""

    def __init__(self, behind, seconds):
        self.behind, self.seconds = behind, seconds
        self.port = None
        self.requests = 0
        self.loop = asyncio.new_event_loop()

    def __enter__(self):
        listening = threading.Event()
        self.thread = threading.Thread(target=self.serve, args=(listening,), daemon=True)
        self.thread.start()
        listening.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def serve(self, listening):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.connection, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        self.loop.run_forever()

    async def connection(self, reader, writer):
        to_server = await asyncio.open_connection("127.0.0.1", self.behind)
        await asyncio.gather(self.requests_of(reader, to_server[1]), answers(to_server[0], writer), return_exceptions=True)

    async def requests_of(self, reader, writer):
        methods = (b"GET ", b"PUT ", b"POST ", b"HEAD ", b"DELETE ")
        while data := await reader.read(1 << 20):
            if data.startswith(methods):
                self.requests += 1
                await asyncio.sleep(self.seconds)
            writer.write(data)
            await writer.drain()
        writer.close()


async def answers(reader, writer):
    while data := await reader.read(1 << 20):
        writer.write(data)
        await writer.drain()
    writer.close()
