"""The mutant that must be noticed."""

from __future__ import annotations

from types import FunctionType

import pytest

from ordeal._tools.mutation.machines.forced import raising_at_once
from ordeal._tools.mutation.mutants import Mutant, compiled_unit
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import codes_in


def test_the_whole_body_raises(source: Source, mutants: dict[tuple[str, str, str], Mutant]) -> None:
    inner = next(mutant for (name, *_), mutant in mutants.items() if name == "Drawer.close")
    forced = raising_at_once(source, inner)
    assert forced is not None
    changed = forced.applied(source.text)
    assert changed.count(b"\n") == source.text.count(b"\n")
    (code,) = (each for each in codes_in(compiled_unit(source, changed, inner.function)) if each.co_name == "close")
    with pytest.raises(RuntimeError, match="broken on purpose"):
        FunctionType(code, {})(None)
