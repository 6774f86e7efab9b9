"""Curves are named by what counts of instructions do, also with branches that bend them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from ordeal._tools.profile.growth import SHAPES, Growth, growth

CHANCE = random.Random(5)
SIZES = [int(CHANCE.expovariate(1 / 9)) for _ in range(150)]


@pytest.mark.parametrize(
    ("cost", "name"),
    [
        (lambda n: 30 + 7 * n, "linear"),
        (lambda n: 30 + 7 * n + n * (n % 3 == 0), "linear"),
        (lambda n: 30 + 9 * n * math.log2(n + 1), "n log n"),
        (lambda n: 80 + 12 * n + 5 * n * n, "quadratic"),
        (lambda n: 80 + 3 * n * (n - 1) // 2, "quadratic"),
        (lambda n: 80 + n**3, "cubic"),
        (lambda _: 30, ""),
        (lambda n: 500 - n, ""),
    ],
)
def test_a_curve_is_named(cost: Callable[[int], float], name: str) -> None:
    noise = random.Random(1)
    points = [(n, int(cost(n) * noise.uniform(0.97, 1.03))) for n in SIZES]
    assert growth({"`n`": points}) == (Growth(name, "`n`") if name else Growth())


def test_the_size_that_explains_the_cost_is_named() -> None:
    other = [CHANCE.randint(0, 40) for _ in SIZES]
    points = [(n, 10 + 3 * n) for n in SIZES]
    found = growth({"`other`": [(n, cost) for n, (_, cost) in zip(other, points, strict=True)], "the state": points})
    assert found == Growth("linear", "the state")


def test_too_few_sizes_say_nothing() -> None:
    assert growth({"`n`": [(n, n * n) for n in (1, 2, 4, 8, 16)] * 30}) == Growth()
    assert growth({"`n`": [(n, n * n) for n in range(20, 40)]}) == Growth()
    assert growth({}) == Growth()


def test_the_command_line_knows_the_shapes() -> None:
    from ordeal.config.flags import ProfileFlags  # noqa: PLC0415 - only here

    assert all(ProfileFlags.options["growth"].check.accept(name) == name for name in SHAPES)
