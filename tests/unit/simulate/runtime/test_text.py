"""What a schedule decided is told in sentences, whatever the numbers are."""

from __future__ import annotations

import pytest

from ordeal.simulate.runtime.decisions import VALUE_MAX, Decided
from ordeal.simulate.runtime.node_faults import TORN
from ordeal.simulate.runtime.text import decision_text


@pytest.mark.parametrize(
    ("lost", "bound", "text"),
    [
        (1, 2, "store: the one change that was not synced is lost"),
        (1, 7, "store: of the 6 changes that were not synced, the last is lost"),
        (2, 7, "store: of the 6 changes that were not synced, the last 2 are lost"),
        (1, VALUE_MAX, "store: of the changes that were not synced, the last is lost"),
        (3, VALUE_MAX, "store: of the changes that were not synced, the last 3 are lost"),
    ],
)
def test_what_a_disk_loses(lost: int, bound: int, text: str) -> None:
    assert (
        decision_text(Decided(actor="store", kind="disk", site="", occurrence=0, value=lost, bound=bound), ()) == text
    )


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1 byte of the first lost write survives"), (2, "2 bytes of the first lost write survive")]
)
def test_what_is_left_of_a_write(value: int, text: str) -> None:
    decision = Decided(actor="store", kind="disk", site=TORN, occurrence=0, value=value, bound=9)
    assert decision_text(decision, ()).strip() == f"store: {text}"
