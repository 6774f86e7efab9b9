"""Notes what a function does in an interpreter that a command starts: the lines that run, and what each call leaves.

``sitecustomize`` runs this file. As there, nothing may fail or print, and the standard library alone is used.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

#: Between the parts of a call: what it returned or raised, and each argument.
SEPARATOR = "\x1f"
_LINES_MAX, _CALLS_MAX = 200, 2000
_DEPTH_MAX, _ITEMS_MAX, _CHARS_MAX = 3, 20, 200
_EXACT_MAX = 10**18


def told(value: Any, depth: int = 0) -> str:
    """Return a value as text, without calling anything of the program: no address, no method of its own."""
    kind = type(value)
    if kind is int:
        return repr(value) if abs(value) < _EXACT_MAX else hex(value)[:_CHARS_MAX]
    if value is None or kind in (bool, float, complex, str, bytes):
        return repr(value)[:_CHARS_MAX]
    if depth >= _DEPTH_MAX:
        return kind.__name__
    if kind in (list, tuple, set, frozenset):
        items = [told(each, depth + 1) for each in list(value)[:_ITEMS_MAX]]
        return f"{kind.__name__}({len(value)}: {', '.join(items if kind in (list, tuple) else sorted(items))})"
    if kind is dict:
        pairs = [f"{told(key, depth + 1)}: {told(each, depth + 1)}" for key, each in list(value.items())[:_ITEMS_MAX]]
        return f"dict({len(value)}: {', '.join(pairs)})"
    if isinstance(value, type):
        return kind.__name__
    fields: dict[str, Any] = {}
    names = [name for base in kind.__mro__ for name in _slots(base)]
    for name in ("__dict__", *names):
        try:
            found = object.__getattribute__(value, name)
        except AttributeError:
            continue
        fields.update(found if name == "__dict__" and type(found) is dict else {name: found})
    if not fields:
        return kind.__name__
    parts = [f"{name}={told(each, depth + 1)}" for name, each in list(fields.items())[:_ITEMS_MAX]]
    return f"{kind.__name__}({', '.join(parts)})"


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots) if isinstance(slots, list | tuple) else ()


class _Notes:
    """Writes a line for each event: ``PID line``, or ``PID call`` with what the call leaves."""

    def __init__(self, out: str, place: str, tool: int) -> None:
        first, last, line, line_last, path = place.split(" ", 4)
        self._function = range(int(first), int(last) + 1)
        self._lines = range(int(line), int(line_last) + 1)
        self._path, self._tool = path, tool
        self._file = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._codes: set[CodeType] = set()
        self._ran = self._calls = 0

    def start(self) -> None:
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(self._tool, "ordeal chimp")
        for event, call in (
            (events.PY_START, self._on_start),
            (events.LINE, self._on_line),
            (events.PY_RETURN, self._on_return),
            (events.PY_YIELD, self._on_return),
            (events.PY_UNWIND, self._on_unwind),
        ):
            sys.monitoring.register_callback(self._tool, event, call)
        sys.monitoring.set_events(self._tool, events.PY_START | events.PY_UNWIND)

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        if code.co_firstlineno in self._function and os.path.realpath(code.co_filename) == self._path:
            self._codes.add(code)
            events = sys.monitoring.events
            sys.monitoring.set_local_events(self._tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD)
        return sys.monitoring.DISABLE

    def _on_line(self, _code: CodeType, line: int) -> Any:
        if line not in self._lines or self._ran >= _LINES_MAX:
            return sys.monitoring.DISABLE
        self._ran += 1
        self._write("line")
        return None

    def _on_return(self, code: CodeType, _offset: int, value: Any) -> None:
        self._call(code, f"returned {told(value)}", sys._getframe(1))

    def _on_unwind(self, code: CodeType, _offset: int, error: BaseException) -> None:
        if code in self._codes:
            self._call(code, f"raised {type(error).__name__}{told(error.args)}", sys._getframe(1))

    def _call(self, code: CodeType, what: str, frame: Any) -> None:
        if self._calls >= _CALLS_MAX:
            return
        self._calls += 1
        values = frame.f_locals
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        left = "".join(f"{SEPARATOR}{name} is {told(values[name])}" for name in names if name in values)
        self._write(f"call {code.co_qualname}() {what}{left}")

    def _write(self, text: str) -> None:
        line = text.replace("\n", " ").replace("\r", " ")
        os.write(self._file, f"{os.getpid()} {line}\n".encode(errors="backslashreplace"))


def begin(out: str, place: str, tool: int) -> None:
    """Begin to note in the file ``out`` what is at ``place``: lines of a function, lines in it, and its file."""
    _Notes(out, place, tool).start()
