"""The program that tries a plain program: leaves out what it does not need, each time in a separate process.

It reads a request from stdin and writes the answer to stdout, both as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._base.limits import CHILD_MEMORY_MIB, MEBIBYTE, RECORDED_CHARS_MAX
from ordeal._engine.execution.recorder import ADDRESS
from ordeal._engine.isolation.child import Limits, call_in_fork
from ordeal._engine.plain.program import Program

#: Files here are not places of the program: its own path may name ordeal as well.
OWN_FOLDER = f"{Path(__file__).parents[2]}{os.sep}"


class Minimised(msgspec.Struct, kw_only=True):
    """The numbers of the statements that are needed; empty with a ``reason`` if the program does not fail so."""

    kept: list[int] = msgspec.field(default_factory=list)
    reason: str = ""


def main() -> None:
    """Answer the request on stdin."""
    request, answers = take_request()
    program = msgspec.convert(request["program"], Program)
    for name in program.imports:  # so that each attempt finds it
        with suppress(Exception):
            __import__(name)

    def outcome_apart(tried: Program) -> dict[str, Any]:
        """Run a program in a forked process."""
        limits = Limits(CHILD_MEMORY_MIB * MEBIBYTE)
        called = call_in_fork(lambda: json.dumps(outcome(tried.source(probes=True))), 5.0, limits)
        found = json.loads(str(called.answer)) if called.answer else {}
        return found if isinstance(found, dict) else {}

    answers.write(msgspec.json.encode(minimised(program, request["place"], outcome_apart)))
    send_and_exit(answers)


def minimised(program: Program, place: str, outcome_of: Callable[[Program], dict[str, Any]]) -> Minimised:
    """Return the statements without which ``program`` would not fail like it does, in ``place``.

    ``outcome_of`` runs a program. What an assertion compares must stay the same: a program that leaves out what the
    test did would compare other things. So only what looks, or belongs to a check, may go there.
    """
    whole = outcome_of(program)
    expected = program.end.error or "AssertionError"
    if whole.get("type") != expected:
        return Minimised(reason=f"it ends with {whole.get('type') or 'no error'} instead of {expected}")
    if program.end.error and place and whole.get("place") != place:
        return Minimised(reason=f"it fails in {whole.get('place') or 'itself'} instead of {place}")
    free = bool(program.end.error)
    last = len(program.statements) - 1
    kept = list(range(len(program.statements)))
    deadline, attempts = monotonic() + 25.0, 0
    may_go = {
        number
        for number, each in enumerate(program.statements)
        if (free or each.optional) and not (number == last and (program.end.error or program.end.must_raise))
    }
    size = max(1, len(may_go))
    while size:
        free_now = [number for number in kept if number in may_go]
        # From the end: what comes last is needed by nothing else.
        for end in range(len(free_now), 0, -size):
            chunk = free_now[max(0, end - size) : end]
            if attempts >= 400 or monotonic() > deadline:
                return Minimised(kept=kept)
            attempts += 1
            candidate = [number for number in kept if number not in chunk]
            gone = [number for number in range(len(program.statements)) if number not in candidate]
            if outcome_of(program.without(gone)) == whole:
                kept = candidate
        size //= 2
    return Minimised(kept=kept)


def outcome(source: str) -> dict[str, Any]:
    """Run the text of a program, and return how it ends and what it saw."""
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, "<program>", "exec"), names)
    except BaseException as error:  # noqa: BLE001 - the code under test may raise anything
        kind = type(error)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        place, tb = "", error.__traceback__
        while tb is not None:
            code = tb.tb_frame.f_code
            if not code.co_filename.startswith((OWN_FOLDER, "<")):
                place = code.co_qualname
            tb = tb.tb_next
        return {
            "type": name,
            "place": place,
            "text": _text(error),
            "seen": [_text(each) for each in names.get("__seen__", [])],
        }
    return {}


def _text(value: object) -> str:
    try:
        return ADDRESS.sub("", (str if isinstance(value, BaseException) else repr)(value)[:RECORDED_CHARS_MAX])
    except Exception as error:  # noqa: BLE001 - an object of the user's may raise anything
        return f"<{type(error).__name__}>"


if __name__ == "__main__":
    main()
