"""Restores builtins that a run has replaced or deleted: all Python code of the engine looks them up by name."""

from __future__ import annotations

import builtins

_SPACE = vars(builtins)
#: Builtins that a program may replace for good, so that all its modules see it; no run depends on them.
_FREE = {"_", "__import__", "breakpoint", "copyright", "credits", "display", "exit", "help", "input", "license", "open"}
_KEPT = {
    name: value
    for name, value in _SPACE.items()
    if name not in {*_FREE, "print", "quit"} and (not name.startswith("_") or name == "__build_class__")
}
#: The only builtins checked after each run, here out of reach for it: nothing works without them.
_dict, _getattr, _isinstance, _len, _list, _range, _str, _type = dict, getattr, isinstance, len, list, range, str, type
#: What restore() itself needs.
_NameError, _update = NameError, _SPACE.update


def restore() -> None:
    """Restore the builtins. Compares objects by identity alone, because they are untrusted.

    Each name is written out: the interpreter looks builtins up at the speed of local variables.
    """
    try:
        is_whole = (
            dict is _dict
            and getattr is _getattr
            and isinstance is _isinstance
            and len is _len
            and list is _list
            and range is _range
            and str is _str
            and type is _type
        )
    except _NameError:
        is_whole = False
    if not is_whole:
        _update(_KEPT)
