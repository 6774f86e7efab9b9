"""Finds where a failure happened: in the machine, in what it tests, and which values its assertion compared."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, override

from ordeal._base import untrusted
from ordeal._base.formatting import one_line
from ordeal._base.imports import STANDARD_LIBRARY, library_path
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX, VALUE_CHARS_MAX
from ordeal._base.regular_file import real_path
from ordeal._engine.execution.bucket import turning_lines, user_frames
from ordeal._engine.execution.operators import COMPARED, SIGNS
from ordeal._engine.execution.recorder import RunRecorder, render
from ordeal._hypothesis.machines import MachineDefinition
from ordeal.errors import DivergenceError
from ordeal.result.parts import CodeLine, FailurePlace, PlaceKind

_OWN = f"{Path(__file__).parents[2]}{os.sep}"


class Places:
    """Finds the places of failures of one machine. Paths are shown relative to the ``folder`` of the exploration."""

    def __init__(self, definition: MachineDefinition, folder: str) -> None:
        self._definition = definition
        self._folder = folder
        self._files: set[str] = set()  # those that define the methods of the machine
        for base in definition.cls.__mro__:
            if base.__module__.partition(".")[0] in ("ordeal", "hypothesis", "builtins"):
                continue
            codes = [_code_of(member) for member in list(vars(base).values())]
            # A machine may have rules that ordeal has made for it.
            self._files |= {code.co_filename for code in codes if code and not code.co_filename.startswith(_OWN)}
            file = getattr(sys.modules.get(base.__module__), "__file__", None)
            if isinstance(file, str):
                self._files.add(str(file))
        functions: list[tuple[PlaceKind, str, Any]] = [
            *(("rule", rule.name, rule.function) for rule in definition.rules),
            *(("initialize", rule.name, rule.function) for rule in definition.initializers),
            *(("invariant", each.name, each.function) for each in definition.invariants),
            ("teardown", "teardown", definition.cls.teardown),
            ("constructor", "__init__", definition.cls.__init__),
        ]
        self._known: dict[CodeType, tuple[PlaceKind, str]] = {
            code: (kind, name) for kind, name, function in functions if (code := _code_of(function)) is not None
        }

    def place(self, error: BaseException, *, last_step: str = "", asserted: Sequence[str] = ()) -> FailurePlace | None:
        """Return where ``error`` was raised, or else the rule named ``last_step``; None when nothing is known."""
        frames = user_frames(error)
        own = [number for number, (code, _) in enumerate(frames) if code.co_filename in self._files]
        if not own:
            step = (error.operation if isinstance(error, DivergenceError) else "") or last_step
            for code, (kind, name) in self._known.items():
                if step and name == step and not code.co_filename.startswith(_OWN):
                    at = self._line(code, code.co_firstlineno)  # that of its `def`
                    return FailurePlace(kind, name, at, self._last_beyond(frames), tuple(asserted))
            if not frames:
                return None
            at = self._line(*frames[0])
            return FailurePlace("other", at.function, at, self._last_beyond(frames[1:]), tuple(asserted))
        innermost, beyond = frames[own[-1]], frames[own[-1] + 1 :]
        if turning := turning_lines(error):
            # Where a recursion ends says nothing.
            innermost = next((line for line in reversed(turning) if line[0].co_filename in self._files), frames[own[0]])
            beyond = [line for line in turning if line[0].co_filename not in self._files]
        at = self._line(*innermost)
        # What a rule calls and what calls it back are frames of the machine as well; the first one is the rule.
        kind, name = next((self._known[frames[n][0]] for n in own if frames[n][0] in self._known), ("other", ""))
        return FailurePlace(kind, name or at.function, at, self._last_beyond(beyond), tuple(asserted))

    def _last_beyond(self, frames: Sequence[tuple[CodeType, int]]) -> CodeLine | None:
        """Return the innermost line that is not in the standard library, if there is one."""
        beyond = [frame for frame in frames if not real_path(frame[0].co_filename).startswith(STANDARD_LIBRARY)]
        installed = [frame for frame in frames if "-packages" in frame[0].co_filename]
        last = (beyond or installed or frames)[-1:]
        return self._line(*last[0]) if last else None

    def _line(self, code: CodeType, line: int) -> CodeLine:
        path, where = code.co_filename, code.co_qualname.rpartition("<locals>.")[2][:LINE_CHARS_MAX]
        return CodeLine(shown_path(path, self._folder), line, where, untrusted.source_line(path, line))


def shown_path(path: str, folder: str = "") -> str:
    """Return a path as people read it: from ``folder``, the working folder by default, or from that of libraries."""
    folder = os.path.join(folder or real_path(os.curdir), "")  # noqa: PTH118 - what code names need not be a path
    real = real_path(path, folder)
    if real.startswith(folder):
        return real[len(folder) :].replace(os.sep, "/")
    return library_path(real) or path


def _code_of(function: Any) -> CodeType | None:
    try:
        code = getattr(inspect.unwrap(function), "__code__", None)
    except ValueError:
        return None
    return code if isinstance(code, CodeType) else None


# -- the values of an assertion ---------------------------------------------------------------------------------------


class AssertionReader(RunRecorder):
    """An observer that reads the values of a failing ``assert`` before the machine is torn down.

    That calls the functions in the assertion again, which may use up choices: the tape of this run must not be kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asserted: tuple[str, ...] = ()

    @override
    def ending(self) -> None:
        error = sys.exception()
        if isinstance(error, AssertionError):
            self.asserted = untrusted.bounded_call(lambda: read_assertion(error), lambda _raised: ())
        super().ending()


def is_plain_assertion(error: BaseException) -> bool:
    """Return True if ``error`` comes from an ``assert`` whose message does not hold its values yet."""
    return type(error) is AssertionError and not written_assertion(error) and bool(user_frames(error))


def written_assertion(error: BaseException) -> tuple[str, ...]:
    """Return the lines that pytest has written into the message of a failed assertion."""
    lines = untrusted.error_message(error).split("\n") if isinstance(error, AssertionError) else []
    first = next((number for number, line in enumerate(lines) if line.startswith("assert ")), None)
    return () if first is None else tuple(line.rstrip() for line in lines[first : first + LISTED_MAX])


def read_assertion(error: BaseException) -> tuple[str, ...]:
    """Return the failed assertion with values, and where each comes from; empty when it cannot be evaluated again."""
    tb, frame, line = error.__traceback__, None, 0
    while tb is not None:
        frame, line, tb = tb.tb_frame, tb.tb_lineno or 0, tb.tb_next
    if frame is None:
        return ()
    asserts = _asserts_in("".join(linecache.getlines(frame.f_code.co_filename)))
    found = [node for node in asserts if node.lineno <= line <= (node.end_lineno or 0)]
    if not found:
        return ()
    return tuple(_Reading(frame).lines(max(found, key=lambda node: node.lineno).test)[:LISTED_MAX])


@functools.lru_cache(maxsize=8)  # most assertions fail in few files
def _asserts_in(source: str) -> list[ast.Assert]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]


class _Reading:
    """Evaluates the parts of an assertion in the frame where it failed."""

    def __init__(self, frame: FrameType) -> None:
        # Generators in an expression see only global names.
        self._names = {**frame.f_globals, **frame.f_locals}

    def lines(self, test: ast.expr) -> list[str]:
        """Return what was asserted; nothing when it holds now, as the values then are not those that failed."""
        if isinstance(test, ast.BoolOp):
            decisive = [part for part in test.values if bool(self._value(part)) is isinstance(test.op, ast.Or)]
            if isinstance(test.op, ast.And):
                return self.lines(decisive[0]) if decisive else []
            return [] if decisive else self.lines(test.values[-1])
        if isinstance(test, ast.Compare):
            parts = [test.left, *test.comparators]
            values = [self._value(part) for part in parts]
            signs = [SIGNS[type(op)] for op in test.ops]
            if all(COMPARED[sign](one, other) for sign, (one, other) in zip(signs, pairwise(values), strict=True)):
                return []
            words = [_shown(values[0])]
            for sign, value in zip(signs, values[1:], strict=True):
                words += [sign, _shown(value)]
            return [f"assert {' '.join(words)}", *_origins(zip(parts, values, strict=True))]
        inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        value = self._value(inner)
        if bool(value) is (inner is test):
            return []
        read = [(inner, value)]
        if isinstance(inner, ast.Call) and not any(isinstance(each, ast.Starred) for each in inner.args):
            simple = [each for each in inner.args if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)]
            read += [(each, self._value(each)) for each in simple]
        return [f"assert {'' if inner is test else 'not '}{_shown(value)}", *_origins(read)]

    def _value(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<assertion>", "eval"), dict(self._names))


def _shown(value: Any) -> str:
    return one_line(render(value), limit=VALUE_CHARS_MAX)


def _origins(parts: Any) -> list[str]:
    """Return where the values come from, as pytest writes it; constants need no origin."""
    lines = []
    for node, value in parts:
        try:
            ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            lines.append(f" +  where {_shown(value)} = {one_line(ast.unparse(node), limit=VALUE_CHARS_MAX)}")
    return lines
