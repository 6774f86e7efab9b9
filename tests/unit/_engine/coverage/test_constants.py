"""Which constants of a program are worth drawing."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ordeal._engine.coverage.constants import SourceConstants
from ordeal._engine.coverage.targets import Target


def constants(folder: Path, source: str) -> Sequence[object]:
    path = folder / "program.py"
    path.write_text(source)
    return SourceConstants([Target("program", str(path), is_package=False)]).read()


def test_each_constant_once_in_order(tmp_path: Path) -> None:
    source = (
        "A = 70000\nB = {'key': b'magic', 2.5: 70000}\ndef f(x, y=-12):\n    return x == 'other' and x in (1, 1.0)\n"
    )
    assert constants(tmp_path, source) == [70000, "key", 2.5, b"magic", -12, "other", 1, 1.0]


def test_computed_constants_count_as_what_they_are(tmp_path: Path) -> None:
    assert constants(tmp_path, "A = 2**32 - 1\nB = 1 << 20\nC = ~5\nD = 60 * 60\nE = -(2**63)") == [
        2**32 - 1,
        1 << 20,
        ~5,
        3600,
        -(2**63),
    ]


def test_what_is_too_large_to_compute_is_not_computed(tmp_path: Path) -> None:
    assert constants(tmp_path, "A = 10 ** 10 ** 9\nB = 1 << 10**8") == [10, 10**9, 1, 10**8]


def test_texts_for_people_do_not_count(tmp_path: Path) -> None:
    source = (
        '"""A module."""\n__all__ = ["f"]\n'
        'def f(x):\n    """Do it."""\n    assert x != "a", "message"\n'
        '    if x == "b":\n        raise ValueError("c")\n    return f"d{x}"\n'
    )
    assert constants(tmp_path, source) == ["a", "b"]


def test_files_are_read_one_by_one(tmp_path: Path) -> None:
    for name, text in {"a": "X = 'a'", "b": "X = 'b', 'a'"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    files = SourceConstants([Target("package", str(tmp_path), is_package=True)])
    assert [files.next_chars(), files.read(), files.next_chars(), files.read()] == [7, ["a"], 12, ["b"]]
    assert files.next_chars() is None


def test_invalid_escapes_are_no_warning(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    assert constants(tmp_path, r"A = '\d'") == [r"\d"]
    assert not recwarn.list
