"""Judges mutants of code that runs at import: a fork imports the program with one, collects and runs the tests.

Where no plugin and no conftest imports the file, the fork is one of a pytest that has begun and collected nothing.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Ended, Job, Refilled, Say, original_takes, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path, serve
from ordeal._tools.mutation.judging.baseline import import_all, original_job
from ordeal._tools.mutation.judging.pytest_options import OwnOptions, pytest_arguments, quieten
from ordeal._tools.mutation.judging.suite import TAKEN_FACTOR
from ordeal._tools.mutation.judging.trials import offer
from ordeal._tools.mutation.line_coverage import is_imported
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import ORDER, Refused
from ordeal._tools.mutation.pytest_items import ASSERTED, FailureWatch, Items, same_chance
from ordeal._tools.mutation.sandbox import BYTECODE, is_isolated, write_anew
from ordeal._tools.mutation.source import Source

_PLUGIN_SECONDS = 60.0
_WAIT_SECONDS = 0.002
_GONE = "let tests remove only what they have made from the folder of temporary files"
#: Why there is no verdict on a file that is not imported anew.
IMPORTED = "pytest or one of its plugins has imported the file before the tests do"
_REFUSED = "the unchanged program fails where mutants of imported code run, so no verdict would be true"


def mutant_of(fields: Mapping[str, Any]) -> Mutant:
    """Return a mutant that came as plain values."""
    function = tuple(fields["function"]) if fields["function"] is not None else None
    return Mutant(**{**fields, "lines": tuple(fields["lines"]), "function": function})


def mutants_in(order: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the mutants of an order. They may still be being made: then this waits for them.

    Raises:
        Refused: they are gone. They are there before a test runs, or come as long as the rest of the order is there.
    """
    path = Path(order["mutants"])
    while not path.exists():
        if not path.with_name(ORDER).exists():
            raise Refused("a test has removed the folder in which the mutants are kept", _GONE)
        time.sleep(_WAIT_SECONDS)
    found: list[dict[str, Any]] = json.loads(path.read_bytes())
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """Files of tests, and those in them that are asked before all others; where they are ``enough``, no others are."""

    paths: tuple[str, ...]
    names: tuple[str, ...]
    enough: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a job asks: tests about a mutant, or a part of them.

    Where ``first`` has noticed it, its test is asked once more. What ``is_last`` stands.
    """

    mutant: Mutant
    part: Part | None = None
    first: Ended | None = None
    is_last: bool = False


class ImportPlugin:
    """The plugin that runs the tests until one fails. Those that may not judge are left out."""

    def __init__(self, left_out: Sequence[str], say: Say | None = None, only: Sequence[str] = ()) -> None:
        self._left_out, self._say = set(left_out), say
        self._only = {*only}
        self.watch = FailureWatch()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what may not judge. A test that only this mutant has may: its name may come of what is mutated."""
        items[:] = [item for item in items if item.nodeid not in self._left_out]
        if self._only:
            items[:] = [item for item in items if item.nodeid in self._only]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Run until the first failure. A collection that fails is one."""
        if session.testsfailed:
            self._fail("", "collection")
        quieten(session.items)
        items = Items(session, self.watch)
        failure = items.first_failure(range(len(items)))
        if failure is not None:
            self._fail(items.names()[failure[0]], failure[1])
        self._end({"survived": len(items)})
        return True

    def go_on(self, session: Any, say: Say, part: Part | None = None) -> None:
        """Collect and run the tests, or a part of them, in a fork of the process that has waited to do so."""
        self._say = say
        if part is not None:
            session.config.args, self._only = [*part.paths], {*part.names}
        same_chance()
        hook = session.config.hook
        try:
            hook.pytest_collection(session=session)
            hook.pytest_runtestloop(session=session)
        except BaseException as error:  # noqa: BLE001 - whatever the program raises: pytest would end with it
            self._fail("", type(error).__name__)

    def _fail(self, name: str, kind: str) -> None:
        self._end({"failed": name, "kind": kind})

    def _end(self, message: dict[str, Any]) -> None:
        assert self._say is not None
        self._say(message)
        os._exit(0)


class ImportRoute:
    """Judges the mutants that a judge in memory has left over. ``answer`` is what that one said."""

    def __init__(
        self, order: Mapping[str, Any], sources: Sequence[Source], answer: Mapping[str, Any], say: Say
    ) -> None:
        self._order, self._answer, self._say = order, answer, say
        self._sources = {source.shown: source for source in sources}
        self._place = Path(order["left"]).parent
        self._left_out: list[str] = answer["left out"]
        self._tests: int = answer["tests"]
        self._fixed: float | None = order["seconds"]
        self._limits = (15 + 10 * answer["cpu"], 30 + 20 * answer["wall"])
        original_takes(answer["peak"])
        fields = {each["id"]: each for each in mutants_in(order)}
        self._left = {each: mutant_of(fields[each]) for each in answer["left"]}
        parts = {path: Part((path,), tuple(names)) for path, names in answer["parts"].items()}
        self._unrun = {*answer["readers"]}.intersection(answer["unrun"])
        self._alone: dict[Part, bool] = {}
        # Where all tests are in one file, there is no part to ask first.
        self._parts = {name: parts[path] for name, path in answer["first"].items() if len(parts) > 1}
        for name, names in answer["readers"].items():
            paths = tuple(path for path, of_file in answer["parts"].items() if not {*of_file}.isdisjoint(names))
            self._parts[name] = Part(paths, tuple(names), enough=True)

    def judge(self) -> None:
        """Say what becomes of each mutant, or that the unchanged program fails on this way."""
        self._say_what_is_imported()
        if self._left:
            self._compile_apart()
            self._import_plugins()
            if not self._judge_by(self._from_the_start, [*self._left.values()]):
                self._say({"refused": [_REFUSED]})

    def judge_in(self, session: Any) -> dict[str, Any]:
        """Judge the mutants of files that nothing has imported yet, in a pytest that is about to collect.

        Return what is left, as this was given.
        """
        waiting = [each for each in self._left.values() if not self._is_imported(each)]
        self._compile_apart()
        plugin = ImportPlugin(self._left_out)
        for each in (plugin, plugin.watch):
            session.config.pluginmanager.register(each)

        def collect(say: Say, part: Part | None = None) -> None:
            plugin.go_on(session, say, part)

        if waiting:
            self._judge_by(collect, waiting)
        return {**self._answer, "left": list(self._left)}

    def _judge_by(self, collect: Any, mutants: Sequence[Mutant]) -> bool:
        """Say what becomes of mutants, each in a fork that collects. Return whether the original passes this way."""
        if not self._is_green(collect):
            return False
        green = self._green_parts(collect, mutants)
        # In a copy a file is the same for all forks: those that read it have it one after another.
        alone = [] if is_isolated() else [each for each in mutants if each.id in self._answer["readers"]]
        together = [each for each in mutants if each not in alone]
        for some, workers in (together, self._order["workers"]), (alone, 1):
            jobs = deque(self._job(_Asked(each, green.get(each.id)), collect) for each in some)
            for ended in run_jobs(Refilled(partial(self._next, jobs)), workers):
                asked: _Asked = ended.job.tag
                if some is alone:
                    source = self._sources[asked.mutant.shown]
                    write_anew(source.path, source.text)
                again = self._again(asked, ended, collect)
                if again is not None:
                    jobs.appendleft(self._job(again, collect))
                else:
                    self._take(asked.first or ended)
                    del self._left[asked.mutant.id]
        return True

    def _again(self, asked: _Asked, ended: Ended, collect: Any) -> _Asked | None:
        """Return what else is asked of a mutant; None where the verdict stands.

        A test that kills is asked alone, of the mutant and of the original: a busy machine makes some fail. If it does
        not kill again, all are asked once more.
        """
        said = ended.said[-1] if ended.said else {}
        if asked.is_last:
            return None
        if asked.first is not None:
            stands = "survived" not in said and self._passes_alone(asked.part, collect)
            return None if stands else _Asked(asked.mutant, is_last=True)
        if asked.part is not None and "survived" in said and not asked.part.enough:
            # None in this file notices it. All others are asked as well, in the order of the whole suite.
            return _Asked(asked.mutant)
        killer = said.get("failed", "")
        if path := next((path for path, names in self._answer["parts"].items() if killer in names), ""):
            return _Asked(asked.mutant, Part((path,), (killer,)), ended)
        return None

    def _passes_alone(self, part: Part | None, collect: Any) -> bool:
        """Return whether a test passes on the original without the others. Each is asked once."""
        assert part is not None
        if part not in self._alone:
            ended = next(run_jobs([self._original(partial(collect, part=part))], 1))
            self._alone[part] = bool(ended.said) and ended.said[-1].get("survived") == 1
        return self._alone[part]

    def _next(self, jobs: deque[Job]) -> Job | None:
        if jobs:
            self._say({"asked": jobs[0].tag.mutant.id})
        return jobs.popleft() if jobs else None

    def _green_parts(self, collect: Any, mutants: Sequence[Mutant]) -> dict[str, Part]:
        """Return what is asked first of each mutant, where all of it passes on the original by itself as well."""
        asked = dict.fromkeys(self._parts[each.id] for each in mutants if each.id in self._parts)
        jobs = [self._original(partial(collect, part=part), part) for part in asked]
        green = {
            ended.job.tag
            for ended in run_jobs(jobs, self._order["workers"])
            if ended.said and ended.said[-1].get("survived") == len(ended.job.tag.names)
        }
        return {name: part for name, part in self._parts.items() if part in green}

    def _compile_apart(self) -> None:
        # What pytest makes of the tests is compiled once, to a folder of our own, and read from there by all others.
        sys.pycache_prefix = str(self._place.with_name(BYTECODE))

    def _import_plugins(self) -> None:
        """Import the plugins of pytest here, once for all forks, if that imports nothing of the program."""

        def run(say: Say) -> None:
            import_all(self._answer["plugins"])
            alone = threading.active_count() == 1
            say(
                {
                    "harmless": alone
                    and not any(is_imported(real_path(str(each.path))) for each in self._sources.values())
                }
            )

        ended = next(run_jobs([Job(run, 0, _PLUGIN_SECONDS)], 1))
        if ended.said and ended.said[-1].get("harmless"):
            import_all(self._answer["plugins"])

    def _say_what_is_imported(self) -> None:
        """Say of mutants in files that this process has imported, such as those of pytest, that they are not run."""
        for each in [*self._left.values()]:
            if self._is_imported(each):
                self._say({"verdict": "not run", "id": each.id, "route": "import", "note": IMPORTED})
                del self._left[each.id]

    def _is_imported(self, mutant: Mutant) -> bool:
        return is_imported(real_path(str(self._sources[mutant.shown].path)))

    # In a fork of its own

    def _from_the_start(self, say: Say, part: Part | None = None) -> None:
        same_chance()
        plugin = ImportPlugin(self._left_out, say, part.names if part is not None else ())
        plugins = [plugin, plugin.watch, OwnOptions()]
        pytest.main(pytest_arguments(self._order["tests"], self._place), plugins=plugins)
        # Had the tests been collected, the plugin had ended the process.
        say({"failed": "", "kind": "collection"})

    def _is_green(self, collect: Any) -> bool:
        """Return whether all tests pass on the original; pytest may keep what it compiles for this."""
        # This takes as long as the tests do, once more.
        self._say({"beginning": "the program is imported anew, and the tests run, without a mutant"})
        began = monotonic()
        ended = next(run_jobs([self._original(collect)], 1))
        if self._fixed is not None:
            limit = max(self._fixed, TAKEN_FACTOR * (monotonic() - began))
            self._limits = limit, limit
        return bool(ended.said) and ended.said[-1].get("survived") == self._tests

    def _original(self, collect: Any, part: Part | None = None) -> Job:
        return original_job(partial(self._unchanged, collect), part)

    def _unchanged(self, collect: Any, say: Say) -> None:
        sys.dont_write_bytecode = False
        first = next(iter(self._sources.values()))
        _serve(real_path(str(first.path)), first.text)
        collect(say)

    def _job(self, asked: _Asked, collect: Any) -> Job:
        way = collect if asked.part is None else partial(collect, part=asked.part)
        return Job(partial(self._import, asked.mutant, way), *self._limits, asked)

    def _import(self, mutant: Mutant, collect: Any, say: Say) -> None:
        """Let the tests import a mutant."""
        source = self._sources[mutant.shown]
        path, text = real_path(str(source.path)), mutant.applied(source.text)
        if reason := never_imported_anew(path, text):
            say({"not run": reason})
            return
        if not offer(source, mutant) and mutant.id in self._answer["readers"]:
            write_anew(source.path, text)
        _serve(path, text)
        collect(say)

    def _take(self, ended: Ended) -> None:
        said = ended.said[-1] if ended.said else {}
        more: dict[str, Any] = {"id": ended.job.tag.mutant.id, "route": "import"}
        if ended.lost or "not run" in said:
            more |= {"verdict": "not run", "note": ended.lost or said["not run"]}
        elif "survived" in said:
            word = "uncovered" if more["id"] in self._unrun else "survived"
            more |= {"verdict": word, "tests": said["survived"]}
        elif "failed" in said:
            word = "memory" if said["kind"] == "MemoryError" else "killed"
            more |= {"verdict": word, "killer": said["failed"], "note": "" if said["failed"] else "at import"}
            more |= {"asserted": said["kind"] == ASSERTED}
        elif ended.is_late or ended.signal == signal.SIGPROF:
            more |= {"verdict": "timeout"}
        elif ended.signal:
            more |= {"verdict": "crash", "note": signal.Signals(ended.signal).name}
        else:
            more |= {"verdict": "killed", "note": said.get("raised", "it ends the process")}
        self._say(more)


def _serve(path: str, text: bytes) -> None:
    """Let imports of a file meet another text, also where pytest would read and rewrite the file itself."""
    serve(path, text)
    original = AssertionRewritingHook.find_spec

    def find_spec(self: Any, *given: Any, **named: Any) -> Any:
        found = original(self, *given, **named)
        return None if found is not None and real_path(str(found.origin)) == path else found

    AssertionRewritingHook.find_spec = find_spec  # type: ignore[method-assign]


def never_imported_anew(path: str, text: bytes) -> str:
    """Return why no test would meet this text of a file; empty if the tests import it."""
    if is_imported(path):
        return IMPORTED
    try:
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"it does not compile: {error}"
    return ""
