"""Hypothesis finds the backend by its name, and pays next to nothing for that."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[3]
ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["hypothesis"]


def run_apart(folder: Path, code: str) -> str:
    """What Python prints in an environment where ordeal is installed: its entry points are declared."""
    declared = folder / "ordeal-0.dist-info"
    declared.mkdir()
    lines = [f"{name} = {target}" for name, target in ENTRY_POINTS.items()]
    (declared / "entry_points.txt").write_text("\n".join(["[hypothesis]", *lines]), "utf-8")
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: ordeal\nVersion: 0\n", "utf-8")
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    process = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.slow
def test_an_environment_with_ordeal_has_the_backend_and_pays_next_to_nothing_for_it(tmp_path: Path) -> None:
    loaded = run_apart(
        tmp_path,
        """
        import sys
        import hypothesis
        print(*sorted(name for name in sys.modules if name.startswith("ordeal")))

        @hypothesis.settings(backend="ordeal", database=None, max_examples=20)
        @hypothesis.given(hypothesis.strategies.integers())
        def test(number): ...
        test()
        print("ordeal._native" in sys.modules)
        """,
    )
    assert loaded == "ordeal ordeal._hypothesis ordeal._hypothesis.register\nTrue\n"
