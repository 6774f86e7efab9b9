"""The process that records a trace for the viewer: answers a request on stdin with JSON lines on stdout."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import one_line, safe_lines
from ordeal._base.imports import library_path
from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._base.limits import CHILD_MEMORY_MIB, LINES_MAX, TEXT_CHARS_MAX
from ordeal._base.regular_file import read_whole
from ordeal._base.trace_file import Trace
from ordeal._base.untrusted import bounded_call
from ordeal._engine.coverage.targets import is_within
from ordeal._engine.execution.bucket import traceback_text, user_frames
from ordeal._engine.execution.class_path import trust
from ordeal._engine.execution.driver import Driver, Status
from ordeal._engine.execution.where import shown_path
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.replay.replayer import Replayed
from ordeal._engine.trace_view.view import SourceView, TraceView
from ordeal._engine.trace_view.watch import ReplayWatch, lanes_between
from ordeal._engine.trace_view.why import Variants, likelihood, nearest, variations
from ordeal._native import monotonic
from ordeal.errors import OrdealError

#: Lines of source before and after the one that failed.
CONTEXT_LINES = 3
_OWN = f"{Path(__file__).parents[2]}{os.sep}"


def main() -> None:
    """Answer the request: first what was recorded, and then, where it is wanted, the same with how likely it fails."""
    request, answers = take_request()

    def answer(view: TraceView) -> None:
        answers.write(msgspec.json.encode(view) + b"\n")
        answers.flush()

    try:
        _record(Trace.of_request(request["trace"]), request, answer)
    except OrdealError as error:
        answer(TraceView(reason=one_line(error.message)))
    except Exception as error:  # noqa: BLE001 - objects of the user's may raise anything when they are looked at
        answer(TraceView(reason=one_line(f"the recording failed: {type(error).__name__}: {error}")))
    send_and_exit(answers)


def _record(trace: Trace, request: Mapping[str, Any], answer: Callable[[TraceView], None]) -> None:
    if request["trusted"]:
        trust(trace.test_class)
    loaded = load_for_replay(replace(trace, max_memory=trace.max_memory or CHILD_MEMORY_MIB))
    driver, replayer = loaded.driver, loaded.replayer
    driver.isolated = True
    homes = [base.__module__ for base in driver.definition.cls.__mro__]
    modules = [sys.modules.get(home) for home in homes if not is_within(home, ("hypothesis", "ordeal"))]
    files = [getattr(module, "__file__", None) for module in modules]
    own = frozenset(file for file in files if isinstance(file, str))
    is_target = _is_target_by(request["targets"])
    watch = ReplayWatch(driver.definition.cls, is_target, own)
    with loaded.running():
        with watch.watching():
            replayed = replayer.run(loaded.tape, watch)
        view = TraceView(start=watch.start, steps=watch.views, lanes=lanes_between(watch.decisions))
        view.sources = list(_sources(driver, watch, replayed))
        error = replayed.outcome.error
        if replayed.outcome.status is Status.FAILED and error is not None:
            view.traceback = safe_lines(traceback_text(error)[-TEXT_CHARS_MAX:])
        else:
            view.reason = "the trace did not fail when it was recorded"
        answer(view)
        if error is not None and not view.reason:
            view.place = replayer.place(loaded.tape, error, view.steps[-1].name if view.steps else "")
            answer(view)
        seconds = request["likelihood_seconds"]
        if not seconds or not replayed.bucket:
            return

        def variants(limit: float) -> Variants:
            return Variants(driver, replayer, replayed.tape, replayed.bucket, monotonic() + limit)

        # Why the trace fails; any of these answers may be the last.
        texts = [step.arguments for step in view.steps]
        passing = ReplayWatch(driver.definition.cls, is_target, own)
        in_rule = view.place is not None and view.place.kind == "rule"
        view.passing = nearest(variants(seconds / 4), texts, passing, last_checks=in_rule)
        answer(view)
        view.chances, view.decided_at, view.suspicious = likelihood(variants(seconds), watch.codes)
        answer(view)
        view.variations = variations(variants(seconds / 2), texts)
        answer(view)


def _is_target_by(targets: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate for files whose lines are watched: of the target modules, otherwise of the project."""

    @cache
    def is_target(file: str) -> bool:
        if not targets:
            is_library = file.startswith(_OWN) or library_path(file) is not None
            return not (is_library or file.startswith("<"))
        modules = [module for name, module in list(sys.modules.items()) if is_within(name, targets)]
        return any(getattr(module, "__file__", None) == file for module in modules)

    return is_target


def _sources(driver: Driver, watch: ReplayWatch, replayed: Replayed) -> Iterator[SourceView]:
    """Yield the source of each rule of the trace, and the lines around where it failed, in the machine and beyond."""

    def source_of(name: str, function: Callable[..., Any]) -> list[SourceView]:
        original = inspect.unwrap(function)
        lines, first = inspect.getsourcelines(original)
        file = inspect.getsourcefile(original) or ""
        text = inspect.cleandoc("\n" + "".join(lines[:LINES_MAX]).expandtabs(4))
        return [SourceView(name=name, file=shown_path(file), line=first, text=safe_lines(text))]

    def around(name: str, file: str, line: int) -> list[SourceView]:
        lines = read_whole(file).decode("utf-8", "replace").split("\n")
        first = max(1, line - CONTEXT_LINES)
        text = "\n".join(lines[first - 1 : line + CONTEXT_LINES])
        return [SourceView(name=name, file=shown_path(file), line=first, text=safe_lines(text), failed=line)]

    taken = {step.name for step in watch.steps}
    for rule in (*driver.definition.initializers, *driver.definition.rules):
        if rule.name in taken:
            yield from bounded_call(partial(source_of, rule.name, rule.function), lambda _raised: [])
    error = replayed.outcome.error
    frames = [] if error is None else user_frames(error)
    for code, line in dict.fromkeys(frames[:1] + frames[-1:]):
        yield from bounded_call(partial(around, code.co_qualname, code.co_filename, line), lambda _raised: [])


if __name__ == "__main__":
    main()
