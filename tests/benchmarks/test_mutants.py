"""Mutants drawn by a seed: what is changed, where, and that one seed draws the same each time."""

from pathlib import Path

import pytest
from mutants.draw import OPERATORS, Mutant, drawn, mutants_of
from mutants.results import Hunted, by_mutant, hard, hunt_table, sooner, summary

SOURCE = '''"""Text."""
LIMIT = 3

def count(items, limit=2):
    """What it says stays."""
    total = 0
    for item in items:
        if item < limit:
            total += 1
    while total > 9:
        raise ValueError(total)
    return total if items else -1
'''
ALL = set(range(1, 20))


def changed(mutant: Mutant) -> tuple[str, str]:
    """The line as it is, and as the mutant makes it."""
    return SOURCE.splitlines()[mutant.line - 1].strip(), mutant.applied(SOURCE).splitlines()[mutant.line - 1].strip()


@pytest.mark.parametrize(
    ("operator", "changes"),
    [
        (
            "statement",
            [("total = 0", "pass"), ("total += 1", "pass"), ("raise ValueError(total)", "pass")],
        ),
        (
            "boundary",
            [("if item < limit:", "if (item <= limit):"), ("while total > 9:", "while (total >= 9):")],
        ),
        (
            "condition",
            [
                ("if item < limit:", "if (not (item < limit)):"),
                ("while total > 9:", "while (not (total > 9)):"),
                ("return total if items else -1", "return total if (not (items)) else -1"),
            ],
        ),
        (
            "constant",
            [
                ("total = 0", "total = 1"),
                ("total += 1", "total += 2"),
                ("while total > 9:", "while total > 10:"),
                ("return total if items else -1", "return total if items else -2"),
            ],
        ),
    ],
)
def test_each_operator_changes_what_it_says(operator: str, changes: list[tuple[str, str]]) -> None:
    found = [changed(mutant) for mutant in sorted(mutants_of("a.py", SOURCE, ALL)) if mutant.operator == operator]
    assert found == changes


def test_only_lines_that_are_reached_are_changed() -> None:
    assert {mutant.line for mutant in mutants_of("a.py", SOURCE, {8})} == {8}


def test_one_seed_draws_the_same_and_another_others(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE, "utf-8")
    first, again, other = (drawn(tmp_path, {"a.py": sorted(ALL)}, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other) == sorted(mutants_of("a.py", SOURCE, ALL))
    assert {mutant.operator for mutant in first} == set(OPERATORS)


def cell(engine: str, cpu_s: float | None, mutant: str = "a.py:1") -> Hunted:
    return Hunted("lib 1", mutant, f"{mutant} changed", engine, 1, 10.0, cpu_s is not None, cpu_s or 10.0)


def test_the_ratio_is_to_the_best_other_and_a_search_without_a_kill_counts_as_its_limit() -> None:
    results = [cell("ordeal", 0.5), cell("Hypothesis", 2.0), cell("HypoFuzz", 4.0)]
    (cells,) = by_mutant(results).values()
    assert sooner(cells) == 4
    assert sooner({"ordeal": cell("ordeal", None), "Hypothesis": cell("Hypothesis", 2.0)}) == 0.2
    assert sooner({"ordeal": cell("ordeal", None), "Hypothesis": cell("Hypothesis", None)}) is None


def test_what_is_lost_is_named() -> None:
    results = [
        *(cell("ordeal", 0.5, "a"), cell("Hypothesis", 2.0, "a")),
        *(cell("ordeal", None, "b"), cell("Hypothesis", 3.0, "b")),
        *(cell("ordeal", None, "c"), cell("Hypothesis", None, "c")),
    ]
    said = summary(results, ["ordeal", "Hypothesis"])
    assert "2 of 3 mutants are killed by any engine" in said
    assert "- ordeal: 1 of 2, 0 that no other kills" in said
    assert "- Hypothesis: 2 of 2, 1 that no other kills" in said
    assert "- lib 1: b changed: Hypothesis 3 s" in said
    assert "| lib 1 | 3 | 1 | 2 | 1.1 |" in hunt_table(results, ["ordeal", "Hypothesis"])


def test_hard_are_those_that_no_other_kills_and_some_longer_search_does() -> None:
    results = [
        *(cell("ordeal", 0.5, "easy"), cell("Hypothesis", 2.0, "easy")),
        *(cell("ordeal", 0.5, "ours"), cell("Hypothesis", None, "ours")),
        *(cell("ordeal", None, "theirs"), cell("Hypothesis", 2.0, "theirs")),
        *(cell("ordeal", None, "deep"), cell("Hypothesis", None, "deep")),
        *(cell("ordeal", None, "equivalent"), cell("Hypothesis", None, "equivalent")),
    ]
    long = [
        *(cell("ordeal", None, "deep"), cell("Hypothesis", 70.0, "deep")),
        *(cell("ordeal", None, "equivalent"), cell("Hypothesis", None, "equivalent")),
    ]
    said = hard(results, long, 10, 300)
    assert said.startswith(
        "No other engine kills 3 of 5 mutants in 10 s. Some search of 300 s kills 2 of these, ordeal 1"
    )
    assert said.endswith("(50 %, goal 50 %).\n\n- lib 1: deep changed: Hypothesis 70 s")
    assert hard(results[:2], [], 10, 300).endswith("Some search of 300 s kills 0 of these, ordeal 0 in its 10 s.")
