"""Which tests of a suite run a machine that judges by its recorded runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.unit._tools.mutation.machines.till import Till

from ordeal._tools.mutation.judging.machine_tests import Which, chosen

PLAIN = SimpleNamespace(cls=None)
OF_A_CLASS = SimpleNamespace(cls=object)
OF_A_MACHINE = SimpleNamespace(cls=Till.TestCase)
PATH = f"{Till.__module__}:Till"


@pytest.mark.parametrize(
    ("which", "machines", "expected"),
    [
        ("others", [PATH], [PLAIN, OF_A_CLASS]),
        ("others", ["till:Till"], [PLAIN, OF_A_CLASS]),
        ("others", ["till:Other"], [PLAIN, OF_A_CLASS, OF_A_MACHINE]),
        ("theirs", [PATH], [OF_A_MACHINE]),
        ("theirs", [], []),
        ("all", [PATH], [PLAIN, OF_A_CLASS, OF_A_MACHINE]),
    ],
)
def test_tests_of_machines_are_told_from_others(which: Which, machines: list[str], expected: list[object]) -> None:
    assert chosen([PLAIN, OF_A_CLASS, OF_A_MACHINE], machines, which) == expected


def test_a_suite_of_nothing_else_judges() -> None:
    assert chosen([OF_A_MACHINE], [PATH], "others") == [OF_A_MACHINE]
