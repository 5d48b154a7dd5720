#!/usr/bin/env python3
"""Looks at generated documentation in a real browser: on a phone and on a desk.

    tests/codegen/docs.py --plumb FILE [--browser chromium] [--pictures DIR] [SCHEMA...]

Pages are opened as files. They must not be wider than the screen, report no error, show one language at a time, remember the
choice on the next page, and be searched. It is not part of `tests/run.sh`, because it needs a browser (Debian: chromium).
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCREENS = {"phone": (390, 844, True), "desk": (1280, 800, False)}


class Browser:
    """A browser that is spoken to by a pair of pipes."""

    def __init__(self, program, profile):
        to_read, self.writing = os.pipe()
        self.reading, to_write = os.pipe()

        def wire():
            # The browser knows its pipes by these numbers. They go by way of higher ones, which they may be themselves.
            high = [os.dup2(to_read, 20), os.dup2(to_write, 21)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            [*words, f"--user-data-dir={profile}", "about:blank"], preexec_fn=wire, close_fds=False, stderr=subprocess.DEVNULL
        )
        self.buffer, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    session = None

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.reading, 1 << 16)
            if not part:
                sys.exit("the browser has gone")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def open(self, path):
        self.events = [event for event in self.events if event.get("method") in PROBLEMS]
        self.call("Page.navigate", url=path.as_uri())
        self.wait("Page.loadEventFired")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def problems(self):
        return [json.dumps(event["params"])[:400] for event in self.events if event.get("method") in PROBLEMS]

    def close(self):
        self.process.terminate()
        self.process.wait()


PROBLEMS = {"Runtime.exceptionThrown", "Log.entryAdded"}

WIDER = """[...document.querySelectorAll("main *")].filter(it => it.getBoundingClientRect().right > innerWidth + 1
    && !it.closest("pre, .wide")).slice(0, 3).map(it => it.outerHTML.slice(0, 120))"""

CHOOSE = """(language => { const select = document.getElementById("language"); select.value = language;
    select.dispatchEvent(new Event("change")); return document.documentElement.dataset.lang; })"""

SHOWN = """[...document.querySelectorAll("[data-l]")].filter(it => it.getClientRects().length).every(it =>
    it.dataset.l.split(" ").includes(document.documentElement.dataset.lang))"""

SEARCH = """(text => new Promise(then => { const input = document.getElementById("search"); input.value = text;
    input.dispatchEvent(new Event("input")); const look = () => { const links = document.querySelectorAll("#search-results a");
    links.length ? then([...links].map(it => it.href)) : setTimeout(look, 20); }; look(); }))"""


def check(condition, what, failures):
    if not condition:
        failures.append(what)


def look(browser, site, name, pictures, failures):
    pages = sorted(site.rglob("*.html"), key=lambda path: -path.stat().st_size)
    chosen = [site / "index.html", *[page for page in pages if page.name != "index.html"][:12]]
    for screen, (width, height, mobile) in SCREENS.items():
        browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1, mobile=mobile
        )
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.call("Emulation.setEmulatedMedia", features=features)
            for number, page in enumerate(chosen if scheme == "light" else chosen[:2]):
                browser.open(page)
                where = f"{name} {page.relative_to(site)} on a {screen}"
                wide = browser.value("document.documentElement.scrollWidth - innerWidth")
                check(wide <= 0, f"{where} is {wide} pixels too wide: {browser.value(WIDER)}", failures)
                check(browser.value("!!document.querySelector('main h1')"), f"{where} has no title", failures)
                if pictures and number < 4:
                    browser.picture(pictures / f"{name}-{number}-{screen}-{scheme}.png")
    choices(browser, site, chosen, name, failures)
    for problem in browser.problems():
        failures.append(f"{name}: {problem}")


def choices(browser, site, pages, name, failures):
    browser.open(pages[1])
    for language in ("python", "go", "typescript", "java"):
        check(browser.value(f"{CHOOSE}({json.dumps(language)})") == language, f"{name}: {language} cannot be chosen", failures)
        check(browser.value(SHOWN), f"{name}: other languages than {language} are shown", failures)
    browser.open(pages[0])
    check(browser.value("document.documentElement.dataset.lang") == "java", f"{name}: the choice is forgotten", failures)
    found = browser.value(f"{SEARCH}({json.dumps(pages[1].stem)})")
    check(pages[1].as_uri() in found, f"{name}: {pages[1].stem} is not found, but {found}", failures)
    browser.value("localStorage.clear()")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plumb", required=True)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("schemas", nargs="*", type=Path)
    args = parser.parse_args()
    schemas = args.schemas or sorted((ROOT / "tests/data/schemas").glob("*.json"))
    failures = []
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumb-docs-") as work:
        browser = Browser(args.browser, Path(work) / "profile")
        for schema in schemas:
            site = Path(work) / schema.stem
            subprocess.run([args.plumb, "gen-docs", schema, "--out", site], check=True, stderr=subprocess.DEVNULL)
            look(browser, site, schema.stem, args.pictures, failures)
            print(f"{schema.stem}: {len(list(site.rglob('*.html')))} pages")
        browser.close()
    for failure in failures:
        print(f"FAILED {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
