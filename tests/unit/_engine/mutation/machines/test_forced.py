"""The mutant that must be noticed."""

from __future__ import annotations

from ordeal._engine.mutation.machines.forced import raising_at_once
from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.source import Source


def test_the_whole_body_raises(source: Source, mutants: dict[tuple[str, str, str], Mutant]) -> None:
    inner = next(mutant for (name, *_), mutant in mutants.items() if name == "Drawer.close")
    forced = raising_at_once(source, inner)
    assert forced is not None
    changed = forced.applied(source.text).decode()
    body = '    def close(self) -> int:\n        raise RuntimeError("broken on purpose")\n\n\nclass Till'
    assert body in changed
    compile(changed, "till.py", "exec")
