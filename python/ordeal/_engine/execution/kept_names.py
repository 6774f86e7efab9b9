"""Keeps builtins and names of ``sys`` as they are for the engine, also where the program under test replaces them.

A rule may replace or delete a builtin: to test with it, or by mistake. All Python code of the engine, of Hypothesis and
of the standard library would see it, and what fails there would count as a failure of the program. So the program has
its own names while its code runs, and the engine has those that it knows in between.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ordeal._native import keep_names, lend_names, take_names

#: Builtins that a program may replace for good, so that all its modules see it; no run depends on them.
_FREE = {"_", "__import__", "breakpoint", "copyright", "credits", "display", "exit", "help", "input", "license", "open"}
#: What `sys` holds besides functions. Its hooks belong to the program.
_VALUES = {"meta_path", "modules", "monitoring", "path", "path_hooks"}

keep_names(
    vars(builtins),
    {
        name: value
        for name, value in vars(builtins).items()
        if name not in {*_FREE, "print", "quit"} and (not name.startswith("_") or name == "__build_class__")
    },
    of_run=True,
)


@contextmanager
def keeping() -> Iterator[None]:
    """Keep in the block what ``sys`` holds now, when the program has been imported; what it puts there later stays."""
    space = vars(sys)
    functions = {name: each for name, each in space.items() if callable(each) and not name.endswith("hook")}
    keep_names(space, functions | {name: space[name] for name in _VALUES & space.keys()}, of_run=False)
    try:
        yield
    finally:
        lend_names()


class _Lent:
    """Code of the program runs in the block."""

    def __enter__(self) -> None:
        lend_names()

    def __exit__(self, *_exc_info: object) -> None:
        take_names()

    def call(self, function: Callable[[], object]) -> None:
        """Call ``function``, which is the program's."""
        with self:
            function()


lent = _Lent()
