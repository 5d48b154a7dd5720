"""The scheduler of the tests, tested."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run  # noqa: E402
from schedule import Schedule, Step  # noqa: E402


def echo(name, *words, **options):
    return Step(name, ["echo", *words], **options)


class ScheduleTest(unittest.TestCase):
    def results(self, *steps, cores=2, **options):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as self.printed:
            return Schedule(steps, cores, Path(folder) / "logs", folder, **options).run()

    def test_last_line_of_a_step_reaches_those_that_name_it(self):
        results = self.results(echo("use", "got", "{made}"), Step("made", ["sh", "-c", "echo no; echo yes"]))
        self.assertEqual([result.step.name for result in results], ["made", "use"])
        self.assertIn("got yes", self.printed.getvalue())

    def test_errors_of_a_step_are_no_part_of_its_last_line(self):
        made = Step("made", ["sh", "-c", "printf colours >&2; echo yes"])
        self.results(made, echo("use", "got", "{made}"))
        self.assertIn("got yes", self.printed.getvalue())
        self.assertIn("colours", self.printed.getvalue())

    def test_failure_stops_what_runs_and_starts_nothing(self):
        results = self.results(Step("slow", ["sleep", "600"]), Step("broken", ["false"]), echo("never", "x", after=("broken",)))
        self.assertEqual([(result.step.name, result.passed) for result in results], [("broken", False)])
        self.assertNotIn("never", self.printed.getvalue())

    def test_after_a_failure_the_others_can_go_on(self):
        needs = [echo("first", "{broken}"), echo("second", "{first}"), echo("other", "x")]
        results = self.results(Step("broken", ["false"]), *needs, keep_going=True)
        self.assertEqual({result.step.name: result.passed for result in results}, {"broken": False, "other": True})

    def test_steps_with_one_lock_take_turns(self):
        with tempfile.NamedTemporaryFile() as shared:
            alone = f"test ! -s {shared.name} && echo x > {shared.name} && sleep 0.05 && : > {shared.name}"
            results = self.results(*(Step(str(number), ["sh", "-c", alone], lock="l") for number in range(4)))
        self.assertTrue(all(result.passed for result in results))

    def test_what_measures_runs_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            busy = f"touch {folder}/busy; sleep 0.05; rm {folder}/busy"
            measures = Step("measures", ["sh", "-c", f"test ! -e {folder}/busy"], alone=True)
            results = self.results(Step("one", ["sh", "-c", busy]), measures, echo("last", "x"))
        self.assertTrue(all(result.passed for result in results))

    def test_wide_step_runs_on_a_machine_with_one_core(self):
        self.assertEqual(len(self.results(echo("wide", "x", cores=2), echo("narrow", "x"), cores=1)), 2)

    def test_step_over_its_limit_is_stopped_and_shown(self):
        hangs = Step("hangs", ["sh", "-c", "echo begun; sleep 600"], minutes=0.005)
        results = self.results(hangs, echo("needs", "x", after=("hangs",)))
        self.assertEqual([(result.step.name, result.passed) for result in results], [("hangs", False)])
        self.assertIn("begun", self.printed.getvalue())
        self.assertIn("took too long", self.printed.getvalue())

    def test_failure_shows_the_end_of_a_long_log(self):
        self.results(Step("long", ["sh", "-c", "seq -f crate-%g 1000; echo reason; false"]))
        self.assertNotIn("crate-1\n", self.printed.getvalue())
        self.assertIn("crate-1000\nreason", self.printed.getvalue())
        self.assertIn("… 851 lines in ", self.printed.getvalue())

    def test_end_of_the_time_of_all_steps_stops_what_runs(self):
        results = self.results(Step("one", ["sleep", "600"]), echo("two", "{one}"), minutes=0.005)
        self.assertEqual([(result.step.name, result.passed) for result in results], [("one", False)])

    def test_unknown_need_is_refused_before_anything_runs(self):
        with self.assertRaises(SystemExit):
            self.results(echo("use", "{missing}"))


class ShareTest(unittest.TestCase):
    def test_consecutive_numbers_run_every_suite_once_and_groups_together(self):
        suites = [echo("a"), echo("b", share=3), echo("c", share=3, group="g"), echo("d", share=3, group="g"), echo("e", share=3)]
        chosen = [[step.name for step in run.of_this_commit(suites, number)] for number in range(3)]
        self.assertEqual(sorted(map("".join, chosen)), ["ab", "acd", "ae"])

    def test_nightly_suites_are_no_commits(self):
        self.assertEqual(list(run.of_this_commit([echo("n", share=0)], 7)), [])


if __name__ == "__main__":
    unittest.main()
