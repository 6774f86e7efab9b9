"""Judges mutants by the tests of a pytest suite, in a process that has collected them and never runs one itself.

``python -m ordeal._tools.mutation.pytest_judge ORDER FD PARENT`` writes what it finds to the descriptor, in lines of
JSON, and ends when its parent does.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import ModuleType
from typing import Any

import msgspec
import pytest

from ordeal._base.formatting import counted, one_line
from ordeal._base.limits import REPORT_SECONDS
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Say, limit_memory, wait_in_parent
from ordeal._tools.mutation.interpreters.handing_down import begins_with_ours, hand_down
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.judging.baseline import is_of_python
from ordeal._tools.mutation.judging.importing import ImportRoute
from ordeal._tools.mutation.judging.lanes import Lanes
from ordeal._tools.mutation.judging.pytest_options import OwnOptions, pytest_arguments, quieten, switched_off
from ordeal._tools.mutation.judging.suite import Suite, begun_suite
from ordeal._tools.mutation.line_coverage import LineCoverage
from ordeal._tools.mutation.own_process import Refused, begun, send_output_to
from ordeal._tools.mutation.pytest_items import FailureWatch, Items, same_chance
from ordeal._tools.mutation.running import TestOrder
from ordeal._tools.mutation.source import Source

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: The beginnings of lines that say why pytest ends: its own, and those of its option parser.
_OWN_ERROR = re.compile(r"(?:ERROR: (?!usage: )|\S*: error: )(?=\S)")


class JudgePlugin:
    """The plugin that takes the place of running the tests, once they are collected."""

    def __init__(self, order: TestOrder, say: Say, sources: list[Source], coverage: LineCoverage) -> None:
        self._order, self._say, self._sources, self._coverage = order, say, sources, coverage
        self.watch = FailureWatch()
        self._uncollected = ""
        self._collected, self._due = 0, monotonic() + REPORT_SECONDS

    def pytest_itemcollected(self) -> None:
        """Report how many tests there are so far."""
        self._collected += 1
        if monotonic() >= self._due:
            self._due = monotonic() + REPORT_SECONDS
            self._say({"beginning": f"{counted(self._collected, 'test')} collected so far"})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep why the first file cannot be collected."""
        if report.failed and not self._uncollected:
            self._uncollected = f"{report.nodeid}: {_reason_in(report.longreprtext)}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> None:
        """Judge, report which mutants must be judged by importing them, and end this process."""
        imported = self._coverage.take()
        self._coverage.stop()
        if session.testsfailed:
            raise Refused(f"tests cannot be collected: {self._uncollected}", _shown_by(self._order.tests))
        # A fork has no threads but its own, so none of this program can judge: each mutant is imported again.
        imports = threading.active_count() > 1
        quieten(session.items)
        off = switched_off([*session.config.getini("addopts"), *self._order.tests])
        suite = begun_suite(
            *(Items(session, self.watch), self._sources, imported, self._order.workers),
            lambda message: self._say({**message, "switched off": off}),
            leave_out_failing=self._order.leave_out_failing,
            in_place=imports,
        )
        lanes = self._judge(suite, imports=imports)
        left = lanes.at_import
        cpu, wall = suite.seconds()
        left_out = sorted({*suite.names} - {*suite.passing()})
        found = {"left": [each.id for each in left], "left out": left_out, "tests": len(suite.passing())}
        plugins = (each for each, _ in session.config.pluginmanager.list_plugin_distinfo())
        packages = {"_pytest", *(each.__name__.split(".")[0] for each in plugins if isinstance(each, ModuleType))}
        found["others"] = [each for each in sys.modules if each.partition(".")[0] in packages or is_of_python(each)]
        found |= {"parts": suite.parts(), "first": {each.id: suite.first_part(each) for each in left}}
        found |= {"readers": lanes.readers, "unrun": [each.id for each in left if not suite.covering(each)]}
        self._say({**found, "cpu": cpu, "wall": wall, "peak": suite.baseline.peak})
        # The end of a session of pytest and its plugins takes longer than many suites, and its output is not read.
        os._exit(0)

    def _judge(self, suite: Suite, *, imports: bool) -> Lanes:
        """Judge the mutants that can be judged in memory; none can if each ``imports`` the program again."""
        lanes = Lanes(suite, self._say)
        swapped = []
        for mutant in self._order.mutants:
            covering = suite.covering(mutant)
            if imports if covering else suite.runs_at_import(mutant):
                lanes.at_import.append(mutant)
            elif covering:
                swapped.append(mutant)
            elif suite.readers(mutant):
                lanes.leave_to_readers(mutant)
            else:
                self._say({"verdict": "uncovered", "id": mutant.id, "route": "none"})
        suite.forced_failures(swapped)
        lanes.judge(swapped)
        return lanes


def _judge(order: TestOrder, say: Say, sources: list[Source]) -> None:
    coverage = LineCoverage({real_path(str(source.path)) for source in sources})
    coverage.start()
    plugin = JudgePlugin(order, say, sources, coverage)
    place = Path(order.left).parent
    plugins = [plugin, plugin.watch, OwnOptions(), _Refusing(say)]
    try:
        _silent_pytest(pytest_arguments(order.tests, place), plugins, order.tests)
    except Refused as refused:
        _refuse(say, refused)


class _Refusing:
    """Reports why no verdict is possible, and ends the process: work that plugins do at the end might hide it."""

    def __init__(self, say: Say) -> None:
        self._say = say

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Any:
        """Judge in silence."""
        send_output_to(os.devnull)
        try:
            return (yield)
        except Refused as refused:
            _refuse(self._say, refused)
            os._exit(0)


def _refuse(say: Say, refused: Refused) -> None:
    say({"refused": [str(each) for each in refused.args]})


def _silent_pytest(arguments: list[str], plugins: list[Any], tests: Sequence[str] = ()) -> None:
    same_chance()
    with NamedTemporaryFile(delete_on_close=False) as said:
        said.close()
        send_output_to(said.name)
        code = pytest.main(arguments, plugins=plugins)
        if code not in (0, 5):
            sys.stdout.flush()
            sys.stderr.flush()
            reason = _reason_in(Path(said.name).read_text("utf-8", "replace"))
            raise Refused(f"pytest ends before any test: {reason}", _without_options(reason, tests) or _shown_by(tests))


def _reason_in(text: str) -> str:
    """Return the line that best explains why pytest cannot go on: its own error, or the last of a traceback."""
    text, _, advice = _ESCAPES.sub("", text).partition("\nHINT: ")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if _OWN_ERROR.match(line)][:1]
    raised = [line for line in lines if line.startswith(("E  ", "INTERNALERROR> "))][-1:]
    # pytest takes several lines to report two test files of one name; none is enough alone.
    (reason,) = own or raised or ([" ".join(lines)] if advice else lines[-1:]) or ["it says nothing"]
    return one_line(_OWN_ERROR.sub("", reason).removeprefix("INTERNALERROR> ").removeprefix("E  ").strip())


def _without_options(reason: str, tests: Sequence[str]) -> str:
    """Return the hint for a project that gives pytest options of a plugin that is not installed."""
    if not reason.startswith("unrecognized arguments") or {*reason.split()} & {*tests}:
        return ""
    return "install the plugin that knows them, or leave the project's options out: `--tests='-o addopts='`"


def _shown_by(tests: Sequence[str]) -> str:
    return f"`{shlex.join(['python', '-m', 'pytest', *tests])}` shows it, and must pass before mutants are judged"


def _in_fork(order: TestOrder, sources: list[Source], say: Say) -> None:
    """Judge in a fork: this process stays one in which pytest has not begun."""

    def keep(message: dict[str, Any]) -> None:
        if "left" in message:
            Path(order.left).write_text(json.dumps(message), "utf-8")
        else:
            say(message)

    if wait_in_parent():
        try:
            _judge(order, keep, sources)
        except BaseException as error:  # noqa: BLE001 - it must not go on as its parent
            say({"refused": [f"{type(error).__name__}: {error}"]})
        finally:
            os._exit(0)


def main() -> None:
    """Judge the mutants of an order."""
    text, say = begun()
    order = msgspec.json.decode(text, type=TestOrder)
    limit_memory(order.memory)
    sys.argv = ["pytest"]
    # The interpreters that tests start begin with a module of ours.
    os.environ |= begins_with_ours()
    hand_down()
    sources = [Source.of(Path(path), shown) for path, shown in order.sources]
    _in_fork(order, sources, say)
    left = Path(order.left)
    if left.exists():
        ImportRoute(order, sources, json.loads(left.read_text("utf-8")), say).judge()
        say({"done": True})


if __name__ == "__main__":
    main()
