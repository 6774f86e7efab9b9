"""The report on a terminal: what broke comes first, in colour where there are colours."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from msgspec import structs

from ordeal._base.trace_file import Trace, TraceStep
from ordeal._report.terminal import terminal_report
from ordeal.result import Failure
from ordeal.result.parts import CodeLine, FailurePlace

from ..samples.results import make_failure, make_result

PLACE = FailurePlace("rule", "add", CodeLine("shop.py", 9, "Shop.add", "assert self.total < 40"))
ASSERTED = ("assert 40 < 40", " +  where 40 = self.total")


def text_of(*failures: Failure, **changes: Any) -> str:
    return terminal_report([make_result(*failures, **changes)], coloured=False)


def test_a_failure_is_a_title_its_program_its_place_and_the_command_that_shows_it() -> None:
    place = structs.replace(PLACE, asserted=ASSERTED)
    failure = make_failure(
        AssertionError(), "add", place=place, program="state.add(x=40)", bucket="b", trace_path="t.json", count=3
    )
    word = "" if failure.trace is None else failure.trace.to_line()
    assert text_of(failure) == (
        "\ntests.test_chaos:MyServiceChaos\n"
        "\n"
        "  AssertionError: assert 40 < 40\n"
        "     +  where 40 = self.total\n"
        "\n"
        "      state.add(x=40)\n"
        "\n"
        "  At: shop.py:9 in Shop.add (rule)\n"
        "  1 step, run 42, seen in 3 runs\n"
        f"  See each step: ordeal view {failure.id}\n"
        f"  Elsewhere: ordeal replay {word}\n"
        "\n"
        "  58320 runs, 1482010 steps, 300.0s; 47 edges, 31 checkpoints\n"
    )


def test_a_message_is_the_title_and_what_raised_is_shown_with_its_line() -> None:
    text = text_of(make_failure(KeyError("a"), "add", place=PLACE, shrunk=False))
    assert "\n  KeyError: 'a'\n  At: shop.py:9 in Shop.add (rule)\n    assert self.total < 40\n" in text
    assert "1 step, not shrunk, run 42\n" in text


def test_several_failures_are_listed_after_them_and_ten_are_shown() -> None:
    failures = [make_failure(ValueError(str(number)), "go") for number in range(12)]
    text = text_of(*failures)
    assert "\n  12 FAILURES:\n    ValueError: 0 (1 step)\n" in text
    assert "\n    ... and 2 more (--all shows them)\n" in text
    assert (text.count("\n  ValueError: "), text.index("12 FAILURES") > text.index("  ValueError: 9\n")) == (10, True)
    assert terminal_report([make_result(*failures)], coloured=False, all_failures=True).count("\n  ValueError: ") == 12


def test_colours_are_the_only_difference_and_texts_of_the_program_bring_none() -> None:
    result = make_result(make_failure(ValueError("\x1b[31mred"), "go"))
    coloured, plain = (terminal_report([result], coloured=each) for each in (True, False))
    assert "\x1b[31m\x1b[1mValueError: " in coloured
    assert "\x1b" not in plain
    assert "red" in plain
    assert "\x1b[31mred" not in coloured


def test_no_failure_is_said_first() -> None:
    assert "\n\n  No failures.\n\n  58320 runs" in text_of()


@pytest.mark.parametrize(
    ("active", "necessary", "line"),
    [
        ([], None, None),
        ([], {}, None),
        (["a(x.y)"], {"a(x.y)": True}, "a, needed"),
        (["a(x.y)", "a(x.z)"], {"a(x.y)": True, "a(x.z)": True}, "a(y) and a(z), both needed"),
        (["a", "b", "c"], {"a": True, "b": True, "c": True}, "a, b and c, all needed"),
        (["a", "b"], {"a": True, "b": False}, "a, needed; b on, not needed"),
        (["a"], {"a": False}, "a on, not needed"),
        (["a"], None, "a"),
    ],
)
def test_faults_take_one_line(active: list[str], necessary: dict[str, bool] | None, line: str | None) -> None:
    text = text_of(make_failure(ValueError(), "go", active_faults=active, necessary_faults=necessary))
    assert ("  Faults: " in text) is (line is not None)
    assert line is None or f"\n  Faults: {line}\n" in text


def test_a_failure_in_a_folder_of_its_own_is_replayed_by_its_path() -> None:
    failure = make_failure(ValueError(), "go", bucket="b", trace_path="out/t.json")
    text = terminal_report([make_result(failure)], coloured=False, by_path=True)
    assert "\n  Replay: ordeal replay out/t.json\n" in text
    assert "ordeal view" not in text


def test_a_short_trace_is_one_word_that_is_replayed_without_a_file() -> None:
    steps = [TraceStep("rule", "add", choices={"x": [40]})]
    failure = make_failure(
        ValueError("no"), "add", trace=Trace(1, 42, "shop:Machine", steps=steps), trace_path="t.json"
    )
    (word,) = re.findall(r"\n  Elsewhere: ordeal replay (\S+)\n", text_of(failure))
    assert Trace.load(word).steps == steps
    steps.append(TraceStep("rule", "add", choices={"x": [random.Random(1).getrandbits(2000)]}))
    assert "Elsewhere" not in text_of(failure)
