"""Puts builtins back that a run has replaced or deleted: all of the engine that is Python looks them up by name."""

from __future__ import annotations

import builtins
from operator import is_

_SPACE = vars(builtins)
#: Those that a program may replace for good, to have all its modules see it, and that no run hangs on.
_FREE = {"_", "__import__", "breakpoint", "copyright", "credits", "display", "exit", "help", "input", "license", "open"}
_KEPT = {
    name: value
    for name, value in _SPACE.items()
    if name not in {*_FREE, "print", "quit"} and (not name.startswith("_") or name == "__build_class__")
}
#: It is looked at these alone, after each run: nothing works without them.
_NAMES = ("dict", "getattr", "isinstance", "len", "list", "range", "str", "type")
_VALUES = tuple(_KEPT[name] for name in _NAMES)
#: What restore() itself needs, out of reach for a run.
_all, _map, _is, _get, _update = all, map, is_, _SPACE.get, _SPACE.update


def restore() -> None:
    """Put them back. It asks each object for its identity alone, as it may say anything of itself."""
    if not _all(_map(_is, _map(_get, _NAMES), _VALUES)):
        _update(_KEPT)
