"""Tables of kills, and the attributes that hold a part of the state."""

from __future__ import annotations

import pytest

from ordeal._tools.mutation.machines.evidence import (
    JudgingMachine,
    Kill,
    MachineFinding,
    StateDifference,
    attribute_of,
    one_file,
    table_of,
)


@pytest.mark.parametrize(
    ("path", "attribute"),
    [
        ("stock.reserved['kettle']", "stock.reserved"),
        ("shop.orders['A1'].units", "shop.orders.*.units"),
        ("names['a]b'][3].size", "names.*.*.size"),
        ("count", "count"),
    ],
)
def test_the_attribute_of_a_path_has_no_keys(path: str, attribute: str) -> None:
    assert attribute_of(path) == attribute


def kill(*invariants: str, by: str = "", faults: tuple[str, ...] = ()) -> Kill:
    return Kill(1, 3, "assertion", by or f"invariant:{invariants[0]}", invariants, "sell", faults, "test.py:9", "E")


MACHINE = JudgingMachine("m:M", 1, 3, 0, ("sell", "buy"), ("cut",), ("one", "two", "idle"), {}, ())


def test_a_table_counts_what_only_one_invariant_notices_and_what_kills_nothing() -> None:
    findings = [
        MachineFinding("a", "killed", (kill("one"),)),
        MachineFinding("b", "killed", (kill("one", "two", faults=("cut",)),)),
        MachineFinding("c", "killed", (kill("one"), kill("one"))),
        MachineFinding("d", "survived"),
    ]
    table = table_of(findings, [MACHINE])
    assert {name: (row.kills, row.only_it) for name, row in table.invariants.items()} == {
        "one": (3, 2),
        "two": (1, 0),
        "idle": (0, 0),
    }
    assert table.rules == {"sell": 3, "buy": 0}
    assert table.faults == {"cut": 1}
    assert table.asserts == {"test.py:9": 3}


def test_a_property_has_a_row_of_its_own() -> None:
    table = table_of([MachineFinding("a", "killed", (kill("one", by="property:paid once"),))], [MACHINE])
    assert table.properties == {"paid once": 1}


def test_why_a_mutant_survived() -> None:
    differs = StateDifference(1, 2, "sell", "stock['a']", "1", "2")
    assert MachineFinding("a", "uncovered").why_it_survived == "never reached"
    assert MachineFinding("a", "survived").why_it_survived == "nothing differs"
    assert MachineFinding("a", "survived", difference=differs).why_it_survived == "state differs"
    assert not MachineFinding("a", "killed").why_it_survived
    assert differs.attribute == "stock"


def test_tests_of_several_survivors_are_one_file() -> None:
    head = '"""Head."""\n\nfrom b import B\nfrom a import A\n\n\n'
    found = one_file([f"{head}def test_{name}():\n    A(B)\n" for name in ("one", "two")])
    assert found.split("\n", 2)[2] == (
        "from a import A\nfrom b import B\n\n\ndef test_one():\n    A(B)\n\n\ndef test_two():\n    A(B)\n"
    )
