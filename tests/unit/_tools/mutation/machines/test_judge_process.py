"""What a judge refuses before it says any verdict."""

from __future__ import annotations

from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from tests.unit._tools.mutation.machines import till

from ordeal._tools.mutation.machines.evidence import MachineOptions, Order
from ordeal._tools.mutation.machines.judge_process import Judge, answering
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import Refused
from ordeal._tools.mutation.source import Source
from ordeal.errors import MachineError


def test_a_machine_whose_functions_may_raise_unnoticed_is_refused(
    source: Source, mutants: dict[tuple[str, str, str], Mutant], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[dict[str, Any]] = []
    machine = f"{till.__name__}:Till"
    files = [(str(Path(till.__file__)), source.shown)]
    order = Order(files, [*mutants.values()], MachineOptions((machine,), (till.__name__,), 30, 20.0, 1, 1))
    monkeypatch.setattr("ordeal._tools.mutation.machines.batch.Swap", _NoSwap)
    with pytest.raises(Refused, match="do not notice functions that raise at once"):
        Judge(order, said.append).judge()
    words = [finding["word"] for each in said for finding in each.get("findings", ())]
    assert not {"killed", "survived"}.intersection(words)


class _NoSwap:
    """A swap that reaches nothing."""

    def __init__(self, *_: object) -> None:
        """Change nothing."""

    def codes(self) -> tuple[CodeType, ...]:
        """Return no code."""
        return ()

    def undo(self) -> None:
        """Nothing was changed."""


def test_an_error_is_reported_with_its_hint_once() -> None:
    def load() -> None:
        raise MachineError("importing `test_shop` raised ImportError", hint="install it")

    said: list[object] = []
    with answering(said.append):
        load()
    assert said == [{"refused": ["importing `test_shop` raised ImportError", "install it"]}]
