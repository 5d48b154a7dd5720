#!/usr/bin/env python3
"""Language conformance of one of our hosts, judged by the suite of the reference.

    conformance.py --bin target/debug/plumb --reference CHECKOUT --language python [--only REGEX] [--jobs N] [--compare]

Builds the suite from the checkout, or takes the program that `--suite` names. Starts it and our host, and runs every test: our
host makes the SDKs of the suite's packages and the programs from PCL, installs, runs and packs them. Generated texts are taken
as they are; `--compare` compares them with the snapshots of the suite instead, which show how the reference writes them. Nothing
is written to the checkout.
Needs grpcio-tools. Prints a line per test, the first lines of each failure, and the figures.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_tools import protoc

HOSTS = {"python": "sdk/python/cmd/pulumi-language-python", "nodejs": "sdk/nodejs/cmd/pulumi-language-nodejs",
         "go": "sdk/go/pulumi-language-go", "rust": ""}
"""Folders of the reference's hosts in the checkout."""
SDKS = {"python": "sdk/python", "nodejs": "sdk/nodejs/bin", "go": "sdk", "rust": ""}
"""Folders of the core SDKs in the checkout; that for Rust is ours."""
RUST = Path(__file__).resolve().parents[2] / "sdk/rust/plumb"
SNAPSHOTS = {"python": "setuppy/{}", "nodejs": "{}/tsc", "go": "{}"}
"""Folders of the snapshots, for SDKs that are `published` or `local`."""
LIMIT = 1 << 30


@dataclass
class Outcome:
    """The judgement of one test."""

    name: str
    passed: bool
    messages: list
    output: str


class Suite:
    """The reference's test engine, and our host beside it."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        binary = options.suite or work / "pulumi-test-language"
        if not options.suite:
            subprocess.run(["go", "build", "-o", binary, "./testing/pulumi-test-language"], cwd=options.reference / "pkg", check=True)
        # Programs in Rust share what they compile.
        shared = {"CARGO_TARGET_DIR": str(work / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"} if options.language == "rust" else {}
        environment = dict(os.environ, **shared, PULUMI_HOME=str(work / "home"), PULUMI_ACCEPT="" if options.compare else "true",
                           PATH=f"{work / 'bin'}:{os.environ['PATH']}")
        (work / "bin").mkdir()
        host = work / "bin" / f"pulumi-language-{options.language}"
        shutil.copy(options.bin, host)
        self.log = (work / "log").open("wb")
        self.engine = subprocess.Popen([binary], stdout=subprocess.PIPE, stderr=self.log, env=environment)
        address = self.engine.stdout.read().decode().strip()
        self.host = subprocess.Popen([host, address], stdout=subprocess.PIPE, stderr=self.log, env=environment)
        self.port = self.host.stdout.readline().decode().strip()
        self.stub, self.messages = client(options.reference, work, address)

    def close(self):
        for process in (self.host, self.engine):
            process.kill()
            process.wait()
        self.log.close()

    def prepare(self):
        options, language = self.options, self.options.language
        data = options.reference / HOSTS[language] / "testdata"
        snapshots = self.work / "snapshots"
        if language == "rust":
            snapshots.mkdir()
            options.sdk, options.sdk_version = options.sdk or RUST, options.sdk_version or "0.1.0"
            data = Path(__file__).resolve().parent / "rust"
        else:
            shutil.copytree(data / SNAPSHOTS[language].format("local" if options.local else "published"), snapshots)
        request = self.messages.PrepareLanguageTestsRequest(
            language_plugin_name=language,
            language_plugin_target=f"127.0.0.1:{self.port}",
            temporary_directory=str(self.work / "tests"),
            snapshot_directory=str(snapshots),
            core_sdk_directory=str(options.sdk or options.reference / SDKS[language]),
            core_sdk_version=options.sdk_version or (options.reference / "sdk/.version").read_text().strip(),
            policy_pack_directory=str(data / "policies"),
            providers_directory=str(data / "providers"),
            local=options.local,
        )
        return self.stub.PrepareLanguageTests(request).token

    def names(self):
        names = self.stub.GetLanguageTests(self.messages.GetLanguageTestsRequest()).tests
        return [name for name in names if re.search(self.options.only, name)]

    def judge(self, token, name):
        try:
            request = self.messages.RunLanguageTestRequest(token=token, test=name)
            result = self.stub.RunLanguageTest(request, timeout=self.options.limit)
        except grpc.RpcError as error:
            return Outcome(name, False, [error.details() or str(error.code())], "")
        finally:
            if not self.options.keep:  # Packages of all programs would fill a disk.
                shutil.rmtree(self.work / "tests" / "projects" / name, ignore_errors=True)
        return Outcome(name, result.success, list(result.messages), result.stdout + result.stderr)


def client(reference, work, address):
    """A client of the suite, from its protocol files."""
    out = work / "proto"
    out.mkdir()
    folder = reference / "proto"
    done = protoc.main(["protoc", f"-I{folder}", f"--python_out={out}", f"--grpc_python_out={out}", "pulumi/testing/language.proto"])
    if done != 0:
        sys.exit("the protocol of the suite does not compile")
    sys.path.insert(0, str(out))
    from pulumi.testing import language_pb2, language_pb2_grpc

    channel = grpc.insecure_channel(address, [("grpc.max_receive_message_length", LIMIT), ("grpc.max_send_message_length", LIMIT)])
    return language_pb2_grpc.LanguageTestStub(channel), language_pb2


def main():
    options = arguments()
    work = Path(tempfile.mkdtemp(prefix="conformance-"))
    suite = Suite(options, work)
    try:
        token, names = suite.prepare(), suite.names()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(lambda name: shown(suite.judge(token, name), options), names))
    finally:
        suite.close()
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    passed = sum(outcome.passed for outcome in outcomes)
    print(f"{passed} of {len(outcomes)} passed" + (f"; kept in {work}" if options.keep else ""))
    return 0 if passed == len(outcomes) else 1


def shown(outcome, options):
    lines = [f"{'passed' if outcome.passed else 'FAILED'} {outcome.name}"]
    if not outcome.passed:
        text = "\n".join([*outcome.messages, outcome.output]).strip().splitlines()
        lines += [f"    {line}" for line in text[:options.lines]]
    print("\n".join(lines), flush=True)
    return outcome


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path, help="the plumb binary")
    parser.add_argument("--reference", required=True, type=lambda text: Path(text).absolute(), help="a checkout of the reference")
    parser.add_argument("--language", required=True, choices=SDKS)
    parser.add_argument("--suite", type=Path, help="the suite's program, if it is built already")
    parser.add_argument("--sdk", type=Path, help="a folder with the core SDK, if it is not the checkout's")
    parser.add_argument("--sdk-version", help="the version of that SDK")
    parser.add_argument("--only", default="", help="a regular expression for names of tests")
    parser.add_argument("--local", action="store_true", help="use SDKs as folders instead of packages")
    parser.add_argument("--compare", action="store_true", help="compare generated texts with the snapshots")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a test")
    parser.add_argument("--lines", type=int, default=30, help="lines to show of a failure")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
