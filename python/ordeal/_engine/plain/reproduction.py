"""Makes the plain reproduction of a failure: recorded, minimised and run again, each in a separate process.

This process runs no code of the user's: it sends the trace and takes texts, with limits of time and size.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import one_line
from ordeal._base.interpreter import answer_of, finish, start
from ordeal._base.limits import GRACE_SECONDS
from ordeal._base.trace_file import Trace
from ordeal._engine.isolation.child import can_supervise
from ordeal._engine.plain.recording import Recorded
from ordeal._engine.plain.trying import Minimised

#: Time limit for recording the run, and for trying the program.
SECONDS_MAX = 60.0


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The text of a plain program that was seen to fail like the trace, or the ``reason`` why there is none."""

    text: str = ""
    reason: str = ""


def reproduce(trace: Trace) -> Reproduction:
    """Return the plain reproduction of a failing trace."""
    if trace.failure is None:
        return Reproduction(reason="the trace does not fail")
    if not can_supervise():
        return Reproduction(reason="its calls are tried in processes that are forked on Linux only")
    request: dict[str, Any] = {
        "trace": trace.to_request(),
        "module": trace.test_class.partition(":")[0],
        "targets": sorted(trace.targets),
    }
    try:
        answer = answer_of("ordeal._engine.plain.start", request, seconds=SECONDS_MAX)
        recorded = msgspec.json.decode(answer, type=Recorded)
    except (OSError, ValueError, RecursionError) as error:
        return Reproduction(reason=f"it could not be recorded: {one_line(str(error))}")
    program = recorded.program
    if program is None:
        return Reproduction(reason=recorded.reason)
    request = {"program": msgspec.to_builtins(program), "place": recorded.place}
    try:
        answer = answer_of("ordeal._engine.plain.trying", request, seconds=SECONDS_MAX)
        tried = msgspec.json.decode(answer, type=Minimised)
    except (OSError, ValueError, RecursionError) as error:
        tried = Minimised(reason=f"it could not be tried: {one_line(str(error))}")
    if not all(0 <= number < len(program.statements) for number in tried.kept):
        tried = Minimised(reason="its process gave an impossible answer")
    if tried.reason:
        return Reproduction(reason=f"the plain calls fail in another way: {tried.reason}")
    gone = set(range(len(program.statements))) - set(tried.kept)
    small = program.without(gone)
    reason = ""
    # A tidied program reads better; in the rare case that it does something else, the other one counts.
    for text in (small.tidied().source(), small.source()):
        reason = _checked(text, program.end.error or "AssertionError")
        if not reason:
            return Reproduction(text)
    return Reproduction(reason=reason)


def _checked(text: str, error: str) -> str:
    """Run the program as a file in a new interpreter; return what is wrong, if anything is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reproduction.py")
        path.write_text(text, "utf-8")
        searched = os.pathsep.join(str(each) for each in sys.path if each)
        environment = os.environ | {"PYTHONPATH": searched, "PYTHONDONTWRITEBYTECODE": "1"}
        process = start([sys.executable, "-P", str(path)], pipes=["stderr"], environment=environment)
        _, output = finish(process, seconds=GRACE_SECONDS)
    last = output.decode("utf-8", "replace").rstrip().rpartition("\n")[2]
    if process.returncode == 0:
        return "the plain calls do not fail in a new process"
    name = error.rpartition(".")[2]
    if name not in output.decode("utf-8", "replace"):
        return f"the plain calls fail in another way in a new process: {one_line(last)}"
    return ""
