"""The tables of operators say what Python does."""

from __future__ import annotations

import ast

import pytest

from ordeal._engine.execution.operators import COMPARED, IN_PLACE, OPERATORS, SIGNS, UNARY


class Matrix:
    """A value that has a matrix product."""

    def __matmul__(self, other: object) -> str:
        return "product"


@pytest.mark.parametrize("sign", [*OPERATORS, *COMPARED])
def test_an_operator_of_two_values_does_what_its_sign_says(sign: str) -> None:
    one: object = Matrix() if sign == "@" else "b" if "in" in sign.split() else 7
    other: object = "abc" if isinstance(one, str) else 2
    assert (OPERATORS | COMPARED)[sign](one, other) == eval(f"one {sign} other")
    assert sign not in IN_PLACE or IN_PLACE[sign](one, other) == OPERATORS[sign](one, other)


@pytest.mark.parametrize("sign", UNARY)
def test_an_operator_of_one_value_does_what_its_sign_says(sign: str) -> None:
    assert UNARY[sign](5) == eval(f"{sign}5")


def test_each_operator_of_a_source_has_a_sign() -> None:
    operators = [*ast.operator.__subclasses__(), *ast.cmpop.__subclasses__(), *ast.unaryop.__subclasses__()]
    assert set(SIGNS) == {*operators} - {ast.Not}
    assert set(SIGNS.values()) == {*OPERATORS, *COMPARED, *UNARY}
