"""What makes no mutants: code that nobody tests, or that only others run; and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit._tools.mutation.test_operators import made, source_of

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.source import Source


@pytest.mark.parametrize(
    "text",
    [
        "'a' + 'docstring'\n",
        "x: int = 1  # pragma: no cover",
        "if TYPE_CHECKING:\n    x = 1 + a",
        "import typing as t\nif t.TYPE_CHECKING and a:\n    x = 1 + a",
        "if not TYPE_CHECKING or a:\n    pass\nelse:\n    x = 1 + a",
        "if __name__ == '__main__':\n    f(1 + a)",
        "def f():\n    logger.info(a + 1)",
        "def f():\n    LOGGER.debug('%s', a + 1)",
        "def f(self):\n    self._log.exception(a + 1)",
        "assert a + 1 < b",
        "x = f'{a + 1}'",
        "X: TypeAlias = Literal[1 + 1]",
        "type X = Literal[1 + 1]",
        "X = typing.Callable[[Literal[1 + 1]], None]",
        "X = dict[str, Literal[1 + 1]] | None",
        "T = TypeVar('T', bound=Literal[1 + 1])",
        "class A:\n    X = NewType('X', Literal[1 + 1])",
        "def f[T: Literal[1 + 1]](a: T) -> Literal[1 + 1]:\n    return a",
        "x = cast(Literal[1 + 1], y)",
        "X = TypeAliasType('X', Literal[1 + 1])",
        "def f():\n    typing.assert_type(a, Literal[1 + 1])",
        "class A(TypedDict, total=1 + 1):\n    a: int",
        "class P(Protocol[T]):\n    def f(self):\n        return 1 + 1",
        "def f(a=1 + 1): ...",
        "__version__ = version = a + 1",
        "def f(a):\n    many = a + 1\n    raise ValueError(f'{many} are too many')",
        "def f(a):\n    many = a + 1\n    text = '%s are too many' % many\n    if a:\n        raise ValueError(text)",
        "def f(a):\n    text = 'too'\n    if a:\n        text += '%s' % (a + 1)\n    raise ValueError(text)",
        "def f(a):\n    which = a + 1\n    logger.info('%s', which)",
    ],
)
def test_what_nobody_tests_has_no_arithmetic_mutant(text: str) -> None:
    assert [line for line in made("arithmetic", text) if "docstring" not in line] == []


@pytest.mark.parametrize(
    "text", ["X = int | float", "X = None | Node", "X = 'Node' | None", "def f(a):\n    a = t.cast(int, a)"]
)
def test_what_only_names_a_type_makes_no_mutants(text: str) -> None:
    assert made("delete_statement", text) == []


@pytest.mark.parametrize(
    "text", ["x = re.A | re.M", "x = a | b", "x = {**a} | {}", "def f(a):\n    b = t.cast(int, a)"]
)
def test_what_only_looks_like_one_does(text: str) -> None:
    assert made("delete_statement", text)


@pytest.mark.parametrize("call", ["log.append(a + 1)", "math.log(a + 1)", "backlog.info(a + 1)", "self.log(a + 1)"])
def test_what_only_looks_like_logging_has_mutants(call: str) -> None:
    assert made("arithmetic", f"def f(a):\n    {call}")


@pytest.mark.parametrize("text", ["x = table[1 + 1]", "x = cast(int, 1 + 1)", "x: int = 1 + 1", "x = a + 1 | 2"])
def test_what_only_looks_like_a_type_has_mutants(text: str) -> None:
    assert made("arithmetic", text)


@pytest.mark.parametrize(
    "end", ["raise HTTPError(status)", "if status:\n        raise OSError(f'{status}')", "return f'{status}'"]
)
def test_what_is_not_only_the_text_of_an_error_has_mutants(end: str) -> None:
    assert made("arithmetic", f"def f(a):\n    status = a + 1\n    {end}")


def test_a_long_table_is_data() -> None:
    text = f"TABLE = {[(each, each + 1) for each in range(1000)]}\ndef f(a):\n    return a + 1\n"
    assert {each.name for each in mutants_of(source_of(text), ["boundary"])} == {"f"}


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("import sys\nif sys.version_info < (3,):\n    LIMIT = 1\n", 0),
        ("import sys\nIS_OLD = (2, 6) <= sys.version_info < (3,)\n", 1),
        ("import sys\nif sys.version_info >= (3,):\n    LIMIT = 1\n", 3),
        ("import sys\ndef f():\n    return 1 if sys.platform.startswith('win') else 'x'\n", 1),
        ("import sys\ndef f():\n    if len(sys.argv) > 1: print()\n", 6),
        ("import sys\ndef f(a):\n    return sys.version_info >= (3, 9) and a\n", 2),
        ("import os\nif not hasattr(os, 'fork'):\n    LIMIT = 1\n", 0),
        ("DEBUG = False\ndef f():\n    if DEBUG: print(1)\n", 6),
        ("import six\ndef f(a):\n    if six.PY2:\n        a += 1\n    return a if not _PY3 else 2\n", 3),
        ("import sys\ndef f(a):\n    return a if sys.maxsize > 2**32 else 2\n", 1),
        ("import sys\ndef f(a):\n    return a if len(sys.argv) > 2**32 else 2\n", 11),
        ("def f(a):\n    if PY5:\n        a += 1\n    return a\n", 6),
    ],
)
def test_code_for_other_pythons_makes_no_mutants(tmp_path: Path, code: str, made: int) -> None:
    found = mutants_of(Source(tmp_path / "shop.py", "shop.py", code.encode()), PRESETS["standard"])
    assert len(found) == made, [(each.operator, each.original) for each in found]
