"""Which mutants a file has: what each operator makes of it, what is dropped, and how each is named."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from types import CodeType
from typing import Literal

import pytest
from tests.unit._tools.mutation.test_operators import made, source_of

from ordeal._base.code_objects import shape
from ordeal._tools.mutation.mutants import (
    CHIMP,
    compiled_unit,
    equals_original,
    made_of,
    mutants_of,
)
from ordeal._tools.mutation.operators import OPERATORS, PRESETS
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


def test_a_mutant_of_the_same_code_is_none() -> None:
    assert made("return_none", "def f():\n    return (None)") == []


@pytest.mark.parametrize("branches", ["", "else:", "elif b:", "elif b:\n    pass\nelif c:", "elif b:\n    pass\nelse:"])
def test_a_function_has_mutants_in_each_branch_of_a_statement(branches: str) -> None:
    before = f"if a:\n    pass\n{branches}" if branches else "if a:"
    text = f"{before}\n    class A:\n        def f(self):\n            return 1\n"
    assert made("return_none", text) == ["return None"]


@pytest.mark.parametrize("action", ["error", "always"])
def test_what_python_warns_of_in_a_mutant_is_neither_told_nor_an_error(action: Literal["error", "always"]) -> None:
    source = source_of("def f(a):\n    return (a + (1,))[0]\n")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        assert len(mutants_of(source, [CHIMP])) == 2
    assert told == []


def test_a_long_table_is_data() -> None:
    text = f"TABLE = {[(each, each + 1) for each in range(1000)]}\ndef f(a):\n    return a + 1\n"
    assert {each.name for each in mutants_of(source_of(text), ["boundary"])} == {"f"}


def test_what_never_runs_equals_the_original() -> None:
    source = source_of("def f():\n    return 1\n    a()\n")
    (unreachable,) = mutants_of(source, ["delete_statement"])
    (reachable,) = mutants_of(source, ["return_none"])
    assert equals_original(source, unreachable)
    assert not equals_original(source, reachable)


def test_all_other_lines_stay_where_they_are() -> None:
    source = source_of(
        """
        import re

        class A:
            @staticmethod
            def one(a):
                x = [
                    a + 1,
                    2,
                ]
                if (a and
                        x):
                    return re.sub("", "", a)
                return x

            def two(self):
                return 2
        """
    )
    count = source.text.count(b"\n")
    mutants = mutants_of(source, [*OPERATORS, CHIMP])
    assert len(mutants) > 20
    for mutant in mutants:
        assert mutant.applied(source.text).count(b"\n") == count, mutant
        ast.parse(mutant.applied(source.text))


def test_a_function_compiled_alone_has_the_code_that_its_module_gives_it() -> None:
    source = source_of(
        """
        import re

        class A:
            if True:
                def one(self, a):
                    return re.sub("", self.__b, super().c(a))
        """
    )
    (mutant,) = mutants_of(source, ["return_none"])
    alone = compiled_unit(source, source.text, mutant.function)
    whole = compiled_unit(source, source.text, None)
    names = [code for unit in (alone, whole) for code in _codes(unit) if code.co_name == "one"]
    assert shape(names[0]) == shape(names[1])
    assert [code.co_qualname for code in names] == ["A.one", "A.one"]
    assert names[0].co_firstlineno == names[1].co_firstlineno


def _codes(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [code, *(found for each in inner for found in _codes(each))]


def test_an_id_stays_when_lines_move() -> None:
    before = mutants_of(source_of("def f(a):\n    return a + 1\n"), ["arithmetic", "boundary"])
    after = mutants_of(source_of("\n\n\ndef f(a):\n    return a + 1\n"), ["arithmetic", "boundary"])
    assert [each.id for each in before] == [each.id for each in after]
    assert len({each.id for each in before}) == 3


def test_what_is_none_is_counted() -> None:
    source = Source(
        Path("a.py"), "a.py", b"def f(a):\n    if not a:\n        while 1:\n            a.sort()\n    return a\n"
    )
    made = made_of(source, ["negate", "remove_not", "delete_statement", "boundary"])
    assert [(each.line, each.replacement) for each in made.equivalent] == [(3, "2")]
    assert (2, "remove_not") in [(each.line, each.operator) for each in made.duplicate]
    assert next((each.line, each.operator) for each in made.mutants) == (2, "negate")


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("import sys\nif sys.version_info < (3,):\n    LIMIT = 1\n", 0),
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
