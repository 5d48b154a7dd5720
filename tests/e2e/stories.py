"""Stories: functions that get a world of their own and say what is not as it should be. What scripts that run them share."""

import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Failed(AssertionError):
    """Something was not as it should be."""


class LeftOut(Exception):
    """What a story needs is not there."""


def expect(what, actual, expected):
    if actual != expected:
        raise Failed(f"{what}:\n    {actual!r}\nexpected:\n    {expected!r}")


def expect_in(text, output):
    if text not in output:
        raise Failed(f"{text!r} is not in:\n{output[-6000:]}")


def expect_out(text, output):
    if text in output:
        raise Failed(f"{text!r} is in:\n{output[-6000:]}")


def tell(stories, make_world, only=None, jobs=2):
    """Runs the stories, or `only` one, each in a world that `make_world` makes in a new folder; answers the exit code.

    As many as `jobs` are under way at once: worlds must not share anything. A world may have `account`, which
    says what is to be seen when its story fails, and `close`, for the end.
    """
    names = [story.__name__ for story in stories]
    if only and only not in names:
        print(f"there is no story {only}; there are {', '.join(names)}")
        return 2
    # All are run, whatever comes of the first ones.
    with ThreadPoolExecutor(jobs) as pool:
        ended = pool.map(lambda story: one(story, make_world), [it for it in stories if only in (None, it.__name__)])
        return 0 if all(list(ended)) else 1


def one(story, make_world):
    """Runs one story, and says how it ended; answers whether it ended well."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="plumb-story-") as root:
        world = None
        try:
            world = make_world(Path(root).resolve())
            story(world)
        except LeftOut as missing:
            print(f"left out {story.__name__}: {missing}", flush=True)
        except Exception as problem:
            said = str(problem) if isinstance(problem, AssertionError) else traceback.format_exc()
            account = said + getattr(world, "account", str)()
            print(f"FAILED {story.__name__}\n    " + account.replace("\n", "\n    "), flush=True)
            return False
        else:
            print(f"passed {story.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        finally:
            getattr(world, "close", str)()
    return True
