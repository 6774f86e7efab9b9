"""Functions are ranked by what was measured in them: neither names, comments nor texts change that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordeal._tools.risk import FunctionRisk, risks

PROGRAM = """
async def pay(till):
    await till.open()
    await till.close()
"""


def ranked(folder: Path, text: str, *, test: str = "m:M", fault: str = "") -> list[FunctionRisk]:
    (folder / "till.py").write_text(text)
    reached = {"missed_lines": {"till.py": [4]}, "covered_lines": {"till.py": "3"}}
    faults: list[dict[str, Any]] = [{"name": fault, "hits": 3}] if fault else []
    return risks([{"test_class": test, "telemetry": {"behavior": reached}, "faults": faults}], None, folder)


@pytest.mark.parametrize("test", ["tests:PayTillOpenCloseNetworkTimeoutFault", "m:till_pay_covered"])
def test_the_name_of_a_test_is_not_a_measurement(tmp_path: Path, test: str) -> None:
    (found,) = ranked(tmp_path, PROGRAM)
    (named,) = ranked(tmp_path, PROGRAM, test=test)
    assert (named.risk, named.missed, named.unstruck) == (found.risk, found.missed, found.unstruck) == (3, 1, 2)


def test_comments_and_texts_are_not_code(tmp_path: Path) -> None:
    (found,) = ranked(tmp_path, PROGRAM.replace("till.open()", "till.open()  # await, with open(x), lock, retry"))
    assert (found.risk, found.unstruck) == (3, 2)
    (found,) = ranked(tmp_path, PROGRAM.replace("till.close()", "till.close('await x with y: async for z')"))
    assert (found.risk, found.unstruck) == (3, 2)


def test_a_fault_that_has_struck_lowers_the_risk_of_the_call_that_it_is_aimed_at(tmp_path: Path) -> None:
    assert [each.unstruck for each in ranked(tmp_path, PROGRAM, fault="timeout(till.open, 1 s)")] == [1]
    assert [each.unstruck for each in ranked(tmp_path, PROGRAM, fault="timeout(till.other)")] == [2]
