"""Judges mutants of code that runs at import: a fork imports the mutated program, collects and runs the tests."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from ordeal._native import die_with
from ordeal._tools.mutation.forks import Ended, Job, Refilled, Say, original_takes, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path, serve
from ordeal._tools.mutation.judging.baseline import import_all, original_job
from ordeal._tools.mutation.judging.pytest_options import OwnOptions, pytest_arguments, quieten
from ordeal._tools.mutation.judging.trials import offer
from ordeal._tools.mutation.line_coverage import is_imported
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.pytest_items import ASSERTED, FailureWatch, Items, same_chance
from ordeal._tools.mutation.running import TestOrder
from ordeal._tools.mutation.sandbox import BYTECODE, fork, is_isolated, restore, write_anew
from ordeal._tools.mutation.source import Source

#: The reason without a verdict for a file that is not imported again.
IMPORTED = "pytest or one of its plugins has imported the file before the tests do"
_REFUSED = "the unchanged program fails where mutants of imported code run"

#: Seconds of CPU up to which a suite is not split: a file alone takes two thirds of the time of one of 0.1 s.
_SHORT_CPU = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """Files of tests, and the tests in them that run first; if they are ``enough``, no others run."""

    paths: tuple[str, ...]
    names: tuple[str, ...]
    enough: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question of a job: do all tests, or a part of them, notice a mutant? An answer that ``is_last`` is final."""

    mutant: Mutant
    part: Part | None = None
    is_last: bool = False


class ImportPlugin:
    """The plugin that runs the tests until one fails. Those that may not judge are left out."""

    def __init__(self, left_out: Sequence[str], say: Say, part: Part | None) -> None:
        self._left_out, self._say, self._part = set(left_out), say, part
        self.watch = FailureWatch()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> None:
        """Collect only the files of a part."""
        if self._part is not None:
            session.config.args = [*self._part.paths]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out tests that may not judge. One that only this mutant has may: the mutated code may name it."""
        items[:] = [item for item in items if item.nodeid not in self._left_out]
        if self._part is not None:
            items[:] = [item for item in items if item.nodeid in self._part.names]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Run until the first failure, and ask that test again. A failed collection counts as one."""
        found: dict[str, Any] = {"failed": "", "kind": "collection"}
        if not session.testsfailed:
            quieten(session.items)
            items = Items(session, self.watch)
            found = {"survived": len(items)}
            if failure := items.first_failure(range(len(items))):
                found = {"failed": items.names()[failure[0]], "kind": failure[1]}
                self._say(found)
                found |= {"once": items.first_failure([failure[0]]) is None}
        self._say(found)
        os._exit(0)


class ImportRoute:
    """Judges the mutants that the judge in memory left; ``answer`` is that judge's."""

    def __init__(self, order: TestOrder, sources: Sequence[Source], answer: Mapping[str, Any], say: Say) -> None:
        self._order, self._answer, self._say = order, answer, say
        self._sources = {source.shown: source for source in sources}
        self._place = Path(order.left).parent
        self._left_out: list[str] = answer["left out"]
        self._tests: int = answer["tests"]
        self._limits = (15 + 10 * answer["cpu"], 30 + 20 * answer["wall"])
        original_takes(answer["peak"])
        mutants = {each.id: each for each in order.mutants}
        self._left = [mutants[each] for each in answer["left"]]
        parts = {path: Part((path,), tuple(names)) for path, names in answer["parts"].items()}
        self._unrun = {*answer["readers"]}.intersection(answer["unrun"])
        self._alone: dict[Part, bool] = {}
        # To collect the tests takes most of the time of a short suite: the whole of it is asked at once.
        is_split = len(parts) > 1 and answer["cpu"] > _SHORT_CPU
        self._parts = {name: parts[path] for name, path in answer["first"].items() if is_split and path}
        for name, names in answer["readers"].items():
            paths = tuple(path for path, of_file in answer["parts"].items() if not {*of_file}.isdisjoint(names))
            self._parts[name] = Part(paths, tuple(names), enough=True)

    def judge(self) -> None:
        """Report the verdict on each mutant, each in a fork that collects; or that the original fails there.

        What is not the program's is imported once for all forks, if that imports nothing of it and all tests pass on
        the original: a fork finds out, and goes on with the work if so.
        """
        if not self._left:
            return
        # In memory mutants may have broken the copy.
        restore()
        parent, pid = os.getpid(), fork()
        if pid == 0:
            try:
                die_with(parent)
                import_all(self._answer["others"])
                paths = (real_path(str(each.path)) for each in self._sources.values())
                if threading.active_count() == 1 and not any(map(is_imported, paths)) and self._passes():
                    self._judge()
                    os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(pid, 0)[1] == 0:
            return
        if self._passes():
            self._judge()
        elif len(self._left) == len(self._order.mutants):
            self._say({"refused": [f"{_REFUSED}, so no verdict would be true"]})
        else:
            for mutant in self._left:
                self._say({"verdict": "not run", "id": mutant.id, "route": "import", "note": _REFUSED})

    def _passes(self) -> bool:
        """Return True if all tests pass on the original, in a fork of this process."""
        gc.freeze()
        # The tests that pytest rewrites are compiled once, to a folder of ours, from which all forks read them.
        sys.pycache_prefix = str(self._place.with_name(BYTECODE))
        # pytest may keep what it compiles for this. It takes as long once more.
        self._say({"beginning": "the program is imported again, and the tests run, without a mutant"})
        ended = next(run_jobs([self._original()], 1))
        return bool(ended.said) and ended.said[-1].get("survived") == self._tests

    def _judge(self) -> None:
        """Report all verdicts, from forks of this process."""
        # In a copy all forks share a file, so those that read it run one after another.
        alone = [] if is_isolated() else [each for each in self._left if each.id in self._answer["readers"]]
        together = [each for each in self._left if each not in alone]
        for some, workers in (together, self._order.workers), (alone, 1):
            jobs = deque(self._job(_Asked(each, self._parts.get(each.id))) for each in some)
            for ended in run_jobs(Refilled(lambda jobs=jobs: jobs.popleft() if jobs else None), workers):  # type: ignore[misc]
                asked: _Asked = ended.job.tag
                if some is alone:
                    source = self._sources[asked.mutant.shown]
                    write_anew(source.path, source.text)
                again = self._again(asked, ended)
                if again is not None:
                    jobs.appendleft(self._job(again))
                else:
                    self._take(ended)

    def _again(self, asked: _Asked, ended: Ended) -> _Asked | None:
        """Return the tests to run next for a mutant; None if the verdict is final.

        A busy machine makes some tests fail, and some need those of other files. So all run once more if the test that
        killed did not do so twice, or what ran does not pass on the original.
        """
        said, part = ended.said[-1] if ended.said else {}, asked.part
        if asked.is_last:
            return None
        if part is not None and "survived" in said and not (part.enough and said["survived"] == len(part.names)):
            # No test in this file notices it. All others run as well, in the order of the whole suite.
            return _Asked(asked.mutant)
        killer = said.get("failed", "")
        path = next((path for path, names in self._answer["parts"].items() if killer in names), "")
        if path and (said.get("once") or not self._passes_alone(part or Part((path,), (killer,)))):
            return _Asked(asked.mutant, is_last=True)
        return None

    def _passes_alone(self, part: Part) -> bool:
        """Return True if tests pass on the original without the others. The answer is cached."""
        if part not in self._alone:
            ended = next(run_jobs([self._original(part)], 1))
            self._alone[part] = bool(ended.said) and ended.said[-1].get("survived") == len(part.names)
        return self._alone[part]

    # In a separate fork

    def _run_tests(self, part: Part | None, say: Say) -> None:
        same_chance()
        plugin = ImportPlugin(self._left_out, say, part)
        plugins = [plugin, plugin.watch, OwnOptions()]
        pytest.main(pytest_arguments(self._order.tests, self._place), plugins=plugins)
        # If the tests had been collected, the plugin would have ended the process.
        say({"failed": "", "kind": "collection"})

    def _original(self, part: Part | None = None) -> Job:
        return original_job(partial(self._unchanged, part))

    def _unchanged(self, part: Part | None, say: Say) -> None:
        sys.dont_write_bytecode = False
        first = next(iter(self._sources.values()))
        _serve(real_path(str(first.path)), first.text)
        self._run_tests(part, say)

    def _job(self, asked: _Asked) -> Job:
        return Job(partial(self._import, asked.mutant, asked.part), *self._limits, asked)

    def _import(self, mutant: Mutant, part: Part | None, say: Say) -> None:
        """Let the tests import a mutant."""
        source = self._sources[mutant.shown]
        path, text = real_path(str(source.path)), mutant.applied(source.text)
        if reason := never_imported_anew(path, text):
            say({"not run": reason})
            return
        if not offer(source, mutant) and mutant.id in self._answer["readers"]:
            write_anew(source.path, text)
        _serve(path, text)
        self._run_tests(part, say)

    def _take(self, ended: Ended) -> None:
        said = ended.said[-1] if ended.said else {}
        more: dict[str, Any] = {"id": ended.job.tag.mutant.id, "route": "import"}
        if "not run" in said:
            more |= {"verdict": "not run", "note": said["not run"]}
        elif "survived" in said:
            word = "uncovered" if more["id"] in self._unrun else "survived"
            more |= {"verdict": word, "tests": said["survived"]}
        elif "failed" in said:
            word = "memory" if said["kind"] == "MemoryError" else "killed"
            more |= {"verdict": word, "killer": said["failed"], "note": "" if said["failed"] else "at import"}
            more |= {"asserted": said["kind"] == ASSERTED}
        else:
            more["verdict"], more["note"] = ended.verdict()
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
    """Return why no test would import this text of a file; empty if one does."""
    if is_imported(path):
        return IMPORTED
    try:
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"it does not compile: {error}"
    return ""
