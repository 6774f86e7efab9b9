"""``ordeal mutate doctor``: what it says of a suite before any mutant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

TESTS = """
import pathlib
import pytest
from shop.cart import total

def test_total(): assert total(1) == 2
def test_once():
    # Each fork begins with the same memory: only a file tells it that it is not the first.
    mark = pathlib.Path("mark")
    assert not mark.exists()
    mark.touch()
@pytest.mark.skip
def test_skipped(): pass
"""


def test_what_cannot_judge_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop").mkdir()
    for name, text in (("__init__", ""), ("cart", "def total(a):\n    return a + 1\n"), ("gone", "x = 1\n")):
        Path("shop", f"{name}.py").write_text(text)
    Path("test_shop.py").write_text(TESTS)
    code, out, _ = run("mutate", "doctor", "shop")
    assert code == 1
    assert out.startswith("1 test passed twice, and can judge, ")
    assert out.splitlines()[1:] == [
        "1 test cannot: skipped, or expected to fail",
        "does not pass each time, and will be left out: test_shop.py::test_once",
        "2 of 3 files run in the tests, or when they are imported",
        "no test runs or imports shop/gone.py",
    ]
