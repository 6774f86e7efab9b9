"""Restores builtins that a run has replaced or deleted: all Python code of the engine looks them up by name."""

from __future__ import annotations

import builtins
from operator import is_

_SPACE = vars(builtins)
#: Builtins that a program may replace for good, so that all its modules see it; no run depends on them.
_FREE = {"_", "__import__", "breakpoint", "copyright", "credits", "display", "exit", "help", "input", "license", "open"}
_KEPT = {
    name: value
    for name, value in _SPACE.items()
    if name not in {*_FREE, "print", "quit"} and (not name.startswith("_") or name == "__build_class__")
}
#: The only names checked after each run: nothing works without them.
_NAMES = ("dict", "getattr", "isinstance", "len", "list", "range", "str", "type")
_VALUES = tuple(_KEPT[name] for name in _NAMES)
#: What restore() itself needs, out of reach for a run.
_all, _map, _is, _get, _update = all, map, is_, _SPACE.get, _SPACE.update


def restore() -> None:
    """Restore the builtins. Compares objects by identity alone, because they are untrusted."""
    if not _all(_map(_is, _map(_get, _NAMES), _VALUES)):
        _update(_KEPT)
