"""When a process counts as growing."""

import pytest
from harness.processes import Memory
from soak import GROWTH_MAX, Sample, growth

MIB = 1024 * 1024


def samples(*mebibytes: float, first: float = 60.0) -> list[Sample]:
    """One each second from ``first`` on."""
    sizes = [round(each * MIB) for each in mebibytes]
    return [Sample(first + number, Memory(size, size)) for number, size in enumerate(sizes)]


def test_what_stays_as_it_is_does_not_grow() -> None:
    grown = growth("worker", samples(*[50.0] * 30))
    assert grown.share == 0.0
    assert not grown.is_too_much
    assert grown.windows == (50 * MIB,) * 5


def test_a_steady_leak_is_growth() -> None:
    grown = growth("worker", samples(*(50.0 + 0.2 * number for number in range(30))))
    assert grown.share == pytest.approx(4.8 / 50.5)
    assert grown.is_too_much


def test_growth_begins_at_the_limit() -> None:
    stayed, grew = [100.0] * 24, 100 * (1 + GROWTH_MAX)
    assert growth("worker", samples(*stayed, *[grew] * 6)).is_too_much
    assert not growth("worker", samples(*stayed, *[grew - 0.1] * 6)).is_too_much


def test_the_first_minute_does_not_count() -> None:
    warming_up = samples(*(float(number) for number in range(1, 61)), first=0.0)
    assert growth("worker", [*warming_up, *samples(*[60.0] * 30)]).share == 0.0


def test_a_single_peak_is_no_growth() -> None:
    assert growth("worker", samples(*[50.0] * 27, 90.0, 50.0, 50.0)).share == 0.0


def test_less_memory_is_no_growth() -> None:
    assert not growth("worker", samples(*[80.0] * 15, *[50.0] * 15)).is_too_much


def test_a_process_that_lived_too_short_is_not_judged() -> None:
    grown = growth("worker", samples(*(float(number) for number in range(1, 15))))
    assert grown.share is None
    assert not grown.is_too_much
