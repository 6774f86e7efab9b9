"""The mutant that must be noticed before any verdict is believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._tools.mutation.judging.baseline import is_of_python, module_name
from ordeal._tools.mutation.mutants import mutants_of, raising
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.source import Source


def test_a_function_that_raises_at_once_keeps_its_lines_and_its_kind() -> None:
    text = b'@print\ndef f(a):\n    """Text."""\n    yield a + 1\n    return\n'
    source = Source(Path("shop.py"), "shop.py", text)
    (mutant,) = mutants_of(source, ["arithmetic"])
    changed = raising(source, mutant).applied(text)
    assert changed.count(b"\n") == text.count(b"\n")
    found: dict[str, object] = {}
    exec(changed.replace(b"@print\n", b"\n"), found)
    with pytest.raises(SystemError):
        next(found["f"](1))  # type: ignore[operator]


def test_a_file_is_named_as_its_packages_name_it(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "cart"
    inner.mkdir(parents=True)
    for each in (inner, inner.parent):
        (each / "__init__.py").touch()
    assert module_name(inner / "item.py") == "shop.cart.item"
    assert module_name(inner / "__init__.py") == "shop.cart"
    assert module_name(tmp_path / "till.py") == "till"


@pytest.mark.slow
def test_tests_of_many_turns_are_asked_last(tmp_path: Path) -> None:
    program = "def total(n):\n    found = 0\n    for _ in range(n):\n        found += 2\n    return found\n"
    (tmp_path / "shop.py").write_text(program)
    tests = "def test_long(): assert total(5000) == 10000\ndef test_short(): assert total(2) == 4\n"
    (tmp_path / "test_shop.py").write_text(f"from shop import total\n\n{tests}")
    source = Source.of(tmp_path / "shop.py", "shop.py")
    found = judge_with_pytest([source], mutants_of(source, ["return_none"]), tests=[], folder=tmp_path, workers=1)
    assert [each.killer for each in found.verdicts] == ["test_shop.py::test_short"]


def test_modules_of_python_are_told_from_others_and_from_jokes() -> None:
    found = [name for name in ("json.decoder", "pytest", "this", "test.support", "colorsys") if is_of_python(name)]
    assert found == ["json.decoder", "colorsys"]
