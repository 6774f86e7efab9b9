"""Tables of the bug suite: what counts as found, as better, and as lost."""

from pathlib import Path

import pytest
from bugs.results import Result, append, found_table, geometric_mean, losses, median_s, ratio, read, summary, told

ENGINES = ["ordeal", "Hypothesis", "public ordeal"]


def cell(engine: str, rng_seed: int, cpu_s: float | None, target: str = "syn_magic") -> Result:
    """A cell of ten seconds that found its bug after ``cpu_s``, or did not."""
    return Result(engine, target, rng_seed, 10.0, False, cpu_s is not None, 10.0 if cpu_s is None else cpu_s, calls=100)


def column(engine: str, *times: float | None, target: str = "syn_magic") -> list[Result]:
    return [cell(engine, rng_seed, cpu_s, target) for rng_seed, cpu_s in enumerate(times, 1)]


def test_a_search_without_a_finding_counts_as_its_limit() -> None:
    assert median_s(column("ordeal", 1.0, None, None)) == 10.0


def test_a_column_tells_count_median_and_slowest_finding() -> None:
    assert told(column("ordeal", 1.0, 3.0, None)) == "2 of 3 · 3 (3)"
    assert told(column("ordeal", 1.0, None, None)) == "1 of 3 · > 10 (1)"
    assert told(column("ordeal", None)) == "0 of 1 · > 10"
    assert told([]) == "-"


def test_the_ratio_is_to_the_better_rival() -> None:
    results = [*column("ordeal", 0.5), *column("Hypothesis", 5.0), *column("public ordeal", 2.0)]
    assert ratio(results, "syn_magic") == 4.0


def test_no_ratio_where_nobody_found_anything() -> None:
    assert ratio([*column("ordeal", None), *column("Hypothesis", None)], "syn_magic") is None


def test_no_ratio_without_a_rival() -> None:
    assert ratio(column("ordeal", 1.0), "syn_magic") is None


def test_a_finding_below_the_clock_is_not_infinitely_better() -> None:
    assert ratio([*column("ordeal", 0.0), *column("Hypothesis", 1.0)], "syn_magic") == pytest.approx(1000.0)


def test_the_mean_of_ratios_is_geometric() -> None:
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)


def test_losses_are_named_with_both_columns() -> None:
    results = [*column("ordeal", 4.0, None), *column("Hypothesis", 1.0, 2.0)]
    assert losses(results, ENGINES) == ["- syn_magic: Hypothesis 2 of 2 · 1.5 (2); ordeal 1 of 2 · 7 (4)"]


def test_a_peer_that_found_nothing_is_no_loss() -> None:
    assert losses([*column("ordeal", None), *column("Hypothesis", None)], ENGINES) == []


def test_the_summary_shows_the_mean_and_the_losses() -> None:
    results = [*column("ordeal", 0.5), *column("Hypothesis", 5.0)]
    results += [*column("ordeal", 5.0, target="syn_ids"), *column("Hypothesis", 0.5, target="syn_ids")]
    text = summary(results, ENGINES[:2])
    assert "over 2 targets: 1 (worst 0.1)" in text
    assert "- syn_ids: Hypothesis 1 of 1 · 0.5 (0.5); ordeal 1 of 1 · 5 (5)" in text


def test_the_table_has_a_row_for_each_target_that_ran() -> None:
    results = [*column("ordeal", 0.5), *column("ordeal", 0.5, target="cacheout_lfu")]
    rows = found_table(results, ["ordeal"]).splitlines()
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| cacheout_lfu", "| syn_magic"]


def test_results_are_kept_cell_by_cell(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert read(path) == []
    kept = column("ordeal", 0.5, None)
    for result in kept:
        append(path, result)
    assert read(path) == kept
    assert kept[0].key != kept[1].key
