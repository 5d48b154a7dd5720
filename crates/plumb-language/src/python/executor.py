"""Runs a Python program for the engine.

The Python SDK brings the runtime; this script gives it the settings of the run, starts the program inside a stack and
turns the outcome into an exit code: 0 when the program succeeded, 1 when it ended with `pulumi.RunError`, 32 when it
failed and the failure has been reported to the engine.
"""

import argparse
import asyncio
import concurrent.futures
import gc
import inspect
import json
import logging
import os
import runpy
import sys
import traceback

EXIT_RUN_ERROR = 1
EXIT_REPORTED = 32
LEAST_THREADS = 128

NO_SDK = """
It looks like the Pulumi SDK has not been installed. Have you run pip install?
If you are running in a virtualenv, you must run pip install -r requirements.txt from inside the virtualenv.
"""

UNUSABLE_SDK = """
The Pulumi SDK is installed in version {installed}, which cannot be used here (with Python {python}).
Version {needed} or newer is needed: pip install --upgrade "pulumi>={needed}"
"""
NEEDED = "3.0.0"


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description="Run a Pulumi Python program")
    parser.add_argument("--project", help="name of the project")
    parser.add_argument("--stack", help="name of the stack")
    parser.add_argument("--organization", help="name of the organization")
    parser.add_argument("--root_directory", help="folder of the project file")
    parser.add_argument("--pwd", help="folder to run the program in")
    parser.add_argument("--dry_run", help="true for a preview")
    parser.add_argument("--parallel", help="how many resource operations may run at once")
    parser.add_argument("--monitor", help="address of the resource monitor")
    parser.add_argument("--engine", help="address of the engine")
    parser.add_argument("--tracing", help="address of a tracing endpoint")
    parser.add_argument("--debug_messages", default="true", help="false when nobody hears messages for developers")
    parser.add_argument("PROGRAM", help="the program")
    parser.add_argument("ARGS", nargs="*", help="arguments for the program")
    return parser.parse_args(argv)


def import_sdk():
    """The SDK's packages, or None when they are not installed or cannot be loaded."""
    try:
        import pulumi
        import pulumi.runtime
    except Exception:  # What SDKs of long ago need may be gone, or be so new that it refuses them in ways of its own.
        traceback.print_exc()
        print(what_is_wrong(), file=sys.stderr)
        return None
    # Before version 3 there was one parameter.
    if len(inspect.signature(pulumi.runtime.set_all_config).parameters) < 2:
        print(what_is_wrong(), file=sys.stderr)
        return None
    return pulumi


def what_is_wrong():
    """What to say of an SDK that cannot be loaded."""
    from importlib import metadata

    try:
        installed = metadata.version("pulumi")
    except metadata.PackageNotFoundError:
        return NO_SDK
    python = ".".join(map(str, sys.version_info[:3]))
    return UNUSABLE_SDK.format(installed=installed, python=python, needed=NEEDED)


def parallelism(args):
    try:
        return max(int(args.parallel or 0), 1)
    except ValueError:
        return 1


def configure(pulumi, args):
    """Puts configuration and settings in force; settings that an old SDK does not know are left out."""
    config = json.loads(os.environ.get("PULUMI_CONFIG") or "{}")
    secret_keys = json.loads(os.environ.get("PULUMI_CONFIG_SECRET_KEYS") or "[]")
    pulumi.runtime.set_all_config(config, secret_keys)
    settings = {
        "monitor": args.monitor,
        "engine": args.engine,
        "project": args.project,
        "stack": args.stack,
        "parallel": parallelism(args),
        "dry_run": args.dry_run == "true",
        "organization": args.organization,
        "root_directory": args.root_directory,
    }
    known = inspect.signature(pulumi.runtime.Settings.__init__).parameters
    pulumi.runtime.configure(pulumi.runtime.Settings(**{k: x for k, x in settings.items() if k in known}))


def mute(pulumi):
    """Drops messages for developers where they arise.

    The SDK sends several for every resource, one by one, and the whole program waits for each to arrive.
    """
    pulumi.log.debug = lambda *_args, **_kwargs: None


def begin_before_waiting():
    """Lets registrations begin before the SDK waits for them.

    At the end of the program the SDK waits for the registrations that have begun, and then for outputs, all of them again
    whenever one is there. None has begun while the program had the only thread, so that the time that a program takes
    would grow with the square of its resources.
    """
    from pulumi.runtime import stack

    wait = getattr(stack, "wait_for_rpcs", None)
    if wait is None:
        return

    async def wait_for_rpcs(*args, **kwargs):
        await asyncio.sleep(0)
        return await wait(*args, **kwargs)

    stack.wait_for_rpcs = wait_for_rpcs


def collect_rarely():
    """Lets the garbage collector look at things less often.

    Programs keep nearly all that they make until they end. With the interpreter's own settings, large ones spend most of
    their time looking for garbage where there is none. They can still choose settings themselves.
    """
    gc.set_threshold(100_000, 50, 100)


def is_machinery(frame, sdk):
    """Whether a stack frame belongs to this script, the SDK or the interpreter rather than to the program."""
    name = frame.filename
    if name.startswith("<frozen ") or os.path.abspath(name) == os.path.abspath(__file__):
        return True
    return name.startswith((sdk, os.path.dirname(asyncio.__file__) + os.sep, runpy.__file__))


def cut_stack(report, sdk, seen):
    """Drops the machinery above the first frame of the program, in the exception and in those that led to it."""
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    for index, frame in enumerate(report.stack):
        if not is_machinery(frame, sdk):
            del report.stack[:index]
            break
    for inner in (report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or ())):
        cut_stack(inner, sdk, seen)


def describe(error, pulumi):
    report = traceback.TracebackException.from_exception(error)
    cut_stack(report, os.path.dirname(pulumi.__file__) + os.sep, set())
    return "Program failed with an unhandled exception:\n" + "".join(report.format()) + advice(error)


def advice(error):
    """What to do about a module that is not there. One of the program itself has been misnamed, which nobody installs."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or "." in error.name:
        return ""
    return (
        f"The module {error.name} is not installed for {sys.executable}. If it is part of a package, list that in "
        "requirements.txt or pyproject.toml and run `plumb install`.\n"
    )


def missing_program(program):
    """Whether `program` is a folder without a main file."""
    return os.path.isdir(program) and not any(
        os.path.exists(os.path.join(program, name)) for name in ("__main__.py", "__main__.pyc")
    )


def run_program(pulumi, args, loop):
    """Runs the program and answers the exit code."""
    if missing_program(args.PROGRAM) or not os.path.exists(args.PROGRAM):
        path = os.path.join(os.path.abspath(args.PROGRAM), "__main__.py") if os.path.isdir(args.PROGRAM) else args.PROGRAM
        pulumi.log.error(
            f"unable to find main python program '{path}'; write it, or name the program with `main` in Pulumi.yaml"
        )
        return EXIT_REPORTED
    if os.path.isfile(args.PROGRAM):
        # As with `python program.py`; for folders runpy does this.
        sys.path.insert(0, os.path.dirname(os.path.abspath(args.PROGRAM)))
    try:
        loop.run_until_complete(
            pulumi.runtime.run_in_stack(lambda: runpy.run_path(args.PROGRAM, run_name="__main__") and None)
        )
        return 0
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return EXIT_RUN_ERROR
    except SystemExit as error:
        if error.code is None or error.code == 0:
            return 0
        pulumi.log.error(f"the program ended itself: sys.exit({error.code!r})")
        return EXIT_REPORTED
    except KeyboardInterrupt:
        return EXIT_REPORTED
    except BaseException as error:
        pulumi.log.error(describe(error, pulumi))
        return EXIT_REPORTED


def main():
    collect_rarely()
    args = parse_arguments(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        # Lines show up when they are printed, although the streams are pipes.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    pulumi = import_sdk()
    if pulumi is None:
        return 1
    configure(pulumi, args)
    begin_before_waiting()
    if args.debug_messages == "false":
        mute(pulumi)
    if hasattr(gc, "freeze"):
        # What has been imported stays.
        gc.freeze()
    sys.argv = [args.PROGRAM] + args.ARGS
    if args.pwd:
        os.chdir(args.pwd)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Every call to the engine waits in a thread of its own; the engine itself limits how much it does at once.
    threads = max(4 * parallelism(args), LEAST_THREADS)
    executor = concurrent.futures.ThreadPoolExecutor(max_workers=threads)
    loop.set_default_executor(executor)
    try:
        return run_program(pulumi, args, loop)
    finally:
        executor.shutdown(wait=False)
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
