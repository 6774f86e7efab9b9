"""The whole way from an order to a test, in processes of their own."""

from __future__ import annotations

from pathlib import Path

from tests.unit._tools.mutation.machines import till

from ordeal._tools.mutation.machines.evidence import MachineOptions, Order
from ordeal._tools.mutation.machines.kill_process import Killer
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source


def test_what_a_recorded_run_notices_needs_no_search(
    source: Source, mutants: dict[tuple[str, str, str], Mutant]
) -> None:
    mutant = next(each for (name, *_), each in mutants.items() if name == "Drawer.put" and each.replacement == "-=")
    files = [(str(Path(till.__file__)), source.shown)]
    options = MachineOptions((f"{till.__name__}:Till",), (till.__name__,), 30, 20.0, 1, 1)
    ((name, closed),) = Killer(Order(files, [mutant], options)).close()
    assert name == mutant.id
    assert (closed.how, closed.steps, closed.searched, closed.failed, closed.passed) == ("killed", 1, 0, 10, 10)
