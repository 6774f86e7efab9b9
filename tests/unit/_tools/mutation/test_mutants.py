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
from ordeal._tools.mutation.operators import OPERATORS
from ordeal._tools.mutation.source import Source


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
