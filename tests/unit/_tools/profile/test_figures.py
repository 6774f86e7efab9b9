"""When a profile exceeds an earlier one, and which earlier ones are refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ordeal._tools.profile.figures import (
    Leak,
    ProfileReport,
    StepFigures,
    TestProfile,
    findings,
    read_baseline,
    unlike,
)
from ordeal._tools.profile.growth import Growth
from ordeal.errors import ConfigError


def profile(
    *, instructions: int | None = 100, latency: float = 1.0, growth: str = "linear", step: str = "put"
) -> TestProfile:
    figures = StepFigures(5, instructions, 10, (latency, latency, latency), Growth(growth, "`items`"))
    return TestProfile("shop:Cart", figures={step: figures})


def found(
    now: TestProfile, before: TestProfile | None, *, budget: float = 0, slowest: str = "n log n", leaks: int = 0
) -> list[str]:
    return list(findings(now, before, budget=budget, slowest=slowest, leaks=leaks))


def test_more_than_the_budget_allows_is_a_finding() -> None:
    assert found(profile(), profile()) == []
    assert found(profile(instructions=90), profile()) == []
    assert found(profile(instructions=101), profile()) == ["shop:Cart: `put` takes 101 instructions, 100 before"]
    assert found(profile(instructions=110), profile(), budget=10) == []
    assert found(profile(instructions=111), profile(), budget=10)
    assert found(profile(latency=1.5), profile()) == ["shop:Cart: `put` takes 1.5 simulated s at p99, 1 before"]
    # What varies can be compared with nothing.
    assert found(profile(instructions=None), profile()) == found(profile(), profile(instructions=None)) == []


def test_growth_is_a_finding_unless_it_was_there_before() -> None:
    quadratic = profile(growth="quadratic")
    assert found(quadratic, None) == ["shop:Cart: `put` is quadratic in `items`"]
    assert found(quadratic, profile()) == ["shop:Cart: `put` is quadratic in `items`"]
    assert found(quadratic, quadratic) == found(quadratic, None, slowest="quadratic") == []
    assert found(profile(), None, slowest="linear") == []


def test_errors_and_leaks_are_findings() -> None:
    leak = Leak("shop.py:12", 40, 3200)
    made = TestProfile("shop:Cart", leaks=[leak])
    assert found(made, None) == [
        "shop:Cart: the same runs leave 40 objects (3,200 bytes) behind each time, made at shop.py:12"
    ]
    # Those that the baseline has are tolerated.
    assert found(made, made) == []
    assert len(found(TestProfile("shop:Cart", leaks=[Leak("shop.py:12", 50, 1)]), made)) == 1
    # As many lines as the settings allow may leave objects behind.
    two = TestProfile("shop:Cart", leaks=[leak, Leak("shop.py:20", 1, 64)])
    assert found(made, None, leaks=1) == found(two, made, leaks=1) == []
    assert len(found(two, None, leaks=1)) == 2
    assert found(TestProfile("shop:Cart", error="no module"), None) == ["shop:Cart: no module"]


def test_other_steps_are_not_compared() -> None:
    other = profile(instructions=1, step="take")
    assert found(profile(), other) == []
    assert list(unlike([profile()], ProfileReport([other]))) == ["shop:Cart"]
    seeded = msgspec.structs.replace(profile(instructions=1), seed=7)
    assert found(profile(), seeded) == []
    assert list(unlike([profile()], ProfileReport([seeded]))) == ["shop:Cart"]
    assert list(unlike([profile()], ProfileReport([]))) == ["shop:Cart"]
    assert list(unlike([profile()], ProfileReport([profile()]))) == []


def test_a_baseline_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    kept = ProfileReport([profile()])
    path.write_bytes(msgspec.json.encode(kept))
    assert read_baseline(str(path)) == kept
    path.write_bytes(msgspec.json.encode(ProfileReport([], versions={**kept.versions, "python": "3.0"})))
    with pytest.raises(ConfigError, match="was made with another python"):
        read_baseline(str(path))
    for text in ("", "{}", '{"profiles": 3}', '{"profiles": [], "tool": "gate"}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(ConfigError, match="is not a report of `ordeal profile`"):
            read_baseline(str(path))
    with pytest.raises(ConfigError, match="cannot read the baseline"):
        read_baseline(str(tmp_path / "none.json"))
