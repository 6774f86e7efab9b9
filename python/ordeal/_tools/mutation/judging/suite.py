"""A collected suite: which tests pass on the original, what each runs and takes, and the gates before judging."""

from __future__ import annotations

import ast
import dataclasses
import gc
import importlib
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Ended, Job, Message, Say, memory_peak, original_takes, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.judging.trials import TestRunner, Trial, Turns, killer_first, run_trials, run_unchanged
from ordeal._tools.mutation.line_coverage import LineCoverage
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.operators import padded
from ordeal._tools.mutation.own_process import Refused
from ordeal._tools.mutation.pytest_items import Items
from ordeal._tools.mutation.source import Function, Source
from ordeal._tools.mutation.swap import LiveFunctions, OwnLines

_BASELINE_SECONDS = 600.0
_FLAKY_MAX = 20
_FORCED_MAX = 5
# Enough for the limit of turns to be met first by whatever loops in Python: it is the same on a busy machine.
_CPU_FREE = 0.5
_ASLEEP_FREE = 1.0
#: How often whoever waits is told how far the tests are, before any mutant.
TOLD_SECONDS = 1.0
#: Whatever limit is given, a mutant may take so many times what the original takes.
TAKEN_FACTOR = 2.0
#: Tests of fewer turns than this power of two are asked in the order of the suite.
_CHEAP_BITS = 10
#: Without a mutant nothing hangs: what does not end in time gets much longer before its tests are called unstable.
_PATIENCE = 4.0, 40.0

Lines = set[tuple[str, int]]


class Suite:
    """The tests of a session that pass on the original, by number, with what each runs and takes."""

    def __init__(
        self,
        items: Items,
        sources: Sequence[Source],
        imported: Lines,
        workers: int,
        place: Path,
        *,
        seconds: float | None = None,
        leave_out_failing: bool = False,
        in_place: bool = False,
        may_import: bool = False,
    ) -> None:
        self.items, self.workers = items, workers
        self._fixed, self._is_lenient, self.in_place = seconds, leave_out_failing, in_place
        self._may_import = may_import and not leave_out_failing
        self.sources = {source.shown: source for source in sources}
        self._paths = {source.shown: real_path(str(source.path)) for source in sources}
        self._imported, self._place = imported, place
        self.names = items.names()
        self.flaky: list[str] = []
        self._passing: set[int] = set()
        self._tests_by_line: dict[tuple[str, int], list[int]] = {}
        self._size: dict[int, int] = {}
        self._cpu: dict[int, float] = {}
        self._wall: dict[int, float] = {}
        self._turns: dict[int, int] = {}
        self._beside: set[int] = set()
        self._trusted: set[int] = set()
        self._plainly_trusted: set[int] = set()
        self._confirmed: set[int] = set()
        self._own_lines = OwnLines(self.sources)
        #: Lines that run in another test where the tests run in the reverse order; None until they have.
        self._run_once: Lines | None = None
        self._null: Message = {}
        self._why_ended = "ends the process"
        self._files: dict[str, dict[int, Counter[str]]] = {}

    # The baseline

    def begin(self, say: Say) -> None:
        """Run all tests on the original, twice, and tell what is known of them.

        Raises:
            Refused: they fail.
        """
        if not len(self.items):
            raise Refused("no tests were collected")
        self._tell = say
        self.live = LiveFunctions(set(self._paths.values()))
        # A collection in a fork would write to all pages of what is there now, and so copy them.
        gc.collect()
        gc.freeze()
        self.turns = Turns(self.live)
        self._runner = TestRunner(
            self.items, self.turns, self._turns_of, self.live, self.sources, self._confirmed, self._plainly_trusted
        )
        numbers = list(range(len(self.items)))
        first = self._said_covered(numbers)
        self._import_what_tests_do(first)
        failed = []
        for message in first:
            if "test" in message:
                self._learn(message)
                if message["outcome"] == "failed" and getattr(self.items.all[message["test"]], "is_saved_seed", False):
                    self.flaky.append(self.names[message["test"]])
                elif message["outcome"] == "failed":
                    failed.append((self.names[message["test"]], message["why"]))
        if failed and not self._is_lenient:
            raise _failing(failed)
        self.flaky += [name for name, _ in failed]
        if not first or "done" not in first[-1]:
            raise self._endless(sum("test" in message for message in first))
        self.peak: int = first[-1]["peak"]
        original_takes(self.peak)
        if not self.in_place:
            self._null_gate()
        if not self._passing:
            raise Refused("no test passes")
        if not self._imported and not self._tests_by_line:
            self._look_elsewhere()
        ran = {path for path, _ in {*self._imported, *self._tests_by_line}}
        reached = [shown for shown, path in self._paths.items() if path in ran]
        found = {"baseline": len(self._passing), "flaky": self.flaky, "names": self.names, "reached": reached}
        say({**found, "seconds": self.seconds()[1]})

    def _endless(self, count: int) -> Refused:
        """Return that the tests do not come to their end, and which one after these is why."""
        what = "the tests do not come to their end without any mutant"
        if count == len(self.names):
            return Refused(what)
        name = self.names[count]
        hint = f"`{shlex.join(['python', '-m', 'pytest', name])}` may show it"
        return Refused(f"{what}: {name} {self._why_ended}", hint)

    def _import_what_tests_do(self, said: Sequence[Message]) -> None:
        """Import the modules of Python that the tests import when they run: else each fork does it anew."""
        if not self.in_place:
            import_all([name for message in said for name in message.get("modules", ())])
            gc.freeze()

    def _look_elsewhere(self) -> None:
        """Refuse where no test runs anything of the files, but imports modules of their names from other files."""
        for shown, path in self._paths.items():
            name = module_name(Path(path))
            file = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(file, str) and real_path(file) != path:
                raise Refused(
                    f"the tests import `{name}` from {file}, and nothing from {shown}",
                    "mutate that one, or let the tests import this one: `pip install -e .`, or `pythonpath` of pytest",
                )

    def _learn(self, message: dict[str, Any]) -> None:
        number = message["test"]
        if message["outcome"] == "passed":
            self._passing.add(number)
            if message["beside"]:
                self._beside.add(number)
            for place in _places(message):
                self._tests_by_line.setdefault(place, []).append(number)
            self._size[number] = sum(map(len, message["lines"].values()))
            self._cpu[number], self._wall[number] = message["cpu"], message["wall"]
            self._turns[number] = message["turns"]

    def _said_covered(self, numbers: list[int]) -> list[Message]:
        """Return what tests say on the original, and which lines they run."""
        if not self.in_place:
            covered = original_job(lambda tell: self._run_covered(numbers, self._counting(tell, len(numbers))))
            # Beside it, the same tests the way that mutants run.
            null = original_job(lambda tell: run_unchanged(self.items, numbers, tell, plainly=True))
            ended = {id(each.job): each for each in run_jobs([covered, null], min(2, self.workers))}
            self._null = (ended[id(null)].said or [{}])[-1]
            self._why_ended = _why(ended[id(covered)])
            said = ended[id(covered)].said
            if not (self._may_import and said and "done" in said[-1] and any(map(_has_failed, said))):
                return said
            # What a program has made when it was imported may be of no use in a fork, such as a thread to be started.
            here = self._said_here(numbers)
            self.in_place = here is not None
            return here or said
        return self._said_here(numbers, until_failure=False) or []

    def _counting(self, say: Say, total: int) -> Say:
        """Return what also tells whoever waits, once a second, how many tests have run."""
        count, due = 0, monotonic() + TOLD_SECONDS

        def tell(message: Message) -> None:
            nonlocal count, due
            say(message)
            count += "test" in message
            if monotonic() >= due:
                due = monotonic() + TOLD_SECONDS
                self._tell({"beginning": f"{count}/{total} tests have run without a mutant"})

        return tell

    def _said_here(self, numbers: list[int], *, until_failure: bool = True) -> list[Message] | None:
        """Run the tests in this process, with the threads that it has: no mutant may run in a fork of it any more.

        None where one fails, if that is to end it.
        """
        said: list[Message] = []

        def tell(message: Message) -> None:
            if until_failure and _has_failed(message):
                raise _HereTooError
            said.append(message)

        try:
            self._run_covered(numbers, self._counting(tell, len(numbers)))
        except _HereTooError:
            return None
        return said

    def _run_covered(self, numbers: list[int], say: Say, *, plainly: bool = False) -> None:
        known = {*sys.modules}
        coverage = LineCoverage(set(self._paths.values()), self._place / "lines")
        coverage.start()
        self.turns.start(0, say)
        before = 0
        for number, outcome, cpu, wall, why in self.items.each_outcome(numbers, plainly=plainly):
            found = {"test": number, "outcome": outcome, "cpu": cpu, "wall": wall, "why": why}
            found |= {"lines": _by_path(coverage.take()), "beside": _by_path(coverage.take_beside())}
            say({**found, "turns": self.turns.count - before})
            before = self.turns.count
        say(
            {
                "done": True,
                "peak": memory_peak(),
                "modules": sorted(name for name in {*sys.modules} - known if is_of_python(name)),
            }
        )

    def _null_gate(self) -> None:
        """Run the unchanged program the way that mutants run. A test that fails there is left out, by name.

        One that fails only without the hooks of pytest has them from then on.
        """
        needing_hooks, known = 0, len(self.flaky)
        # What was asked beside the first run counts where all its tests pass there.
        said = self._null if len(self._passing) == len(self.items) else {}
        said = said or self._said_unchanged(sorted(self._passing), plainly=True)
        while "survived" not in said:
            failed = said.get("failed")
            if failed is not None and failed in self.items.plain:
                needing_hooks += 1
                self.items.plain.forget(failed)
                if needing_hooks > _FLAKY_MAX:
                    self.items.plain.forget_all()
            elif failed is not None and len(self.flaky) - known < _FLAKY_MAX:
                self.leave_out(failed)
            else:
                raise Refused("the unchanged program fails where mutants run, so no verdict would be true")
            said = self._said_unchanged(sorted(self._passing), plainly=True)

    def reverse_run(self) -> Job:
        """Return the job that runs the tests in the reverse order, for ``learn_reverse``."""
        numbers = sorted(self._passing, reverse=True)
        return original_job(lambda tell: self._run_covered(numbers, tell, plainly=True))

    def learn_reverse(self, said: Sequence[Message]) -> None:
        """Learn from what the tests run in the reverse order which lines run in the first test alone."""
        found: dict[tuple[str, int], set[int]] = {}
        for message in said:
            for place in _places(message):
                found.setdefault(place, set()).add(message["test"])
        before = {place: {*tests} for place, tests in self._tests_by_line.items()}
        self._run_once = {place for place in before.keys() | found.keys() if before.get(place) != found.get(place)}

    @property
    def is_reverse_known(self) -> bool:
        """Whether it is known which lines run in the first test alone."""
        return self._run_once is not None

    def _said_unchanged(self, numbers: list[int], *, plainly: bool) -> dict[str, Any]:
        """Return what tests say on the original; nothing where they take too long for any busy machine."""
        for factor in _PATIENCE:
            ended = next(run_jobs([self.unchanged(numbers, factor, plainly=plainly)], 1))
            if ended.said:
                return ended.said[-1]
        return {}

    def leave_out(self, number: int) -> None:
        """Let a test judge nothing any more: it does not pass each time."""
        if number in self._passing:
            self._passing.remove(number)
            self.flaky.append(self.names[number])

    def unchanged(self, numbers: list[int], factor: float = 1.0, *, plainly: bool = False) -> Job:
        """Return the job that runs tests on the original until one fails."""
        cpu, wall = self._limits(numbers, factor)
        return Job(lambda say: run_unchanged(self.items, numbers, say, plainly=plainly), cpu, wall)

    def _limits(self, numbers: list[int], factor: float = 1.0) -> tuple[float, float]:
        cpu = _CPU_FREE + 10 * sum(self._cpu[number] for number in numbers)
        wall = 2.0 + 20 * sum(self._wall[number] for number in numbers)
        return factor * cpu, factor * (wall + cpu)

    def _mutant_limits(self, numbers: list[int], factor: float = 1.0) -> tuple[float, float]:
        if self._fixed is None:
            return self._limits(numbers, factor)
        # Nothing may be called late that takes no longer than the original.
        taken = sum(max(self._cpu[number], self._wall[number]) for number in numbers)
        limit = max(self._fixed, TAKEN_FACTOR * taken)
        return limit, limit

    def seconds(self) -> tuple[float, float]:
        """Return what the whole suite takes: CPU and wall time."""
        return sum(self._cpu.values()), sum(self._wall.values())

    def passing(self) -> list[str]:
        """Return the tests that may notice a mutant."""
        return [self.names[number] for number in sorted(self._passing)]

    # Which tests

    def covering(self, mutant: Mutant) -> list[int]:
        """Return the tests that run a mutant, as they are collected."""
        if mutant.function is None:
            return []
        path = self._paths[mutant.shown]
        found: set[int] = set()
        for line in self._own_lines.of(mutant):
            found.update(self._tests_by_line.get((path, line), ()))
        return sorted(found & self._passing)

    def runs_for_others(self, mutant: Mutant) -> bool:
        """Return whether the tests that run a mutant are not all that it matters to.

        What a cache holds, or a fixture of a module has made, comes of lines that run in the first test alone. In the
        reverse order they run in another one, and that is what tells them.
        """
        path, run_once = self._paths[mutant.shown], self._run_once
        assert run_once is not None
        return any((path, line) in run_once for line in self._own_lines.of(mutant))

    def runs_at_import(self, mutant: Mutant) -> bool:
        """Return whether a mutant runs before any test does."""
        path = self._paths[mutant.shown]
        return any((path, line) in self._imported for line in self._own_lines.of(mutant))

    def nearest(self, numbers: Sequence[int]) -> str:
        """Return the test among these that runs the fewest lines of the program: it is most about them."""
        return self.names[min(numbers, key=lambda number: (self._size[number], number))] if numbers else ""

    def parts(self) -> dict[str, list[str]]:
        """Return the tests that may notice a mutant by their files, in the order of both."""
        found: dict[str, list[str]] = {}
        for number in sorted(self._passing):
            found.setdefault(self._part(number), []).append(self.names[number])
        return found

    def _part(self, number: int) -> str:
        return str(self.items.all[number].path)

    def first_part(self, mutant: Mutant) -> str:
        """Return the file of tests that most likely notices a mutant of what runs at import.

        That is the one with most tests that run anything of the class or function around it, else of its file.
        """
        source, path = self.sources[mutant.shown], self._paths[mutant.shown]
        first, last = source.lines_of(mutant.name)
        by_line = self._parts_by_line(path)
        near = sum((count for line, count in by_line.items() if first <= line <= last), Counter[str]())
        found = near or sum(by_line.values(), Counter[str]()) or Counter(map(self._part, self._passing))
        return max(found.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))[0]

    def _parts_by_line(self, path: str) -> dict[int, Counter[str]]:
        """Return how many tests of each file run each line of a file of the program."""
        if path not in self._files:
            self._files[path] = {
                line: Counter(self._part(number) for number in self._passing.intersection(numbers))
                for (file, line), numbers in self._tests_by_line.items()
                if file == path
            }
        return self._files[path]

    # The mutants

    def trial(self, mutant: Mutant, killer: int | None, factor: float = 1.0, *, plainly: bool = True) -> Trial:
        """Return what judges a mutant: the tests that run it, the one that noticed the last of its function first."""
        numbers = killer_first(killer, self._cheap_first(self.covering(mutant)))
        served = self._place / f"mutant-{mutant.id}" if self._beside.intersection(numbers) else None
        cpu = self._mutant_limits(numbers, factor)[0]
        return Trial(mutant, numbers, cpu, served, plainly)

    def _cheap_first(self, numbers: Sequence[int]) -> list[int]:
        """Return tests such that those which turn much more often than most come last: others may notice.

        It is their turns that count, and not their time: they are the same in each run.
        """
        return sorted(numbers, key=lambda number: max(0, self._turns_of(number).bit_length() - _CHEAP_BITS))

    def trial_by_all(self, mutant: Mutant) -> Trial:
        """Return what judges a mutant as plain pytest would: all tests, in their order."""
        numbers = sorted(self._passing)
        served = self._place / f"mutant-{mutant.id}" if self._beside else None
        return Trial(mutant, numbers, self._mutant_limits(numbers)[0], served, plainly=False)

    def _turns_of(self, number: int) -> int:
        return self._turns.get(number, 0)

    def confirm(self, number: int) -> None:
        """Note that a test notices by all hooks what it notices without them."""
        self._confirmed.add(number)

    def job(self, trials: Sequence[Trial], factor: float = 1.0) -> Job:
        """Return the job that judges mutants one after another."""
        wall = max(self._mutant_limits(trial.numbers, factor)[1] for trial in trials)
        job = Job(lambda say: run_trials(trials, self._runner, say), trials[0].cpu, wall)
        if self._fixed is None:
            # What sleeps is in one test, and no busy machine keeps it from going on.
            slowest = max(self._wall[number] for trial in trials for number in trial.numbers)
            job.asleep = factor * (_ASLEEP_FREE + 20 * slowest)
        return job

    def is_true(self, numbers: list[int], *, plainly: bool) -> bool:
        """Whether the same tests in the same order pass on the original; asked once for each test that kills."""
        trusted = self._plainly_trusted if plainly else self._trusted
        if numbers[-1] not in trusted:
            if "survived" not in self._said_unchanged(numbers, plainly=plainly):
                return False
            trusted.add(numbers[-1])
        return True

    def trust(self, number: int) -> None:
        """Note that a test passes on the original, without hooks, after it has noticed a mutant."""
        self._plainly_trusted.add(number)

    def forced_failures(self, mutants: Sequence[Mutant]) -> None:
        """Refuse a file whose functions may raise at once unnoticed: the swap does not reach its tests."""
        by_file: dict[str, dict[tuple[int, int], Mutant]] = {}
        for mutant in mutants:
            if mutant.function is not None:
                by_file.setdefault(mutant.shown, {}).setdefault(mutant.function, mutant)
        chosen = {shown: [*functions.values()][:_FORCED_MAX] for shown, functions in by_file.items()}
        firsts = [self._forced(shown, functions[0]) for shown, functions in chosen.items()]
        noticed = {ended.job.tag for ended in run_jobs(firsts, self.workers) if self._what_came(ended) == "noticed"}
        for shown, functions in chosen.items():
            if shown not in noticed and self._is_unnoticed(self._forced(shown, each) for each in functions):
                raise Refused(f"{shown}: no test fails when its functions raise, so mutants do not reach the tests")

    def _forced(self, shown: str, mutant: Mutant) -> Job:
        """Return the job that judges a function that raises at once, in the place of a mutant of it."""
        job = self.job([self.trial(raising(self.sources[shown], mutant), None)])
        job.tag = shown
        return job

    def _what_came(self, ended: Ended) -> Literal["noticed", "unnoticed", "no swap"]:
        said = ended.said[-1] if ended.said else {}
        return "unnoticed" if "survived" in said else "no swap" if "not swappable" in said else "noticed"

    def _is_unnoticed(self, jobs: Iterator[Job]) -> bool:
        unnoticed = False
        for job in jobs:
            came = self._what_came(next(run_jobs([job], 1)))
            if came == "noticed":
                return False
            unnoticed = unnoticed or came == "unnoticed"
        return unnoticed


class _HereTooError(Exception):
    """A test fails in this process as well."""


def _has_failed(message: Message) -> bool:
    return message.get("outcome") == "failed"


def _why(ended: Ended) -> str:
    """Return how a test has kept all that come after it from running."""
    if ended.is_late:
        return f"takes longer than {_BASELINE_SECONDS:.0f} s"
    return ended.raised or (f"ends by {signal.Signals(ended.signal).name}" if ended.signal else "ends the process")


def original_job(run: Callable[[Say], None], tag: Any = None) -> Job:
    """Return a job that runs the program as it is, for as long as that takes within reason."""
    return Job(run, 0, _BASELINE_SECONDS, tag, is_original=True)


def is_of_python(name: str) -> bool:
    """Return whether a module is one of Python's own. Those that do something when they are imported are left alone."""
    first = name.partition(".")[0]
    return first in sys.stdlib_module_names and first not in ("antigravity", "idlelib", "test", "this", "turtledemo")


def import_all(names: Sequence[str]) -> None:
    """Import modules; one that cannot be imported is left to whoever needs it."""
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)


def _by_path(lines: Lines) -> dict[str, list[int]]:
    """Return lines such that each path is told once: it is most of what there is to tell."""
    found: dict[str, list[int]] = {}
    for path, line in lines:
        found.setdefault(path, []).append(line)
    return {path: sorted(numbers) for path, numbers in found.items()}


def _places(message: Message) -> Lines:
    """Return the lines that a test has run, itself or beside it."""
    told = (message.get("lines", {}), message.get("beside", {}))
    return {(path, line) for each in told for path, lines in each.items() for line in lines}


def _failing(failed: Sequence[tuple[str, str]]) -> Refused:
    """Return that tests fail without any mutant: the first of them, and why it does."""
    (name, why), more = failed[0], len(failed) - 1
    told = [each for each in why.strip().splitlines() if each.strip()][-1:]
    them = f"these {len(failed)} tests" if more else "it"
    others = f" and {more} more" if more else ""
    hint = f"`--deselect-failing` goes on without {them}"
    return Refused(f"the tests fail without any mutant: {name}{others}", "; ".join([*told, hint]))


def module_name(path: Path) -> str:
    """Return the dotted name of a file as the packages that hold it give it."""
    parts = [] if path.stem == "__init__" else [path.stem]
    for folder in path.parents:
        if not (folder / "__init__.py").exists():
            break
        parts.insert(0, folder.name)
    return ".".join(parts)


def raising(source: Source, mutant: Mutant) -> Mutant:
    """Return the mutant whose function raises as soon as it is called."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function) and mutant.function is not None:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == mutant.function[0] and node.end_lineno == mutant.function[1]:
                span = source.start(node.body[0]), source.end(node.body[-1])
                text = f"raise {padded(source.part(span), 'SystemError(1)')}"
                kept = " ; yield" if any(isinstance(each, ast.Yield) for each in ast.walk(node)) else ""
                return dataclasses.replace(mutant, start=span[0], end=span[1], replacement=text + kept)
    raise AssertionError("a mutant's function is in its file")
