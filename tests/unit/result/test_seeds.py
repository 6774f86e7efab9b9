"""What the replay of a seed shows, and which of it means that the run fails."""

from __future__ import annotations

import pytest

from ordeal.result import SeedOutcome, SeedStatus


@pytest.mark.parametrize(
    ("status", "fails"),
    [
        ("reproduced", True),
        ("fails_differently", True),
        ("fixed", False),
        ("no_longer_applies", False),
        ("class_unusable", False),
        ("unreadable", False),
    ],
)
def test_a_seed_fails_when_its_run_does_however(status: str, fails: bool) -> None:
    assert SeedStatus(status).fails is fails


def test_every_status_is_known_by_its_word() -> None:
    assert len(SeedStatus) == 6
    with pytest.raises(ValueError, match="is not a valid SeedStatus"):
        SeedStatus("broken")


def test_a_fixed_seed_has_nothing_to_say() -> None:
    assert SeedOutcome("seed-0a", "seeds/seed-0a.json", SeedStatus.FIXED).message == ""
