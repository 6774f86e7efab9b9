"""Judges mutants by the tests of a pytest suite, in a process that has collected them and never runs one itself.

``python -m ordeal._engine.mutation.pytest_judge ORDER FD PARENT`` writes what it finds to the descriptor, in lines of
JSON, and ends when its parent does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ordeal._engine.mutation.forks import Job, Say, run_jobs
from ordeal._engine.mutation.interpreters import sitecustomize
from ordeal._engine.mutation.interpreters.sitecustomize import real_path, serve
from ordeal._engine.mutation.judging.lanes import Lanes
from ordeal._engine.mutation.judging.quiet_hypothesis import quieten
from ordeal._engine.mutation.judging.suite import Refused, Suite
from ordeal._engine.mutation.judging.trials import offer
from ordeal._engine.mutation.line_coverage import LineCoverage
from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.own_process import begun
from ordeal._engine.mutation.pytest_items import FailureWatch, Items
from ordeal._engine.mutation.source import Source
from ordeal._native import die_with

_BASELINE_SECONDS = 600.0


def _mutant_of(fields: dict[str, Any]) -> Mutant:
    function = tuple(fields["function"]) if fields["function"] is not None else None
    return Mutant(**{**fields, "lines": tuple(fields["lines"]), "function": function})


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
        quieten(session.items)
        place = Path(self._order["left"]).parent
        suite = Suite(Items(session, self.watch), self._sources, imported, self._order["workers"], place)
        suite.begin(self._say)
        left = self._judge(suite)
        cpu, wall = suite.seconds()
        self._say({"left": [each.id for each in left], "tests": suite.passing(), "cpu": cpu, "wall": wall})
        return True

    def _judge(self, suite: Suite) -> list[Mutant]:
        """Judge what can be judged in memory. Return the mutants whose code runs at import: they need another way."""
        lanes = Lanes(suite, self._say, self._order["isolation"])
        swapped = []
        for mutant in [_mutant_of(fields) for fields in self._order["mutants"]]:
            covering = suite.covering(mutant)
            if mutant.function is None or (not covering and suite.runs_at_import(mutant)):
                lanes.at_import.append(mutant)
            elif covering:
                swapped.append(mutant)
            else:
                self._say({"verdict": "uncovered", "id": mutant.id, "route": "none"})
        suite.forced_failures(swapped)
        lanes.judge(swapped)
        return lanes.at_import


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
        quieten(session.items)
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
    # This process has imported ordeal, which pytest would rather have rewritten, as it has a plugin; and a project may
    # take that warning for an error.
    found += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    found += ["-n0"] if importlib.util.find_spec("xdist") else []
    found += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
    return [*found, *order["tests"]]


def _judge(order: dict[str, Any], say: Say, sources: list[Source]) -> None:
    coverage = LineCoverage({real_path(str(source.path)) for source in sources})
    coverage.start()
    plugin = JudgePlugin(order, say, sources, coverage)
    try:
        _silent_pytest(_pytest_arguments(order), [plugin, plugin.watch], order["tests"])
    except Refused as refused:
        say({"refused": [str(each) for each in refused.args]})


def _silent_pytest(arguments: list[str], plugins: list[Any], tests: Sequence[str] = ()) -> Any:
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
        given = shlex.join(["python", "-m", "pytest", *tests])
        raise Refused(f"pytest ends with code {int(code)} before any test: `{given}` says why")
    return code


def _by_import(order: dict[str, Any], source: Source, mutant: Mutant | None, tests: set[str], say: Say) -> None:
    """Run the suite with a file served from memory."""
    path = real_path(str(source.path))
    text = source.text if mutant is None else mutant.applied(source.text)
    if mutant is not None and (reason := never_imported_anew(path, text)):
        say({"not run": reason})
        return
    if mutant is not None:
        offer(Path(order["left"]).parent / f"mutant-{mutant.id}", source, mutant)
    serve(path, text)
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
        mutant = _mutant_of(mutants[each])

        def run(say: Say, mutant: Mutant = mutant) -> None:
            _by_import(order, sources[mutant.shown], mutant, tests, say)

        yield Job(run, cpu, wall, mutant)


def _judge_by_import(order: dict[str, Any], sources: list[Source], answer: dict[str, Any], say: Say) -> None:
    if not answer["left"]:
        return
    by_name = {source.shown: source for source in sources}
    tests = set(answer["tests"])
    # What pytest makes of the tests is compiled once, to a folder of our own, and read from there by all that follow.
    sys.pycache_prefix = str(Path(order["left"]).parent / "bytecode")

    def run_null(tell: Say) -> None:
        sys.dont_write_bytecode = False
        _by_import(order, sources[0], None, tests, tell)

    null = Job(run_null, 0, _BASELINE_SECONDS)
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


def _collect_in_fork(order: dict[str, Any], sources: list[Source], say: Say) -> None:
    """Judge in memory, in a fork: this process stays one that has imported nothing of the program."""
    before = sum(os.times()[:4])

    def keep(message: dict[str, Any]) -> None:
        if "baseline" in message:
            message["cpu"] = before + sum(os.times()[:4])
        if "left" in message:
            Path(order["left"]).write_text(json.dumps(message), "utf-8")
        else:
            say(message)

    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            die_with(parent)
            _judge(order, keep, sources)
        except BaseException as error:  # noqa: BLE001 - it must not go on as its parent
            say({"refused": [f"{type(error).__name__}: {error}"]})
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def main() -> None:
    """Judge the mutants of an order."""
    text, say = begun()
    order = json.loads(text)
    sys.argv = ["pytest"]
    # The interpreters that tests start begin with a module of ours.
    path = [str(Path(sitecustomize.__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    sources = [Source.of(Path(path), shown) for path, shown in order["sources"]]
    _collect_in_fork(order, sources, say)
    left = Path(order["left"])
    if left.exists():
        _judge_by_import(order, sources, json.loads(left.read_text("utf-8")), say)
        say({"done": True})


if __name__ == "__main__":
    main()
