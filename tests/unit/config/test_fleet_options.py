"""What ``--on``, ``--fleet-name`` and ``--job-option`` accept."""

from __future__ import annotations

import pytest

from ordeal.config.fleet_options import FLEET_NAME, JOB_OPTIONS, ON


@pytest.mark.parametrize("word", ["local", "local:4", "ray://h:1", "dask://h", "slurm", "kubernetes"])
def test_where(word: str) -> None:
    assert ON.accept(word) == word


@pytest.mark.parametrize("word", ["", "local:x", "ssh://h", "slurm:4", 4])
def test_where_not(word: object) -> None:
    assert ON.accept(word) is None


def test_names_lead_nowhere() -> None:
    assert FLEET_NAME.accept("night-1") == "night-1"
    assert FLEET_NAME.accept("../x") is FLEET_NAME.accept("-x") is None
    assert JOB_OPTIONS.accept(["time=1", "exclusive"]) == ("time=1", "exclusive")
    assert JOB_OPTIONS.accept(["a=b\n#SBATCH"]) is None
