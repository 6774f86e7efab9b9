"""The tests that judge: which of them run a mutant, in which order, with which limits, and how far each is trusted."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from ordeal._tools.mutation.forks import Ended, Job, Message, Say, original_takes, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.judging.baseline import (
    UNSTEADY_MAX,
    Baseline,
    Lines,
    Original,
    endless,
    failing,
    import_all,
    original_job,
    refuse_other_files,
)
from ordeal._tools.mutation.judging.trials import TestRunner, Trial, Turns, killer_first, run_trials, run_unchanged
from ordeal._tools.mutation.mutants import Mutant, raising
from ordeal._tools.mutation.own_process import Refused
from ordeal._tools.mutation.pytest_items import Items
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, OwnLines

_FORCED_MAX = 5
#: Nothing hangs without a mutant: a run that is late gets much longer before its tests count as unstable.
_PATIENCE = 4.0, 40.0


def begun_suite(
    items: Items,
    sources: Sequence[Source],
    imported: Lines,
    workers: int,
    say: Say,
    *,
    leave_out_failing: bool = False,
    in_place: bool = False,
) -> Suite:
    """Run all tests on the original, twice, and return the suite.

    They run in this process if ``in_place``: then no mutant may run in a fork of it.

    Raises:
        Refused: no verdict is possible.
    """
    if not len(items):
        raise Refused("no tests were collected")
    paths = {source.shown: real_path(str(source.path)) for source in sources}
    live = LiveFunctions({*paths.values()})
    # A garbage collection in a fork would write to all present pages, and so copy them.
    gc.collect()
    gc.freeze()
    original = Original(items, Turns(live), {*paths.values()}, say)
    ran = original.run_all(workers, in_place=in_place)
    if not in_place:
        # Otherwise each fork would repeat the imports that tests make when they run.
        import_all(name for message in ran.said for name in message.get("modules", ()))
        gc.freeze()
    baseline = Baseline.of(items, ran.said)
    refused = [
        (baseline.names[number], why)
        for number, why in baseline.failed.items()
        # A saved seed that fails is known to fail.
        if number not in ran.unsteady and not getattr(items.all[number], "is_saved_seed", False)
    ]
    if refused and not leave_out_failing:
        raise failing(refused)
    if not ran.said or "done" not in ran.said[-1]:
        raise endless(ran, baseline.names)
    original_takes(baseline.peak)
    suite = Suite(original, baseline, live, sources, imported, workers)
    if not in_place:
        suite.null_gate(ran.unwatched)
    passing = suite.passing()
    if not passing:
        raise Refused("no test passes")
    if not imported and not baseline.tests_by_line:
        refuse_other_files(paths)
    found = {"baseline": len(passing), "flaky": suite.flaky, "names": suite.names}
    say({**found, "seconds": suite.seconds()[1]})
    return suite


class Suite:
    """The tests that pass on the original, by number, and how far each is trusted.

    Attributes:
        flaky: the tests that do not pass each time, and judge nothing.
        dependent: the tests that fail on the original without those before them: they judge with all.
    """

    def __init__(
        self,
        original: Original,
        baseline: Baseline,
        live: LiveFunctions,
        sources: Sequence[Source],
        imported: Lines,
        workers: int,
    ) -> None:
        self.baseline, self.workers, self.names = baseline, workers, baseline.names
        self.items, self._original = original.items, original
        self._sources = {source.shown: source for source in sources}
        self._paths = {source.shown: real_path(str(source.path)) for source in sources}
        self._imported = imported
        self._ran: dict[str, Lines] = {}
        for place in {*imported, *baseline.tests_by_line}:
            self._ran.setdefault(place[0], set()).add(place)
        self._passing = {*baseline.turns}
        self.flaky = [self.names[number] for number in baseline.failed]
        self._trusted: set[int] = set()
        self.dependent: set[int] = set()
        self._own_lines = OwnLines(self._sources)
        #: Lines that run in another test where the tests run in the reverse order; None until they have.
        self._run_once: Lines | None = None
        self._files: dict[str, dict[int, Counter[str]]] = {}
        self._runner = TestRunner(self.items, original.turns, self._turns_of, live, self._sources, self._trusted)

    def null_gate(self, said: Message) -> None:
        """Run the unchanged program the way that mutants run. Leave out tests that fail there.

        ``said`` is the answer of all tests, which is enough if all of them pass.

        Raises:
            Refused: too many tests fail.
        """
        known = len(self.flaky)
        said = said if len(self._passing) == len(self.items) else {}
        said = said or self._said_unchanged(sorted(self._passing))
        while "survived" not in said:
            failed = said.get("failed")
            if failed is not None and len(self.flaky) - known < UNSTEADY_MAX:
                self.leave_out(failed)
            else:
                raise Refused("the unchanged program fails where mutants run, so no verdict would be true")
            said = self._said_unchanged(sorted(self._passing))

    def reverse_run(self) -> Job:
        """Return the job that runs the tests in the reverse order, for ``learn_reverse``."""
        numbers = sorted(self._passing, reverse=True)
        return original_job(lambda tell: self._original.run(numbers, tell))

    def learn_reverse(self, said: Sequence[Message]) -> None:
        """Learn from a run in the reverse order which lines run only in the first test."""
        self._run_once = self.baseline.reverse_differs(said)

    @property
    def is_reverse_known(self) -> bool:
        """Return True if it is known which lines run only in the first test."""
        return self._run_once is not None

    def _said_unchanged(self, numbers: list[int]) -> dict[str, Any]:
        """Return the answers of tests on the original; nothing if they take too long even for a busy machine."""
        for factor in _PATIENCE:
            ended = next(run_jobs([self.unchanged(numbers, factor)], 1))
            if ended.said:
                return ended.said[-1]
        return {}

    def leave_out(self, number: int) -> None:
        """Exclude a test that does not pass each time from judging."""
        if number in self._passing:
            self._passing.remove(number)
            self.flaky.append(self.names[number])

    def unchanged(self, numbers: list[int], factor: float = 1.0) -> Job:
        """Return the job that runs tests on the original until one fails."""
        cpu, wall = self._limits(numbers, factor)
        return Job(lambda say: run_unchanged(self.items, numbers, say), cpu, wall)

    def _limits(self, numbers: list[int], factor: float = 1.0) -> tuple[float, float]:
        # Long enough for every loop in Python to meet its limit of turns first, which is the same on a busy machine.
        cpu = 0.5 + 10 * sum(self.baseline.cpu[number] for number in numbers)
        wall = 2.0 + 20 * sum(self.baseline.wall[number] for number in numbers)
        return factor * cpu, factor * (wall + cpu)

    def seconds(self) -> tuple[float, float]:
        """Return the CPU and wall time of the whole suite."""
        return sum(self.baseline.cpu.values()), sum(self.baseline.wall.values())

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
            found.update(self.baseline.tests_by_line.get((path, line), ()))
        return sorted(found & self._passing)

    def runs_for_others(self, mutant: Mutant) -> bool:
        """Return True if a mutant may matter to tests that do not run it.

        Lines that fill a cache, or make a fixture of a module, run only in the first test that needs it. In the reverse
        order another test runs them, which reveals them.
        """
        path, run_once = self._paths[mutant.shown], self._run_once
        assert run_once is not None
        return any((path, line) in run_once for line in self._own_lines.of(mutant))

    def runs_at_import(self, mutant: Mutant) -> bool:
        """Return True if a mutant runs before any test, or is outside of functions and runs at all."""
        path, source = self._paths[mutant.shown], self._sources[mutant.shown]
        lines, in_function = self._own_lines.of(mutant), mutant.function is not None
        if default := source.default_at((mutant.start, mutant.end)):
            # A decorator may read defaults when the function is made, and so may a test that calls nothing.
            above = (default[0], *source.ancestors(default[0]))
            if any(getattr(each, "decorator_list", None) for each in above) or not self.covering(mutant):
                lines, in_function = {default[0].lineno}, False
        if in_function:
            return any((path, line) in self._imported for line in lines)
        # If nothing of the file has run, it was imported before the lines were watched.
        return path not in self._ran or any((path, line) in self._ran[path] for line in lines)

    def readers(self, mutant: Mutant) -> list[str]:
        """Return the tests that read the file of a mutant, or run it again: they do not meet it in memory."""
        found = self.baseline.readers.get(self._paths[mutant.shown], frozenset())
        return [self.names[number] for number in sorted(found & self._passing)]

    def nearest(self, numbers: Sequence[int]) -> str:
        """Return the test among these that runs the fewest lines of the program: it is the most specific."""
        return self.names[min(numbers, key=lambda number: (self.baseline.sizes[number], number))] if numbers else ""

    def parts(self) -> dict[str, list[str]]:
        """Return the tests that may notice a mutant, grouped by file, in order."""
        found: dict[str, list[str]] = {}
        for number in sorted(self._passing):
            found.setdefault(self.baseline.files[number], []).append(self.names[number])
        return found

    def first_part(self, mutant: Mutant) -> str:
        """Return the file of tests that most likely notices a mutant of code that runs at import; empty for none.

        That is the one with most tests that run anything of the class or function around it, else of its file.
        """
        path = self._paths[mutant.shown]
        if path not in self._files:
            self._files[path] = {
                line: Counter(self.baseline.files[number] for number in self._passing.intersection(numbers))
                for (file, line), numbers in self.baseline.tests_by_line.items()
                if file == path
            }
        by_line, (first, last) = self._files[path], self._sources[mutant.shown].lines_of(mutant.name)
        near = [count for line, count in by_line.items() if first <= line <= last]
        found = sum(near, Counter[str]()) or sum(by_line.values(), Counter[str]())
        return max(found.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))[0]

    # The mutants

    def trial(self, mutant: Mutant, killer: int | None, factor: float = 1.0, *, alone: bool = False) -> Trial:
        """Return the trial of a mutant: the tests that run it, first the one that noticed the last of its function."""
        # Tests with many more turns than most come last: others may notice first. Turns count here, and not time,
        # because they are the same in each run. Tests of fewer turns than this power of two keep the suite's order.
        numbers = sorted(self.covering(mutant), key=lambda number: max(0, self._turns_of(number).bit_length() - 10))
        if alone and not self.dependent.isdisjoint(numbers):
            return self.trial_by_all(mutant)
        numbers = killer_first(killer, numbers)
        served = not self.baseline.forking.isdisjoint(numbers)
        cpu = self._limits(numbers, factor)[0]
        return Trial(mutant, numbers, cpu, served, alone)

    def trial_by_all(self, mutant: Mutant) -> Trial:
        """Return the trial of a mutant as plain pytest would run it: all tests, in their order."""
        numbers = sorted(self._passing)
        served = bool(self.baseline.forking)
        return Trial(mutant, numbers, self._limits(numbers)[0], served, alone=True)

    def _turns_of(self, number: int) -> int:
        return self.baseline.turns.get(number, 0)

    def job(self, trials: Sequence[Trial], factor: float = 1.0) -> Job:
        """Return the job that judges mutants one after another."""
        wall = max(self._limits(trial.numbers, factor)[1] for trial in trials)
        job = Job(lambda say: run_trials(trials, self._runner, say), trials[0].cpu, wall)
        # A job sleeps within one test, and a busy machine does not make it sleep longer.
        slowest = max((self.baseline.wall[number] for trial in trials for number in trial.numbers), default=0.0)
        job.asleep = factor * (1.0 + 20 * slowest)
        return job

    def is_true(self, numbers: list[int]) -> bool:
        """Return True if the same tests in the same order pass on the original; cached for each test that kills."""
        if numbers[-1] not in self._trusted:
            if "survived" not in self._said_unchanged(numbers):
                return False
            self.trust(numbers[-1])
        return True

    def trust(self, number: int) -> None:
        """Note that a test passes on the original after it has noticed a mutant."""
        self._trusted |= {number} - self.dependent

    def forced_failures(self, mutants: Sequence[Mutant]) -> None:
        """Refuse a file whose functions may raise at once unnoticed: its tests do not meet mutants in memory."""
        by_file: dict[str, dict[tuple[int, int], Mutant]] = {}
        for mutant in mutants:
            if mutant.function is not None and not self.readers(mutant):
                by_file.setdefault(mutant.shown, {}).setdefault(mutant.function, mutant)
        chosen = {shown: [*functions.values()][:_FORCED_MAX] for shown, functions in by_file.items()}
        firsts = [self._forced(shown, functions[0]) for shown, functions in chosen.items()]
        noticed = {ended.job.tag for ended in run_jobs(firsts, self.workers) if self._what_came(ended) == "noticed"}
        for shown, functions in chosen.items():
            if shown in noticed:
                continue
            came = {self._what_came(next(run_jobs([self._forced(shown, each)], 1))) for each in functions}
            if "noticed" not in came and "unnoticed" in came:
                raise Refused(f"{shown}: no test fails when its functions raise, so mutants do not reach the tests")

    def _forced(self, shown: str, mutant: Mutant) -> Job:
        """Return the job that judges a function that raises at once, in place of its mutant."""
        job = self.job([self.trial(raising(self._sources[shown], mutant), None)])
        job.tag = shown
        return job

    def _what_came(self, ended: Ended) -> Literal["noticed", "unnoticed", "no swap"]:
        said = ended.said[-1] if ended.said else {}
        return "unnoticed" if "survived" in said else "no swap" if "not swappable" in said else "noticed"
