"""Run the tests on the original before any mutant: which pass, the lines and time of each, and what is refused."""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ordeal._base.limits import REPORT_SECONDS
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Ended, Job, Message, Say, memory_peak, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.judging.trials import Turns, run_unchanged
from ordeal._tools.mutation.line_coverage import LineCoverage, SourceReads
from ordeal._tools.mutation.own_process import Refused
from ordeal._tools.mutation.pytest_items import Items
from ordeal._tools.mutation.sandbox import is_isolated

_SECONDS = 600.0
#: How many tests may be flaky; with more, something else is wrong.
UNSTEADY_MAX = 20

#: How Python reports that a sandbox does not let a test write to a file.
_NOT_WRITTEN = "PermissionError: [Errno 13]", "OSError: [Errno 30]"

Lines = set[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The results of the tests on the original, by the number of each test.

    Attributes:
        names, files: of all tests that were collected.
        failed: why a test failed; it may not judge.
        tests_by_line: the passing tests that run each line, in the order of the suite.
        sizes: the number of lines that a passing test runs.
        cpu, wall, turns: the cost of a passing test.
        forking: the passing tests whose other processes run lines of the program.
        readers: the passing tests that read a file of the program, or run it again, by its path.
        peak: the memory that the process of the tests took.
    """

    names: Sequence[str]
    files: Sequence[str]
    failed: Mapping[int, str]
    tests_by_line: Mapping[tuple[str, int], Sequence[int]]
    sizes: Mapping[int, int]
    cpu: Mapping[int, float]
    wall: Mapping[int, float]
    turns: Mapping[int, int]
    forking: Set[int]
    readers: Mapping[str, Set[int]]
    peak: int

    @classmethod
    def of(cls, items: Items, said: Sequence[Message]) -> Baseline:
        """Return the baseline from the messages of a run of all tests."""
        passed = [each for each in said if each.get("outcome") == "passed"]
        by_line: dict[tuple[str, int], list[int]] = {}
        readers: dict[str, set[int]] = {}
        for each in passed:
            # In a copy, a script that another process runs is read there, and that process cannot learn of the mutant.
            for path in (*each["reads"], *(() if is_isolated() else each["beside"])):
                readers.setdefault(path, set()).add(each["test"])
            for place in places(each):
                by_line.setdefault(place, []).append(each["test"])
        return cls(
            items.names(),
            [str(each.path) for each in items.all],
            {each["test"]: each["why"] for each in said if has_failed(each)},
            by_line,
            {each["test"]: sum(map(len, each["lines"].values())) for each in passed},
            {each["test"]: each["cpu"] for each in passed},
            {each["test"]: each["wall"] for each in passed},
            {each["test"]: each["turns"] for each in passed},
            {each["test"] for each in passed if each["beside"]},
            readers,
            said[-1].get("peak", 0) if said else 0,
        )

    def reverse_differs(self, said: Sequence[Message]) -> Lines:
        """Return the lines that other tests run in the reverse order: they run in the first test alone."""
        found: dict[tuple[str, int], set[int]] = {}
        for message in said:
            for place in places(message):
                found.setdefault(place, set()).add(message["test"])
        before = {place: {*tests} for place, tests in self.tests_by_line.items()}
        return {place for place in before.keys() | found.keys() if before.get(place) != found.get(place)}


@dataclass(frozen=True, slots=True)
class Ran:
    """How all tests ran on the original.

    Attributes:
        said: a message for each test, and one for the end.
        unwatched: the messages of the tests when they run as with mutants, at the same time.
        why_ended: why they did not finish, if they did not.
        unsteady: the tests that failed, and passed when they were asked again.
    """

    said: list[Message]
    unwatched: Message
    why_ended: str
    unsteady: Set[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Original:
    """The unchanged program, ``paths`` being its files, and the tests to run on it."""

    items: Items
    turns: Turns
    paths: Set[str]
    say: Say

    def run(self, numbers: Iterable[int], say: Say) -> None:
        """Run tests, and report the lines and the time of each."""
        known = {*sys.modules}
        coverage = LineCoverage({*self.paths}, Path(tempfile.gettempdir(), f"lines-{os.getpid()}"))
        coverage.start()
        reads = SourceReads(self.paths)
        reads.take()
        self.turns.start(0, say)
        before = 0
        for number, outcome, cpu, wall, why in self.items.outcomes([*numbers]):
            found = {"test": number, "outcome": outcome, "cpu": cpu, "wall": wall, "why": why}
            found |= {"lines": _by_path(coverage.take()), "beside": _by_path(coverage.take_beside())}
            say({**found, "reads": reads.take(), "turns": self.turns.count - before})
            before = self.turns.count
        modules = sorted(name for name in {*sys.modules} - known if is_of_python(name))
        say({"done": True, "peak": memory_peak(), "modules": modules})

    def run_all(self, workers: int, *, in_place: bool) -> Ran:
        """Run all tests in a fork; in this process, with the threads that it has, if ``in_place``."""
        numbers = range(len(self.items))
        if in_place:
            here: list[Message] = []
            self.run(numbers, self._counting(here.append))
            return Ran(here, {}, "ends the process")
        covered = original_job(lambda tell: self.run(numbers, self._counting(tell)))
        # At the same time, the same tests as they run with mutants.
        unwatched = original_job(lambda tell: run_unchanged(self.items, numbers, tell))
        ended = {id(each.job): each for each in run_jobs([covered, unwatched], min(2, workers))}
        first = ended[id(covered)]
        said = first.said
        failed = [each["test"] for each in said if has_failed(each)] if said and "done" in said[-1] else []
        return Ran(said, (ended[id(unwatched)].said or [{}])[-1], _why(first), self._pass_again(failed))

    def _pass_again(self, failed: Sequence[int]) -> Set[int]:
        """Return the failed tests that pass again: flaky ones, and those that a copy or our counting hinders."""
        if not 0 < len(failed) <= UNSTEADY_MAX:
            return frozenset()

        def run(tell: Say) -> None:
            for number, outcome, *_ in self.items.outcomes(failed):
                tell({"test": number, "outcome": outcome})

        job = original_job(run)
        job.is_free = True
        ended = next(run_jobs([job], 1))
        return {each["test"] for each in ended.said if each.get("outcome") == "passed"}

    def _counting(self, say: Say) -> Say:
        """Return a ``say`` that also reports, once a second, how many tests have run."""
        count, due = 0, monotonic() + REPORT_SECONDS

        def tell(message: Message) -> None:
            nonlocal count, due
            say(message)
            count += "test" in message
            if monotonic() >= due:
                due = monotonic() + REPORT_SECONDS
                self.say({"beginning": f"{count}/{len(self.items)} tests have run without a mutant"})

        return tell


def has_failed(message: Message) -> bool:
    """Return True if a message reports a failed test."""
    return message.get("outcome") == "failed"


def _why(ended: Ended) -> str:
    """Return how a test kept all later ones from running."""
    if ended.is_late:
        return f"takes longer than {_SECONDS:.0f} s"
    return ended.raised or (f"ends by {signal.Signals(ended.signal).name}" if ended.signal else "ends the process")


def original_job(run: Callable[[Say], None]) -> Job:
    """Return a job that runs the unchanged program, with a generous time limit."""
    return Job(run, 0, _SECONDS, is_original=True)


def endless(ran: Ran, names: Sequence[str]) -> Refused:
    """Return the refusal to judge with tests that do not finish; it names the one that prevents it."""
    what = "the tests do not finish without any mutant"
    count = sum("test" in message for message in ran.said)
    if count == len(names):
        return Refused(what)
    hint = f"`{shlex.join(['python', '-m', 'pytest', names[count]])}` may show it"
    return Refused(f"{what}: {names[count]} {ran.why_ended}", hint)


def failing(failed: Sequence[tuple[str, str]]) -> Refused:
    """Return the refusal for tests that fail without a mutant: it names the first, and why it fails."""
    (name, why), more = failed[0], len(failed) - 1
    last = [each for each in why.strip().splitlines() if each.strip()][-1:]
    them = f"these {len(failed)} tests" if more else "it"
    others = f" and {more} more" if more else ""
    hint = f"`--deselect-failing` goes on without {them}"
    if any(refused in why for refused in _NOT_WRITTEN):
        hint += "; `pass` in `[mutations]` names folders outside the project that tests may write"
    return Refused(f"the tests fail without any mutant: {name}{others}", "; ".join([*last, hint]))


def refuse_other_files(paths: Mapping[str, str]) -> None:
    """Refuse to judge if the tests import modules of these names from other files.

    Raises:
        Refused: there is one.
    """
    for shown, path in paths.items():
        name = module_name(Path(path))
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str) and real_path(file) != path:
            raise Refused(
                f"the tests import `{name}` from {file}, and nothing from {shown}",
                "mutate that one, or let the tests import this one: `pip install -e .`, or `pythonpath` of pytest",
            )


def is_of_python(name: str) -> bool:
    """Return True if a module is one of Python's own. Modules with side effects on import are left alone."""
    first = name.partition(".")[0]
    return first in sys.stdlib_module_names and first not in ("antigravity", "idlelib", "test", "this", "turtledemo")


def import_all(names: Iterable[str]) -> None:
    """Import modules; skip one that cannot be imported: the code that needs it will fail."""
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)


def _by_path(lines: Lines) -> dict[str, list[int]]:
    """Return lines grouped by path: paths are most of the bytes of a message."""
    found: dict[str, list[int]] = {}
    for path, line in lines:
        found.setdefault(path, []).append(line)
    return {path: sorted(numbers) for path, numbers in found.items()}


def places(message: Message) -> Lines:
    """Return the lines that a test ran, in this process or others."""
    both = (message.get("lines", {}), message.get("beside", {}))
    return {(path, line) for each in both for path, lines in each.items() for line in lines}


def module_name(path: Path) -> str:
    """Return the dotted name of a file as the packages that hold it give it."""
    parts = [] if path.stem == "__init__" else [path.stem]
    for folder in path.parents:
        if not (folder / "__init__.py").exists():
            break
        parts.insert(0, folder.name)
    return ".".join(parts)
