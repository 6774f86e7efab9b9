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


def test_the_settings_say_what_is_mutated_by_which_tests(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shop", "till"):
        Path(f"{name}.py").write_text("def total(a):\n    return a + 1\n")
    Path("checks.py").write_text("import shop\n\ndef test_total(): assert shop.total(1) == 2\n")
    Path("ordeal.toml").write_text(
        '[mutations]\ntargets = ["shop.py", "till.py"]\nexclude = ["till.py"]\ntests = ["checks.py"]\n'
    )
    code, out, err = run("mutate", "doctor")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "1 of 1 file runs in the tests, or when it is imported"
