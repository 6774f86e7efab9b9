"""What the judge answers when pytest itself cannot begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._engine.mutation.running import NoVerdictError, judge_with_pytest


def test_pytest_that_ends_before_any_test_is_named_with_its_command(tmp_path: Path) -> None:
    with pytest.raises(NoVerdictError, match="before any test: `python -m pytest --no-such-option` says why"):
        judge_with_pytest([], [], tests=["--no-such-option"], folder=tmp_path, workers=1)
