"""The tests of pytest in which Hypothesis runs a machine, where the recorded runs of that machine judge as well."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

from ordeal._hypothesis.markers import machine_of_test_case

#: What becomes of tests of machines: they judge like all others, not at all, or nothing else does.
Which = Literal["all", "others", "theirs"]


def chosen(items: Sequence[Any], machines: Collection[str], which: Which) -> list[Any]:
    """Return the tests that judge: all, or those that are, or are not, tests of these machines, by their class paths.

    Where no others are there, all of them judge: a suite that is nothing but machines is none without them.
    """
    theirs = [item for item in items if _is_of(item, machines)]
    if which == "theirs":
        return theirs
    ids = {*map(id, theirs)}
    others = [item for item in items if id(item) not in ids]
    return list(items) if which == "all" or not others else others


def _is_of(item: Any, machines: Collection[str]) -> bool:
    machine = machine_of_test_case(getattr(item, "cls", None))
    return machine is not None and any(_same(machine, path) for path in machines)


def _same(machine: type, path: str) -> bool:
    # pytest may import a file of tests under a shorter name than the one by which it is explored.
    module, _, name = path.partition(":")
    return (machine.__module__.rpartition(".")[2], machine.__qualname__) == (module.rpartition(".")[2], name)
