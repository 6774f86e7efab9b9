"""Runs the Python tests in parts, each in a small process of its own, the slowest first.

usage: python tools/python_tests.py [--jobs N] [--record] [--dearest N] [--unsteady N] [--without FILE or FOLDER]
                                    [FILE or FOLDER ...] [option of pytest ...]

A process that has collected all tests is large, and so is all that its tests fork: each fork of it takes five times as
long. So one process imports what all tests need, and forks for each part of a few files, which collects these alone.
All that a part said is shown if it fails, and its tests that failed run again when nothing else does. One that passes
then is unsteady: it is named, and fails the run all the same unless ``--unsteady`` allows as many.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
#: The seconds that the tests of a file take; ``--record`` writes it.
DURATIONS = ROOT / "tests" / "durations.json"
#: The same of the last run, to look at or to copy.
LAST_DURATIONS = ROOT / "build" / "durations.json"
#: Files of one folder are a part until they take so long, or are so many.
PART_SECONDS = 12.0
PART_FILES = 30
#: What is counted, in the order in which it is told.
OUTCOMES = ("failed", "error", "passed", "skipped", "xfailed", "xpassed", "deselected")
FINE = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


@dataclass
class Part:
    """What one process runs."""

    places: list[str]
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The file, or the folder with the number of files."""
        if len(self.places) == 1:
            return self.places[0]
        return f"{os.path.commonpath(self.places)} ({len(self.places)} files)"


@dataclass
class Ended:
    """What a part came to."""

    part: Part
    code: int
    said: str
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    cpu_of_tests: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    failed: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Whether nothing failed."""
        return self.code in FINE

    @property
    def told(self) -> bool:
        """Whether it says which tests failed, and nothing but tests did."""
        return self.code == pytest.ExitCode.TESTS_FAILED and bool(self.failed)


def files_in(places: list[str], without: list[str]) -> Iterator[str]:
    """The test files below ``places`` and not below ``without``; what names one test in a file stays as it is."""
    left_out = [Path(each) for each in without]
    for place in places:
        if Path(place).is_dir():
            found = (path for path in Path(place).rglob("test_*.py") if not any(map(path.is_relative_to, left_out)))
            yield from sorted(map(str, found))
        else:
            yield place


def parts_of(files: list[str], seconds: dict[str, float]) -> list[Part]:
    """Share the files out to parts, and put those that take longest first."""
    parts: list[Part] = []
    open_parts: dict[str, Part] = {}
    for file in files:
        takes = seconds.get(file.partition("::")[0], 0.0)
        folder = str(Path(file).parent)
        part = open_parts.get(folder)
        if part is None or part.seconds + takes > PART_SECONDS or len(part.places) == PART_FILES:
            part = Part([])
            parts.append(part)
            if takes <= PART_SECONDS:
                open_parts[folder] = part
        part.places.append(file)
        part.seconds += takes
    return sorted(parts, key=lambda part: -part.seconds)


def command_seconds() -> float:
    """The CPU time of the commands that tests gave to the interpreter that all parts share."""
    warm = sys.modules.get("tests.warm_python")
    return float(warm.command_seconds()) if warm else 0.0


def cpu_seconds() -> float:
    """The CPU time that this process took, with that of its commands and of the children that it has waited for."""
    return sum(os.times()[:4]) + command_seconds()


class Noted:
    """A plugin of pytest that writes down what came of a part."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._cpu_seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note what a test costs; fixtures that it shares count for the first test that asks for them."""
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            self._cpu_seconds[item.nodeid] = cpu_seconds() - before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a test took to what its file takes."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write down the numbers, and why tests were skipped."""
        stats = terminalreporter.stats
        document = {
            "counts": {outcome: len(stats.get(outcome, ())) for outcome in OUTCOMES},
            "seconds": self._seconds,
            "cpu_seconds": self._cpu_seconds,
            "command_seconds": command_seconds(),
            "skipped": [
                (report.nodeid, report.longrepr[2].removeprefix("Skipped: ")) for report in stats.get("skipped", ())
            ],
            "failed": sorted({report.nodeid for kind in ("failed", "error") for report in stats.get(kind, ())}),
        }
        self._path.write_text(json.dumps(document), "utf-8")


class Runner:
    """Runs parts in forks of this process."""

    def __init__(self, folder: Path, options: list[str], jobs: int) -> None:
        self._folder = folder
        self._options = options
        self._jobs = jobs
        self._running: dict[int, tuple[int, Part]] = {}

    def run(self, parts: list[Part]) -> Iterator[Ended]:
        """What each part came to, as soon as it has ended."""
        waiting = list(enumerate(parts))
        try:
            while waiting or self._running:
                while waiting and len(self._running) < self._jobs:
                    number, part = waiting.pop(0)
                    self._running[self._started(number, part)] = (number, part)
                process, status, usage = os.wait4(-1, 0)
                number, part = self._running.pop(process)
                ended = self._ended(number, part, os.waitstatus_to_exitcode(status))
                ended.cpu_seconds += usage.ru_utime + usage.ru_stime
                yield ended
        finally:
            # A Ctrl-C has reached them as well: they end, and tell what they came to.
            for process in self._running:
                os.waitpid(process, 0)

    def _started(self, number: int, part: Part) -> int:
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            code = 70
            try:
                code = self._in_fork(number, part)
            except BaseException:  # noqa: BLE001 - it must not go on as the process that it was forked from
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        return process

    def _in_fork(self, number: int, part: Part) -> int:
        for descriptor, name, flags in ((0, os.devnull, os.O_RDONLY), (1, self._path(number, "out"), os.O_RDWR)):
            opened = os.open(name, flags | os.O_CREAT | os.O_APPEND)
            os.dup2(opened, descriptor)
            os.close(opened)
        os.dup2(1, 2)
        # What is imported before pytest cannot have its asserts rewritten, and need not.
        arguments = ["-p", "no:cacheprovider", "-Wignore::pytest.PytestAssertRewriteWarning"]
        arguments += [f"--basetemp={self._path(number, 'tmp')}", *self._options]
        return pytest.main([*arguments, *part.places], plugins=[Noted(self._path(number, "json"))])

    def _ended(self, number: int, part: Part, code: int) -> Ended:
        said = self._path(number, "out").read_text("utf-8", "replace")
        shutil.rmtree(self._path(number, "tmp"), ignore_errors=True)
        try:
            document = json.loads(self._path(number, "json").read_text("utf-8"))
        except OSError:  # its process ended before the tests did
            return Ended(part, code or 70, f"{said}\nthe process of {part.name} ended early, with exit code {code}")
        counts, seconds, cpu = Counter(document["counts"]), document["seconds"], document["cpu_seconds"]
        skipped, commands, failed = document["skipped"], document["command_seconds"], document["failed"]
        return Ended(part, code, said, counts, seconds, skipped, cpu, commands, failed)

    def _path(self, number: int, kind: str) -> Path:
        return self._folder / f"{number}.{kind}"


def counted(counts: Counter[str]) -> str:
    """The numbers of tests in words, such as ``1 failed, 12 passed``."""
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]) or "no tests"


def import_what_all_need() -> None:
    """Import here what each part would import again: the plugins of pytest, and what most tests are about."""
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    for name in ("hypothesis.stateful", "xdist.newhooks", "ordeal.cli.explore", "ordeal.store.redis_backend"):
        import_module(name)
    gc.collect()
    gc.freeze()


def left_out(skipped: list[tuple[str, str]]) -> Iterator[str]:
    """Say why tests were skipped, and below each reason how many tests of which files."""
    files_by_reason: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for test, reason in skipped:
        files_by_reason[reason][test.partition("::")[0]] += 1
    for reason, files in sorted(files_by_reason.items()):
        yield f"SKIPPED {files.total()}: {reason}"
        yield from (f"  {count:4} of {file}" for file, count in sorted(files.items()))


def shown(ended: Ended, done: int, total: int) -> None:
    """Print the line of a part with the CPU time that it took, and all that it said if it failed."""
    if not ended.fine:
        print(ended.said, flush=True)
    state = "ok" if ended.fine else "FAILED"
    took = f"{ended.cpu_seconds:5.1f} s"
    print(f"[{done:3}/{total}] {state:6} {took} {counted(ended.counts):32} {ended.part.name}", flush=True)


def unsteady_tests(failed: list[Ended], folder: Path, options: list[str]) -> list[str]:
    """Run each test that failed again, one at a time while nothing else runs, and return those that pass."""
    again = folder / "again"
    again.mkdir()
    tests = sorted(test for ended in failed if ended.told for test in ended.failed)
    runner = Runner(again, options, jobs=1)
    return [ended.part.name for ended in runner.run([Part([test]) for test in tests]) if ended.fine]


def allowed(failed: list[Ended], unsteady: list[str], limit: int) -> bool:
    """Whether all that failed is at most ``limit`` unsteady tests."""
    tests = {test for ended in failed for test in ended.failed}
    return all(ended.told for ended in failed) and tests == set(unsteady) and len(tests) <= limit


def run_all(parts: list[Part], options: list[str], own: argparse.Namespace) -> int:
    """Run the parts and print what they came to; return the exit code."""
    began = time.monotonic()
    counts: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    cpu_of_tests: dict[str, float] = {}
    skipped: list[tuple[str, str]] = []
    failed: list[Ended] = []
    with tempfile.TemporaryDirectory(prefix="parts-") as folder:
        for done, ended in enumerate(Runner(Path(folder), options, own.jobs).run(parts), 1):
            shown(ended, done, len(parts))
            counts += ended.counts
            seconds |= ended.seconds
            cpu_of_tests |= ended.cpu_of_tests
            skipped += ended.skipped
            if not ended.fine:
                failed.append(ended)
        unsteady = unsteady_tests(failed, Path(folder), options)
    for line in [*left_out(skipped), *(f"FAILED {each.part.name}" for each in failed)]:
        print(line)
    for test in unsteady:
        print(f"note: UNSTEADY {test}: it failed beside other tests, and passed when it ran again alone")
    for test in sorted(cpu_of_tests, key=lambda test: -cpu_of_tests[test])[: own.dearest]:
        print(f"{cpu_of_tests[test]:6.2f} s CPU {test}")
    print(f"{counted(counts)} in {time.monotonic() - began:.0f} s, {sum(cpu_of_tests.values()):.0f} s of CPU in tests")
    found = {file: round(takes, 1) for file, takes in seconds.items() if takes >= 0.1}
    place = DURATIONS if own.record else LAST_DURATIONS
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(dict(sorted(found.items())), indent=2) + "\n", "utf-8")
    if failed and not allowed(failed, unsteady, own.unsteady):
        return 1
    return 0 if counts["passed"] else int(pytest.ExitCode.NO_TESTS_COLLECTED)


def parsed(arguments: list[str]) -> tuple[argparse.Namespace, list[str], list[str]]:
    """The options of this tool, the places that tests are in, and what is for pytest."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "--jobs", type=int, default=(os.cpu_count() or 1) + 2, help="how many parts run at a time: some wait"
    )
    parser.add_argument("--record", action="store_true", help=f"write {DURATIONS.name}: what each file took")
    parser.add_argument("--dearest", type=int, default=0, metavar="N", help="print the N tests that cost most CPU time")
    parser.add_argument(
        "--without", action="append", default=[], metavar="PLACE", help="leave out a file or folder; may be repeated"
    )
    parser.add_argument(
        "--unsteady",
        type=int,
        default=0,
        metavar="N",
        help="how many tests may fail beside others, if each passes when it runs again alone (default: none)",
    )
    own, others = parser.parse_known_args(arguments)
    places = [each for each in others if not each.startswith("-") and Path(each.partition("::")[0]).exists()]
    return own, places or ["tests"], [each for each in others if each not in places]


def main() -> int:
    """Run the tests that the command line names, or all."""
    own, places, options = parsed(sys.argv[1:])
    seconds = json.loads(DURATIONS.read_text("utf-8")) if DURATIONS.exists() else {}
    # Other tools may have given their own way to stop a process, or have it ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:0] = [str(ROOT)]
    import_what_all_need()
    warm = import_module("tests.warm_python")
    try:
        with warm.warm_interpreter() as os.environ[warm.VARIABLE]:
            return run_all(parts_of(list(files_in(places, own.without)), seconds), ["-q", *options], own)
    except KeyboardInterrupt:
        return int(pytest.ExitCode.INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
