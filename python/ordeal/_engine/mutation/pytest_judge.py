"""Judges mutants by the tests of a pytest suite, in a process that has collected them and never runs one itself.

``python -m ordeal._engine.mutation.pytest_judge ORDER FD`` writes what it finds to the descriptor, in lines of JSON.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ordeal._engine.mutation.forks import Ended, Job, Say, run_jobs
from ordeal._engine.mutation.line_coverage import LineCoverage
from ordeal._engine.mutation.mutants import Mutant, compiled_unit
from ordeal._engine.mutation.operators import padded
from ordeal._engine.mutation.pytest_items import FailureWatch, Items
from ordeal._engine.mutation.source import Function, Source
from ordeal._engine.mutation.swap import LiveFunctions, NotSwappable, Swap, codes_in, real_path

_BASELINE_SECONDS = 600.0
_FORCED_MAX = 5

Lines = set[tuple[str, int]]


class Refused(Exception):  # noqa: N818 - it is an answer: no verdict is possible
    """No verdict is possible, and why."""


class Suite:
    """The collected suite: which tests pass, what each covers and takes, and the mutants judged by them."""

    def __init__(self, order: dict[str, Any], say: Say, sources: list[Source], imported: Lines) -> None:
        self._say = say
        self._workers: int = order["workers"]
        self._sources = {source.shown: source for source in sources}
        self._imported = imported
        self.mutants = [_mutant_of(fields) for fields in order["mutants"]]
        self._lines_by_test: dict[int, Lines] = {}
        self._cpu: dict[int, float] = {}
        self._wall: dict[int, float] = {}
        self._killer: dict[tuple[str, tuple[int, int] | None], int] = {}
        self._trusted: set[tuple[int, ...]] = set()
        self._code_lines: dict[tuple[str, tuple[int, int] | None], set[int]] = {}
        self.flaky: list[str] = []

    def judge(self, items: Items) -> list[Mutant]:
        """Judge what can be judged in memory. Return the mutants whose code runs at import: they need another way."""
        self._items = items
        if not len(items):
            raise Refused("no tests were collected")
        self._baseline()
        paths = {real_path(str(source.path)) for source in self._sources.values()}
        self._live = LiveFunctions(paths)
        at_import, swapped = [], []
        for mutant in self.mutants:
            covering = self._covering(mutant)
            if mutant.function is None or (not covering and self._runs_at_import(mutant)):
                at_import.append(mutant)
            elif covering:
                swapped.append(mutant)
            else:
                self._verdict(mutant, "uncovered", route="none")
        self._forced_failures(swapped)
        jobs = (self._job(mutant) for mutant in swapped)
        for ended in run_jobs(jobs, self._workers):
            at_import += self._take(ended)
        return at_import

    def passing(self) -> list[str]:
        """Return the tests that may notice a mutant."""
        names = self._items.names()
        return [names[number] for number in sorted(self._lines_by_test)]

    def seconds(self) -> tuple[float, float]:
        """Return what the whole suite takes: CPU and wall time."""
        return sum(self._cpu.values()), sum(self._wall.values())

    # The baseline

    def _baseline(self) -> None:
        numbers = list(range(len(self._items)))
        first = next(run_jobs([Job(lambda say: self._run_covered(numbers, say), 0, _BASELINE_SECONDS)], 1))
        names, failed = self._items.names(), []
        for message in first.said:
            if "test" not in message:
                continue
            number = message["test"]
            if message["outcome"] == "failed":
                failed.append((names[number], message["why"]))
            elif message["outcome"] == "passed":
                self._lines_by_test[number] = {(path, line) for path, line in message["lines"]}
                self._cpu[number], self._wall[number] = message["cpu"], message["wall"]
        if failed:
            raise Refused(f"the tests fail without any mutant: {failed[0][0]}", *failed[0][1:], len(failed))
        if not first.said or "done" not in first.said[-1]:
            raise Refused("the tests do not come to their end without any mutant")
        self._null_gate()
        if not self._lines_by_test:
            raise Refused("no test passes")
        self._say({"baseline": len(self._lines_by_test), "flaky": self.flaky, "seconds": sum(self._wall.values())})

    def _run_covered(self, numbers: list[int], say: Say) -> None:
        coverage = LineCoverage({real_path(str(source.path)) for source in self._sources.values()})
        coverage.start()
        for number, outcome, cpu, wall, why in self._items.each_outcome(numbers):
            lines = sorted(coverage.take())
            say({"test": number, "outcome": outcome, "cpu": cpu, "wall": wall, "why": why, "lines": lines})
        say({"done": True})

    def _null_gate(self) -> None:
        """Run the unchanged program the way that mutants run. A test that fails there is left out, by name."""
        while True:
            numbers = sorted(self._lines_by_test)
            ended = next(run_jobs([self._suite_job(numbers)], 1))
            said = ended.said[-1] if ended.said else {}
            if "survived" in said:
                return
            if "failed" not in said or len(self.flaky) >= 20:
                raise Refused("the unchanged program fails where mutants run, so no verdict would be true")
            self.flaky.append(self._items.names()[said["failed"]])
            del self._lines_by_test[said["failed"]]

    def _suite_job(self, numbers: list[int], tag: Any = None, factor: float = 1.0) -> Job:
        cpu, wall = self._limits(numbers, factor)
        return Job(lambda say: self._run_tests(numbers, say), cpu, wall, tag)

    def _limits(self, numbers: list[int], factor: float = 1.0) -> tuple[float, float]:
        cpu = 0.1 + 10 * sum(self._cpu[number] for number in numbers)
        wall = 2.0 + 20 * sum(self._wall[number] for number in numbers)
        return factor * cpu, factor * (wall + cpu)

    def _run_tests(self, numbers: list[int], say: Say) -> None:
        for each in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), each)

        def fail(number: int, kind: str) -> None:
            say({"failed": number, "kind": kind})
            os._exit(0)

        self._items.run_until_failure(numbers, fail)
        say({"survived": len(numbers)})

    # Which tests

    def _own_lines(self, mutant: Mutant) -> set[int]:
        """The lines that cover a mutant: those of its statement that have code, else all of its function."""
        key = (mutant.shown, mutant.function)
        if key not in self._code_lines:
            source = self._sources[mutant.shown]
            unit = compiled_unit(source, source.text, mutant.function)
            self._code_lines[key] = {
                line for code in codes_in(unit) if code.co_name != "<module>" for *_, line in code.co_lines() if line
            }
        first, last = mutant.lines
        own = {line for line in self._code_lines[key] if first <= line <= last}
        return own or self._code_lines[key]

    def _covering(self, mutant: Mutant) -> list[int]:
        path = real_path(str(self._sources[mutant.shown].path))
        wanted = {(path, line) for line in self._own_lines(mutant)} if mutant.function else set()
        return [number for number, lines in sorted(self._lines_by_test.items()) if wanted & lines]

    def _runs_at_import(self, mutant: Mutant) -> bool:
        path = real_path(str(self._sources[mutant.shown].path))
        return bool({(path, line) for line in self._own_lines(mutant)} & self._imported)

    def _in_order(self, mutant: Mutant) -> list[int]:
        """The covering tests as they are collected, the one that noticed the last mutant of the function first."""
        covering = self._covering(mutant)
        last = self._killer.get((mutant.shown, mutant.function))
        return [last, *(each for each in covering if each != last)] if last in covering else covering

    # The mutants

    def _job(self, mutant: Mutant, factor: float = 1.0) -> Job:
        numbers = self._in_order(mutant)
        cpu, wall = self._limits(numbers, factor)

        def run(say: Say) -> None:
            try:
                Swap(self._live, self._sources[mutant.shown], mutant)
            except NotSwappable as error:
                say({"not swappable": str(error)})
                return
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not pass for a test that fails
                say({"not run": f"{type(error).__name__}: {error}"[:300]})
                return
            self._run_tests(numbers, say)

        return Job(run, cpu, wall, (mutant, numbers, factor))

    def _take(self, ended: Ended) -> Iterator[Mutant]:
        """Say what became of a mutant; yield it where it must be judged by importing it."""
        mutant, numbers, factor = ended.job.tag
        said = ended.said[-1] if ended.said else {}
        if "not swappable" in said:
            yield mutant
        elif "not run" in said:
            self._verdict(mutant, "not run", note=said["not run"])
        elif "survived" in said:
            if self._runs_at_import(mutant):
                yield mutant
            else:
                self._verdict(mutant, "survived", tests=said["survived"])
        elif "failed" in said:
            yield from self._take_failure(mutant, numbers, said["failed"], said["kind"])
        elif ended.is_late and factor == 1.0:
            # It waited, perhaps for a busy machine: it gets four times as long, alone.
            for again in run_jobs([self._job(mutant, 4.0)], 1):
                yield from self._take(again)
        elif ended.is_late or ended.signal == signal.SIGPROF:
            self._verdict(mutant, "timeout", tests=len(numbers))
        elif said.get("raised", "").startswith("MemoryError"):
            self._verdict(mutant, "memory", tests=len(numbers))
        elif ended.signal:
            self._verdict(mutant, "crash", tests=len(numbers), note=signal.Signals(ended.signal).name)
        else:
            self._verdict(mutant, "killed", tests=len(numbers), note=said.get("raised", "it ends the process"))

    def _take_failure(self, mutant: Mutant, numbers: list[int], killer: int, kind: str) -> Iterator[Mutant]:
        ran = numbers[: numbers.index(killer) + 1]
        if not self._passes_unchanged(ran):
            # In this order it fails without a mutant, too: what it says counts no more, and the mutant is judged anew.
            self.flaky.append(self._items.names()[killer])
            self._lines_by_test.pop(killer, None)
            if not self._covering(mutant):
                self._verdict(mutant, "not run", note="the only test that runs it is not stable")
                return
            for again in run_jobs([self._job(mutant)], 1):
                yield from self._take(again)
            return
        self._killer[mutant.shown, mutant.function] = killer
        word = "memory" if kind == "MemoryError" else "killed"
        self._verdict(mutant, word, killer=self._items.names()[killer], tests=len(ran))

    def _passes_unchanged(self, numbers: list[int]) -> bool:
        """Whether the same tests in the same order pass on the original; asked once for each test that kills."""
        key = (numbers[-1],)
        if key not in self._trusted:
            ended = next(run_jobs([self._suite_job(numbers, factor=4.0)], 1))
            if not (ended.said and "survived" in ended.said[-1]):
                return False
            self._trusted.add(key)
        return True

    def _forced_failures(self, mutants: list[Mutant]) -> None:
        """Refuse a file whose functions may raise at once unnoticed: the swap does not reach its tests."""
        by_file: dict[str, dict[tuple[int, int], Mutant]] = {}
        for mutant in mutants:
            if mutant.function is not None:
                by_file.setdefault(mutant.shown, {}).setdefault(mutant.function, mutant)
        for shown, functions in by_file.items():
            tried = [_raising(self._sources[shown], each) for each in list(functions.values())[:_FORCED_MAX]]
            jobs = (self._job(each) for each in tried)
            answers = [ended.said[-1] if ended.said else {"failed": 0} for ended in run_jobs(jobs, self._workers)]
            swapped = [each for each in answers if "not swappable" not in each]
            if swapped and all("survived" in each for each in swapped):
                raise Refused(f"{shown}: no test fails when its functions raise, so mutants do not reach the tests")

    def _verdict(self, mutant: Mutant, word: str, **more: Any) -> None:
        self._say({"verdict": word, "id": mutant.id, "route": "swap", **more})


def _mutant_of(fields: dict[str, Any]) -> Mutant:
    function = fields.pop("function")
    return Mutant(
        **{**fields, "lines": tuple(fields["lines"])}, function=tuple(function) if function is not None else None
    )


def _raising(source: Source, mutant: Mutant) -> Mutant:
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


class JudgePlugin:
    """The plugin that takes the place of running the tests, once they are collected."""

    def __init__(self, order: dict[str, Any], say: Say, sources: list[Source], coverage: LineCoverage) -> None:
        self._order, self._say, self._sources, self._coverage = order, say, sources, coverage
        self.watch = FailureWatch()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Judge, and say what is left to be judged by importing it."""
        imported = self._coverage.take()
        self._coverage.stop()
        if session.testsfailed:
            raise Refused("tests cannot be collected: `python -m pytest` says why")
        others = [each.name for each in threading.enumerate() if each is not threading.main_thread()]
        if others:
            raise Refused(f"a thread runs once the tests are collected: {others[0]}")
        suite = Suite(self._order, self._say, self._sources, imported)
        left = suite.judge(Items(session, self.watch))
        cpu, wall = suite.seconds()
        self._say({"left": [each.id for each in left], "tests": suite.passing(), "cpu": cpu, "wall": wall})
        return True


class ImportPlugin:
    """The plugin for a mutant that runs at import: the tests that pass without it, until one fails."""

    def __init__(self, tests: set[str], say: Say) -> None:
        self._tests, self._say = tests, say
        self.watch = FailureWatch()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what may not judge."""
        items[:] = [item for item in items if item.nodeid in self._tests]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Run until the first failure. A collection that fails is one."""
        if session.testsfailed:
            self._fail("", "collection")
        items = Items(session, self.watch)
        names = items.names()
        items.run_until_failure(range(len(items)), lambda number, kind: self._fail(names[number], kind))
        self._say({"survived": len(items)})
        os._exit(0)

    def _fail(self, name: str, kind: str) -> None:
        self._say({"failed": name, "kind": kind})
        os._exit(0)


def _pytest_arguments(order: dict[str, Any]) -> list[str]:
    found = ["-p", "no:cacheprovider", "-p", "no:randomly", "-q"]
    found += ["-n0"] if importlib.util.find_spec("xdist") else []
    found += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
    return [*found, *order["tests"]]


def _judge(order: dict[str, Any], say: Say, sources: list[Source]) -> None:
    coverage = LineCoverage({real_path(str(source.path)) for source in sources})
    coverage.start()
    plugin = JudgePlugin(order, say, sources, coverage)
    try:
        _silent_pytest(_pytest_arguments(order), [plugin, plugin.watch])
    except Refused as refused:
        say({"refused": [str(each) for each in refused.args]})


def _silent_pytest(arguments: list[str], plugins: list[Any]) -> Any:
    class Through:
        """Lets what the plugins raise reach us: pytest would print it, and end with a code."""

        raised: BaseException | None = None

        @pytest.hookimpl(wrapper=True)
        def pytest_runtestloop(self) -> Any:
            try:
                return (yield)
            except Refused as error:
                Through.raised = error
                return True

    code = pytest.main(arguments, plugins=[*plugins, Through()])
    if Through.raised is not None:
        raise Through.raised
    if code not in (0, 5):
        raise Refused(f"pytest ends with code {int(code)} before any test: `python -m pytest` says why")
    return code


def _by_import(order: dict[str, Any], source: Source, mutant: Mutant | None, tests: set[str], say: Say) -> None:
    """Run the suite with a file served from memory."""
    path = real_path(str(source.path))
    text = source.text if mutant is None else mutant.applied(source.text)
    if mutant is not None and (reason := never_imported_anew(path, text)):
        say({"not run": reason})
        return
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if real_path(self.path) == path:
            return compile(text, self.path, "exec", dont_inherit=True)
        return original(self, fullname)

    loader.get_code = get_code  # type: ignore[method-assign]
    plugin = ImportPlugin(tests, say)
    pytest.main(_pytest_arguments(order), plugins=[plugin, plugin.watch])
    # Had the tests been collected, the plugin had ended the process.
    say({"failed": "", "kind": "collection"})


def never_imported_anew(path: str, text: bytes) -> str:
    """Return why no test would meet this text of a file; empty if the tests import it."""
    files = [vars(module).get("__file__") for module in [*sys.modules.values()] if type(module) is ModuleType]
    if any(isinstance(each, str) and real_path(each) == path for each in files):
        return "pytest or one of its plugins has imported the file before the tests do"
    try:
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"it does not compile: {error}"
    return ""


def _import_jobs(order: dict[str, Any], sources: dict[str, Source], answer: dict[str, Any]) -> Iterator[Job]:
    tests = set(answer["tests"])
    cpu, wall = 15 + 10 * answer["cpu"], 30 + 20 * answer["wall"]
    mutants = {fields["id"]: fields for fields in order["mutants"]}
    for each in answer["left"]:
        mutant = _mutant_of(dict(mutants[each]))

        def run(say: Say, mutant: Mutant = mutant) -> None:
            _by_import(order, sources[mutant.shown], mutant, tests, say)

        yield Job(run, cpu, wall, mutant)


def _judge_by_import(order: dict[str, Any], sources: list[Source], answer: dict[str, Any], say: Say) -> None:
    if not answer["left"]:
        return
    by_name = {source.shown: source for source in sources}
    tests = set(answer["tests"])
    null = Job(lambda tell: _by_import(order, sources[0], None, tests, tell), 0, _BASELINE_SECONDS)
    ended = next(run_jobs([null], 1))
    if not (ended.said and ended.said[-1].get("survived") == len(tests)):
        say(
            {"refused": ["the unchanged program fails where mutants of imported code run, so no verdict would be true"]}
        )
        return
    for ended in run_jobs(_import_jobs(order, by_name, answer), order["workers"]):
        said = ended.said[-1] if ended.said else {}
        more: dict[str, Any] = {"id": ended.job.tag.id, "route": "import"}
        if "not run" in said:
            say({"verdict": "not run", "note": said["not run"], **more})
        elif "survived" in said:
            say({"verdict": "survived", "tests": said["survived"], **more})
        elif "failed" in said:
            note = "" if said["failed"] else "at import"
            word = "memory" if said["kind"] == "MemoryError" else "killed"
            say({"verdict": word, "killer": said["failed"], "note": note, **more})
        elif ended.is_late or ended.signal == signal.SIGPROF:
            say({"verdict": "timeout", **more})
        elif ended.signal:
            say({"verdict": "crash", "note": signal.Signals(ended.signal).name, **more})
        else:
            say({"verdict": "killed", "note": said.get("raised", "it ends the process"), **more})


def _quiet_hypothesis() -> None:
    """Let Hypothesis find the same in each process, at once, and write nothing."""
    from hypothesis import HealthCheck, Phase, settings  # noqa: PLC0415 - only a process that judges needs it

    settings.register_profile(
        "ordeal mutate",
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[*HealthCheck],
    )
    settings.load_profile("ordeal mutate")


def _collect_in_fork(order: dict[str, Any], sources: list[Source], say: Say) -> None:
    """Judge in memory, in a fork: this process stays one that has imported nothing of the program."""

    def keep(message: dict[str, Any]) -> None:
        if "left" in message:
            Path(order["left"]).write_text(json.dumps(message), "utf-8")
        else:
            say(message)

    pid = os.fork()
    if pid == 0:
        try:
            _judge(order, keep, sources)
        except BaseException as error:  # noqa: BLE001 - it must not go on as its parent
            say({"refused": [f"{type(error).__name__}: {error}"]})
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def main() -> None:
    """Judge the mutants of an order."""
    order = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    answers = int(sys.argv[2])
    sys.dont_write_bytecode = True
    sys.argv = ["pytest"]
    _quiet_hypothesis()
    for each in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), each)
    sources = [Source.of(Path(path), shown) for path, shown in order["sources"]]

    def say(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(answers, data) :]

    _collect_in_fork(order, sources, say)
    left = Path(order["left"])
    if left.exists():
        _judge_by_import(order, sources, json.loads(left.read_text("utf-8")), say)
        say({"done": True})


if __name__ == "__main__":
    main()
