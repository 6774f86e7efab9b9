"""The section of the settings file for mutation testing: it counts where the command line says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal.cli import main


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shop", "till"):
        Path(f"{name}.py").write_text("def f(a):\n    return a > 1 and a < 5\n")
    Path("ordeal.toml").write_text('[mutations]\ntargets = ["shop.py"]\noperators = ["logical"]\n')


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["shop.py:2  f  logical"]),
        (["till.py"], ["till.py:2  f  logical"]),
        (["-p", "extreme"], ["shop.py:2  f  body_none"]),
        (["--operators", "negate,logical"], ["shop.py:2  f  logical"]),
    ],
)
def test_options_come_first(words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", "--list", *words]) == 0
    assert [line.partition("  ")[2] for line in capsys.readouterr().out.splitlines()] == expected


def test_a_file_that_is_excluded_may_be_in_any_state(capsys: pytest.CaptureFixture[str]) -> None:
    Path("vendor").mkdir()
    Path("vendor/old.py").write_bytes(b"# \xe9\nprint 1\n")
    Path("vendor/new.py").write_text("def g(a):\n    return a or 1\n")
    assert main(["mutate", "--list", "shop.py", "vendor"]) == 2
    assert "leave it out with `--exclude`" in capsys.readouterr().err
    for words in (["--exclude", "old.py"], []):
        if not words:
            Path("ordeal.toml").write_text('[mutations]\nexclude = ["vendor/old.py"]\noperators = ["logical"]\n')
        assert main(["mutate", "--list", "shop.py", "vendor", *words]) == 0
        assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["shop.py:2", "vendor/new.py:2"]


def test_a_wrong_value_and_a_file_that_is_not_there_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ordeal.toml").write_text("[mutations]\nthreshold = 101\n")
    assert main(["mutate", "--list"]) == 2
    assert "`threshold` in [mutations] of ordeal.toml is 101" in capsys.readouterr().err
    assert main(["mutate", "--list", "-c", "gone.toml"]) == 2
