"""How long a class is examined: a slow one makes fewer runs where it is compared with itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordeal._tools.doctor import running
from ordeal._tools.doctor.running import RUNS, SECONDS, SHORT_RUNS, examine
from ordeal.config.options import ExplorerConfig, ReportConfig, TestConfig
from ordeal.config.settings_file import OrdealConfig


@pytest.mark.parametrize(("fit", "compared"), [(RUNS, SHORT_RUNS), (RUNS - 1, SHORT_RUNS), (80, 10), (3, 5)])
def test_a_class_is_examined_once_at_length_and_three_times_shortly(
    fit: int, compared: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []

    def examined(
        path: str, targets: object, seed: int, runs: int, seconds: float, folder: Path, hash_seed: str
    ) -> dict[str, Any]:
        asked.append((runs, hash_seed))
        assert len(asked) > 1 or seconds == SECONDS <= 2.0
        result: dict[str, Any] = {
            "total_runs": fit,
            "total_steps": 9,
            "seconds": 1.0,
            "stopped_reason": "max_runs",
            "unique_edges": 3,
            "failures": 0,
            "inconclusive": None,
            "target_modules": ["shop"],
            "imported_modules": [],
            "snapshot_kind": "copy",
            "calling": [],
            "compiled": [],
            "faults": [],
            "properties": [],
            "covered_lines": {},
        }
        return {"error": None, "rules": [], "invariants": [], "copies": [], "result": result}

    monkeypatch.setattr(running, "_examined", examined)
    config = OrdealConfig(
        explorer=ExplorerConfig(), report=ReportConfig(), tests=(TestConfig(class_path="shop:Machine"),)
    )
    checks = list(examine(config, tmp_path))
    assert asked == [(RUNS, "0"), (compared, "0"), (compared, "0"), (compared, "1")]
    assert [check.status for check in checks if check.name == "stability"] == ["ok"]
