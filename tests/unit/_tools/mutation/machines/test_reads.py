"""What the invariants of the till read, and that nothing of the watching is left behind."""

from __future__ import annotations

from tests.unit._tools.mutation.machines import till

import ordeal._native as _native
from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.evidence import unread_of
from ordeal._tools.mutation.machines.reads import noting, reads_of


def test_what_no_invariant_reads_is_known(bench: Bench, tapes: list[_native.Tape]) -> None:
    with bench.running():
        reads, attributes = reads_of(bench, tapes[:2])
    assert set(reads["coins_are_right"]) == {"drawer.coins", "expected"}
    assert reads["coins_are_not_negative"] == ("drawer.coins",)
    assert unread_of(attributes, reads) == ("drawer.given_back",)


def test_a_class_is_as_it_was_afterwards() -> None:
    seen: list[str] = []
    with noting({till.Drawer}, lambda _, name: seen.append(name)):
        assert till.Drawer().given_back == 0
    assert "given_back" in seen
    assert "__getattribute__" not in vars(till.Drawer)
