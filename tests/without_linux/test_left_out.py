"""The list of what is left out without Linux names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.without_linux.left_out import FORKS, LEFT_OUT, reason_for

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("place", [place for places in LEFT_OUT.values() for place in places])
def test_each_place_is_there(place: str) -> None:
    path, _, name = place.partition("::")
    function, _, case = name.partition("[")
    text = (ROOT / path).read_text("utf-8")
    assert not name or f"\ndef {function}(" in text
    assert not case or (ROOT / case.rstrip("]")).exists() or f'id="{case.rstrip("]")}"' in text


def test_a_test_is_left_out_by_its_place_or_its_mark() -> None:
    (epoll,) = LEFT_OUT["only Linux has epoll"]
    assert reason_for(epoll) == "only Linux has epoll"
    assert reason_for(re.sub(r"\[.*", "", epoll)) == ""
    mutants = "tests/unit/_tools/mutation/test_running.py"
    assert reason_for(f"{mutants}::test_it") == reason_for(mutants) != ""
    assert reason_for(f"{mutants}_more::test_it") == ""
    assert reason_for("tests/test_it.py::test_it", ["slow", "forks"]) == FORKS
